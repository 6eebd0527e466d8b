"""List the stages of a sweep in order: whether options want them, what they ask of the model, what does them.

A new one is an entry of `STAGES`: `loads` tells its cost, `go_through` does it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch

from onedial.core.processes import is_first_process
from onedial.core.run.stages import Stage, loads_of
from onedial.panels.questions.facts import load_passages
from onedial.report.report import end_sweep, keep_judgement
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.sweep import stage_functions
from onedial.studies.sweep.causes import mediate, swap_components
from onedial.studies.sweep.planning import settle_plan
from onedial.studies.sweep.sweep_study import SweepStudy
from onedial.verdict.sweep_run import JUDGING
from steering.causes import (
    INTERCHANGE_DRAWN,
    INTERCHANGE_PAIRS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
)
from steering.controls import N_CONTRASTS
from steering.dials.dials import SURENESS
from steering.effects.side_effects import PASSAGE_TOKENS, REVERSED_SETTINGS
from steering.planning.forecast import REPORT, START, Candidates, Load, Loads, Size, doubled, judging, making
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import COARSE_POINTS, CONTROL_POINTS, GRID_POINTS, RANGE_QUESTIONS, doubling
from steering.planning.readability import ASKED

DOUBLED = len(doubling())
PLANNING, SWEEP = "vectors, layer and magnitudes", "sweep"


@dataclass(frozen=True)
class Ahead(Candidates):
    """What is known of a sweep before the subject is loaded.

    The layer is not known before the scan; the middle one of the candidates stands for it. Pairs of the tests are
    taken to be as long as the questions, and there are as many as at most.

    Attributes:
        lengths: extraction, fitting, test, facts -> tokens of each prompt. layers: the candidates.
        turned: whether the prompt has a reversed wording.
    """

    options: SweepOptions
    lengths: Mapping[str, list[int]]
    layers: list[int]
    size: Size
    dtype: torch.dtype
    turned: bool = True

    @property
    def places(self) -> bool:
        """Whether magnitudes are chosen."""
        return self.options.settings() is None

    @property
    def scans(self) -> bool:
        """Whether the layers are scanned, for the one that is taken or for how far it is turned."""
        return len(self.layers) > 1 or self.places

    @property
    def n_controls(self) -> int:
        """Drawn ones, and one of each other contrast."""
        return (self.options.controls or 0) + N_CONTRASTS

    @property
    def grid(self) -> int:
        """Magnitudes."""
        return len(self.options.settings() or range(GRID_POINTS))

    def of(self, *names: str) -> list[int]:
        """Lengths of the prompts of some splits."""
        return [length for name in names for length in self.lengths[name]]

    @property
    def whole(self) -> list[int]:
        """Of all questions."""
        return self.of("extraction", "fitting", "test")

    @cached_property
    def n_cached(self) -> int:
        """Prompts that the sweep finds in the cache."""
        read = self.of("extraction", *["fitting"] * self.scans)
        return self.size.n_in_cache(read, min(self.layers), self.dtype) if self.kind == "last" else 0

    def some(self, n: int) -> list[int]:
        """Lengths of n prompts."""
        return (self.whole * (n // max(len(self.whole), 1) + 1))[:n]

    def written(self, asked: list[int], n_settings: int, n_tokens: int, usual: float = 1.0) -> list[Load]:
        """Texts to prompts at so many settings."""
        return [Load(asked, [(0, n_settings)], "written", n_tokens=n_tokens, usual=usual)]


def _plan(a: Ahead) -> Loads:
    fitting, options = a.of("fitting"), a.options
    loads = [making(a.of("extraction"), options.contrast, [options.method])]
    if a.scans:
        loads += doubled(fitting, a.layers, a.kind, 1, caches=True)
    if a.places:
        cached = max(0, a.n_cached - len(a.of("extraction")))
        loads.append(Load(fitting, [(a.middle, COARSE_POINTS + 1)], a.kind, cached))
    if options.controls:
        pushes = a.layers * a.n_controls
        loads += doubled(fitting[:RANGE_QUESTIONS], pushes, a.kind, len(pushes), caches=True)
    return loads


def _controls(a: Ahead) -> Loads:
    return [Load(a.whole, [(a.middle, CONTROL_POINTS)] * a.n_controls, a.kind, a.n_cached)]


def _neutral_text(a: Ahead) -> Loads:
    """Each push at the ends of what takes the yes rate from .1 to .9."""
    return [Load([PASSAGE_TOKENS] * len(load_passages()), [(a.middle, 2)] * (1 + a.n_controls), a.kind)]


def _reversed(a: Ahead) -> Loads:
    asked = a.of("fitting")[: a.options.reversed] * 2
    return [Load(asked, [(a.middle, REVERSED_SETTINGS), (a.middle, DOUBLED)], a.kind)] if a.turned else []


def _interchange(a: Ahead) -> Loads:
    test = a.of("test")  # pairs of a low and a high third, either way, by two scores
    swapped = (test * 2)[: 4 * min(INTERCHANGE_PAIRS, len(test) // 3)]
    return [Load(swapped), Load(swapped, [(a.middle, 2 + 2 * INTERCHANGE_DRAWN)])]


def _mediation(a: Ahead) -> Loads:
    held = (a.of("test") * MEDIATION_LAYERS)[: MEDIATION_LAYERS * MEDIATION_QUESTIONS]
    return [Load(a.whole), Load(held, [(a.middle, 3 + 4 * (5 + 2 * MEDIATION_DRAWN))])]


def _reasoned(a: Ahead) -> Loads:
    return a.written(a.of("fitting", "test"), a.options.reasoned_settings, a.options.reasoned_tokens)


WRITTEN = 0.7
"""Of the time that the texts of a report may take: most end before their last token."""

STAGES: dict[str, Stage[SweepStudy]] = {
    PLANNING: Stage(settle_plan, _plan, settles=True),
    SWEEP: Stage(stage_functions.sweep_questions, lambda a: [Load(a.whole, [(a.middle, a.grid)], a.kind, a.n_cached)]),
    "controls": Stage(stage_functions.sweep_controls, _controls, lambda o: o.controls),
    "neutral text": Stage(stage_functions.measure_texts, _neutral_text, lambda o: o.controls),
    "instructed thresholds": Stage(
        stage_functions.ask_instructed,
        lambda a: [Load(a.of("fitting", "test") * len(SURENESS))],
        lambda o: o.instructed,
    ),
    "facts": Stage(
        stage_functions.ask_facts, lambda a: [Load(a.of("facts"), [(a.middle, a.grid)], a.kind)], lambda o: o.facts
    ),
    "reversed wording": Stage(stage_functions.ask_reversed, _reversed, lambda o: o.reversed),
    "interchange": Stage(swap_components, _interchange, lambda o: "interchange" in o.tests, once=True),
    "mediation": Stage(mediate, _mediation, lambda o: "mediation" in o.tests, once=True),
    "texts": Stage(
        stage_functions.write_texts,
        lambda a: a.written(
            a.some(stage_functions.N_WRITTEN),
            len(stage_functions.WRITTEN_RATES),
            stage_functions.WRITTEN_TOKENS,
            WRITTEN,
        ),
        once=True,
    ),
    "reasoned answers": Stage(stage_functions.write_reasons, _reasoned, lambda o: o.answer == "reasoned"),
}
"""Name, in manifest and report -> the stage, in order."""


def loads(
    options: SweepOptions, lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype, turned: bool = True
) -> dict[str, Loads]:
    """What each stage of a sweep asks of the model; see `Ahead`."""
    ahead = Ahead(options, lengths, candidate_layers(options.layer, size.n_layers), size, dtype, turned)
    end = {JUDGING: [judging(len(ahead.whole))], "report": [REPORT]}
    return {START: [Load(ahead.some(ASKED))]} | loads_of(STAGES, options, ahead) | end


def judge_sweep(study: SweepStudy) -> None:
    """Match, judge, report, and say what came out; by the first process."""
    run, options, panel = study.sweep_run, study.options, study.inputs.panel
    if not is_first_process():
        return
    with run.run.stage(JUDGING):
        keep_judgement(run, run.judge(panel, options.seed))
    end_sweep(run)
