"""Vectors and magnitudes of every universe, wording by wording, the answers along them, and what each universe says.

layer_scan.csv  layer.json    plans/wording-*.json  vectors/    sweep/

What is on disk is read back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import SWEEP_COLUMNS, SWEEP_KEY
from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.core.run.notes import Notes
from onedial.core.run.parts import Parts
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.show.progress import progress_bar
from onedial.studies.options.dials import MultiverseOptions
from onedial.studies.own_layer import own_layer
from onedial.verdict.case import sweep_grid
from onedial.verdict.comparing.multiverse import (
    Universe,
    judge_universe,
    laid_even,
    multiverse_summary,
    multiverse_table,
    no_result,
    universes_of,
)
from steering.contrasts import Contrast
from steering.interventions import Intervention, SteeringVector
from steering.planning.plan import grids_along
from steering.sweeping import sweep
from steering.vectors import contrast_of, vectors_of


@dataclass
class MultiverseStudy:
    """What the stages make, when it is first asked for.

    Attributes:
        templates: the wordings, the run's own first. candidates: layers, of which the run's own is chosen.
    """

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    templates: list[PromptTemplate]
    options: MultiverseOptions
    candidates: list[int]
    notes: Notes

    def prompts(self, wording: int, *splits: str) -> PromptSet:
        """The questions of some splits in one wording."""
        return PromptSet.build(self.model, self.inputs.in_splits(*splits), self.templates[wording])

    def swept(self, wording: int) -> Parts:
        """The answers in the universes of one wording, as they come."""
        return self.run.parts(f"sweep/wording-{wording}", SWEEP_COLUMNS, SWEEP_KEY)

    @cached_property
    def layer(self) -> int:
        """The layer that a run would take: where the smallest push turns the fitting questions both ways."""
        if len(self.candidates) == 1:
            return self.candidates[0]
        vectors = []
        if not self.run.has("layer.json"):
            prompts = self.prompts(0, "extraction")
            vectors = self._vectors(prompts, self._contrast(prompts, self.candidates, self.options.contrasts[0]))
        return own_layer(self.run, self.model, self.prompts(0, "fitting"), list(map(Intervention.of, vectors)))

    @cached_property
    def universes(self) -> list[Universe]:
        """The run as it would have been made first."""
        names, options = [template.name for template in self.templates], self.options
        universes = universes_of(self.candidates, options.contrasts, names, options.resamples, self.layer)
        say(f"{len(universes)} universes in {len(names)} wordings; the run's own layer is {self.layer}")
        return universes

    def _contrast(self, prompts: PromptSet, layers: Sequence[int], contrast: str, progress: Any = None) -> Contrast:
        options = self.options
        return contrast_of(self.model, prompts, layers, contrast, progress, method=options.method, seed=options.seed)

    def _vectors(self, prompts: PromptSet, contrast: Contrast) -> list[SteeringVector]:
        identity, method = self.model.identity, self.options.method
        return vectors_of(identity, contrast, method, prompts.prompt_hash, prompts.template)

    def plan(self, wording: int) -> dict[str, Any]:
        """Vectors and ranges of the universes of one wording: from the run's files, else made and saved.

        Returns:
            entries: universe_id -> entry of the intervention, with n_yes and n_no; refused: universe_id -> why there is
            no vector.
        """
        run, file = self.run, f"plans/wording-{wording}.json"
        if run.has(file):
            stored = run.read_json(file)
            if all(run.has(vector_file(wording, name)) for name in stored["entries"]):
                return stored
        name = self.templates[wording].name
        made: list[Intervention] = []
        refused: dict[str, str] = {}
        universes = [universe for universe in self.universes if universe.wording == name]
        for contrast in dict.fromkeys(universe.contrast for universe in universes):
            vectors, reasons = self._made(wording, [each for each in universes if each.contrast == contrast])
            refused |= reasons
            for universe_id, vector in vectors.items():
                vector.save(run.file(vector_file(wording, universe_id)))
                made.append(Intervention.of(vector, intervention_id=universe_id))
        if wording == 0 and self.universes[0].universe_id in refused:
            raise InputError(refused[self.universes[0].universe_id])
        fitting = self.prompts(wording, "fitting")
        grids = grids_along(self.model, fitting, made, progress_bar, "universes") if made else {}
        entries = {
            each.intervention_id: each.as_dict(grids[each.intervention_id])
            | {"n_yes": each.vectors[0].n_yes, "n_no": each.vectors[0].n_no}
            for each in made
        }
        for universe_id, why in refused.items():
            self.notes.tell(f"warning: {name}, {universe_id} has no vector: {why}")
        plan = {"entries": entries, "refused": refused}
        run.write_json(file, plan)
        return plan

    def _made(self, wording: int, universes: list[Universe]) -> tuple[dict[str, SteeringVector], dict[str, str]]:
        """universe_id -> vector, of universes of one contrast; of the others why there is none."""
        prompts, contrast = self.prompts(wording, "extraction"), universes[0].contrast
        made: dict[str, SteeringVector] = {}
        refused: dict[str, str] = {}
        with progress_bar(len(prompts), f"{self.templates[wording].name}: {contrast} contrast") as advance:
            try:
                contrasted = self._contrast(prompts, sorted({each.layer for each in universes}), contrast, advance)
            except InputError as reason:
                return {}, {each.universe_id: str(reason) for each in universes}
        for universe in universes:
            try:
                sides = contrasted.at_layer(universe.layer)
                if universe.resample:
                    sides = sides.resampled(self.options.seed + universe.resample)
                made[universe.universe_id] = self._vectors(prompts, sides)[0]
            except InputError as reason:
                refused[universe.universe_id] = str(reason)
        return made, refused

    def sweep(self, wording: int) -> None:
        """Ask along every vector of one wording what is not on disk yet."""
        if not (entries := self.plan(wording)["entries"]):
            return
        files = {name: self.run.path / vector_file(wording, name) for name in entries}
        made = [Intervention.of(SteeringVector.load(file), intervention_id=name) for name, file in files.items()]
        grids = {name: entry["magnitudes"] for name, entry in entries.items()}
        prompts, parts = self.prompts(wording, "fitting", "test"), self.swept(wording)
        done, what = parts.done("question_id"), f"{self.templates[wording].name}: {len(grids)} universes"
        with progress_bar(len(prompts) - len(done), what) as advance:
            sweep(self.model, made, prompts, grids, sink=parts.append, done=done, progress=advance)

    # ---- what came out -----------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per universe, judged from the files of the run."""
        numbers = {template.name: number for number, template in enumerate(self.templates)}
        plans = {name: self.plan(number) for name, number in numbers.items()}
        swept = {name: self.swept(number).read() for name, number in numbers.items()}
        about, rows = self.inputs.frame().set_index("id"), []
        with progress_bar(len(self.universes), "verdicts") as advance:
            for universe in self.universes:
                entry = plans[universe.wording]["entries"].get(universe.universe_id)
                rows.append(self._judged(about, universe, entry, swept[universe.wording]))
                advance(1)
        return multiverse_table(self.universes, rows)

    def _judged(
        self, about: pd.DataFrame, universe: Universe, entry: dict[str, Any] | None, swept: pd.DataFrame
    ) -> dict[str, Any]:
        """The row of a universe; entry: of its intervention, None where it has no vector."""
        if entry is None:
            return no_result() | {"n_yes": 0, "n_no": 0}
        case = laid_even(sweep_grid(swept, about["split"], universe.universe_id)).beside(
            self.inputs.panel,
            about=about,
            norms_per_unit=entry["norms_per_unit"],
            n_resamples=self.options.replicates,
            seed=self.options.seed,
        )
        return judge_universe(case) | {"n_yes": entry["n_yes"], "n_no": entry["n_no"]}

    @property
    def summary(self) -> dict[str, Any]:
        """Median and worst, how often each answer is given, the sentence, and what was varied."""
        options, base = self.options, self.universes[0]
        layers = sorted({universe.layer for universe in self.universes})
        asked = (
            f"One thing at a time is changed, of {len(layers)} layer(s) ({', '.join(map(str, layers))}), "
            f"{len(options.contrasts)} contrast(s), {len(self.templates)} wording(s) and {options.resamples} further "
            f"draw(s) of the extraction questions, with replacement. As run: layer {base.layer}, {base.contrast} "
            f"contrast, {base.wording}, every question once; {len(self.inputs.questions)} questions in all. Each "
            "vector has a range of its own."
        )
        return multiverse_summary(self.table) | {"model": self.model.identity.name, "asked": asked}


def vector_file(wording: int, universe_id: str) -> str:
    return f"vectors/wording-{wording}/{universe_id}.safetensors"
