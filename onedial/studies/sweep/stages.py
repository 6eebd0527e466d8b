"""The stages of a sweep, each with what it asks of the model and when it is wanted.

A new one is an entry of `STAGES`; `predict` tells its cost, `go_through_stages` does it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from onedial.asking.instruments import FACT
from onedial.asking.prompts import PromptTemplate
from onedial.asking.rewording import reversed_wording
from onedial.core.processes import is_first_process
from onedial.core.pulse import say
from onedial.core.run.stages import Stage, go_through
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.questions.facts import load_facts
from onedial.panels.questions.question_files import load_questions
from onedial.report.report import keep_judgement, print_summary, write_report
from onedial.studies.inputs import prompts_by_split
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.sweep import asking
from onedial.studies.sweep.causes import find_causes
from onedial.studies.sweep.study import SweepStudy
from steering.causes import (
    INTERCHANGE_DRAWN,
    INTERCHANGE_PAIRS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
)
from steering.controls import N_CONTRASTS
from steering.critical import ROWS_PER_CROSSING
from steering.dials.dials import SURENESS
from steering.effects.reasoned import reasoned_cost
from steering.effects.side_effects import N_PREFERENCES, REVERSED_SETTINGS
from steering.planning.forecast import Load, Size, forecast_of
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import COARSE_POINTS, GRID_POINTS, RANGE_QUESTIONS, doubling
from steering.planning.readability import ASKED

BEYOND = len(doubling())
Loads = dict[str, list[Load]]


@dataclass(frozen=True)
class Ahead:
    """What is known of a sweep before the subject is loaded.

    The layer is not known before the scan; the middle one of the candidates stands for it. Pairs of the tests are
    taken to be as long as the questions, and there are as many as at most.

    Attributes:
        extraction, fitting, test, facts, preferences: tokens of each prompt. layers: the candidates.
        turned: whether the prompt has a reversed wording. n_cached: prompts that the sweep finds in the cache.
    """

    options: SweepOptions
    extraction: list[int]
    fitting: list[int]
    test: list[int]
    facts: list[int]
    preferences: list[int]
    layers: Sequence[int]
    turned: bool = True
    n_cached: int = 0

    @property
    def kind(self) -> str:
        """Of a load that pushes."""
        return "last" if self.options.positions == "last" else "all"

    @property
    def middle(self) -> int:
        """The layer that stands for all."""
        return self.layers[len(self.layers) // 2]

    @property
    def grid(self) -> int:
        """Magnitudes."""
        return len(self.options.settings() or range(GRID_POINTS))

    def some(self, n: int) -> list[int]:
        """Lengths of n prompts."""
        whole = [*self.extraction, *self.fitting, *self.test]
        return (whole * (n // max(len(whole), 1) + 1))[:n]


class SweepStage(NamedTuple):
    """A stage: whether options want it, what it asks of the model, and what does it."""

    wanted: Callable[[SweepOptions], object]
    loads: Callable[[Ahead], Loads]
    ask: Callable[[SweepStudy], None]


def _controls(a: Ahead) -> Loads:
    n, last = a.options.controls + N_CONTRASTS, a.kind == "last"
    whole = [*a.extraction, *a.fitting, *a.test]
    turning = "crossings" if last else "crossings everywhere"
    return {
        "ranges": [Load(a.fitting[:RANGE_QUESTIONS], [(layer, BEYOND) for layer in a.layers] * n, a.kind)],
        "controls": [Load(whole, [(a.middle, ROWS_PER_CROSSING[last])] * n, turning, a.n_cached)],
    }


def _reversed(a: Ahead) -> Loads:
    asked = a.fitting[: a.options.reversed] * 2 + a.preferences[:N_PREFERENCES]
    found = [Load(asked, [(a.middle, REVERSED_SETTINGS), (a.middle, BEYOND)], a.kind)]
    return {"reversed": found} if a.turned else {}


def _causes(a: Ahead) -> Loads:
    swapped = (a.test * 4)[: 4 * INTERCHANGE_PAIRS]
    held = (a.test * MEDIATION_LAYERS)[: MEDIATION_LAYERS * MEDIATION_QUESTIONS]
    found = {
        "interchange": [Load(swapped), Load(swapped, [(a.middle, 2 + 2 * INTERCHANGE_DRAWN)])],
        "mediation": [
            Load([*a.extraction, *a.fitting, *a.test]),
            Load(held, [(a.middle, 3 + 4 * (5 + 2 * MEDIATION_DRAWN))]),
        ],
    }
    return {name: found[name] for name in a.options.tests}


def _written(a: Ahead, asked: list[int], n_settings: int, n_tokens: int) -> list[Load]:
    return [Load(asked, [(0, n_settings)], "written", n_tokens=n_tokens)]


STAGES: dict[str, SweepStage] = {
    "sweep": SweepStage(
        lambda _: True,
        lambda a: {
            "sweep": [Load([*a.extraction, *a.fitting, *a.test], [(a.middle, a.grid)], a.kind, a.n_cached)],
        },
        asking.sweep_questions,
    ),
    "controls": SweepStage(lambda o: o.controls, _controls, asking.cross_controls),
    "neutral text": SweepStage(lambda o: o.controls, lambda a: {}, asking.measure_texts),
    "instructed thresholds": SweepStage(
        lambda o: o.instructed,
        lambda a: {"instructed": [Load([*a.fitting, *a.test] * len(SURENESS))]},
        asking.ask_instructed,
    ),
    "facts": SweepStage(
        lambda o: o.facts,
        lambda a: {"facts": [Load(a.facts, [(a.middle, a.grid)], a.kind)]},
        asking.ask_facts,
    ),
    "reversed wording": SweepStage(lambda o: o.reversed, _reversed, asking.ask_reversed),
    "interchange and mediation": SweepStage(lambda o: o.tests, _causes, find_causes),
    "texts": SweepStage(
        lambda _: True,
        lambda a: {"texts": _written(a, a.some(asking.N_WRITTEN), len(asking.WRITTEN_RATES), asking.WRITTEN_TOKENS)},
        asking.write_texts,
    ),
    "reasoned answers": SweepStage(
        lambda o: o.answer == "reasoned",
        lambda a: {
            "reasoned": _written(
                a,
                [*a.fitting, *a.test],
                reasoned_cost(a.options.reasoned_settings, a.options.reasoned_search) * a.options.reasoned_samples,
                a.options.reasoned_tokens,
            )
        },
        asking.write_reasons,
    ),
}
"""Name, in manifest and report -> the stage, in order."""


def go_through_stages(study: SweepStudy) -> None:
    """Ask everything that the options want; by the first process match, judge, report, and say what came out."""
    run, options, panel = study.run, study.options, study.inputs.panel
    stages = [
        Stage(name, stage.ask, bool(stage.wanted(options)), once=name == "texts") for name, stage in STAGES.items()
    ]
    go_through(run.run, study, *stages)
    if not is_first_process():
        return
    with run.run.stage("match and verdict"):
        judged = run.judge(panel, options.seed)
        if options.answer == "reasoned":
            judged = replace(judged, reasoned=run.judge_reasoned(panel, options.seed))
        keep_judgement(run, judged)
    with run.run.stage("report"):
        report = write_report(run)
    print_summary(run)
    say(f"report: {report}")


def predict(options: SweepOptions, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the run would cost."""
    turned = reversed_wording(template) is not None

    def stages(lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype) -> Loads:
        return loads(options, lengths, size, dtype, turned)

    facts = load_facts(options.facts, options.seed) if options.facts else []
    beside = {"facts": facts, "preferences": load_questions("preferences")}
    asked = prompts_by_split(inputs, template)
    asked |= {name: [FACT.template.fill(each.text) for each in own] for name, own in beside.items()}
    told = forecast_of(options.model, asked, stages, options.revision, options.dtype)
    return f"{options.model}, {len(inputs.questions)} questions, {told}"


