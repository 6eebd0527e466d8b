"""Whose knowledge is in a model's confidence: everybody's, its family's, or its own?

With r_pt the latent correlation of p's confidence with t's correctness over questions (polychoric: confidence in
ordered levels and right or wrong, each a cut normal variable, so that neither ceilings nor accuracies bend it):

    r_pt = sum_k a_pk b_tk      what all models share, on K scales; estimated from pairs of different families only
         + u_p v_t              what the family of p and t shares beyond that; from pairs within it, p other than t
         + o_t                  what t's confidence knows of t alone; there only where p is t

A relative that knows the family's weaknesses, or two scales that models follow to different degrees, are no knowledge
of oneself: they show in pairs that are not the diagonal, and are taken off it. K is what predicts the pairs of
different families best in the other half of the questions. A model without relatives in the panel has o_t and u_t v_t
in one, and is left out of the means; where nobody has a relative, the means are of both in one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import norm

from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.intervals import unit_weights
from onedial.stats.level import LEVEL, Z_95, interval_95
from onedial.stats.multiple_tests import adjusted

OWN, NOT_OWN, OPEN = "something of its own", "shared", "open"
NO_KIN = "own or its family's"
LITTLE = 0.05
"""A latent correlation under which nothing of its own is worth a word: an interval that ends below it is `shared`."""
FEWEST, FEWEST_QUESTIONS = 4, 50
_FEWEST_RELATED = 3  # in a family, for one of its models to be told from the other
_MOST_SCALES, _HALVES, _LEVELS, _STARTS, _TURNS = 3, 4, 6, 4, 100
_RIDGE, _FAMILY_RIDGE = 1e-2, 0.05
_RHO = np.linspace(-0.98, 0.98, 197)
_PARTS = ("total", "shared", "family", "own")


@dataclass(frozen=True)
class SharedOrOwn:
    """See the module's text.

    Attributes:
        models: index model; kin (its family by name), n (questions with both), total = shared + family + own (family
            is nan where the model has no relative here, and own holds both), se of own over questions, low, high,
            p_adjusted (of own, one-sided, false discovery rate; nan in families of one or two, where a
            model cannot be told from its relative), verdict.
        mean: total, shared, family, own over the models with relatives, each with _low and _high over questions;
            own_models_low and own_models_high (over questions and models), spread (of own between models, beyond
            error), n_models, n_own (models
            with p_adjusted <= .05) of n_named, verdict.
        scales: K. fit: index K; mean squared error in the other half of the questions.
        correlations: confidence of the row, correctness of the column.
    """

    models: pd.DataFrame
    mean: "pd.Series[Any]"
    scales: int
    fit: pd.DataFrame
    correlations: pd.DataFrame

    __repr__ = one_line

    def sentence(self) -> str:
        """How much is shared, how much is one's own, and for how many."""
        mean, alone = self.mean, len(self.models) - int(self.mean["n_models"])
        known_family = bool(np.isfinite(mean["family"]))
        family = f"{mean['family']:+.3f} ({mean['family_low']:+.3f} to {mean['family_high']:+.3f}) the family's, "
        ends = f"{mean['own_models_low']:+.3f} to {mean['own_models_high']:+.3f}"
        whose = "one's own" if known_family else "one's own or the family's"
        detail = {
            OWN: f"It is found for {mean['n_own']:.0f} of {mean['n_named']:.0f} models." if mean["n_named"] else "",
            NOT_OWN: "Nothing of one's own is worth a word.",
            OPEN: "Too few models or questions tell whether there is anything of one's own.",
        }[mean["verdict"]]
        return (
            f"Confidence and one's own correctness correlate by {mean['total']:.2f}: {mean['shared']:.2f} of it is "
            f"what all share (on {self.scales} scale{'s' if self.scales > 1 else ''}), {family if known_family else ''}"
            f"{mean['own']:+.3f} ({ends}) {whose}. {detail}"
            f"{f' Left out without relatives: {alone}.' if alone else ''}"
        )


