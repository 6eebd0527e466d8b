"""What moves together with the yes: instruments against settings of the dial, beside random directions.

Each instrument's score is averaged over its forms (a question counts where all of them could be read). With s_i(m) the
score of item i at magnitude m, and SD the standard deviation of s_i(0) over items,

    shift(m) = mean_i [s_i(m) - s_i(0)] / SD                       own standard deviations, positive = towards surer
    together = mean over settings m != 0 of sign(m) shift(m)       positive = moves with the dial, negative = against it

Intervals are 95% percentile bootstraps over items (wordings of one question together), the standard deviation drawn
with them. The same is computed for every control direction at the same magnitudes:
p = (1 + controls with |together| at least as large) / (1 + controls).

An instrument moves with the yes (against it) where the interval of `together` is above (below) 0 and p <= .05, which
takes 19 controls. Where the interval leaves 0 out but, among 19 controls or more, p > .05, it moves as any push does:
something of this size in any direction would do it. It does not move where the interval lies within +-.2, Cohen's small
effect. Else it is open. Where half of the answers or more cannot be read without steering it is not scored, and a
setting at which that happens is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import VECTOR
from onedial.core.cards import one_line
from onedial.stats.agreement import interval
from onedial.stats.estimate import Estimate
from onedial.stats.level import LEVEL, MOST_UNREAD
from onedial.stats.resampling import N_RESAMPLES, resampled_weights
from onedial.verdict.case import wording_groups

PROFILE_COLUMNS = ["report", "form", "question_id", "intervention_id", "role", "magnitude", "score", "truth"]
REFERENCE = "can you answer"
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
        truths: report x magnitude of what has a truth: share right among what was read, n, n_unread.
    """

    cells: pd.DataFrame
    reports: pd.DataFrame
    truths: pd.DataFrame

    __repr__ = one_line


def profile_of(
    answers: pd.DataFrame, n_bootstrap: int = N_RESAMPLES, seed: int = 0, wordings: Sequence[Sequence[str]] = ()
) -> DialProfile:
    """Judge the profile of one dial.

    Args:
        answers: `PROFILE_COLUMNS`; score is nan where the answer is unread; of the intervention under test (role
            `vector`) at magnitude 0 and at others, of controls at those others alone. truth: 1, 0, or nan.
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.splits.wordings_of`).

    >>> rng, rows = np.random.default_rng(0), []
    >>> for role, moves in [("vector", 1.0), *[("control", 0.0)] * 19]:
    ...     own = pd.DataFrame({"question_id": range(20), "intervention_id": f"{role} {len(rows)}", "role": role})
    ...     settings = (0.0, 0.5) if role == "vector" else (0.5,)
    ...     rows += [own.assign(magnitude=m, score=moves * m + rng.normal(0, 0.1, 20)) for m in settings]
    >>> answers = pd.concat(rows).assign(report="confidence", form="one", truth=float("nan"))
    >>> profile_of(answers, n_bootstrap=19).reports["verdict"].tolist()
    ['moves with the dial']
    """
    cells, reports = [], {}
    for name, asked in answers.groupby("report", sort=False):
        report = _Report(asked, n_bootstrap, seed, wordings)
        cells.append(report.cells().assign(report=name))
        reports[str(name)] = report.summary()
    columns = ["report", "intervention_id", "role", "magnitude", "n", "n_unread", "shift", "low", "high", "status"]
    table = pd.DataFrame.from_dict(reports, orient="index").rename_axis("report")
    truths = _truths(answers[answers["role"] == VECTOR])
    return DialProfile(pd.concat(cells, ignore_index=True)[columns], table, truths)