def loads(
    options: SweepOptions, lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype, turned: bool = True
) -> Loads:
    """What the plan and each stage of a sweep ask of the model.

    Args:
        lengths: extraction, fitting, test, facts, preferences -> tokens of each prompt. turned: see `Ahead`.
    """
    named = ("extraction", "fitting", "test", "facts", "preferences")
    extraction, fitting, test, facts, liked = (lengths[name] for name in named)
    layers = candidate_layers(options.layer, size.n_layers)
    ahead = Ahead(options, extraction, fitting, test, facts, liked, layers, turned)
    found: Loads = {"reading": [Load([*extraction, *ahead.some(ASKED)])]}
    chosen = options.settings() is None
    if len(ahead.layers) > 1 or chosen:
        found["scanning"] = [Load(fitting, [(layer, BEYOND) for layer in ahead.layers], ahead.kind)]
    read = [*extraction, *(fitting if "scanning" in found else [])]
    n_cached = size.n_in_cache(read, min(ahead.layers), dtype) if ahead.kind == "last" else 0
    if chosen:
        cached = max(0, n_cached - len(extraction))
        found["placing"] = [Load(fitting, [(ahead.middle, COARSE_POINTS)], ahead.kind, cached)]
    ahead = replace(ahead, n_cached=n_cached)
    for stage in STAGES.values():
        found |= stage.loads(ahead) if stage.wanted(options) else {}
    return found