@says_how
def shared_or_own(
    confidence: pd.DataFrame,
    correctness: pd.DataFrame,
    families: "pd.Series[Any]",
    n_bootstrap: int = 199,
    seed: int = 0,
) -> SharedOrOwn:
    """Part what confidence knows into what all share, what a family shares, and what is a model's own.

    Args:
        confidence: question x model, any numbers that rise with confidence (1 and 0 will do), nan where unread.
        correctness: question x model, 1 / 0 / nan. families: index model. Tables are joined by name; framings of one
            base model must be averaged before, or they are relatives that know too much.
        n_bootstrap: over questions. seed: of all draws.

    Returns:
        SharedOrOwn, correlations on the latent scale (-1 to 1). Sign: positive own = knows more of itself than others
        and relatives know of it. Verdict of the mean: `something of its own` where the interval over questions and
        models lies above 0; `shared` where it ends below .05; else `open`.

    Raises:
        InputError: a name stands twice; fewer than four models vary in both; all are of one family; or fewer than 50
            questions.

    Formula: in the module's docstring; o_t = r_tt - sum_k a_tk b_tk - u_t v_t.

    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> ease, names = rng.standard_normal((500, 1)), list("abcdef")
    >>> sure = pd.DataFrame(ease + rng.standard_normal((500, 6)), columns=names)
    >>> right = pd.DataFrame((ease + rng.standard_normal((500, 6)) > 0).astype(float), columns=names)
    >>> result = shared_or_own(sure, right, pd.Series(list("xxyyzz"), names), n_bootstrap=50)
    >>> result.mean["verdict"] != "something of its own", result.scales
    (True, 1)
    """
    sure, right, kin = _joined(confidence, correctness, families)
    names = sure.columns
    pairs = _Pairs(sure.to_numpy(float), right.to_numpy(float))
    n, rng = len(sure), np.random.default_rng(seed)
    related = kin[:, None] == kin[None, :]
    fit = _errors_by_scales(pairs, ~related, n, rng)
    scales = int(fit.idxmin().iloc[0])
    weights = unit_weights(np.arange(n), n_bootstrap, rng)
    observed = pairs.correlations(np.ones((1, n)))
    start = _low_rank(observed, ~related, scales, None)
    parts = _parts(observed, kin, start)
    drawn = _parts(pairs.correlations(weights), kin, _low_rank(pairs.correlations(weights), ~related, scales, start))
    has_kin = related.sum(axis=0) > 1
    counted = has_kin if has_kin.any() else ~has_kin
    named = related.sum(axis=0) >= _FEWEST_RELATED if has_kin.any() else counted
    table = _of_models(parts, drawn, has_kin, named)
    table.insert(0, "n", (sure.notna() & right.notna()).sum().to_numpy())
    table.insert(0, "kin", kin)
    return SharedOrOwn(
        table.set_axis(names, axis=0).rename_axis("model"),
        _of_all(parts, drawn, counted, table),
        scales,
        fit,
        pd.DataFrame(observed[0], pd.Index(names, name="confidence of"), pd.Index(names, name="correctness of")),
    )


def _joined(
    confidence: pd.DataFrame, correctness: pd.DataFrame, families: "pd.Series[Any]"
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray[Any, Any]]:
    for what, table in (("confidence", confidence), ("correctness", correctness)):
        for axis, labels in (("model", table.columns), ("question", table.index)):
            if not labels.is_unique:
                raise InputError(f"{what} has the {axis} {labels[labels.duplicated()][0]} twice; name each once")
    both = [name for name in confidence.columns if name in correctness.columns and name in families.index]
    rows = confidence.index.intersection(correctness.index)
    sure, right = (table.loc[rows, both].astype(float) for table in (confidence, correctness))
    both = [name for name in both if sure[name].nunique() > 1 and right[name].nunique() > 1]
    kin = families[both].fillna("").astype(str).to_numpy()
    kin = np.array([name or f"({model})" for name, model in zip(kin, both, strict=True)])
    if len(both) < FEWEST or len(rows) < FEWEST_QUESTIONS:
        raise InputError(
            f"{len(both)} models vary in both confidence and correctness, over {len(rows)} questions; give {FEWEST} "
            f"models and {FEWEST_QUESTIONS} questions or more"
        )
    if len(set(kin)) == 1:
        raise InputError(
            f"what is a model's own cannot be told from what all share: all {len(kin)} models are of one family; add "
            "models of another"
        )
    return sure[both], right[both], kin


