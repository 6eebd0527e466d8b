"""From the tables of a run to its matches, baselines, controls, factor and verdict: pure functions, nothing is read
here."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.asking.sweep_tables import DRAWN_ROLES, controls_of, under_test
from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.panel_scores import correctness_of
from onedial.panels.panels import ResponseMatrix, counts_of_samples
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.stats.threads import one_blas_thread
from onedial.verdict.baselines.baselines import baseline_table, instructed_margins
from onedial.verdict.baselines.knowing import knowing_table
from onedial.verdict.baselines.texts import push_settings, text_cost
from onedial.verdict.case import Case, sweep_grid
from onedial.verdict.controls import control_rates, control_table
from onedial.verdict.dial import ControlDial
from onedial.verdict.prediction.prediction import Prediction, predict
from onedial.verdict.verdict import Verdict, judge

FACTOR_PERMUTATIONS = 99
"""For the null of the first eigenvalue; `experiments/study_panel.py --deep` asks more of the scale."""


@dataclass(frozen=True)
class SweepTables:
    """What a sweep left behind.

    Attributes:
        sweep, interventions: see `onedial.asking.sweep_tables`.
        questions: columns id, split, and where known question, topic, subject_correct (1, 0, nan).
        texts: columns `TEXT_COLUMNS` of `asking`: what the interventions do to neutral text at the ends of their
            pushes; None where that was not measured.
        instructed: question_id, level, margin, mass: the subject told to say yes only if it is at least that sure, in
            percent; None where it was not.
        facts: question_id, intervention_id, magnitude, margin, mass, truth (1 or 0): the intervention under test on
            unrelated facts; None where they were not asked.
        wordings: columns `WORDING_COLUMNS` of `asking`: a few questions as they are and reversed; None
            where they were not asked so.
        asked_otherwise: whether the subject is asked something else than the panel was, or in another form.
        direct: where the sweep's answers were written, question id -> the unsteered margin read before any of it was.
    """

    sweep: pd.DataFrame
    interventions: pd.DataFrame
    questions: pd.DataFrame
    facts: pd.DataFrame | None = None
    direct: pd.Series | None = None
    texts: pd.DataFrame | None = None
    instructed: pd.DataFrame | None = None
    asked_otherwise: bool = False
    wordings: pd.DataFrame | None = None

    __repr__ = one_line

    @cached_property
    def tested(self) -> str:
        """The identifier of the intervention under test."""
        return under_test(self.interventions)

    @cached_property
    def entries(self) -> dict[str, dict[Any, Any]]:
        """Identifier -> entry of every intervention."""
        return {str(entry["intervention_id"]): entry for entry in self.interventions.to_dict("records")}

    @cached_property
    def grid(self) -> Case:
        """The intervention under test, questions x magnitudes."""
        return replace(
            self.grid_of(self.tested),
            about=self.questions.assign(id=self.questions["id"].astype(str)).set_index("id"),
            norms_per_unit=_norms_per_unit(self.entries[self.tested]),
            facts=None if self.facts is None else self.facts[self.facts["intervention_id"] == self.tested],
            reversed_wordings=self.wordings,
            intervention=self.tested,
            asked_otherwise=self.asked_otherwise,
        )

    def grid_of(self, intervention_id: str) -> Case:
        """Lay out the answers under another intervention."""
        direct = self.direct if intervention_id == self.tested else None
        return sweep_grid(self.sweep, self.questions.set_index("id")["split"], intervention_id, direct)

    @cached_property
    def controls(self) -> list[dict[Any, Any]]:
        """The entry of every control that was swept."""
        return controls_of(self.interventions).reset_index().to_dict("records")

    @property
    def settings_on_text(self) -> dict[str, list[float]]:
        """intervention_id -> the magnitudes at which its cost on neutral text is measured: the ends of its push."""
        names = [str(entry["intervention_id"]) for entry in self.controls]
        dials = {self.tested: self.grid.dial} | {name: self.grid_of(name).dial for name in names}
        return push_settings(dials, self.grid.ordering)

    @property
    def control_rates(self) -> pd.DataFrame:
        """The yes rate of the test questions along every control, in the unit of the intervention under test; see
        `controls.control_rates`.

        >>> from onedial.verdict import SweepRun
        >>> SweepRun.open("tests/reference/golden/default").tables().control_rates.shape
        (0, 5)
        """
        return control_rates(self.beside_it)

    @cached_property
    def beside_it(self) -> Case:
        """The intervention under test with its cost on text and its controls, as a case without a panel."""
        return replace(
            self.grid,
            kl=text_cost(self.texts, self.tested, self.grid.dial.push(self.grid.ordering)),
            controls={str(entry["intervention_id"]): self._control(entry) for entry in self.controls},
            instructed=instructed_margins(self.instructed, self.grid.questions, self.grid.unsteered_margins),
        )

    def _control(self, entry: dict[Any, Any]) -> ControlDial:
        name = str(entry["intervention_id"])
        dial = self.grid_of(name).dial
        return ControlDial(
            role=str(entry["role"]),
            drawn=entry["role"] in DRAWN_ROLES,
            dial=dial,
            norms_per_unit=_norms_per_unit(entry),
            cosine=float(entry.get("cosine", float("nan"))),
            kl=text_cost(self.texts, name, dial.push(self.grid.ordering)),
        )

    def case(self, panel: ResponseMatrix, seed: int = 0, **known: Any) -> Case:
        """Put all of it beside a panel.

        Args:
            known: other attributes of the case.

        Raises:
            InputError: the tables do not fit together.
        """
        samples = counts_of_samples(panel, self.grid.questions)
        return self.beside_it.beside(panel, samples=samples, seed=seed, **known)


@dataclass(frozen=True)
class Judgement:
    """What a run's tables say of a panel.

    Attributes:
        case: what it is about; `Case.matches` is the table of its targets.
        verdict: the sentence and its numbers.
        baselines: `baselines.baseline_table`. predictions: columns `prediction.COLUMNS`. None without a panel.
        controls: `controls.control_table`, None where none was swept.
        knowing: `knowing.knowing_table`, None where nobody's correctness is known.
        factor: the shared difficulty; None where the panel is too small for one.
        reasoned: `sweep_run.Reasoned`; None where nothing was written.
    """

    case: Case
    verdict: Verdict
    baselines: pd.DataFrame | None
    predictions: pd.DataFrame | None
    controls: pd.DataFrame | None
    knowing: pd.DataFrame | None
    factor: FactorModel | None
    reasoned: Any = None

    __repr__ = one_line


@says_how
def judge_tables(tables: SweepTables, panel: ResponseMatrix, seed: int = 0) -> Judgement:
    """Match the panel with the intervention under test, set it beside baselines and controls, and judge.

    Thresholds are those of the factor model, or Phi^-1 of the yes rates where the panel is too small for one. Without
    respondents only the dial and its controls are told of.

    Raises:
        InputError: the tables do not fit together.

    >>> from dataclasses import replace
    >>> from onedial.panels import panel_from_long
    >>> from onedial.verdict import SweepRun
    >>> run = SweepRun.open("tests/reference/golden/default")
    >>> tables = run.tables()
    >>> tables = replace(tables, questions=tables.questions[["id", "split"]])  # no baselines of text
    >>> one = panel_from_long(run.panel()).select(respondents=["gemma-3-270m: examples N"])
    >>> judge_tables(tables, one).verdict.reproduced
    'cannot be judged'
    """
    if not len(panel.answers.columns):
        case = tables.beside_it.alone(seed=seed)
        controls = control_table(case) if case.controls else None
        return Judgement(case, judge(case, Prediction(), None, controls), None, None, controls, None, None)
    with one_blas_thread():
        factor = _fit_factor(panel, seed)
        case = tables.case(panel, seed, thresholds=None if factor is None else factor.thresholds)
        baselines = baseline_table(case)
        prediction, predictions = predict(case)
        controls = control_table(case) if case.controls else None
        verdict = judge(case, prediction, baselines, controls)
        correct = case.about.get("subject_correct")
        return Judgement(
            case,
            verdict,
            baselines,
            predictions,
            controls,
            knowing_table(case, correctness_of(panel), correct),
            factor,
        )


def _norms_per_unit(entry: dict[Any, Any]) -> float:
    value = entry.get("norms_per_unit", 1.0)
    return 1.0 if value is None or value != value else float(value)


def _fit_factor(panel: ResponseMatrix, seed: int) -> FactorModel | None:
    try:
        return fit_factor_model(panel, n_permutations=FACTOR_PERMUTATIONS, seed=seed)
    except InputError as reason:
        notice(f"no factor model: {reason}")
        return None
