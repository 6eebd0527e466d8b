"""The stages of `experiments/multiverse.py` in their order, and what each asks of the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from onedial.core.run.stages import Stage, loads_of
from onedial.studies.multiverse.study import MultiverseStudy
from onedial.verdict.comparing.multiverse import Universe
from steering.critical import ROWS_PER_CROSSING
from steering.planning.forecast import Load, Loads, doubled
from steering.planning.magnitudes import NEAR_STEPS, RANGE_QUESTIONS


@dataclass(frozen=True)
class Ahead:
    """What is known before the subject is loaded; all wordings are taken to be as long as the first.

    Attributes:
        lengths: split -> tokens of each prompt. layers: candidates for the run's own; one where it was given.
        universes: with the middle candidate in the place of the run's own layer.
    """

    lengths: Mapping[str, list[int]]
    layers: Sequence[int]
    universes: Sequence[Universe]


def _choosing(a: Ahead) -> Loads:
    """The answer contrast reads each prompt as it is, and with either answer."""
    read = {(universe.wording, universe.contrast) for universe in a.universes}
    n, chosen = sum(3 if contrast == "answer" else 1 for _, contrast in read), len(a.layers) > 1
    scanning = {"scanning": doubled(a.lengths["fitting"], a.layers, "last", 1)}
    return {"reading": [Load(a.lengths["extraction"] * (n + chosen))]} | (scanning if chosen else {})


def _turning(name: str, number: int, a: Ahead) -> Loads:
    """Of the universes of one wording."""
    layers, fitting = [each.layer for each in a.universes if each.wording == name], a.lengths["fitting"]
    turning = [(layer, ROWS_PER_CROSSING[True]) for layer in layers]
    return {
        f"ranges {number}": doubled(fitting[:RANGE_QUESTIONS], layers, "last", len(layers)),
        f"confirming {number}": [Load(fitting, [(layer, NEAR_STEPS) for layer in layers])],
        f"turns {number}": [Load([*fitting, *a.lengths["test"]], turning, "crossings")],
    }


def stages_of(wordings: Sequence[str]) -> dict[str, Stage[MultiverseStudy]]:
    """All of them, for wordings of these names."""
    turning = {
        name: Stage[MultiverseStudy](
            partial(MultiverseStudy.find_turns, wording=number), partial(_turning, name, number + 1)
        )
        for number, name in enumerate(wordings)
    }
    return {
        "layer": Stage(lambda study: study.layer, _choosing, settles=True),
        "vectors": Stage(lambda study: study.plan(0), settles=True),
        **turning,
        "verdicts": Stage(lambda study: study.table),
    }


def loads(lengths: Mapping[str, list[int]], layers: Sequence[int], universes: Sequence[Universe]) -> Loads:
    """What the stages ask of a model; see `Ahead`.

    >>> one = [Universe(2, "response", "plain")]
    >>> lengths = dict.fromkeys(("extraction", "fitting", "test"), [40] * 9)
    >>> list(loads(lengths, [1, 2], one))
    ['reading', 'scanning', 'ranges 1', 'confirming 1', 'turns 1']
    """
    wordings = list(dict.fromkeys(universe.wording for universe in universes))
    return loads_of(stages_of(wordings), None, Ahead(lengths, layers, universes))
