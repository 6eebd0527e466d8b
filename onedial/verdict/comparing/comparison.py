"""Several finished runs side by side: what was asked differently, what came out differently, and on which questions.

Two runs are compared on the questions that both asked. Whether one dial does better than another is a paired question:

    turning    a question turns in a run where its answer changes anywhere on the readable range. b of them turn in the
               first run alone, c in the second alone; McNemar's exact test asks whether b = c: p = the two-sided
               binomial probability of b among b + c at 1/2
    agreement  on the test questions of both, d_q = mean over base models of [first agrees] - [second agrees] at the
               magnitudes that each has chosen for each target. Its mean over questions has a 95% interval by Student's
               t; an exact test of one target is McNemar's on the questions where only one of the two agrees. Questions
               on which the two panels hold different answers of a target are left out
    order      Spearman's correlation of the two orders in which questions turn to yes
    at .5      the answers of each at its setting whose yes rate on the shared questions is nearest to .5

No correction is made for the number of pairs or targets; the tables say how many there are.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from safetensors import SafetensorError, safe_open
from scipy import stats

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.files import json_value
from onedial.core.run.configuration import flat
from onedial.panels.panels import panel_from_long
from onedial.panels.splits import TEST
from onedial.stats.estimate import rank_correlation
from onedial.stats.level import QUANTILES_95
from onedial.stats.shares import rates
from onedial.verdict.case import Case, all_answers, sweep_grid
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.dial import Dial
from onedial.verdict.match import dose_response
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import RULE

RATE = 0.5
UNCOMPARED = ("out", "resume")
"""Options that say where a run lies and not what it did."""


@dataclass(frozen=True)
class Comparison:
    """Several runs side by side.

    Attributes:
        differences: index option, a column per run: what is not the same in all of them.
        answers: index run; sentence, reproduced, dial, push, and estimate, low, high of signal, gain, order and rho.
        agreement: target, run, agreement, low, high, status: targets that two runs or more have.
        dose: run, norms (magnitude in residual norms), yes_rate, yes_rate_se, n, n_unread of the test questions.
        pairs: one row per pair of runs; `PAIR_COLUMNS`.
        targets: first, second, target, n (test questions of both on which both are read), first_agrees,
            second_agrees (shares of these n), only_first, only_second (questions on which one alone agrees), p.
        questions: first, second, id, question, first_turns, second_turns (the first magnitude at which the answer
            turns; nan: never), first_says, second_says (at the setting of yes rate .5; 1, 0, nan).
    """

    differences: pd.DataFrame
    answers: pd.DataFrame
    agreement: pd.DataFrame
    dose: pd.DataFrame
    pairs: pd.DataFrame
    targets: pd.DataFrame
    questions: pd.DataFrame

    __repr__ = one_line


PAIR_COLUMNS = [
    *("first", "second", "n_shared", "turn_in_both", "turn_in_first", "turn_in_second", "turn_in_neither", "turn_p"),
    *("cosine", "cosine_layers"),
    *("order", "order_n", "n_differ_at_half", "half_first", "half_second"),
    *("n_test", "n_targets", "agreement_difference", "low", "high", "p"),
]


@dataclass(frozen=True)
class _Told:
    """What is read of one run."""

    run: SweepRun
    grid: Case
    answers: pd.DataFrame
    matches: pd.DataFrame
    verdict: dict[str, Any]


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
    told = {name: _read(run) for name, run in runs.items()}
    pairs, targets, questions = [], [], []
    for first, second in combinations(told, 2):
        pair, own_targets, own_questions = _pair(told[first], told[second])
        names = {"first": first, "second": second}
        pairs.append(names | pair)
        targets.append(own_targets.assign(**names))
        questions.append(own_questions.assign(**names))
    return Comparison(
        differences({name: _asked(each) for name, each in told.items()}),
        pd.DataFrame({name: _answer(each.verdict) for name, each in told.items()}).T.rename_axis("run"),
        _agreement(told),
        pd.concat([_dose(each).assign(run=name) for name, each in told.items()], ignore_index=True),
        pd.DataFrame(pairs, columns=PAIR_COLUMNS),
        pd.concat(targets, ignore_index=True),
        pd.concat(questions, ignore_index=True),
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
    names = np.asarray(models).astype(str)
    by_model = []
    for model in np.unique(names):
        own = apart[known][:, names == model]
        count = (~np.isnan(own)).sum(axis=1)
        by_model.append(np.where(count > 0, np.nansum(own, axis=1) / np.maximum(count, 1), np.nan))
    if known.sum() < 2:
        return math.nan, math.nan, math.nan, math.nan
    values = np.nanmean(np.column_stack(by_model), axis=1)
    mean, error = float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
    if error == 0:
        return mean, mean, mean, 1.0 if mean == 0 else 0.0
    reach = float(stats.t.ppf(QUANTILES_95[1], len(values) - 1)) * error
    return mean, mean - reach, mean + reach, float(2 * stats.t.sf(abs(mean) / error, len(values) - 1))


# ---- one run -----------------------------------------------------------------------------------------------------


def _read(run: SweepRun) -> _Told:
    if not run.is_finished:
        raise InputError(f"{run.path} is not finished; continue it with --resume, or leave it out")
    verdict = run.verdict()
    if verdict["rule"] != RULE:
        raise InputError(
            f"{run.path} was judged by rule {verdict['rule']}, and this version compares runs of rule {RULE}; judge it "
            f"again, which needs no model: python experiments/judge_run.py {run.path}"
        )
    grid = sweep_grid(run.sweep(), run.splits(), run.under_test())
    answers = all_answers(panel_from_long(run.panel()))
    return _Told(run, grid, answers, run.matches(), verdict)


def _asked(told: _Told) -> dict[str, Any]:
    """The configuration, and what became of it."""
    facts, own = told.run.run.manifest.facts.get("model", {}), told.run.interventions().set_index("intervention_id")
    kept = {name: value for name, value in told.run.config.items() if name not in UNCOMPARED and "wandb" not in name}
    entry = own.loc[told.run.under_test()]
    return kept | {
        "subject": facts.get("name"),
        "subject's weights": facts.get("fingerprint") or facts.get("sha256"),
        "vector": told.run.under_test(),
        "layers": list(entry["layers"]),
        "operator": entry["operator"],
        "positions": entry["positions"],
        "questions asked": len(told.grid.questions),
        "targets of the panel": told.answers.shape[1],
    }


def _answer(verdict: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: verdict[name] for name in ("sentence", "reproduced", "dial", "push", "n_eligible", "n_targets")}
    for name in ("signal", "gain", "order"):
        row |= {
            name: verdict[name]["value"],
            f"{name}_low": verdict[name]["low"],
            f"{name}_high": verdict[name]["high"],
        }
    rho = verdict["order"]["rho"]
    return row | {"rho": rho["value"], "rho_low": rho["low"], "rho_high": rho["high"], "p": verdict["signal"]["p"]}


def _dose(told: _Told) -> pd.DataFrame:
    entry = dict(told.run.interventions().set_index("intervention_id").loc[told.run.under_test()])
    per_unit = float(entry["norms_per_unit"])
    dose = dose_response(told.grid)
    dose = dose[dose["split"] == TEST].sort_values("magnitude")
    norms = dose["magnitude"] * (1.0 if math.isnan(per_unit) else per_unit)
    return dose.assign(norms=norms)[["norms", "magnitude", "yes_rate", "yes_rate_se", "n", "n_unread"]]


def _agreement(told: Mapping[str, _Told]) -> pd.DataFrame:
    columns = ["agreement", "agreement_low", "agreement_high", "kappa", "yes_rate", "status", "model"]
    parts = [each.matches[columns].reset_index().assign(run=name) for name, each in told.items()]
    table = pd.concat(parts, ignore_index=True)
    shared = table.groupby("target")["run"].transform("nunique") > 1
    return table[shared].reset_index(drop=True)


# ---- two runs ----------------------------------------------------------------------------------------------------


def _pair(one: _Told, other: _Told) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    shared = one.grid.questions.intersection(other.grid.questions, sort=False)
    rows = [each.grid.questions.get_indexer(shared) for each in (one, other)]
    ease = [each.grid.dial.ease[own] for each, own in zip((one, other), rows, strict=True)]
    turns = [each.grid.dial.n_turns[own] > 0 for each, own in zip((one, other), rows, strict=True)]
    read = ~np.isnan(ease[0]) & ~np.isnan(ease[1])
    half = [_at_half(each.grid, own) for each, own in zip((one, other), rows, strict=True)]
    counts = {
        "turn_in_both": int((turns[0] & turns[1] & read).sum()),
        "turn_in_first": int((turns[0] & ~turns[1] & read).sum()),
        "turn_in_second": int((~turns[0] & turns[1] & read).sum()),
        "turn_in_neither": int((~turns[0] & ~turns[1] & read).sum()),
    }
    targets, difference = _paired_by_target(one, other, shared)
    pair = {
        "n_shared": len(shared),
        **counts,
        "turn_p": mcnemar(counts["turn_in_first"], counts["turn_in_second"]),
        **_cosine(one.run, other.run),
        "order": rank_correlation(ease[0], ease[1]).value,
        "order_n": int(read.sum()),
        "n_differ_at_half": int((np.abs(half[0][0] - half[1][0]) == 1).sum()),
        "half_first": half[0][1],
        "half_second": half[1][1],
        **difference,
    }
    texts = one.run.questions().assign(id=lambda table: table["id"].astype(str)).set_index("id")["question"]
    questions = pd.DataFrame(
        {
            "id": shared.astype(str),
            "question": texts.reindex(shared.astype(str)).to_numpy(),
            "first_turns": _first_turn(one.grid.dial, rows[0]),
            "second_turns": _first_turn(other.grid.dial, rows[1]),
            "first_says": half[0][0],
            "second_says": half[1][0],
        }
    )
    return pair, targets, questions


def _cosine(one: SweepRun, other: SweepRun) -> dict[str, Any]:
    """Of the two vectors, where the model is the same: over the layers that both have, else of one layer each."""
    found = [_directions(each) for each in (one, other)]
    (first, first_model), (second, second_model) = found
    nothing = {"cosine": math.nan, "cosine_layers": ""}
    if not first or not second or first_model != second_model:
        return nothing
    shared = sorted(first.keys() & second.keys())
    pairs = [(layer, layer) for layer in shared] or [(min(first), min(second))]
    if not shared and (len(first) > 1 or len(second) > 1):
        return nothing
    values = [float(first[a] @ second[b] / (np.linalg.norm(first[a]) * np.linalg.norm(second[b]))) for a, b in pairs]
    layers = ", ".join(str(a) if a == b else f"{a} and {b}" for a, b in pairs)
    return {"cosine": float(np.mean(values)), "cosine_layers": layers}


def _directions(run: SweepRun) -> tuple[dict[int, np.ndarray], str]:
    """Layer -> direction of the intervention under test, and the model it was read from; empty without its files."""
    table = run.interventions().set_index("intervention_id")
    names = list(dict(table.loc[run.under_test()])["vectors"])
    directions, model = {}, ""
    for name in names:
        file = run.path / run.vector_file(str(name))
        if not file.is_file():
            return {}, ""
        try:
            with safe_open(file, framework="np") as opened:
                facts = {key: json_value(value) for key, value in (opened.metadata() or {}).items() if key != "format"}
                directions[int(facts["layer"])] = opened.get_tensor("direction").astype(float)
                model = str(facts["model"]["fingerprint"])
        except (SafetensorError, KeyError, json.JSONDecodeError) as error:
            raise InputError(f"{file} is no steering vector ({error}); restore it, or leave the run out") from error
    return directions, model


def _first_turn(dial: Dial, rows: np.ndarray) -> list[float]:
    found = [dial.crossings[row] for row in rows]
    return [float(own[0]) if own is not None and len(own) else math.nan for own in found]


def _at_half(grid: Case, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Answers at the setting whose yes rate on these questions is nearest to .5, and that setting."""
    if not len(rows):
        return np.array([]), math.nan
    answers = grid.answers[rows]
    place = int(np.nan_to_num(np.abs(rates(answers)[0] - RATE), nan=np.inf).argmin())
    return answers[:, place], float(grid.magnitudes[place])


