"""List the stages of `experiments/compare_dials.py` in order, and what each asks of the model at most: every dial
reaching every yes rate. Prompts reach few, as a rule.

    directions    the extraction split, for contrasts, gradients and an adapter; the fitting split once, and a step to
                  either side along each direction at each candidate layer
    layer         the fitting split at the doubled magnitudes, one direction for each candidate layer
    placing       the fitting split at the first settings of each dial, and where each yes rate is sought
    answers       the test split at the settings of each yes rate
    side effects  the unrelated facts at these and at 0, taken to be as long as the questions; the first halves of
                  neutral passages at the same, of dials that push

The openings of instructions, personas and framings are not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from onedial.core.run.stages import Stage, loads_of
from onedial.studies.dials.dials_study import DialStudy
from onedial.studies.options.dials import DialOptions
from steering.dials.adapters import ADAPTER_PASSES, ADAPTER_SETTINGS, MOST_READINGS
from steering.dials.dials import RATES, instructed_threshold, personas
from steering.effects.side_effects import PASSAGE_TOKENS
from steering.planning.forecast import REPORT, Candidates, Load, Loads, Size, doubled, making
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import ROUNDS, doubling

FRAMING_READINGS = 3
"""Of the extraction split, for a contrast by framing: two poles, and the plain prompt."""
BEYOND, N_RATES = len(doubling()), len(RATES)
N_READ_ONCE = 1
"""Dials whose settings are all read off one unsteered answer."""
PROMPTED = ("threshold", "personas")
"""Dials whose settings are prompts, which take the subject to few of the yes rates: to none, where it was tried."""
RATES_OF_PROMPTS = 0.1
"""Share of the yes rates that they are taken to reach."""
USUAL_SOUGHT = 0.25
"""Share of the rounds and rates that are usually asked to find the settings."""
MEASURING = 0.2
"""Seconds of statistics for each direction at each layer."""


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
    def anew(self) -> dict[str, int]:
        """Of each dial that asks anew at every setting, how many there are, 0 included."""
        known = {
            "threshold": len(instructed_threshold().first_settings()),
            "personas": len(personas().first_settings()),
            "lora": len(ADAPTER_SETTINGS),
        }
        return {name: n for name, n in known.items() if name in self.options.dials}

    def at_rates(self, prompts: list[int], with_zero: bool = False) -> Loads:
        """Prompts at the settings of every yes rate, and at 0."""
        anew = {name: min(n - with_zero, N_RATES) for name, n in self.anew.items()}
        prompted = sum(n for name, n in anew.items() if name in PROMPTED)
        others = sum(anew.values()) - prompted + with_zero * len(anew) + N_READ_ONCE
        return [
            Load(prompts, [(self.middle, N_RATES + with_zero)] * self.n_pushed, self.kind),
            Load(prompts * others),
            Load(prompts * prompted, usual=RATES_OF_PROMPTS),
        ]


def _making(a: Ahead) -> Loads:
    options, extraction, fitting = a.options, a.lengths["extraction"], a.lengths["fitting"]
    n_adapted = int("lora" in options.dials)
    n_framed, n_training = FRAMING_READINGS * len(options.framings), (MOST_READINGS + 2 * ADAPTER_PASSES) * n_adapted
    return [
        making(extraction, options.contrast, options.methods),
        Load([*extraction * (n_framed + n_training), *fitting]),
        Load(fitting, [(layer, 2) for layer in a.layers] * a.n_directions, a.kind),
        Load(seconds=MEASURING * a.n_directions * len(a.layers)),
    ]


def _placing(a: Ahead) -> Loads:
    fitting, sought = a.lengths["fitting"], [N_RATES for name in a.anew if name not in PROMPTED]
    pushed = Load(fitting, [(a.middle, BEYOND)] * a.n_pushed, a.kind)
    return [
        pushed,
        Load(fitting * (sum(a.anew.values()) + N_READ_ONCE)),
        Load(fitting * ROUNDS, [(a.middle, N_RATES)] * a.n_pushed, a.kind, usual=USUAL_SOUGHT),
        Load(fitting * ROUNDS * (sum(sought) + N_READ_ONCE), usual=USUAL_SOUGHT),
    ]


def _effects(a: Ahead) -> Loads:
    asked, n_facts = [*a.lengths["fitting"], *a.lengths["test"]], a.options.facts
    texts = [PASSAGE_TOKENS] * a.options.passages
    return [
        *a.at_rates((asked * n_facts)[:n_facts], with_zero=True),
        Load(texts, [(a.middle, (N_RATES + 1) * a.n_pushed)], a.kind),
    ]


STAGES: dict[str, Stage[DialStudy]] = {
    "directions": Stage(lambda study: study.vectors, _making, settles=True),
    "layer": Stage(
        lambda study: study.layer,
        lambda a: doubled(a.lengths["fitting"], a.layers, a.kind, 1),
        settles=True,
    ),
    "placing": Stage(lambda study: study.placed, _placing),
    "answers": Stage(
        lambda study: study.answers,
        lambda a: a.at_rates(a.lengths["test"]),
    ),
    "side effects": Stage(lambda study: study.effects, _effects),
    "comparison": Stage(lambda study: study.comparison),
}


def loads(options: DialOptions, lengths: Mapping[str, list[int]], size: Size, _: object = None) -> dict[str, Loads]:
    """What the stages ask of a model of this size."""
    ahead = Ahead(options, lengths, candidate_layers(options.layer, size.n_layers))
    return loads_of(STAGES, options, ahead) | {"report": [REPORT]}
