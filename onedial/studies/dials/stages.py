"""The stages of `experiments/compare_dials.py` in their order, and what each asks of the model at most: every dial
reaching every yes rate.

    reading     the extraction split, for contrasts, gradients and an adapter, and the fitting split once
    pushes      the fitting split, a step to either side along each direction at each candidate layer
    scanning    the fitting split at the doubled magnitudes, one direction for each candidate layer
    placing     the fitting split at the first settings of each dial
    answers     fitting and test split at the settings of each yes rate
    facts       the unrelated facts at these and at 0, taken to be as long as the questions
    text        the first halves of neutral passages at the same, of dials that push

The openings of instructions, personas and framings are not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from onedial.core.run.stages import Stage, loads_of
from onedial.studies.dials.study import DialStudy
from onedial.studies.options.dials import DialOptions
from steering.dials.adapters import ADAPTER_PASSES, ADAPTER_SETTINGS, MOST_READINGS
from steering.dials.dials import RATES, instructed_threshold, personas
from steering.effects.side_effects import PASSAGE_TOKENS
from steering.planning.forecast import Candidates, Load, Loads, Size, doubled
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import doubling

READINGS = {"response": 1, "answer": 3}
"""Of the extraction split, by contrast; the framings' take two poles beside the plain prompt, which are three too."""
BEYOND, N_RATES = len(doubling()), len(RATES)
N_READ_ONCE = 1
"""Dials whose settings are all read off one unsteered answer."""


@dataclass(frozen=True)
class Ahead(Candidates):
    """What is known before the subject is loaded: options, tokens of each prompt by split, candidate layers."""

    options: DialOptions
    lengths: Mapping[str, list[int]]
    layers: list[int]

    @property
    def n_directions(self) -> int:
        """At each layer."""
        return len(self.options.methods) + len(self.options.framings)

    @property
    def n_pushed(self) -> int:
        """Dials that push."""
        several = min(self.options.together, len(self.layers)) > 1
        operators = sum(operator != "add" for operator in self.options.operators)
        return (self.n_directions + operators + several) * ("interventions" in self.options.dials)

    @property
    def anew(self) -> list[int]:
        """Of each dial that asks anew at every setting, how many there are, 0 included."""
        known = {
            "threshold": len(instructed_threshold().first_settings()),
            "personas": len(personas().first_settings()),
            "lora": len(ADAPTER_SETTINGS),
        }
        return [n for name, n in known.items() if name in self.options.dials]

    def at_rates(self, prompts: list[int], n_more: int = 0) -> list[Load]:
        """Prompts at the settings of every yes rate, and at so many more."""
        n = N_RATES + n_more
        n_anew = sum(min(settings, n) for settings in self.anew) + N_READ_ONCE
        return [Load(prompts, [(self.middle, n)] * self.n_pushed, self.kind), Load(prompts * n_anew)]


def _making(a: Ahead) -> Loads:
    options, extraction, fitting = a.options, a.lengths["extraction"], a.lengths["fitting"]
    n_adapted = int("lora" in options.dials)
    n_readings = READINGS.get(options.contrast, 3) + 3 * len(options.framings) + MOST_READINGS * n_adapted
    n_whole = 2 * (("gradient" in options.methods) + ADAPTER_PASSES * n_adapted)  # forwards, and backwards
    return {
        "reading": [Load([*extraction * (n_readings + n_whole), *fitting])],
        "pushes": [Load(fitting, [(layer, 2) for layer in a.layers] * a.n_directions, a.kind)],
    }


def _placing(a: Ahead) -> Loads:
    fitting = a.lengths["fitting"]
    pushed = Load(fitting, [(a.middle, BEYOND)] * a.n_pushed, a.kind)
    return {"placing": [pushed, Load(fitting * (sum(a.anew) + N_READ_ONCE))]}


def _effects(a: Ahead) -> Loads:
    asked, n_facts = [*a.lengths["fitting"], *a.lengths["test"]], a.options.facts
    texts = [PASSAGE_TOKENS] * a.options.passages
    return {
        "facts": a.at_rates((asked * n_facts)[:n_facts], 1),
        "text": [Load(texts, [(a.middle, (N_RATES + 1) * a.n_pushed)], a.kind)],
    }


STAGES: dict[str, Stage[DialStudy]] = {
    "directions": Stage(lambda study: study.vectors, _making, settles=True),
    "layer": Stage(
        lambda study: study.layer,
        lambda a: {"scanning": doubled(a.lengths["fitting"], a.layers, a.kind, 1)},
        settles=True,
    ),
    "placing": Stage(lambda study: study.placed, _placing),
    "answers": Stage(
        lambda study: study.answers,
        lambda a: {"answers": a.at_rates([*a.lengths["fitting"], *a.lengths["test"]])},
    ),
    "side effects": Stage(lambda study: study.effects, _effects),
    "comparison": Stage(lambda study: study.comparison),
}


def loads(options: DialOptions, lengths: Mapping[str, list[int]], size: Size, _: object = None) -> Loads:
    """What the stages ask of a model of this size."""
    return loads_of(STAGES, options, Ahead(options, lengths, candidate_layers(options.layer, size.n_layers)))
