"""What moves together with the yes: instruments against settings of the dial, beside random directions.

Each instrument's score is averaged over its forms (a question counts where all of them could be read). With s_i(m) the
score of item i at magnitude m, and SD the standard deviation of s_i(0) over items,

    shift(m) = mean_i [s_i(m) - s_i(0)] / SD                       own standard deviations, positive = towards surer
    together = mean over settings m != 0 of sign(m) shift(m)       positive = moves with the dial, negative = against it

Intervals are 95% percentile bootstraps over items (wordings of one question together), the standard deviation drawn
with them. The same is computed for
every control direction at the same magnitudes: p = (1 + controls with |together| at least as large) / (1 + controls).

An instrument moves with the yes (against it) where the interval of `together` is above (below) 0 and p <= .05, which
takes 19 controls. Where the interval leaves 0 out but, among 19 controls or more, p > .05, it moves as any push does:
something of this size in any direction would do it. It does not move where the interval lies within +-.2, Cohen's small
effect. Else it is open. Where half of the answers or more cannot be read without steering it is not scored, and a
setting at which that happens is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import VECTOR
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.agreement import interval
from onedial.stats.level import LEVEL, MOST_UNREAD
from onedial.stats.resampling import N_RESAMPLES, groups_among, resampled_weights
from onedial.verdict.case import wording_groups

Wordings = Sequence[Sequence[str]]
PROFILE_COLUMNS = ["report", "form", "question_id", "intervention_id", "role", "magnitude", "score", "truth"]
REFERENCE = "can you answer"
WRITING = "mean log-probability"
"""The instrument for which nothing is asked: how likely the subject finds its own unsteered answer."""
SMALL = 0.2
FEWEST_CONTROLS = 19
MOVES, AGAINST, STILL, OPEN = "moves with the dial", "moves against it", "does not move", "open"
AS_ANY = "moves as any push does"
UNREAD, ALIKE = "cannot be read", "all answers alike"
PROFILE_VERDICTS = (MOVES, AGAINST, AS_ANY, STILL, OPEN, UNREAD, ALIKE)


@dataclass(frozen=True)
class DialProfile:
    """See the module's text.

    Attributes:
        cells: one row per report, intervention and magnitude other than 0: n, n_unread (items lost at either setting),
            shift, low, high, status ("" or why there is no number).
        reports: index report: n, n_unread without steering, mean and sd of its score there, together, low, high, p,
            n_controls, verdict.
        orders: report x effect: difference between the forms with the affirmative first and second (`place`) and behind
            A and B (`letter`), unsteered, in own standard deviations, with interval.
        truths: report x magnitude of what has a truth: share right among what was read, n, n_unread.
    """

    cells: pd.DataFrame
    reports: pd.DataFrame
    orders: pd.DataFrame
    truths: pd.DataFrame

    __repr__ = one_line

    def sentences(self) -> list[str]:
        """What moves, what does not, and what cannot be said."""
        verdict = self.reports["verdict"]

        def those(which: str) -> str:
            return ", ".join(verdict.index[verdict == which])

        asked = f"The question that the dial was made from ({REFERENCE})"
        lines = []
        if REFERENCE in verdict.index:
            row = self.reports.loc[REFERENCE]
            lines.append(
                f"{asked} {row['verdict']}: {row['together']:+.2f} of its own standard deviations on average over the "
                f"settings ({row['low']:+.2f} to {row['high']:+.2f})."
            )
        others = verdict.drop(REFERENCE, errors="ignore")
        verdict = others
        for which, words in (
            (MOVES, "Moves together with it"),
            (AGAINST, "Moves the other way"),
            (STILL, f"Does not move by {SMALL:g} standard deviations"),
            (AS_ANY, "Moves, but no more than random directions of this size move it"),
            (OPEN, "Not decided by these questions and controls"),
            (UNREAD, f"No number, since {MOST_UNREAD:.0%} or more of the answers cannot be read"),
            (ALIKE, "No number, since all answers are alike"),
        ):
            if named := those(which):
                lines.append(f"{words}: {named}.")
        n = int(self.reports["n_controls"].max()) if len(self.reports) else 0
        if n < FEWEST_CONTROLS:
            lines.append(
                f"There are {n} random directions beside it; only {FEWEST_CONTROLS} or more can show that a shift is "
                "not what any push of this size does."
            )
        return [*lines, *self._meaning()]

    def _meaning(self) -> list[str]:
        """Threshold, confidence or word? Only where the three that tell them apart are decided."""
        verdict = self.reports["verdict"].to_dict()
        if verdict.get(REFERENCE) != MOVES:
            return ["Since the yes itself does not clearly move, nothing follows for what the dial is."]
        word = verdict.get("unrelated facts")
        beliefs = {name: verdict.get(name) for name in ("confidence in numbers", "confidence in words", "P(True)")}
        moved = [name for name, which in beliefs.items() if which == MOVES]
        said = []
        if not moved and word in (AS_ANY, OPEN, None):
            said.append(
                "Whether the dial is a threshold, a confidence or a word is not decided: neither confidence nor yes to "
                "unrelated facts moves more than random directions move them, nor do they stay."
            )
        if word == MOVES:
            said.append("Yes to unrelated facts moves too: part of what is turned is the word yes.")
        elif word == STILL:
            said.append("Yes to unrelated facts stays: what is turned is not the word yes as such.")
        if moved:
            stays = [name for name, which in beliefs.items() if which == STILL]
            but = f", and stays where it is asked for as {', '.join(stays)}" if stays else ""
            said.append(f"Confidence moves where it is asked for without that word ({', '.join(moved)}){but}.")
        elif all(which == STILL for which in beliefs.values() if which not in (None, UNREAD, ALIKE)):
            said.append(
                "No other statement of confidence that could be read moves: what is turned is where this question's "
                "yes begins, or its word, and not the confidence."
            )
        return said


def profile_of(
    answers: pd.DataFrame, n_bootstrap: int = N_RESAMPLES, seed: int = 0, wordings: Wordings = ()
) -> DialProfile:
    """The profile of one dial.

    Args:
        answers: `PROFILE_COLUMNS`; score is nan where the answer is unread; of the intervention under test (role
            `vector`) at magnitude 0 and at others, of controls at those others alone. truth: 1, 0, or nan.
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.splits.wordings_of`).

    Raises:
        InputError: columns are missing, there is no magnitude 0, or no other.

    >>> rng, rows = np.random.default_rng(0), []
    >>> for role, moves in [("vector", 1.0), *[("control", 0.0)] * 19]:
    ...     own = pd.DataFrame({"question_id": range(20), "intervention_id": f"{role} {len(rows)}", "role": role})
    ...     settings = (0.0, 0.5) if role == "vector" else (0.5,)
    ...     rows += [own.assign(magnitude=m, score=moves * m + rng.normal(0, 0.1, 20)) for m in settings]
    >>> answers = pd.concat(rows).assign(report="confidence", form="one", truth=float("nan"))
    >>> profile_of(answers, n_bootstrap=19).reports["verdict"].tolist()
    ['moves with the dial']
    """
    if missing := [column for column in PROFILE_COLUMNS if column not in answers.columns]:
        raise InputError(f"the answers lack {', '.join(missing)}; give what ask.py profile has stored")
    own = answers[answers["role"] == VECTOR]
    settings = sorted(set(own["magnitude"]) - {0.0})
    if not settings or not (own["magnitude"] == 0).any():
        raise InputError("the profile needs answers at magnitude 0 and at one other at least; ask at both")
    cells, reports = [], {}
    for name, asked in answers.groupby("report", sort=False):
        rows, summary = _report(str(name), asked, settings, n_bootstrap, seed, wordings)
        cells += rows
        reports[name] = summary
    return DialProfile(
        pd.DataFrame(cells),
        pd.DataFrame.from_dict(reports, orient="index").rename_axis("report"),
        _orders(answers, n_bootstrap, seed, wordings),
        _truths(own),
    )


def sureness_by_setting(
    written: pd.DataFrame,
    scores: Sequence[str],
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
    wordings: Wordings = (),
) -> pd.DataFrame:
    """How sure the subject is of what it writes, setting by setting: each setting's own texts.

    Args:
        written: question_id, magnitude, text, and each of `scores`, nan for an empty text.
        scores: names of columns; the first is compared with its unsteered value question by question.

    Returns:
        index magnitude; n (texts with a score), n_empty, same_text (share that is the unsteered text, of those that
        say something at both settings), the mean of each score, and change, low, high: mean change of the first score
        from magnitude 0 over the questions that have one at both, with its 95% bootstrap interval.

    Raises:
        InputError: nothing was written at magnitude 0.

    >>> written = pd.DataFrame({"question_id": ["a", "b"] * 2, "magnitude": [0.0, 0.0, 0.2, 0.2], "text": list("xyxz")})
    >>> written["log_probability"] = [-1.0, -2.0, -0.5, -1.5]
    >>> sureness_by_setting(written, ["log_probability"], n_bootstrap=19)["change"].tolist()
    [0.0, 0.5]
    """
    first = scores[0]
    wide = {name: written.pivot(index="question_id", columns="magnitude", values=name) for name in (first, "text")}
    if 0.0 not in wide[first]:
        raise InputError("nothing was written at magnitude 0; let the subject answer there as well")
    texts = wide["text"].fillna("").apply(lambda column: column.str.strip())
    rows = {}
    for magnitude, own in written.groupby("magnitude"):
        values = wide[first][magnitude].to_numpy(dtype=float)
        change = values - wide[first][0.0].to_numpy(dtype=float)
        known = np.isfinite(change)
        groups, change = groups_among(wording_groups(wordings, wide[first].index), known), change[known]
        both = (texts[magnitude] != "") & (texts[0.0] != "")
        low = high = float("nan")
        if len(change):
            drawn = resampled_weights(len(change), n_bootstrap, seed, groups)
            draws = [weights @ change / weights.sum(axis=1) for weights in drawn]
            low, high = (float(end) for end in interval(np.concatenate(draws)))
        rows[magnitude] = {
            "n": int(np.isfinite(values).sum()),
            "n_empty": int((~np.isfinite(values)).sum()),
            "same_text": float((texts[magnitude] == texts[0.0])[both].mean()),
            **{name: float(own[name].mean()) for name in scores},
            "change": float(change.mean()) if len(change) else float("nan"),
            "low": low,
            "high": high,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("magnitude").sort_index()


def _report(
    name: str, asked: pd.DataFrame, settings: Sequence[float], n_bootstrap: int, seed: int, wordings: Wordings
) -> tuple[list[dict[str, object]], dict[str, object]]:
    unsteered = asked[asked["magnitude"] == 0]
    ids = list(dict.fromkeys(unsteered["question_id"]))
    base, groups = _by_item(unsteered, ids), wording_groups(wordings, pd.Index(ids))
    n_unread = int(np.isnan(base).sum())
    sd = float(np.nanstd(base, ddof=1)) if len(ids) - n_unread > 1 else float("nan")
    why = UNREAD if n_unread >= MOST_UNREAD * len(ids) else ALIKE if not sd > 1e-9 else ""
    roles = asked.drop_duplicates("intervention_id").set_index("intervention_id")["role"]
    roles = pd.concat([roles[roles == VECTOR], roles[roles != VECTOR]])
    rows: list[dict[str, object]] = []
    totals: dict[str, float] = {}
    ends = (float("nan"), float("nan"))
    for intervention, role in roles.items():
        at = asked[asked["intervention_id"] == intervention]
        signed = []
        for magnitude in settings:
            change = _by_item(at[at["magnitude"] == magnitude], ids) - base
            lost = int(np.isnan(change).sum())
            reason = why or (UNREAD if lost >= MOST_UNREAD * len(ids) else "")
            n_draws = n_bootstrap if role == VECTOR and not reason else 0
            shift, low, high = _standardised(change, base, n_draws, seed, groups) if not reason else (float("nan"),) * 3
            rows.append(
                {
                    "report": name,
                    "intervention_id": intervention,
                    "role": role,
                    "magnitude": magnitude,
                    "n": len(ids) - lost,
                    "n_unread": lost,
                    "shift": shift,
                    "low": low,
                    "high": high,
                    "status": reason,
                }
            )
            if not reason:
                signed.append(np.sign(magnitude) * change)
        if signed:
            known = np.isfinite(np.array(signed))
            sums = np.where(known, np.array(signed), 0.0).sum(axis=0)
            mean = np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), np.nan)
            together, *found = _standardised(mean, base, n_bootstrap if role == VECTOR else 0, seed, groups)
            totals[str(intervention)] = together
            if role == VECTOR:
                ends = (found[0], found[1])
    own = str(roles.index[0])
    controls = [abs(value) for key, value in totals.items() if key != own]
    together = totals.get(own, float("nan"))
    p = (1 + sum(value >= abs(together) for value in controls)) / (1 + len(controls))
    return rows, {
        "n": len(ids),
        "n_unread": n_unread,
        "mean": float(np.nanmean(base)) if n_unread < len(ids) else float("nan"),
        "sd": sd,
        "together": together,
        "low": ends[0],
        "high": ends[1],
        "p": p if own in totals else float("nan"),
        "n_controls": len(controls),
        "verdict": why or _verdict(together, ends[0], ends[1], p, len(controls)),
    }


def _verdict(together: float, low: float, high: float, p: float, n_controls: int) -> str:
    if not np.isfinite([together, low, high]).all():
        return OPEN
    if (low > 0 or high < 0) and p <= LEVEL + 1e-12:
        return MOVES if low > 0 else AGAINST
    if low > -SMALL and high < SMALL:
        return STILL
    return AS_ANY if (low > 0 or high < 0) and n_controls >= FEWEST_CONTROLS else OPEN


def _by_item(rows: pd.DataFrame, ids: Sequence[str]) -> np.ndarray:
    """Mean score over the forms of each item, nan where one of them is unread."""
    if rows["form"].nunique() == 1:  # no pivot, which would take most of the time
        return rows.set_index("question_id")["score"].reindex(list(ids)).to_numpy(dtype=float)
    forms = rows.pivot(index="question_id", columns="form", values="score").reindex(list(ids))
    return forms.mean(axis=1, skipna=False).to_numpy(dtype=float)


def _standardised(
    change: np.ndarray, base: np.ndarray, n_bootstrap: int, seed: int, groups: np.ndarray | None
) -> tuple[float, float, float]:
    """Mean change over the standard deviation of the base, with its interval over items (nan without resamples).

    Args:
        groups: item -> what it is a wording of.
    """
    here, known = np.isfinite(change), np.isfinite(base)

    def statistic(weights: np.ndarray) -> np.ndarray:
        filled, own = np.where(here, change, 0.0), np.where(known, base, 0.0)
        n, m = weights @ here, weights @ known
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = weights @ own / m
            variance = (weights @ own**2 / m - mean**2) * m / (m - 1)
            value = (weights @ filled / n) / np.sqrt(np.maximum(variance, 0))
        return np.where(variance > 1e-18, value, np.nan)

    shift = float(statistic(np.ones((1, len(base))))[0])
    if not n_bootstrap:
        return shift, float("nan"), float("nan")
    drawn = np.concatenate([statistic(weights) for weights in resampled_weights(len(base), n_bootstrap, seed, groups)])
    low, high = interval(drawn[:, None])
    return shift, float(low[0]), float(high[0])


_EFFECTS = {
    "place": (("A first", "B first", "1 is low"), ("A second", "B second", "1 is high")),
    "letter": (("A first", "A second"), ("B first", "B second")),
}


def _orders(answers: pd.DataFrame, n_bootstrap: int, seed: int, wordings: Wordings) -> pd.DataFrame:
    """Order effects without steering; for numbered scales `place` is the difference between the two numberings."""
    rows = []
    unsteered = answers[answers["magnitude"] == 0]
    for name, asked in unsteered.groupby("report", sort=False):
        forms = asked.pivot(index="question_id", columns="form", values="score")
        base = forms.mean(axis=1, skipna=False).to_numpy(dtype=float)
        for effect, sides in _EFFECTS.items():
            one, other = (forms[[form for form in side if form in forms]] for side in sides)
            if one.shape[1] and one.shape[1] == other.shape[1]:
                change = (one.mean(axis=1, skipna=False) - other.mean(axis=1, skipna=False)).to_numpy(dtype=float)
                groups = wording_groups(wordings, forms.index)
                shift, low, high = _standardised(change, base, n_bootstrap, seed, groups)
                rows.append(
                    {"report": name, "effect": effect, "n": int(np.isfinite(change).sum()), "difference": shift,
                     "low": low, "high": high}
                )  # fmt: skip
    return pd.DataFrame(rows, columns=["report", "effect", "n", "difference", "low", "high"])


def _truths(own: pd.DataFrame) -> pd.DataFrame:
    """How often what has a truth is answered rightly; a score above 0 is an affirmative."""
    judged = own[own["truth"].notna()]
    known = judged["score"].notna()
    right = ((judged["score"] > 0) == (judged["truth"] == 1)).astype(float).where(known)
    table = judged.assign(right=right).groupby(["report", "magnitude"], sort=False)["right"]
    return table.agg(share="mean", n="count", n_unread=lambda values: int(values.isna().sum())).reset_index()
