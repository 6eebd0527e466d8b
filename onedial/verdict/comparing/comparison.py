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
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.run.configuration import flat
from onedial.panels.panels import panel_from_long
from onedial.panels.splits import TEST
from onedial.stats.estimate import rank_correlation
from onedial.stats.level import QUANTILES_95
from onedial.stats.numbers import model_means
from onedial.verdict.case import Case, all_answers, sweep_grid
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.match import dose_response
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import RULE

UNCOMPARED = ("out", "resume")
"""Options that say where a run lies and not what it did."""
SIDES = ("first", "second")
TARGET_COLUMNS = ["first", "second", "target", "n", "first_agrees", "second_agrees", "only_first", "only_second", "p"]


@dataclass(frozen=True)
class Comparison:
    """Several runs side by side.

    Attributes:
        differences: index option, a column per run: what is not the same in all of them.
        answers: index run; sentence, reproduced, dial, push, and estimate, low, high of signal, gain, order and rho.
        agreement: target, run, agreement, low, high, status: targets that two runs or more have.
        dose: run, norms (magnitude in residual norms), yes_rate, yes_rate_se, n, n_unread of the test questions.
        pairs: one row per pair of runs: first, second, n_shared, turn_in_*, turn_p, order, order_n, n_test, n_targets,
            agreement_difference, low, high, p.
        targets: first, second, target, n (test questions of both on which both are read), first_agrees,
            second_agrees (shares of these n), only_first, only_second (questions on which one alone agrees), p.
    """

    differences: pd.DataFrame
    answers: pd.DataFrame
    agreement: pd.DataFrame
    dose: pd.DataFrame
    pairs: pd.DataFrame
    targets: pd.DataFrame

    __repr__ = one_line


class _Compared:
    """What is read of one run.

    Raises:
        InputError: it is not finished, or was judged by another rule.
    """

    def __init__(self, run: SweepRun) -> None:
        if not run.is_finished:
            raise InputError(f"{run.path} is not finished; continue it with --resume, or leave it out")
        self.run, self.verdict = run, run.verdict()
        if self.verdict["rule"] != RULE:
            raise InputError(
                f"{run.path} was judged by rule {self.verdict['rule']}, and this version compares runs of rule {RULE}; "
                f"judge it again, which needs no model: python experiments/judge_run.py {run.path}"
            )
        entries = run.interventions().to_dict("records")
        self.entry = next(each for each in entries if each["intervention_id"] == run.under_test())

    @cached_property
    def grid(self) -> Case:
        return sweep_grid(self.run.sweep(), self.run.splits(), self.run.under_test())

    @cached_property
    def given(self) -> pd.DataFrame:
        return all_answers(panel_from_long(self.run.panel()))

    @cached_property
    def matches(self) -> pd.DataFrame:
        return self.run.matches()

    @property
    def asked(self) -> dict[str, Any]:
        """The configuration, and what became of it."""
        facts = self.run.run.manifest.facts.get("model", {})
        kept = {
            name: value for name, value in self.run.config.items() if name not in UNCOMPARED and "wandb" not in name
        }
        return kept | {
            "subject": facts.get("name"),
            "subject's weights": facts.get("fingerprint") or facts.get("sha256"),
            "vector": self.run.under_test(),
            "layers": list(self.entry["layers"]),
            "operator": self.entry["operator"],
            "positions": self.entry["positions"],
            "questions asked": len(self.grid.questions),
            "targets of the panel": self.given.shape[1],
        }

    @property
    def answer(self) -> dict[str, Any]:
        """The three answers, and the numbers below them."""
        verdict = self.verdict
        row = {name: verdict[name] for name in ("sentence", "reproduced", "dial", "push", "n_eligible", "n_targets")}
        numbers = {name: verdict[name] for name in ("signal", "gain", "order")} | {"rho": verdict["order"]["rho"]}
        for name, number in numbers.items():
            row |= {name: number["value"], f"{name}_low": number["low"], f"{name}_high": number["high"]}
        return row | {"p": verdict["signal"]["p"]}

    @property
    def dose(self) -> pd.DataFrame:
        """Yes rates of the test questions against the push in residual norms."""
        per_unit = float(self.entry["norms_per_unit"])
        dose = dose_response(self.grid)
        dose = dose[dose["split"] == TEST].sort_values("magnitude")
        norms = dose["magnitude"] * (1.0 if math.isnan(per_unit) else per_unit)
        return dose.assign(norms=norms)[["norms", "magnitude", "yes_rate", "yes_rate_se", "n", "n_unread"]]

    def agrees(self, questions: pd.Index, targets: Sequence[str]) -> np.ndarray:
        """Question x target: whether the subject agrees at the magnitude chosen for the target; nan unknown."""
        rows, magnitudes = self.grid.questions.get_indexer(questions), self.matches["magnitude"].loc[list(targets)]
        columns = [int(np.abs(self.grid.magnitudes - at).argmin()) for at in magnitudes.to_numpy(float)]
        said = self.grid.answers[rows][:, columns]
        given = self.given.reindex(index=questions, columns=list(targets)).to_numpy(float)
        return np.where(np.isnan(said) | np.isnan(given), np.nan, said == given)


