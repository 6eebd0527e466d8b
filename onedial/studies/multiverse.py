"""Make the sweep that would have been made, and sweeps that differ from it in one choice each.

universes/NAME/     a run of `onedial sweep` each, with its own config.yaml, judged by the verdict's rule
wordings/*.yaml     prompts that were made of the run's own

A universe is finished once and read back ever after. It is the run that `onedial sweep` makes by its config.yaml.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch

from onedial.asking.prompts import PromptTemplate, load_prompt
from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.core.run.stages import go_through
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.report.report import keep_judgement
from onedial.studies.options.dials import MultiverseOptions
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.start import Start
from onedial.studies.sweep.sweep_stages import PLANNING, STAGES, SWEEP, loads
from onedial.studies.sweep.sweep_study import SweepStudy, begin_sweep
from onedial.verdict.comparing.comparison import Comparison
from onedial.verdict.sweep_run import JUDGING, SweepRun
from steering.planning.forecast import START, Loads, Size

AS_RUN = "as run"
Universes = dict[str, SweepOptions]


def as_run(options: MultiverseOptions) -> SweepOptions:
    """The sweep that would have been made, without what is asked beside its questions."""
    known = {field.name for field in fields(SweepOptions)} - {"out", "resume", "dry_run", "config", "wandb"}
    shared = {field.name: getattr(options, field.name) for field in fields(options) if field.name in known}
    return SweepOptions(**shared, contrast=options.contrasts[0], facts=0, reversed=0, controls=0)


def universes_of(options: MultiverseOptions, wordings: Mapping[str, str], layers: Sequence[int]) -> Universes:
    """What sets each universe apart -> its options; those that differ from the run as it would have been made.

    Args:
        wordings: name -> prompt, of each further one. layers: the candidates that the run did not take.

    >>> some = universes_of(MultiverseOptions(draws=1), {"no first": "no_first.yaml"}, [9])
    >>> list(some)
    ['layer 9', 'answer contrast', 'no first', 'draw 1']
    """
    base = as_run(options)
    universes = {f"layer {layer}": replace(base, layer=str(layer)) for layer in layers}
    universes |= {f"{name} contrast": replace(base, contrast=name) for name in options.contrasts[1:]}
    universes |= {name: replace(base, prompt=prompt) for name, prompt in wordings.items()}
    return universes | {f"draw {n}": replace(base, draw=n) for n in range(1, options.draws + 1)}


def multiverse_loads(
    options: MultiverseOptions,
    wordings: Sequence[str],
    layers: Sequence[int],
    lengths: Mapping[str, list[int]],
    size: Size,
    dtype: torch.dtype,
) -> dict[str, Loads]:
    """What the stages of all universes ask of the model; all wordings are taken to be as long as the first.

    Args:
        layers: the candidates, of which the middle one stands for the one that the run takes.
    """
    taken = layers[len(layers) // 2]
    others = universes_of(options, dict.fromkeys(wordings, ""), [layer for layer in layers if layer != taken])
    runs = [as_run(options), *(replace(each, layer=str(taken)) if each.layer == options.layer else each
                               for each in others.values())]  # fmt: skip
    by_run = [loads(each, lengths, size, dtype) for each in runs]
    together = {name: [load for each in by_run for load in each[name]] for name in (PLANNING, SWEEP, JUDGING)}
    return {START: by_run[0][START]} | together | {"report": by_run[0]["report"]}


@dataclass
class Multiverse:
    """What the universes share; each is swept and judged by its turn.

    Attributes:
        templates: the wordings, the run's own first.
    """

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    templates: list[PromptTemplate]
    options: MultiverseOptions
    candidates: list[int]
    notes: Notes

    @cached_property
    def runs(self) -> dict[str, SweepRun]:
        """Name -> run; a universe whose vector cannot be made is noted and left out.

        Raises:
            InputError: the run as it would have been made cannot be.
        """
        first = self._swept(AS_RUN, as_run(self.options))
        taken = [int(layer) for layer in first.interventions()["layers"].iloc[0]]
        others = [layer for layer in self.candidates if layer not in taken]
        universes, runs = universes_of(self.options, self._wordings(), others), {AS_RUN: first}
        say(f"{1 + len(universes)} universes; the run's own layer is {taken[0]}")
        for name, options in universes.items():
            try:
                taken_too = options.layer == self.options.layer  # else the layer is what sets it apart
                runs[name] = self._swept(name, replace(options, layer=str(taken[0])) if taken_too else options)
            except InputError as reason:
                self.notes.tell(f"warning: {name} has no vector: {reason}")
        return runs

    @cached_property
    def comparison(self) -> Comparison:
        """Of all universes, the run as it would have been made first."""
        return Comparison(self.runs)

    @property
    def lead(self) -> str:
        """What was varied."""
        return (
            f"One thing at a time is changed: layer ({', '.join(map(str, self.candidates))}), contrast "
            f"({', '.join(self.options.contrasts)}), {len(self.templates)} wording(s), {self.options.draws} further "
            f"draw(s) of the extraction questions; {len(self.inputs.questions)} questions in all. Each universe is a "
            "run of its own in universes/."
        )

    def _wordings(self) -> dict[str, str]:
        """Name -> file of each further wording."""
        first, files = self.templates[0].name, {}
        for template in self.templates[1:]:
            text = {"user": template.user, "assistant_prefix": template.assistant_prefix, "name": template.name}
            file = self.run.file(f"wordings/{_slug(template.name)}.yaml")
            self.run.write_json(f"wordings/{file.name}", text)  # every JSON is YAML
            files[template.name.removeprefix(f"{first}, ")] = str(file)
        return files

    def _swept(self, name: str, options: SweepOptions) -> SweepRun:
        path = self.run.path / "universes" / _slug(name)
        if (path / "config.yaml").exists() and (done := SweepRun.open(path)).is_finished:
            return done
        options = replace(options, out=path, resume=(path / "config.yaml").exists())
        say(f"universe: {name}")
        template = load_prompt(str(options.prompt))
        prompts = PromptSet.build(self.model, self.inputs.questions, template, self.inputs.splits)
        notes = Notes()
        sweep_run = begin_sweep(Start("steer_sweep", options), self.inputs, prompts, self.model, notes)
        study = SweepStudy(options, sweep_run, self.model, self.inputs, template, prompts, notes)
        with sweep_run.run as run:
            go_through(run, study, {stage: STAGES[stage] for stage in (PLANNING, SWEEP)}, options)
            with run.stage(JUDGING):
                keep_judgement(sweep_run, sweep_run.judge(self.inputs.panel, options.seed))
        return sweep_run


def _slug(name: str) -> str:
    """A name as a folder's or file's.

    >>> _slug("wording 2, no first")
    'wording-2-no-first'
    """
    return re.sub(r"[^\w.]+", "-", name)
