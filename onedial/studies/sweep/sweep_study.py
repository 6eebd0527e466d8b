"""Share among the stages of a sweep its options, run, subject, what is asked, and what will be done to it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.elicited import how_asked
from onedial.asking.prompts import PromptTemplate
from onedial.core.processes import is_first_process, process_number
from onedial.core.progress import progress_bar
from onedial.core.pulse import say
from onedial.core.run.configuration import configuration_hash
from onedial.core.run.notes import Notes
from onedial.core.run.parts import Parts
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.processes import everyone, is_split, process_count, process_index, wait_for_all
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.panels import panel_long
from onedial.panels.splits import FITTING
from onedial.report.sweep_watcher import SweepWatcher
from onedial.show.wandb_run import WandbRun
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.start import Start
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import RULE
from steering.interventions import Intervention
from steering.planning.magnitudes import NEAR_ENOUGH, settings_at
from steering.planning.plan import SweepPlan

Ask = Callable[..., object]
"""Takes sink, done and progress, and asks what is not done yet, batch by batch."""


@dataclass
class SweepStudy:
    """What the stages share.

    Attributes:
        sweep_run: where the tables go. template, prompts: of the questions.
        plan: what will be swept; there once `settle_plan` has been at work.
        watchers: this process's logs elsewhere.
    """

    options: SweepOptions
    sweep_run: SweepRun
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    prompts: PromptSet
    notes: Notes
    plan: SweepPlan = field(init=False)
    watchers: list[SweepWatcher] = field(default_factory=list)

    def fill(
        self, parts: Parts, what: str, n: int, ask: Ask, done: Collection[Any] | None = None, **about: Any
    ) -> None:
        """Ask what a table lacks, and keep each batch as it comes; of several processes each takes its share.

        Args:
            what: for the progress bar. n: to be asked in all. done: of these, what is there (by default the questions).
            about: further columns, as `DataFrame.assign` takes them.
        """
        done = parts.done("question_id") if done is None else done
        wait_for_all()

        def save(part: pd.DataFrame) -> None:
            parts.append(part.assign(**about), process=process_index())

        with progress_bar(n - len(done), what) as advance:
            ask(sink=save, done=done, progress=advance)
        wait_for_all()

    @property
    def intervention(self) -> Intervention:
        """The one under test."""
        return self.plan.intervention

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The finished sweep of the intervention under test, as it was kept."""
        return self.sweep_run.sweep()

    @property
    def unsteered(self) -> pd.DataFrame:
        """Question id -> margin and mass without a push."""
        return self.answers[self.answers["magnitude"] == 0].set_index("question_id")

    def settings_at(self, wanted: Sequence[float]) -> pd.DataFrame:
        """The magnitudes at which the fitting questions' yes rates are nearest to these, with the rates there, as
        `magnitudes.settings_at`.
        """
        fitting = self.answers["question_id"].isin(set(self.inputs.ids(FITTING)))
        return settings_at(self.answers[fitting], wanted, within=NEAR_ENOUGH)

    def spread(self, n_settings: int) -> list[float]:
        """0 and magnitudes at which the yes rates lie evenly between .1 and .9; fewer where two rates have the same."""
        return sorted({0.0, *self.settings_at(np.linspace(0.1, 0.9, n_settings - 1).tolist())["setting"]})


def begin_sweep(start: Start, inputs: ExperimentInputs, prompts: PromptSet, model: OpenModel, notes: Notes) -> SweepRun:
    """The run's folder, new or resumed; process 0 makes it, the others join.

    Raises:
        InputError: as `Start.begin`; or the run was begun with other questions, another panel, prompt or plan.
    """
    if not is_first_process():
        path = everyone("")[0]
        wait_for_all()
        return SweepRun(Run.join(path, process_number(), writes_parts=not is_split()))
    run = start.begin(notes, model)
    with run.withdrawn_if_refused():
        run.record(answer_tokens=model.spell(prompts.tokens), seeds={"all": run.config["seed"]})
        run.record(asked=how_asked(inputs.panel.elicitation, prompts.example))
        SweepRun(run).keep_inputs(inputs.frame(), panel_long(inputs.panel), prompts.example)
        digest = inputs.plan_hash(configuration_hash(run.config), RULE)
        run.record_once("plan", {"rule": RULE, "sha256": digest}, "choose another --out")
    say(f"run: {run.path}")
    run.record(processes=len(everyone(str(run.path))), tensor_parallel=is_split())
    wait_for_all()
    return SweepRun(run)


def watch_sweep(study: SweepStudy, mode: str) -> None:
    """Mirror the study to W&B from now on, unless the mode is off; it ends with the run."""
    if mode == "off" or (is_split() and not is_first_process()):
        return
    with study.sweep_run.run.withdrawn_if_refused():
        mirror = WandbRun(study.sweep_run.run, mode, "sweep", process_index(), process_count())
    study.watchers.append(SweepWatcher(study.sweep_run, mirror, leads=process_index() == 0))
    study.sweep_run.run.watched_by(study.watchers[-1])
    say(mirror.where())