class _Report:
    """One instrument under the vector and its controls."""

    def __init__(self, asked: pd.DataFrame, n_bootstrap: int, seed: int, wordings: Sequence[Sequence[str]]) -> None:
        unsteered = asked[asked["magnitude"] == 0]
        self.ids = list(dict.fromkeys(unsteered["question_id"]))
        self.base = self._by_item(unsteered)
        self.drawn = (len(self.ids), n_bootstrap, seed, wording_groups(wordings, pd.Index(self.ids)))
        self.n_unread = int(np.isnan(self.base).sum())
        self.sd = float(np.nanstd(self.base, ddof=1)) if len(self.ids) - self.n_unread > 1 else float("nan")
        self.why = self._hardly_read(self.base) or (ALIKE if not self.sd > 1e-9 else "")
        roles = asked.drop_duplicates("intervention_id").set_index("intervention_id")["role"]
        self.roles = pd.concat([roles[roles == VECTOR], roles[roles != VECTOR]])
        self.changes: dict[str, dict[float, np.ndarray]] = {}
        """Intervention -> magnitude other than 0 -> each item's change from the unsteered score."""
        for name in map(str, self.roles.index):
            steered = asked[(asked["intervention_id"] == name) & (asked["magnitude"] != 0)]
            settings = {at: steered[steered["magnitude"] == at] for at in sorted(set(steered["magnitude"]))}
            self.changes[name] = {at: self._by_item(rows) - self.base for at, rows in settings.items()}

    def _hardly_read(self, scores: np.ndarray) -> str:
        return UNREAD if np.isnan(scores).sum() >= MOST_UNREAD * len(self.ids) else ""

    def _by_item(self, rows: pd.DataFrame) -> np.ndarray:
        """Average the score over the forms of each item, nan where one of them is unread."""
        if rows["form"].nunique() == 1:  # no pivot, which would take most of the time
            return rows.set_index("question_id")["score"].reindex(self.ids).to_numpy(dtype=float)
        forms = rows.pivot(index="question_id", columns="form", values="score").reindex(self.ids)
        return forms.mean(axis=1, skipna=False).to_numpy(dtype=float)

    def cells(self) -> pd.DataFrame:
        """Make one row per intervention and magnitude."""
        rows: list[Mapping[str, Any]] = []
        for (name, role), changes in zip(self.roles.items(), self.changes.values(), strict=True):
            for magnitude, change in changes.items():
                status, lost = self.why or self._hardly_read(change), int(np.isnan(change).sum())
                shift = Estimate() if status else self._standardised(change, role == VECTOR)
                about = {"intervention_id": name, "role": role, "magnitude": magnitude, "status": status}
                number = {"shift": shift.value, "low": shift.low, "high": shift.high}
                rows.append(about | number | {"n": len(self.ids) - lost, "n_unread": lost})
        return pd.DataFrame(rows)

    def _together(self, intervention: str, with_interval: bool = False) -> Estimate:
        """Average over the settings at which enough was read."""
        signed = np.array(
            [
                np.sign(magnitude) * change
                for magnitude, change in self.changes[intervention].items()
                if not (self.why or self._hardly_read(change))
            ]
        )
        if not len(signed):
            return Estimate()
        known = np.isfinite(signed)
        sums, n = np.where(known, signed, 0.0).sum(axis=0), known.sum(axis=0)
        return self._standardised(np.where(n > 0, sums / np.maximum(n, 1), np.nan), with_interval)

    def summary(self) -> dict[str, object]:
        """Make the row of `DialProfile.reports`."""
        vector, *controls = self.changes
        together = self._together(vector, with_interval=True)
        others = np.abs([self._together(name).value for name in controls])
        others = others[~np.isnan(others)]
        as_far = int((others >= abs(together.value)).sum())
        p = (1 + as_far) / (1 + len(others)) if np.isfinite(together.value) else float("nan")
        return {
            "n": len(self.ids),
            "n_unread": self.n_unread,
            "mean": float(np.nanmean(self.base)) if self.n_unread < len(self.ids) else float("nan"),
            "sd": self.sd,
            "together": together.value,
            "low": together.low,
            "high": together.high,
            "p": p,
            "n_controls": len(others),
            "verdict": self.why or _verdict(together, p, len(others)),
        }

    def _standardised(self, change: np.ndarray, with_interval: bool) -> Estimate:
        """Divide the mean change by the standard deviation of the base, with an interval over items where wanted."""
        here, known = np.isfinite(change), np.isfinite(self.base)
        filled, base = np.where(here, change, 0.0), np.where(known, self.base, 0.0)

        def statistic(weights: np.ndarray) -> np.ndarray:
            n, m = weights @ here, weights @ known
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = weights @ base / m
                variance = (weights @ base**2 / m - mean**2) * m / (m - 1)
                value = (weights @ filled / n) / np.sqrt(np.maximum(variance, 0))
            return np.where(variance > 1e-18, value, np.nan)

        shift = float(statistic(np.ones((1, len(base))))[0])
        if not with_interval:
            return Estimate(shift)
        drawn = np.concatenate([statistic(weights) for weights in resampled_weights(*self.drawn)])
        low, high = interval(drawn)
        return Estimate(shift, float(low), float(high))


def _verdict(together: Estimate, p: float, n_controls: int) -> str:
    if not np.isfinite([together.value, together.low, together.high]).all():
        return OPEN
    if together.beyond_zero and p <= LEVEL + 1e-12:
        return MOVES if together.low > 0 else AGAINST
    if together.low > -SMALL and together.high < SMALL:
        return STILL
    return AS_ANY if together.beyond_zero and n_controls >= FEWEST_CONTROLS else OPEN


def _truths(vector: pd.DataFrame) -> pd.DataFrame:
    """Count how often what has a truth is answered rightly; a score above 0 is an affirmative."""
    judged = vector[vector["truth"].notna()]
    known = judged["score"].notna()
    right = ((judged["score"] > 0) == (judged["truth"] == 1)).astype(float).where(known)
    table = judged.assign(right=right).groupby(["report", "magnitude"], sort=False)["right"]
    return table.agg(share="mean", n="count", n_unread=lambda values: int(values.isna().sum())).reset_index()
