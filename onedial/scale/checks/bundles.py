"""Is the scale the same for everyone, everywhere? One test for any bundle of questions and any group of respondents.

A topic, a level or the long questions are a bundle; a family, a framing or a respondent alone is a group.

For a group of respondents and a bundle of questions (a topic), with p_q(z) where the question lies by the answers of
everybody else and S_q(z) = sum of P_i(yes | z) over the group's members that answered q,

    D = sum over q of (yes_q - E_q),    E_q = sum_z p_q(z) S_q(z),    V = sum over q of the variance of yes_q,
    z = (D - v D_all) / sqrt(f V (1 - v)),    v = V / V_all,    f = max(1, sum over all q of (yes_q - E_q)^2 / V_all)
    shift = x / (1 - v)    with    sum over q of sum_z p_q(z) (S_q(z + x) - S_q(z)) = D - v D_all

D_all and V_all are those of all questions: what counts is a bundle beside the others, and the curves have taken up the
rest. Where nearly all answers are alike already, a large shift moves few. Curves let everybody answer some questions
at random. Each bundle has a place and a spread of its own by everybody else's answers, so that hard bundles are no
violation; the variance counts what is not known of that place. What a family shares beside the scale moves single
questions for all of its members, and so makes its counts more variable than f = 1 says.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.fits import Fits
from onedial.scale.likelihood import Model
from onedial.scale.response_curves import log_categories
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.groups import labels_of
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import adjusted
from onedial.stats.power import POWER, least_on_average, least_z

FLOOR = 0.1
"""Spreads of the scale by which a bundle must lie elsewhere to be called so, however certain it is."""
SHIFT_OF_INTEREST = 0.4
"""Spreads of the scale that a claim of sameness must have been able to find: ten percentage points of a yes rate."""
_LEAST_VARIANCE = 4.0  # of a count, for a normal tail
_FOR_CURVES = 0.05  # of power, lost because the shifted answers were also fitted
_EM_STEPS, _EM_STEPS_AFTER_ONE = 25, 5
_MOVES, _HERE = np.linspace(-4, 4, 161), 80  # moves of a bundle, and the place of none among them


@dataclass(frozen=True)
class BundleInvariance:
    """Bundles of questions for groups of respondents.

    Attributes:
        table: index (bundle, group); `n_questions, yes, expected` (given all others), `shift` (in spreads of the scale,
            > 0 = easier for the group than for the others), `se, p` (two-sided), `q` (adjusted), `least_shift`, found
            with a power of 80% whichever its sign, inf where none is. nan where the group's answers there are too few
            or too much alike.
    """

    table: pd.DataFrame

    __repr__ = one_line

    def violations(self) -> pd.DataFrame:
        """Bundles that lie elsewhere for some group by `FLOOR` or more, the largest shift first."""
        found = self.table[(self.table["q"] <= LEVEL) & (self.table["shift"].abs() >= FLOOR)]
        return found.reindex(found["shift"].abs().sort_values(ascending=False).index)

    @property
    def spread(self) -> float:
        """Standard deviation of the shifts, in spreads of the scale, their errors taken out; nan where none is known.

        Formula: tau >= 0 with sum of shift^2 / (se^2 + tau^2) = their number, over bundles and groups (Paule and
        Mandel, 1982, Journal of Research of the National Bureau of Standards 87, 377-385). Times a loading, and
        squared, it is the share of the variance that is a topic's for one group.
        """
        squared, error = self.table.loc[self.table["p"].notna(), ["shift", "se"]].to_numpy().T ** 2
        if not len(squared):
            return float("nan")

        def too_wide(variance: float) -> float:
            return float((squared / (error + variance)).mean()) - 1

        return float(np.sqrt(brentq(too_wide, 0, squared.max()))) if too_wide(0) > 0 else 0.0

    @property
    def least_shift(self) -> float:
        """The shift found in 80% wherever it may be, in spreads of the scale; inf where none is."""
        return least_on_average(self.table["least_shift"], int(self.table["p"].notna().sum()))


def bundle_invariance(matrix: Any, bundles: Any, groups: Any = None) -> BundleInvariance:
    """Test every bundle of questions, for every group of respondents, for a place of its own.

    Formula: above; bundle differential functioning (Douglas, Roussos and Stout, 1996, Journal of Educational
    Measurement 33, 465-484) with the response model in place of a matching score. Any number of bundles.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. bundles: label of each
            question (a Series by question, or in the order of the rows). groups: label of each respondent; None = each
            by itself.

    Returns:
        BundleInvariance. Sign: shift > 0 = easier (more yes) for the group than the others' answers say.

    Raises:
        InputError: the labels do not fit, there are fewer than two bundles or groups, or fewer than three respondents.

    R: `mirt::SIBTEST(x, group, suspect_set)` for one bundle and two groups.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((900, 1)) + 0.6 * rng.standard_normal((900, 10))
    >>> topic = np.arange(900) % 3
    >>> hidden[topic == 2, 0] += 0.5  # easier for the first respondent
    >>> found = bundle_invariance(hidden > 0, topic)
    >>> found.violations().index.tolist()[0], bool(found.violations()["shift"].iloc[0] > 0)
    ((2, 0), True)
    """
    fits = Fits.of(matrix)
    answers, codes, everyone = fits.answers, fits.codes, fits.panel.respondents
    of_questions = labels_of(bundles, answers.questions, answers.questions, "bundles")
    of_respondents = labels_of(everyone if groups is None else groups, everyone, answers.respondents, "groups")
    bundle, bundle_names = pd.factorize(of_questions, sort=True)
    group, group_names = pd.factorize(of_respondents, sort=groups is not None)
    if len(bundle_names) < 2 or len(group_names) < 2:
        raise InputError(
            f"{len(bundle_names)} bundle(s) of questions and {len(group_names)} group(s) of respondents; comparing "
            "needs at least two of each"
        )
    fit = fits.fit(Model("histogram", "common"))
    shown = [(codes == category).astype(float) for category in range(2)]
    likelihood = fit.log_likelihoods(codes)
    in_bundle = np.equal.outer(np.arange(len(bundle_names)), bundle).astype(float)
    prior = _prior_of_bundles(likelihood, in_bundle, np.broadcast_to(fit.log_weight, likelihood.shape), _EM_STEPS)
    curves = [np.exp(log_categories(fit.curves, fit.nodes + step)[1]) for step in _MOVES]
    p = curves[_HERE]
    parts, moved, chance = {}, [], []
    for number, name in enumerate(group_names):
        members: Booleans = group == number
        others = likelihood - shown[0][:, members] @ fit.log_p[0][members]
        others -= shown[1][:, members] @ fit.log_p[1][members]
        others += _prior_of_bundles(others, in_bundle, prior, _EM_STEPS_AFTER_ONE)
        where = np.exp(others - others.max(axis=1, keepdims=True))
        where /= where.sum(axis=1, keepdims=True)
        answered = answers.answered[:, members].astype(float)
        count = answered @ p[members]
        expected = (where * count).sum(axis=1)
        by_chance = (where * (answered @ (p * (1 - p))[members])).sum(axis=1)
        by_place = in_bundle @ ((where * count**2).sum(axis=1) - expected**2)
        said = (answers.yes & answers.answered)[:, members].sum(axis=1)
        sums = {
            "n_questions": answered.any(axis=1).astype(int), "yes": said, "expected": expected,
            "variance": by_chance, "square": (said - expected) ** 2,
        }  # fmt: skip
        parts[name] = pd.DataFrame({what: in_bundle @ values for what, values in sums.items()}, bundle_names)
        parts[name]["variance"] += by_place / _known(where @ fit.nodes, where @ fit.nodes**2, in_bundle)
        mass = np.stack([in_bundle @ (where * who[:, None]) for who in answered.T])  # (member, bundle, node)
        moved.append(np.stack([np.einsum("ibz,iz->b", mass, curve[members]) for curve in curves], axis=1))
        chance.append(np.stack([np.einsum("ibz,iz->b", mass, (c * (1 - c))[members]) for c in curves], axis=1))
    table = _tested(pd.concat(parts, names=["group", "bundle"]), np.concatenate(moved), np.concatenate(chance))
    return BundleInvariance(table.swaplevel().sort_index(level=0, sort_remaining=False))


def _known(mean: Floats, square: Floats, in_bundle: Floats) -> Floats:
    """(bundle,) share of the variance of its questions' places that is known; its mean is estimated as well."""
    n = np.maximum(in_bundle.sum(axis=1), 1)
    centre = in_bundle @ mean / n
    return np.maximum((in_bundle @ mean**2 / n - centre**2) / (in_bundle @ square / n - centre**2), 0.05)


