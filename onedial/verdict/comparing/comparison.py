"""Several finished runs side by side: what was asked differently, and what came out differently.

Two runs are compared on the questions that both asked. Whether one dial does better than another is a paired question:

    turning    a question turns in a run where its answer changes anywhere on the readable range. b of them turn in the
               first run alone, c in the second alone; McNemar's exact test asks whether b = c: p = the two-sided
               binomial probability of b among b + c at 1/2
    agreement  on the test questions of both, d_q = mean over base models of [first agrees] - [second agrees] at the
               magnitudes that each has chosen for each target. Its mean over questions has a 95% interval by Student's
               t; an exact test of one target is McNemar's on the questions where only one of the two agrees. Questions
               on which the two panels hold different answers of a target are left out
    order      Spearman's correlation of the two orders in which questions turn to yes

No correction is made for the number of pairs or targets; the tables say how many there are.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from onedial.core.run.configuration import flat
from onedial.panels.panels import panel_from_long
from onedial.panels.splits import TEST
from onedial.stats.estimate import rank_correlation
from onedial.stats.level import QUANTILES_95
from onedial.stats.numbers import model_means
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.match import dose_response
from onedial.verdict.sweep_run import SweepRun

ANSWERS = ("sentence", "reproduced", "dial", "push", "n_eligible", "n_targets")
MATCH_COLUMNS = ["agreement", "agreement_low", "agreement_high", "kappa", "yes_rate", "status", "model"]
TARGET_COLUMNS = ["first", "second", "target", "n", "first_agrees", "second_agrees", "only_first", "only_second", "p"]
DOSE_COLUMNS = ["norms", "magnitude", "yes_rate", "yes_rate_se", "n", "n_unread"]


class ComparedRun:
    """A finished run of `steer_sweep.py`, beside others.

    Raises:
        InputError: as `SweepRun.verdict`.
    """

    def __init__(self, run: SweepRun) -> None:
        self.run, self.verdict, self.matches, tables = run, run.verdict(), run.matches(), run.tables()
        self.case, self.entry = tables.grid.beside(panel_from_long(run.panel())), tables.entries[tables.tested]

    @property
    def asked(self) -> dict[str, Any]:
        """The configuration, and what became of it."""
        subject = self.run.run.manifest.facts.get("model", {})
        return self.run.config | {
            "subject": subject.get("name"),
            "subject's weights": subject.get("fingerprint") or subject.get("sha256"),
            "vector": self.case.intervention,
            "layers": list(self.entry["layers"]),
            "operator": self.entry["operator"],
            "positions": self.entry["positions"],
            "questions asked": len(self.case.questions),
            "targets of the panel": len(self.case.targets),
        }

    @property
    def answer(self) -> dict[str, Any]:
        """The three answers, and the numbers below them."""
        verdict = self.verdict
        row = {name: getattr(verdict, name) for name in ANSWERS}
        row |= verdict.signal.columns("signal") | verdict.gain.columns("gain") | verdict.order.columns("order")
        return row | verdict.order.rho.columns("rho") | {"p": verdict.signal.p}

    @property
    def dose(self) -> pd.DataFrame:
        """Yes rates of the test questions against the push in residual norms."""
        dose = dose_response(self.case)
        dose = dose[dose["split"] == TEST].sort_values("magnitude")
        return dose.assign(norms=dose["magnitude"] * self.case.norms_per_unit)[DOSE_COLUMNS]

    def agrees(self, questions: pd.Index, targets: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Question x target: the panel's answers, and whether the subject agrees at the magnitude that was chosen for
        the target; nan where either is not known."""
        case, rows = self.case, self.case.questions.get_indexer(questions)
        columns = case.targets.get_indexer(pd.Index(targets))
        given, said = case.given[rows][:, columns], case.answers[rows][:, case.chosen.best[columns]]
        return given, np.where(np.isnan(said) | np.isnan(given), np.nan, said == given)


