"""From the tables of a run to its matches, rivals, controls, factor and verdict: pure functions, nothing is read
here."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.asking import DRAWN_ROLES, controls_of, under_test
from onedial.core import InputError, notice, one_line
from onedial.panels import TEST, ResponseMatrix, correctness_of, counts_of_samples, wordings_of
from onedial.scale import FactorModel, Simulated, fit_factor_model, quadratic_fit_test
from onedial.verdict.controls import ControlDial, control_rates, control_table
from onedial.verdict.criteria.criteria_table import criteria_table
from onedial.verdict.dial import Dial, dial_of_crossings, dial_of_grid
from onedial.verdict.match import TargetMatches, match_grid, ordering_questions
from onedial.verdict.path import DialPath, dial_path
from onedial.verdict.prediction.prediction import predict
from onedial.verdict.prediction.sources import ground_of
from onedial.verdict.rivals.facts import FactsResult, facts_result
from onedial.verdict.rivals.knowing import knowing_table
from onedial.verdict.rivals.rivals import ceiling, material_of, rival_table
from onedial.verdict.rivals.texts import push_settings, text_cost
from onedial.verdict.rivals.yes_bias import YesBias, yes_bias
from onedial.verdict.tables import SweepGrid, panel_answers, sweep_grid
from onedial.verdict.verdict import Verdict, judge

FACTOR_PERMUTATIONS = 99
"""For the null of the first eigenvalue; `experiments/study_panel.py --deep` asks more of the scale."""
PARABOLA_REPLICATES = 499
"""For the null of the loadings' parabola; those in which a respondent gives one kind of answer only say nothing."""


@dataclass(frozen=True)
class SweepTables:
    """What a sweep left behind.

    Attributes:
        sweep, interventions: see `onedial.asking.sweep_tables`.
        questions: columns id, split, and where known question, topic, subject_correct (1, 0, nan).
        crossings: intervention_id, question_id, magnitude, yes_at_low: where the answers turn, of controls that were
            not swept on a grid; None where there are none.
        texts: `texts.TEXT_COLUMNS`: what the interventions do to neutral text at the ends of their pushes; None where
            that was not measured.
        instructed: question_id, level, margin, mass: the subject told to say yes only if it is at least that sure, in
            percent; None where it was not.
        facts: question_id, intervention_id, magnitude, margin, mass, truth (1 or 0): the intervention under test on
            unrelated facts; None where they were not asked.
        reversed_wordings: columns `WORDING_COLUMNS` of `asking`: a few questions as they are and reversed, and
            preferences; None where they were not asked so.
        asked_otherwise: whether the subject is asked something else than the panel was, or in another form.
        direct: where the sweep's answers were written, question id -> the unsteered margin read before any of it was.
    """

    sweep: pd.DataFrame
    interventions: pd.DataFrame
    questions: pd.DataFrame
    crossings: pd.DataFrame | None = None
    facts: pd.DataFrame | None = None
    direct: pd.Series | None = None
    texts: pd.DataFrame | None = None
    instructed: pd.DataFrame | None = None
    asked_otherwise: bool = False
    reversed_wordings: pd.DataFrame | None = None

    __repr__ = one_line

    @cached_property
    def own(self) -> str:
        """The identifier of the intervention under test."""
        return under_test(self.interventions)

    @cached_property
    def entries(self) -> dict[str, dict[Any, Any]]:
        """Identifier -> entry of every intervention."""
        return {str(entry["intervention_id"]): entry for entry in self.interventions.to_dict("records")}

    @cached_property
    def grid(self) -> SweepGrid:
        """The intervention under test, questions x magnitudes."""
        return self.grid_of(self.own)

    def grid_of(self, intervention_id: str) -> SweepGrid:
        """The same of another intervention."""
        direct = self.direct if intervention_id == self.own else None
        return sweep_grid(self.sweep, self.questions.set_index("id")["split"], intervention_id, direct)

    @cached_property
    def topics(self) -> pd.Series | None:
        """Question id -> topic, where topics are known."""
        return self.questions.set_index("id")["topic"] if "topic" in self.questions else None


@dataclass(frozen=True)
class Judgement:
    """What a run's tables say of a panel.

    Attributes:
        matches: of every target.
        verdict: the sentence and its numbers.
        criteria: `criteria.criteria_table`. rivals: `rivals.rival_table`. prediction: columns `prediction.COLUMNS`.
        controls: `controls.control_table`, None where none was swept.
        knowing: `knowing.knowing_table`, None where nobody's correctness is known.
        factor: the shared difficulty; None where the panel is too small for one.
        path: the dial's way through it; None likewise.
        parabola: R^2 of the loadings on the thresholds beside its null; None where that was not asked for or cannot be
            said.
    """

    matches: TargetMatches
    verdict: Verdict
    criteria: pd.DataFrame
    rivals: pd.DataFrame
    prediction: pd.DataFrame
    controls: pd.DataFrame | None
    knowing: pd.DataFrame | None
    factor: FactorModel | None
    path: DialPath | None
    parabola: Simulated | None = None

    __repr__ = one_line


