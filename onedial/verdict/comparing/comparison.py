"""Several finished runs side by side: what was asked differently, and what came out differently.

Every run's verdict is a row of one table, and every run but the first is set beside the first, on the questions that
both asked:

    agreement  on the test questions of both, d_q = mean over base models of [run agrees] - [first agrees] at the
               magnitudes that each has chosen for each target that both judge. Its mean over questions has a 95%
               interval by Student's t. Questions on which the two panels hold different answers of a target are left
               out
    order      Spearman's correlation of the two orders in which questions turn to yes

What is told of all of them is the median over runs and the worst. Runs that share questions and targets share their
luck, so that their spread is no interval. No correction is made for the number of runs; the table says how many.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from onedial.core.errors import InputError
from onedial.core.run.configuration import flat
from onedial.panels.panels import panel_from_long
from onedial.stats.estimate import rank_correlation, without_zero
from onedial.stats.level import QUANTILES_95
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.numbers import model_means
from onedial.verdict.sweep_run import SweepRun

NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
"""Columns of `Verdict.row` that are told of all runs -> what they are called."""


class ComparedRun:
    """A finished run of `steer_sweep.py`, beside others.

    Raises:
        InputError: as `SweepRun.verdict`; or the run has no panel.
    """

    def __init__(self, run: SweepRun) -> None:
        if not run.has_panel:
            raise InputError(
                f"{run.path} was made without a panel, so there is no verdict to compare; set it beside one first: "
                f"onedial judge {run.path} --panel PANEL"
            )
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
        """The verdict as a row: its sentence, three answers and numbers, and of how many targets it is."""
        verdict = self.verdict
        about = {"sentence": verdict.sentence, "push": verdict.push, "is_judged": verdict.is_judged}
        return about | {"judged": f"{verdict.n_eligible} of {verdict.n_targets}"} | verdict.row()

    def agrees(self, questions: pd.Index, targets: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Question x target: the panel's answers, and whether the subject agrees at the magnitude that was chosen for
        the target; nan where either is not known."""
        case, rows = self.case, self.case.questions.get_indexer(questions)
        columns = case.targets.get_indexer(pd.Index(targets))
        given, answers = case.given[rows][:, columns], case.answers[rows][:, case.chosen.best[columns]]
        return given, np.where(np.isnan(answers) | np.isnan(given), np.nan, answers == given)


class Comparison:
    """Several runs side by side, each table made when it is first asked for.

    Args:
        runs: name -> run of `steer_sweep.py`, two or more, in the order in which they are shown.

    Raises:
        InputError: a run is not finished, or was judged by another rule.

    >>> run = SweepRun.open("tests/reference/golden/default")
    >>> Comparison({"one": run, "again": run}).beside_first["agreement_difference"].to_dict()
    {'again': 0.0}
    """

    def __init__(self, runs: Mapping[str, SweepRun]) -> None:
        self.runs = {name: ComparedRun(run) for name, run in runs.items()}

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Index option, a column per run: what is not the same in all of them."""
        return differences({name: run.asked for name, run in self.runs.items()})

    @cached_property
    def answers(self) -> pd.DataFrame:
        """Index run; `ComparedRun.answer`."""
        return pd.DataFrame({name: run.answer for name, run in self.runs.items()}).T.rename_axis("run")

    @cached_property
    def beside_first(self) -> pd.DataFrame:
        """Index run, the first left out: n_shared questions, n_targets and n_test questions that the difference rests
        on, agreement_difference (this run minus the first) with low, high and p, order with order_n."""
        first, *others = self.runs.values()
        rows = [beside_each_other(first, run) for run in others]
        return pd.DataFrame(rows, index=pd.Index(list(self.runs)[1:], name="run"))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The first run's numbers, median and worst of all that could be judged, how often each answer is given, and
        one sentence."""
        answers = self.answers
        judged, first = answers[answers["is_judged"].astype(bool)], answers.iloc[0]
        numbers = {name: _spread(judged[name].astype(float), float(first[name])) for name in NUMBERS}
        same = {name: int((judged[name] == first[name]).sum()) for name in ("reproduced", "dial")}
        counts = {name: answers[name].value_counts().to_dict() for name in same}
        counted = {"n_runs": len(answers), "n_judged": len(judged), "numbers": numbers, "answers": counts, "same": same}
        return counted | {"sentence": self._sentence(len(judged), numbers, same, first)}

    def _sentence(
        self, n_judged: int, numbers: Mapping[str, Any], same: Mapping[str, int], first: "pd.Series[Any]"
    ) -> str:
        if not n_judged:
            return f"none of {len(self.runs)} runs can be judged"
        signal, table = numbers["signal"], self.beside_first
        apart = [name for name, row in table.iterrows() if row["low"] > 0 or row["high"] < 0]
        first_name = next(iter(self.runs))
        answer = f'"{first["reproduced"]}" holds in {same["reproduced"]} of {n_judged} runs that can be judged'
        spread = "S is {first} in {name}, {median} in the median and {worst} in the worst ({worst_run})".format(
            name=first_name,
            worst_run=signal["worst_run"],
            **{name: without_zero(signal[name], ".3f") for name in ("first", "median", "worst")},
        )
        differs = f"{len(apart)} of {len(table)} agree with the targets more or less often than {first_name} does"
        orders = [without_zero(order, ".2f") for order in sorted(table["order"].dropna())]
        ends = " to ".join(orders[:: len(orders) - 1 or 1])
        alike = f"; their orders of the questions correlate with its by {ends}" if ends else ""
        return f"{answer} (of {len(self.runs)}); {spread}; {differs}{alike}"