class Comparison:
    """Several runs side by side, each table made when it is first asked for.

    Args:
        runs: name -> run of `steer_sweep.py`, two or more, in the order in which they are shown.

    Raises:
        InputError: a run is not finished, or was judged by another rule.

    >>> run = SweepRun.open("tests/reference/golden/default")
    >>> Comparison({"one": run, "again": run}).pairs[["first", "second"]].to_numpy().tolist()
    [['one', 'again']]
    """

    def __init__(self, runs: Mapping[str, SweepRun]) -> None:
        self.runs = {name: ComparedRun(run) for name, run in runs.items()}

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Index option, a column per run: what is not the same in all of them."""
        return differences({name: run.asked for name, run in self.runs.items()})

    @cached_property
    def answers(self) -> pd.DataFrame:
        """Index run; sentence, reproduced, dial, push, and signal, gain, order and rho with their ends."""
        return pd.DataFrame({name: run.answer for name, run in self.runs.items()}).T.rename_axis("run")

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """target, `MATCH_COLUMNS`, run: targets that two runs or more have."""
        tables = [run.matches[MATCH_COLUMNS].reset_index().assign(run=name) for name, run in self.runs.items()]
        table = pd.concat(tables)
        return table[table.groupby("target")["run"].transform("nunique") > 1].reset_index(drop=True)

    @cached_property
    def dose(self) -> pd.DataFrame:
        """run, norms (magnitude in residual norms), yes_rate, yes_rate_se, n, n_unread of the test questions."""
        return pd.concat([run.dose.assign(run=name) for name, run in self.runs.items()], ignore_index=True)

    @property
    def pairs(self) -> pd.DataFrame:
        """One row per pair of runs: first, second, n_shared, turn_in_*, turn_p, order, order_n, n_test, n_targets,
        agreement_difference, low, high, p."""
        return pd.DataFrame([pair for pair, _ in self._pairs])

    @property
    def targets(self) -> pd.DataFrame:
        """first, second, target, n (test questions of both on which both are read), first_agrees, second_agrees
        (shares of these n), only_first, only_second (questions on which one alone agrees), p."""
        return pd.concat([targets for _, targets in self._pairs], ignore_index=True)

    @cached_property
    def _pairs(self) -> list[tuple[dict[str, Any], pd.DataFrame]]:
        pairs = []
        for first, second in combinations(self.runs, 2):
            pair, targets = beside_each_other(self.runs[first], self.runs[second])
            names = {"first": first, "second": second}
            pairs.append((names | pair, targets.assign(**names)[TARGET_COLUMNS]))
        return pairs


def differences(configurations: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What is not the same in all configurations: index option (dotted), a column per run; None where one lacks it."""
    flattened = {name: dict(flat(values)) for name, values in configurations.items()}
    options = list(dict.fromkeys(option for values in flattened.values() for option in values))
    rows = {option: [values.get(option) for values in flattened.values()] for option in options}
    apart = {option: values for option, values in rows.items() if any(value != values[0] for value in values)}
    return pd.DataFrame.from_dict(apart, orient="index", columns=list(flattened), dtype=object).rename_axis("option")


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p of McNemar's test; 1 where no pair differs.

    R: binom.test(b, b + c)$p.value. Source: McNemar (1947), Psychometrika 12.

    >>> round(mcnemar(1, 9), 3)
    0.021
    """
    n = only_first + only_second
    return float(stats.binomtest(only_first, n).pvalue) if n else 1.0


def paired_difference(
    first: np.ndarray, second: np.ndarray, models: Sequence[str]
) -> tuple[float, float, float, float]:
    """Mean, 95% interval and two-sided p of how much more often the first agrees, over questions.

    Args:
        first, second: question x target, 1.0 where the run agrees, 0.0 where not, nan where either is not known.
        models: base model of each target; targets of one model are averaged first.

    Returns:
        mean, low, high, p by Student's t over questions; nan where fewer than two questions are known.

    >>> first, second = np.ones((40, 2)), np.tile([[1.0, 0.0]], (40, 1))
    >>> first[:5] = 0
    >>> round(paired_difference(first, second, ["a", "b"])[0], 2)
    0.38
    """
    apart = first - second
    known = ~np.isnan(apart).all(axis=1)
    if known.sum() < 2:
        return math.nan, math.nan, math.nan, math.nan
    values = np.nanmean(model_means(apart[known], np.asarray(models).astype(str)), axis=1)
    mean, error = float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
    if error == 0:
        return mean, mean, mean, 1.0 if mean == 0 else 0.0
    reach = float(stats.t.ppf(QUANTILES_95[1], len(values) - 1)) * error
    return mean, mean - reach, mean + reach, float(2 * stats.t.sf(abs(mean) / error, len(values) - 1))


def beside_each_other(one: ComparedRun, other: ComparedRun) -> tuple[dict[str, Any], pd.DataFrame]:
    """The row of a pair, and of each target that both judge."""
    runs = (one, other)
    shared = one.case.questions.intersection(other.case.questions, sort=False)
    rows = [run.case.questions.get_indexer(shared) for run in runs]
    ease = [run.case.dial.ease[places] for run, places in zip(runs, rows, strict=True)]
    turns = [run.case.dial.n_turns[places] > 0 for run, places in zip(runs, rows, strict=True)]
    read = ~np.isnan(ease[0]) & ~np.isnan(ease[1])
    turning = {
        "both": turns[0] & turns[1], "first": turns[0] & ~turns[1], "second": ~turns[0] & turns[1],
        "neither": ~turns[0] & ~turns[1],
    }  # fmt: skip
    turned = {f"turn_in_{which}": int((mask & read).sum()) for which, mask in turning.items()}
    judged = [set(run.matches.index[run.matches["status"].isin(JUDGED)]) for run in runs]
    names = [str(target) for target in one.matches.index if target in judged[0] & judged[1]]
    tested = [run.case.test[places] for run, places in zip(runs, rows, strict=True)]
    questions = shared[tested[0] & tested[1]]
    (given, first), (other_given, second) = (run.agrees(questions, names) for run in runs)
    known = (given == other_given) & ~np.isnan(first) & ~np.isnan(second)
    first, second = np.where(known, first, np.nan), np.where(known, second, np.nan)
    only_first, only_second = (first > second).sum(axis=0), (first < second).sum(axis=0)
    n = known.sum(axis=0)
    table = pd.DataFrame({"target": names, "n": n})
    for name, agrees in (("first_agrees", first), ("second_agrees", second)):
        table[name] = np.nansum(agrees, axis=0) / np.where(n > 0, n, np.nan)
    table = table.assign(only_first=only_first, only_second=only_second)
    table["p"] = [mcnemar(int(b), int(c)) for b, c in zip(only_first, only_second, strict=True)]
    paired = (math.nan,) * 4
    if names and len(questions):
        paired = paired_difference(first, second, one.matches.loc[names, "model"].astype(str).tolist())
    return {
        "n_shared": len(shared),
        **turned,
        "turn_p": mcnemar(turned["turn_in_first"], turned["turn_in_second"]),
        "order": rank_correlation(*ease).value,
        "order_n": int(read.sum()),
        "n_test": len(questions),
        "n_targets": len(names),
        **dict(zip(("agreement_difference", "low", "high", "p"), paired, strict=True)),
    }, table
