"""The same claim under other choices: what of the verdict is owed to how the vector happened to be made?

A *universe* is one set of choices: layer, contrast, wording of the question, and the draw of questions that the vector
is made from. The first is the run as it would have been made; every other differs from it in one of them. Each is
judged by the rule of the verdict (`verdict`), on the same questions, splits and targets:

    signal      S, mean kappa at matched yes rates, with its p
    order_gain  C_A, gain of the dial's order over the unsteered margin of the same wording
    rho_dial    Spearman's correlation of the two orders

What is told is the median over universes and the worst (lowest) of them. Universes share questions and targets, and
those that differ in one choice share the others, so that their spread is no interval: it says how far the choice
matters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.verdict import CANNOT_BE_JUDGED, OPEN, judge

AXES = {"layer": "layer", "contrast": "contrast", "wording": "wording", "resample": "questions drawn"}
"""Choice -> what it is called."""
NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
RESULT_COLUMNS = [
    "signal", "signal_low", "signal_high", "signal_p", "gain", "gain_low", "gain_high", "order_gain", "order_gain_low",
    "order_gain_high", "rho_dial", "rho_dial_low", "rho_dial_high", "turning", "push", "low", "high", "yes_rate",
    "unread", "reach", "n_judged", "judged", "reproduced", "dial",
]  # fmt: skip
"""`push`: residual norms from a yes rate of .1 to .9; `low`, `high`: ends of the range; `yes_rate`, `unread`: without
steering, of all questions asked; `judged`: whether the first answer is another than "cannot be judged"."""
AS_RUN = "as run"
GRID_POINTS = 41
"""Magnitudes to choose from, as many as a sweep has."""


@dataclass(frozen=True)
class Universe:
    """One set of choices.

    Attributes:
        layer: after which the vector is added. contrast: what it is made of. wording: name of the prompt.
        resample: which draw of the extraction questions; 0: each of them once, as in a run.
    """

    layer: int
    contrast: str
    wording: str
    resample: int = 0

    @property
    def universe_id(self) -> str:
        """Names it among the files of a run; wordings are told apart by the folder."""
        return f"L{self.layer}-{self.contrast}-{self.resample}"

    def varied(self, base: "Universe") -> str:
        """The axis on which it is another than the first; "" for the first."""
        return " ".join(axis for axis in AXES if getattr(self, axis) != getattr(base, axis))

    def name(self, base: "Universe") -> str:
        """What sets it apart from the first, for people."""
        words = {"": AS_RUN, "layer": f"layer {self.layer}", "contrast": f"{self.contrast} contrast"}
        words |= {"wording": self.wording.removeprefix(f"{base.wording}, "), "resample": f"draw {self.resample}"}
        return words[self.varied(base)]


def universes_of(
    layers: Sequence[int], contrasts: Sequence[str], wordings: Sequence[str], n_resamples: int, own_layer: int
) -> list[Universe]:
    """The universes, the run as it would have been made first: its layer, and the first contrast and wording.

    >>> [universe.layer for universe in universes_of([10, 12], ["response"], ["as run"], 0, own_layer=10)]
    [10, 12]
    """
    base = Universe(own_layer, contrasts[0], wordings[0])
    levels: dict[str, Sequence[Any]] = {"layer": layers, "contrast": contrasts, "wording": wordings}
    levels["resample"] = range(1, n_resamples + 1)
    changed = [replace(base, **{axis: level}) for axis, values in levels.items() for level in values]
    return list(dict.fromkeys([base, *changed]))


def laid_even(case: Case) -> Case:
    """A universe's few magnitudes as a sweep would have laid them: even in yes rate.

    Between two magnitudes that were asked a margin is taken for straight, so that the dial says where each answer turns
    (`dial`). The new magnitudes lie in the middle between neighbouring turns of fitting questions. Margins are +1 where
    the answer is yes there and -1 where it is no; at 0 they stay as they were read.

    Args:
        case: of `case.sweep_grid`.

    >>> from onedial.verdict.case import sweep_grid
    >>> rng, ids = np.random.default_rng(0), [f"q{number:03}" for number in range(120)]
    >>> turns = rng.uniform(-1, 1, 120)
    >>> rows = [(q, m, m - turn, 1.0) for q, turn in zip(ids, turns) for m in (-1.0, 0.0, 1.0)]
    >>> splits = pd.Series(["fitting", "test", "test"] * 40, index=ids)
    >>> case = laid_even(sweep_grid(pd.DataFrame(rows, columns=["question_id", "magnitude", "margin", "mass"]), splits))
    >>> said = pd.DataFrame({"gpt-x": (turns < 0) * 1.0}, index=ids)
    >>> judge_universe(case.beside(said, n_resamples=19))["n_judged"]
    1
    """
    dial = case.dial
    turns = [turn for turn, fitting in zip(dial.crossings, case.fitting, strict=True) if fitting and turn is not None]
    points = np.unique(np.concatenate([[dial.low], *turns, [dial.high]]))
    middles = np.concatenate([[dial.low], (points[:-1] + points[1:]) / 2, [dial.high]])
    even = np.linspace(0, len(middles) - 1, min(GRID_POINTS - 1, len(middles))).round().astype(int)
    magnitudes = np.unique(np.concatenate([[0.0], middles[even]]))
    answers, zero = dial.answers_at(magnitudes), magnitudes == 0.0
    margins, masses = 2 * answers - 1, np.where(np.isnan(answers), 0.0, 1.0)
    masses[:, zero] = case.masses[:, [case.unsteered]]
    margins[:, zero] = case.margins[:, [case.unsteered]]
    return Case(dial.questions, case.splits, magnitudes, margins, masses, turns=dial)


def judge_universe(case: Case) -> dict[str, Any]:
    """What the verdict says of one universe: `RESULT_COLUMNS`.

    Args:
        case: of `laid_even`, beside the panel.
    """
    verdict, unsteered = judge(case), case.margins[:, case.unsteered]
    rate, n = rates(np.where(np.isnan(unsteered), np.nan, unsteered > 0))
    row = verdict.row() | {
        "turning": verdict.order.turning,
        "push": verdict.direction.vector["push"],
        "low": case.dial.low,
        "high": case.dial.high,
        "yes_rate": float(rate),
        "unread": float(1 - n / len(unsteered)),
        "reach": verdict.reach,
        "n_judged": verdict.n_eligible,
        "judged": verdict.reproduced != CANNOT_BE_JUDGED,
    }
    return {name: row[name] for name in RESULT_COLUMNS}


def no_result() -> dict[str, Any]:
    """The row of a universe whose vector could not be made.

    >>> no_result()["reproduced"]
    'cannot be judged'
    """
    nothing: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS, float("nan"))
    return nothing | {"n_judged": 0, "judged": False, "reproduced": CANNOT_BE_JUDGED, "dial": OPEN}


def multiverse_table(universes: Sequence[Universe], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per universe, index its name; `AXES`, `varied` (the axis on which it differs) and what `rows` hold.

    >>> from onedial.verdict import no_result, universes_of
    >>> universes = universes_of([10, 12], ["response"], ["as run"], 0, own_layer=10)
    >>> multiverse_table(universes, [no_result()] * 2)["layer"].tolist()
    [10, 12]
    """
    base = universes[0]
    lines = [
        asdict(universe) | {"varied": universe.varied(base)} | dict(row)
        for universe, row in zip(universes, rows, strict=True)
    ]
    return pd.DataFrame(lines, index=pd.Index([universe.name(base) for universe in universes], name="universe"))