def _spread(values: pd.Series, first: float) -> dict[str, Any]:
    known = values.dropna()
    worst = str(known.idxmin()) if len(known) else ""
    ends = {"median": float(known.median()), "worst": float(known.min()), "best": float(known.max())}
    return {"first": first, **ends, "worst_run": worst}


def differences(configurations: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What is not the same in all configurations: index option (dotted), a column per run; None where one lacks it."""
    flattened = {name: dict(flat(values)) for name, values in configurations.items()}
    options = list(dict.fromkeys(option for values in flattened.values() for option in values))
    rows = {option: [values.get(option) for values in flattened.values()] for option in options}
    apart = {option: values for option, values in rows.items() if any(value != values[0] for value in values)}
    return pd.DataFrame.from_dict(apart, orient="index", columns=list(flattened), dtype=object).rename_axis("option")


def paired_difference(
    first: np.ndarray, second: np.ndarray, models: Sequence[str]
) -> tuple[float, float, float, float]:
    """Test how much more often the first agrees, over questions: mean, 95% interval and two-sided p.

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


def beside_each_other(first: ComparedRun, run: ComparedRun) -> dict[str, Any]:
    """Make a row of `Comparison.beside_first`."""
    runs = (run, first)
    shared = first.case.questions.intersection(run.case.questions, sort=False)
    rows = [each.case.questions.get_indexer(shared) for each in runs]
    ease = [each.case.dial.ease[places] for each, places in zip(runs, rows, strict=True)]
    judged = [set(each.matches.index[each.matches["status"].isin(JUDGED)]) for each in runs]
    names = [str(target) for target in first.matches.index if target in judged[0] & judged[1]]
    tested = [each.case.test[places] for each, places in zip(runs, rows, strict=True)]
    questions = shared[tested[0] & tested[1]]
    (given, one), (first_given, other) = (each.agrees(questions, names) for each in runs)
    known = (given == first_given) & ~np.isnan(one) & ~np.isnan(other)
    paired = (math.nan,) * 4
    if names and len(questions):
        models = first.matches.loc[names, "model"].astype(str).tolist()
        paired = paired_difference(np.where(known, one, np.nan), np.where(known, other, np.nan), models)
    order = rank_correlation(*ease)
    return {
        "n_shared": len(shared),
        "n_targets": len(names),
        "n_test": len(questions),
        **dict(zip(("agreement_difference", "low", "high", "p"), paired, strict=True)),
        "order": order.value,
        "order_n": order.n,
    }