def compare_runs(runs: Mapping[str, SweepRun]) -> Comparison:
    """Set finished runs of `steer_sweep.py` side by side.

    Args:
        runs: name -> run, two or more, in the order in which they are shown.

    Raises:
        InputError: fewer than two runs, or one that is not finished or was judged by another rule.

    >>> run = SweepRun.open("tests/reference/golden/default")
    >>> compare_runs({"one": run, "again": run}).pairs[["first", "second"]].to_numpy().tolist()
    [['one', 'again']]
    """
    if len(runs) < 2:
        raise InputError(f"a comparison takes two runs or more, and {len(runs)} came; name their folders")
    read = {name: _Compared(run) for name, run in runs.items()}
    pairs, targets = [], []
    for names in combinations(read, 2):
        named = dict(zip(SIDES, names, strict=True))
        pair, by_target = _pair(*(read[name] for name in names))
        pairs.append(named | pair)
        targets.append(by_target.assign(**named)[TARGET_COLUMNS])
    columns = ["agreement", "agreement_low", "agreement_high", "kappa", "yes_rate", "status", "model"]
    agreement = pd.concat([each.matches[columns].reset_index().assign(run=name) for name, each in read.items()])
    shared = agreement.groupby("target")["run"].transform("nunique") > 1
    return Comparison(
        differences({name: each.asked for name, each in read.items()}),
        pd.DataFrame({name: each.answer for name, each in read.items()}).T.rename_axis("run"),
        agreement[shared].reset_index(drop=True),
        pd.concat([each.dose.assign(run=name) for name, each in read.items()], ignore_index=True),
        pd.DataFrame(pairs),
        pd.concat(targets, ignore_index=True),
    )


def differences(configurations: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What is not the same in all configurations: index option (dotted), a column per run; None where one lacks it."""
    told = {name: dict(flat(values)) for name, values in configurations.items()}
    options = list(dict.fromkeys(option for values in told.values() for option in values))
    rows = {option: [values.get(option) for values in told.values()] for option in options}
    kept = {option: values for option, values in rows.items() if any(value != values[0] for value in values)}
    return pd.DataFrame.from_dict(kept, orient="index", columns=list(told), dtype=object).rename_axis("option")


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


def _pair(one: _Compared, other: _Compared) -> tuple[dict[str, Any], pd.DataFrame]:
    """The row of a pair, and of each target that both judge."""
    shared = one.grid.questions.intersection(other.grid.questions, sort=False)
    places = [each.grid.questions.get_indexer(shared) for each in (one, other)]
    ease, other_ease = one.grid.dial.ease[places[0]], other.grid.dial.ease[places[1]]
    turns, other_turns = one.grid.dial.n_turns[places[0]] > 0, other.grid.dial.n_turns[places[1]] > 0
    read = ~np.isnan(ease) & ~np.isnan(other_ease)
    only = [int((turns & ~other_turns & read).sum()), int((~turns & other_turns & read).sum())]
    names = [
        target
        for target in one.matches.index.intersection(other.matches.index, sort=False)
        if {one.matches["status"][target], other.matches["status"][target]} <= set(JUDGED)
    ]
    tested = one.grid.questions[one.grid.test].intersection(other.grid.questions[other.grid.test])
    questions = shared[shared.isin(tested)]
    given = [each.given.reindex(index=questions, columns=names).to_numpy(float) for each in (one, other)]
    agrees = [np.where(given[0] == given[1], each.agrees(questions, names), np.nan) for each in (one, other)]
    both = ~np.isnan(agrees[0]) & ~np.isnan(agrees[1])
    agrees = [np.where(both, each, np.nan) for each in agrees]
    lines = []
    for target, first, second in zip(names, agrees[0].T, agrees[1].T, strict=True):
        n, alone = int((~np.isnan(first)).sum()), (int((first > second).sum()), int((first < second).sum()))
        shares = (float(np.nanmean(own)) if n else math.nan for own in (first, second))
        lines.append((target, n, *shares, *alone, mcnemar(*alone)))
    paired = (math.nan,) * 4
    if names and len(questions):
        paired = paired_difference(agrees[0], agrees[1], [str(one.matches["model"][target]) for target in names])
    return {
        "n_shared": len(shared),
        "turn_in_both": int((turns & other_turns & read).sum()),
        "turn_in_first": only[0],
        "turn_in_second": only[1],
        "turn_in_neither": int((~turns & ~other_turns & read).sum()),
        "turn_p": mcnemar(*only),
        "order": rank_correlation(ease, other_ease).value,
        "order_n": int(read.sum()),
        "n_test": len(questions),
        "n_targets": len(names),
        **dict(zip(("agreement_difference", "low", "high", "p"), paired, strict=True)),
    }, pd.DataFrame(lines, columns=TARGET_COLUMNS[2:])