def _paired_by_target(one: _Told, other: _Told, shared: pd.Index) -> tuple[pd.DataFrame, dict[str, Any]]:
    names = [
        target
        for target in one.matches.index.intersection(other.matches.index, sort=False)
        if {one.matches["status"][target], other.matches["status"][target]} <= set(JUDGED)
    ]
    test = [set(each.grid.questions[each.grid.rows(TEST)]) for each in (one, other)]
    questions = pd.Index([question for question in shared if question in test[0] and question in test[1]])
    agrees = [_agrees(each, questions, names) for each in (one, other)]
    given = [each.answers.reindex(index=questions, columns=names).to_numpy(float) for each in (one, other)]
    both = ~np.isnan(agrees[0]) & ~np.isnan(agrees[1]) & (given[0] == given[1])
    lines = []
    for place, target in enumerate(names):
        own = both[:, place]
        first = int((agrees[0][own, place] > agrees[1][own, place]).sum())
        second = int((agrees[0][own, place] < agrees[1][own, place]).sum())
        lines.append(
            {
                "target": target,
                "n": int(own.sum()),
                **{
                    f"{side}_agrees": each[own, place].mean() if own.any() else math.nan
                    for side, each in zip(("first", "second"), agrees, strict=True)
                },
                "only_first": first,
                "only_second": second,
                "p": mcnemar(first, second),
            }
        )
    columns = ["target", "n", "first_agrees", "second_agrees", "only_first", "only_second", "p"]
    told = dict.fromkeys(("agreement_difference", "low", "high", "p"), math.nan)
    if names and len(questions):
        models = [str(one.matches["model"][target]) for target in names]
        known = [np.where(both, each, np.nan) for each in agrees]
        told = dict(zip(told, paired_difference(known[0], known[1], models), strict=True))
    return pd.DataFrame(lines, columns=columns), {"n_test": len(questions), "n_targets": len(names), **told}


def _agrees(told: _Told, questions: pd.Index, targets: Sequence[str]) -> np.ndarray:
    """Question x target: whether the subject agrees at the magnitude that was chosen for the target; nan unknown."""
    answers, rows = told.grid.answers, told.grid.questions.get_indexer(questions)
    given = told.answers.reindex(questions)
    found = np.full((len(questions), len(targets)), np.nan)
    for place, target in enumerate(targets):
        magnitude = float(told.matches["magnitude"][target])
        said = answers[rows, int(np.abs(told.grid.magnitudes - magnitude).argmin())]
        its = given[target].to_numpy(float)
        known = ~np.isnan(said) & ~np.isnan(its)
        found[known, place] = said[known] == its[known]
    return found
