"""The stages of `experiments/multiverse.py` in their order, and what each asks of the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from onedial.core.run.stages import Stage, loads_of
from onedial.studies.multiverse.study import MultiverseStudy
from onedial.verdict.comparing.multiverse import Universe
from steering.planning.forecast import NEAR_STEPS, REPORT, START, Load, Loads, doubled, judging, making
from steering.planning.magnitudes import CONTROL_POINTS, RANGE_QUESTIONS
from steering.planning.readability import ASKED

UNIVERSE = 0.3
"""What a universe's verdict takes of a run's."""


@dataclass(frozen=True)
class Ahead:
    """What is known before the subject is loaded; all wordings are taken to be as long as the first.

    Attributes:
        lengths: split -> tokens of each prompt. layers: candidates for the run's own; one where it was given.
        universes: with the middle candidate in the place of the run's own layer. method: how directions are made.
    """

    lengths: Mapping[str, list[int]]
    layers: Sequence[int]
    universes: Sequence[Universe]
    method: str

    def reading(self, contrast: str) -> Load:
        """The extraction split for a contrast."""
        return making(self.lengths["extraction"], contrast, [self.method])


def _choosing(a: Ahead) -> Loads:
    if len(a.layers) == 1:
        return []
    return [a.reading(a.universes[0].contrast), *doubled(a.lengths["fitting"], a.layers, "last", 1)]


def _planning(name: str, a: Ahead) -> Loads:
    """Vectors and ranges of the universes of one wording; the ranges are confirmed where not all was asked at first."""
    mine, fitting = [each for each in a.universes if each.wording == name], a.lengths["fitting"]
    layers, few = [each.layer for each in mine], fitting[:RANGE_QUESTIONS]
    confirming = [Load(fitting, [(layer, NEAR_STEPS) for layer in layers])] if len(few) < len(fitting) else []
    read = [a.reading(contrast) for contrast in dict.fromkeys(each.contrast for each in mine)]
    return [*read, *doubled(few, layers, "last", len(layers)), *confirming]


def _turning(name: str, number: int, a: Ahead) -> Loads:
    """Of the universes of one wording; those of the first have been planned."""
    rows = [(each.layer, CONTROL_POINTS) for each in a.universes if each.wording == name]
    turns = Load([*a.lengths["fitting"], *a.lengths["test"]], rows)
    return [*(_planning(name, a) if number else []), turns]


def _verdicts(a: Ahead) -> Loads:
    return [judging(sum(map(len, a.lengths.values())), UNIVERSE * len(a.universes))]


def stages_of(wordings: Sequence[str]) -> dict[str, Stage[MultiverseStudy]]:
    """All of them, for wordings of these names."""
    turning = {
        name: Stage[MultiverseStudy](partial(MultiverseStudy.sweep, wording=number), partial(_turning, name, number))
        for number, name in enumerate(wordings)
    }
    return {
        "layer": Stage(lambda study: study.layer, _choosing, settles=True),
        "vectors": Stage(lambda study: study.plan(0), partial(_planning, wordings[0]), settles=True),
        **turning,
        "verdicts": Stage(lambda study: study.table, _verdicts),
    }


def loads(
    lengths: Mapping[str, list[int]], layers: Sequence[int], universes: Sequence[Universe], method: str
) -> dict[str, Loads]:
    """What the stages ask of a model; see `Ahead`.

    >>> one = [Universe(2, "response", "plain")]
    >>> lengths = dict.fromkeys(("extraction", "fitting", "test"), [40] * 9)
    >>> list(loads(lengths, [1, 2], one, "lda"))
    ['start', 'layer', 'vectors', 'plain', 'verdicts', 'report']
    """
    wordings = list(dict.fromkeys(universe.wording for universe in universes))
    few = [length for split in lengths.values() for length in split][:ASKED]
    found = loads_of(stages_of(wordings), None, Ahead(lengths, layers, universes, method))
    return {START: [Load(few)]} | found | {"report": [REPORT]}