def judge_tables(tables: SweepTables, panel: ResponseMatrix, seed: int = 0, parabola_replicates: int = 0) -> Judgement:
    """Match the panel with the intervention under test, set it beside rivals and controls, and judge.

    Thresholds are those of the factor model, or Phi^-1 of the yes rates where the panel is too small for one.

    Args:
        parabola_replicates: matrices to draw for the null of the loadings' parabola, which decides nothing; 0: none.

    Raises:
        InputError: the tables do not fit together.

    >>> from dataclasses import replace
    >>> from onedial.panels import panel_from_long
    >>> from onedial.verdict import SweepRun
    >>> run = SweepRun.open("tests/reference/golden/default")
    >>> tables = run.tables()
    >>> tables = replace(tables, questions=tables.questions[["id", "split"]])  # no rivals of text
    >>> one = panel_from_long(run.panel()).select(respondents=["gemma-3-270m: examples N"])
    >>> judge_tables(tables, one).verdict.reproduced
    'cannot be judged'
    """
    factor = _fit_factor(panel, seed)
    thresholds = None if factor is None else factor.thresholds
    own, grid = tables.own, tables.grid
    norms_per_unit = _norms_per_unit(tables.entries[own])
    wordings = wordings_of(tables.questions)
    matches = match_grid(grid, panel, thresholds, topics=tables.topics, seed=seed, wordings=wordings)
    answers = panel_answers(panel, grid.questions)
    material = material_of(matches, tables.questions, answers, grid.splits, grid.unsteered_margins, tables.instructed)
    material = replace(material, samples=counts_of_samples(panel, grid.questions))
    rivals = rival_table(matches, material, seed=seed)
    prediction, predictions = predict(matches, ground_of(matches, material), seed=seed)
    dials = _controls_of(tables)
    controls = control_table(matches, dials) if dials else None
    verdict = judge(
        matches,
        controls=controls,
        norms_per_unit=norms_per_unit,
        kl=text_cost(tables.texts, own, matches.evidence.dial.push(ordering_questions(grid, tables.topics))),
        facts=_facts(tables, seed),
        bias=_bias(tables, norms_per_unit, seed),
        ceiling=lambda signal: ceiling(rivals, signal),
        seed=seed,
        asked_otherwise=tables.asked_otherwise,
        prediction=prediction,
        texts=material.texts,
    )
    subject_correct = None
    if "subject_correct" in tables.questions:
        subject_correct = tables.questions.set_index("id")["subject_correct"]
    knowing = knowing_table(matches, grid.questions, correctness_of(panel), subject_correct, seed=seed)
    path = None if factor is None else dial_path(grid, panel, tables.topics, matches.table["model"])
    parabola = None
    if parabola_replicates and factor is not None and math.isfinite(factor.quadratic_fit.r2):
        parabola = quadratic_fit_test(panel, parabola_replicates, seed=seed)
    criteria = criteria_table(matches, seed=seed)
    return Judgement(matches, verdict, criteria, rivals, predictions, controls, knowing, factor, path, parabola)


def settings_on_text(tables: SweepTables) -> dict[str, list[float]]:
    """intervention_id -> the magnitudes at which its cost on neutral text is to be measured: the ends of its push."""
    controls = controls_of(tables.interventions).index.astype(str)
    dials = {tables.own: dial_of_grid(tables.grid)} | {name: _dial_of(tables, name) for name in controls}
    return push_settings(dials, ordering_questions(tables.grid, tables.topics))


def rates_along_controls(tables: SweepTables) -> pd.DataFrame:
    """The yes rate of the test questions along every control, in the unit of the intervention under test; see
    `controls.control_rates`.

    >>> from onedial.verdict import SweepRun
    >>> rates_along_controls(SweepRun.open("tests/reference/golden/default").tables()).shape
    (0, 5)
    """
    units = _norms_per_unit(tables.entries[tables.own])
    return control_rates(_controls_of(tables), tables.grid.rows(TEST), units)


def _controls_of(tables: SweepTables) -> dict[str, ControlDial]:
    """Every control that was swept, by its identifier."""
    dials = {}
    rows = ordering_questions(tables.grid, tables.topics)
    for entry in controls_of(tables.interventions).reset_index().to_dict("records"):
        name = str(entry["intervention_id"])
        dial = _dial_of(tables, name)
        dials[name] = ControlDial(
            role=str(entry["role"]),
            drawn=entry["role"] in DRAWN_ROLES,
            dial=dial,
            norms_per_unit=_norms_per_unit(entry),
            cosine=float(entry.get("cosine", float("nan"))),
            kl=text_cost(tables.texts, name, dial.push(rows)),
        )
    return dials


def _dial_of(tables: SweepTables, name: str) -> Dial:
    if tables.crossings is not None and (own := tables.crossings["intervention_id"] == name).any():
        low, *_, high = (float(magnitude) for magnitude in tables.entries[name]["magnitudes"])
        return dial_of_crossings(tables.crossings[own], tables.grid.questions, low, high)
    return dial_of_grid(tables.grid_of(name))


def _norms_per_unit(entry: dict[Any, Any]) -> float:
    value = entry.get("norms_per_unit", 1.0)
    return 1.0 if value is None or value != value else float(value)


def _facts(tables: SweepTables, seed: int) -> FactsResult | None:
    if tables.facts is None or tables.facts.empty:
        return None
    facts = tables.facts[tables.facts["intervention_id"] == tables.own]
    truth = facts.drop_duplicates("question_id").set_index("question_id")["truth"]
    return facts_result(tables.grid, facts, truth, seed=seed)


def _bias(tables: SweepTables, norms_per_unit: float, seed: int) -> YesBias | None:
    if tables.reversed_wordings is None or tables.reversed_wordings.empty:
        return None
    facts = None if tables.facts is None else tables.facts[tables.facts["intervention_id"] == tables.own]
    return yes_bias(tables.reversed_wordings, tables.own, norms_per_unit, facts, seed=seed)


def _fit_factor(panel: ResponseMatrix, seed: int) -> FactorModel | None:
    try:
        return fit_factor_model(panel, n_permutations=FACTOR_PERMUTATIONS, seed=seed)
    except InputError as reason:
        notice(f"no factor model: {reason}")
        return None