def _tested(table: pd.DataFrame, moved: Floats, chance: Floats) -> pd.DataFrame:
    """Sums with the bundle's shift, its error, p, q and the least shift, from expected yes and the sum of the answers'
    variances if the bundle moved (row, move)."""
    everywhere = table.groupby(level="group", sort=False)[["yes", "expected", "variance", "square"]].transform("sum")
    spread = np.maximum(1, everywhere["square"] / everywhere["variance"])
    share = table["variance"] / everywhere["variance"]
    surplus = table["yes"] - table["expected"] - share * (everywhere["yes"] - everywhere["expected"])
    error = np.sqrt(spread * table["variance"] * (1 - share))
    enough = table["variance"] * (1 - share) >= _LEAST_VARIANCE
    move = np.clip(_move_for(surplus, moved), _MOVES[0], _MOVES[-1])
    still = np.abs(move) < 1e-9
    rise = np.where(still, np.diff(moved)[:, _HERE] / np.diff(_MOVES)[0], surplus / np.where(still, 1, move))
    wanted = POWER + _FOR_CURVES
    needed = least_z(int(enough.sum()), power=wanted) + ndtri(wanted) * (np.sqrt(chance / chance[:, [_HERE]]) - 1)
    seen = np.abs(moved - moved[:, [_HERE]]) >= needed * error.to_numpy()[:, None]
    reached = [
        np.where(side.any(axis=1), side.argmax(axis=1), np.inf) for side in (seen[:, _HERE::-1], seen[:, _HERE:])
    ]
    least = np.maximum(*reached) * np.diff(_MOVES)[0]
    found = table[["n_questions", "yes", "expected"]].astype({"n_questions": int, "yes": int})
    found["shift"] = (move / (1 - share)).where(enough)
    found["se"] = (error / np.abs(rise) / (1 - share)).where(enough)
    found["p"] = (2 * ndtr(-(surplus / error).abs())).where(enough)
    found["q"] = adjusted(found["p"].to_numpy())
    found["least_shift"] = (least / (1 - share)).clip(lower=FLOOR + ndtri(POWER) * found["se"]).where(enough)
    return found


def _move_for(surplus: Any, moved: Floats) -> Floats:
    """(row,) how far a bundle has to move for so many yes more; infinite where no move is far enough."""
    counts = moved - moved[:, [_HERE]]
    turned = np.where(counts[:, -1] < counts[:, 0], -1, 1)  # for some, yes may mean hard
    rows = zip(turned * np.asarray(surplus), turned[:, None] * counts, strict=True)
    return np.array([np.interp(value, row, _MOVES, -np.inf, np.inf) for value, row in rows])


def _prior_of_bundles(likelihood: Floats, in_bundle: Floats, start: Floats, steps: int) -> Floats:
    """(question, node) logs of the distribution of the question's bundle, by EM steps from that of `start`."""
    prior = np.empty_like(likelihood)
    for rows in in_bundle > 0:
        own, weight = likelihood[rows], start[rows][0]
        for _ in range(steps):
            joint = own + weight
            joint = np.exp(joint - joint.max(axis=1, keepdims=True))
            mass = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
            weight = np.log(np.maximum(mass, 1e-30))
        prior[rows] = weight
    return prior