def axes_table(table: pd.DataFrame) -> pd.DataFrame:
    """How far each choice matters: number, axis, n universes that differ in it alone (the first among them), and
    spread, the largest minus the smallest value among these."""
    rows = []
    for number in NUMBERS:
        for axis in AXES:
            known = table.loc[table["varied"].isin(["", axis]), number].dropna()
            if len(known) > 1:
                rows.append((number, axis, len(known), float(known.max() - known.min())))
    return pd.DataFrame(rows, columns=["number", "axis", "n", "spread"])


def multiverse_summary(table: pd.DataFrame) -> dict[str, Any]:
    """Median and worst of each number, how often each answer is given, and one sentence.

    Universes that cannot be judged are counted, and are in no median.

    Args:
        table: of `multiverse_table`.

    >>> from onedial.verdict import multiverse_table, no_result, universes_of
    >>> universes = universes_of([10, 12], ["response"], ["as run"], 0, own_layer=10)
    >>> multiverse_summary(multiverse_table(universes, [no_result()] * 2))["sentence"][:20]
    'none of 2 universes '
    """
    judged, first = table[table["judged"].astype(bool)], table.iloc[0]
    numbers, medians = {}, []
    for name, letter in NUMBERS.items():
        values, signed = judged[name].dropna(), "+" if name == "order_gain" else ""
        median, worst = float(values.median()), float(values.min())
        where = str(values.idxmin()) if len(values) else ""
        numbers[name] = {"as_run": float(first[name]), "median": median, "worst": worst, "worst_universe": where}
        numbers[name]["best"] = float(values.max())
        medians.append(f"{letter} {median:{signed}.3f} (worst {worst:{signed}.3f}, {where})")
    answers = {column: table[column].value_counts().to_dict() for column in ("reproduced", "dial")}
    n, same = len(judged), {column: int((judged[column] == first[column]).sum()) for column in answers}
    sentence = (
        f"over {len(table)} universes, {n} of which can be judged, the median is {'; '.join(medians)}; "
        f'"{first["reproduced"]}" holds in {same["reproduced"]} of {n}, "{first["dial"]}" in {same["dial"]}'
    )
    return {
        "n_universes": len(table),
        "n_judged": n,
        "numbers": numbers,
        "answers": answers,
        "same": same,
        "axes": axes_table(judged).to_dict("records"),
        "sentence": sentence if n else f"none of {len(table)} universes can be judged",
    }