class _Pairs:
    """Latent correlations of every model's confidence with every model's correctness, for any weights of questions.

    Of each pair the Pearson covariance of normal scores with right or wrong is turned into the correlation of two
    normal variables, cut as observed, that would give it: d cov / d rho = sum_j (s_j - s_j-1) phi_2(cut_j, cut; rho).
    """

    def __init__(self, sure: Floats, right: Floats) -> None:
        m = sure.shape[1]
        self.scores, steps, cuts = np.zeros(sure.shape), np.zeros((m, _LEVELS)), np.zeros((m, _LEVELS))
        for place in range(m):
            known = np.isfinite(sure[:, place])
            codes = _codes(sure[known, place])
            share = np.bincount(codes) / len(codes)
            cut = ndtri(np.cumsum(share)[:-1])
            height = norm.pdf(cut)
            score = (np.append(0.0, height) - np.append(height, 0.0)) / share
            self.scores[known, place] = score[codes]
            steps[place, : len(cut)], cuts[place, : len(cut)] = np.diff(score), cut
        self.sure, self.graded = np.isfinite(sure).astype(float), np.isfinite(right).astype(float)
        self.right = np.nan_to_num(right)
        cut = -ndtri(np.clip(np.nanmean(right, axis=0), 1e-3, 1 - 1e-3))
        slopes = np.empty((len(_RHO), m, m))
        for place, rho in enumerate(_RHO):
            x, y, square = cuts[:, None, :], cut[None, :, None], 1 - rho**2
            density = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * square)) / (2 * np.pi * np.sqrt(square))
            slopes[place] = (steps[:, None, :] * density).sum(axis=-1)
        risen = np.cumsum((slopes[1:] + slopes[:-1]) / 2, axis=0) * (_RHO[1] - _RHO[0])
        curves = np.concatenate([np.zeros((1, m, m)), risen])
        self.curves = curves - curves[len(_RHO) // 2]

    def correlations(self, weights: Floats) -> Floats:
        """(draw, confidence of, correctness of), from weights (draw, question)."""
        rho = np.empty((len(weights), *self.curves.shape[1:]))
        for draw, weight in enumerate(weights):
            known, weighted = self.sure * weight[:, None], self.scores * weight[:, None]
            n = np.maximum(known.T @ self.graded, 1e-9)
            both = weighted.T @ self.right / n
            rho[draw] = both - (weighted.T @ self.graded / n) * (known.T @ self.right / n)
        for p, t in np.ndindex(*rho.shape[1:]):
            rho[:, p, t] = np.interp(rho[:, p, t], self.curves[:, p, t], _RHO)
        return rho


def _codes(values: Floats) -> np.ndarray[Any, Any]:
    """Ordered levels, about equally full, at most six and at least two."""
    different, counts = np.unique(values, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    levels = np.unique((middle * _LEVELS).astype(int), return_inverse=True)[1]
    if levels.max() == 0:
        levels = (np.arange(len(different)) >= max(1, int(np.argmax(counts)))).astype(int)
    return np.asarray(levels[np.searchsorted(different, values)])


def _errors_by_scales(pairs: _Pairs, apart: Booleans, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Mean squared error with which K scales of one half of the questions predict the pairs in the other half."""
    most = max(1, min(_MOST_SCALES, int(apart.sum() // (3 * len(apart)))))
    errors = np.zeros(most)
    for _ in range(_HALVES):
        half = rng.permutation(n) < n // 2
        r = pairs.correlations(np.vstack([half, ~half]).astype(float))
        for k in range(1, most + 1):
            a, b = _low_rank(r, apart, k, None)
            errors[k - 1] += np.mean(((a @ b.transpose(0, 2, 1))[:, apart] - r[::-1][:, apart]) ** 2) / _HALVES
    return pd.DataFrame({"error": errors}, pd.Index(range(1, most + 1), name="scales"))


def _low_rank(r: Floats, where: Booleans, k: int, start: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    """a, b (draw, model, k) of the least-squares fit r = a b' in the cells that count, with a hair of ridge.

    Without a start the best of several: the cells' singular vectors, and others drawn at random.
    """
    if start is None:
        left, right = _starts(r, where, k)
        fits = [_by_turns(r, where, a, b) for a, b in zip(left, right, strict=True)]
        errors = np.array([(((a @ b.transpose(0, 2, 1) - r)[:, where]) ** 2).sum(axis=1) for a, b in fits])
        best, draws = errors.argmin(axis=0), np.arange(len(r))
        return np.stack([a for a, _ in fits])[best, draws], np.stack([b for _, b in fits])[best, draws]
    a, b = (np.repeat(side, len(r), axis=0) for side in start)
    return _by_turns(r, where, a, b)


def _starts(r: Floats, where: Booleans, k: int) -> tuple[list[Floats], list[Floats]]:
    u, s, vt = np.linalg.svd(np.where(where, r, 0.0) * (where.size / where.sum()))
    left, right = [u[..., :k] * np.sqrt(s[:, None, :k])], [vt.transpose(0, 2, 1)[..., :k] * np.sqrt(s[:, None, :k])]
    rng = np.random.default_rng(0)
    for _ in range(_STARTS if k > 1 else 0):
        left.append(rng.normal(0, 0.5, left[0].shape))
        right.append(rng.normal(0, 0.5, right[0].shape))
    return left, right


def _by_turns(r: Floats, where: Booleans, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    use, cells = where.astype(float), np.where(where, r, 0.0)
    ridge = _RIDGE * np.eye(a.shape[-1])
    for _ in range(_TURNS):
        normal = np.einsum("pt,dtk,dtl->dpkl", use, b, b) + ridge
        a = np.linalg.solve(normal, np.einsum("dpt,dtk->dpk", cells, b)[..., None])[..., 0]
        normal = np.einsum("pt,dpk,dpl->dtkl", use, a, a) + ridge
        moved = np.linalg.solve(normal, np.einsum("dpt,dpk->dtk", cells, a)[..., None])[..., 0]
        done = np.abs(moved - b).max() < 1e-5
        b = moved
        if done:
            break
    return a, b


def _parts(r: Floats, kin: np.ndarray[Any, Any], scales: tuple[Floats, Floats]) -> dict[str, Floats]:
    """(draw, model) of each part of the diagonal."""
    shared = scales[0] @ scales[1].transpose(0, 2, 1)
    beyond, family = r - shared, np.full(r.shape[:2], np.nan)
    for name in set(kin):
        members = np.flatnonzero(kin == name)
        if len(members) > 1:
            family[:, members] = _family_diagonal(beyond[:, members][:, :, members])
    total, of_its_own = np.diagonal(r, axis1=1, axis2=2), np.diagonal(beyond, axis1=1, axis2=2)
    return {"total": total, "shared": total - of_its_own, "family": family, "own": of_its_own - np.nan_to_num(family)}


def _family_diagonal(cells: Floats) -> Floats:
    """(draw, member) u_t v_t of the fit u_p v_t to the cells off the diagonal, u and v drawn towards all alike.

    Of two members, and where relatives know less of each other than strangers do, the mean cell.
    """
    size = cells.shape[1]
    off = ~np.eye(size, dtype=bool)
    mean = np.where(off, cells, 0).sum(axis=(1, 2)) / off.sum()
    alike = np.repeat(mean[:, None], size, axis=1)
    if size == 2:
        return alike
    root = np.sqrt(np.maximum(mean, 0))[:, None]
    u = v = root * np.ones(size)
    use, held = off.astype(float), np.where(off, cells, 0.0)
    for _ in range(50):
        u = (np.einsum("dpt,dt->dp", held, v) + _FAMILY_RIDGE * root) / (v**2 @ use + _FAMILY_RIDGE)
        v = (np.einsum("dpt,dp->dt", held, u) + _FAMILY_RIDGE * root) / (u**2 @ use + _FAMILY_RIDGE)
    return np.where(mean[:, None] > 0, u * v, alike)


def _of_models(parts: dict[str, Floats], drawn: dict[str, Floats], has_kin: Booleans, named: Booleans) -> pd.DataFrame:
    table = pd.DataFrame({part: parts[part][0] for part in _PARTS})
    table["se"] = drawn["own"].std(axis=0)
    table["low"], table["high"] = table["own"] - Z_95 * table["se"], table["own"] + Z_95 * table["se"]
    p = np.asarray(norm.sf(table["own"] / table["se"]))
    table["p_adjusted"] = adjusted(np.where(named, p, np.nan))
    table["verdict"] = [
        NO_KIN if not can else OWN if p <= LEVEL else NOT_OWN if high < LITTLE else OPEN
        for can, p, high in zip(has_kin & named, table["p_adjusted"], table["high"], strict=True)
    ]
    return table


def _of_all(
    parts: dict[str, Floats], drawn: dict[str, Floats], has_kin: Booleans, table: pd.DataFrame
) -> "pd.Series[Any]":
    row: dict[str, Any] = {}
    for part in _PARTS:
        row[part] = float(parts[part][0, has_kin].mean())
        row[f"{part}_low"], row[f"{part}_high"] = interval_95(drawn[part][:, has_kin].mean(axis=1))
    of_its_own, se = table.loc[has_kin, "own"], table.loc[has_kin, "se"]
    of_questions, between = float(drawn["own"][:, has_kin].mean(axis=1).std()), float(of_its_own.var(ddof=1))
    spread = max(0.0, between - float((se**2).mean()))
    error = np.sqrt(of_questions**2 + between / len(of_its_own))
    low, high = row["own"] - Z_95 * error, row["own"] + Z_95 * error
    verdict = OWN if low > 0 else NOT_OWN if high < LITTLE else OPEN
    n_own, n_named = int((table["p_adjusted"] <= LEVEL).sum()), int(table["p_adjusted"].notna().sum())
    row |= {"own_models_low": low, "own_models_high": high, "own_se": error, "spread": np.sqrt(spread)}
    return pd.Series(
        row | {"n_models": int(has_kin.sum()), "n_own": n_own, "n_named": n_named, "verdict": verdict}, name="mean"
    )
