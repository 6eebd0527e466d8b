"""Declare the options of `experiments/steer_sweep.py`, in their groups."""

from dataclasses import dataclass, replace
from typing import Self

from onedial.core.errors import InputError
from onedial.core.options import DryRunOptions, KeysOf, Options, RunOptions, declared, flag, option
from onedial.studies.options.shared import (
    LAYERS,
    NO_PANEL,
    PANELS,
    POSITIONS,
    EngineOptions,
    VerdictOptions,
    even_up_to_200,
    layer_fault,
    magnitudes_fault,
)

TESTS = ("interchange", "mediation")
CONTROLS_WITHOUT_PANEL = 8
"""Directions beside the vector where no target is there to be beside it."""


OF_TARGETS = ("target", "respondents", "keep_own", "about", "turned", "yes", "no", "blank", "instructed")
"""Options that say nothing without a panel."""


@dataclass(frozen=True, kw_only=True)
class SteeringOptions(Options, group="steering"):
    """The intervention, and what is asked of it besides."""

    contrast: str = option(
        "response",
        "what the direction is made of; response: at least five questions answered yes, and five no",
        choices=KeysOf("steering.contrasts:CONTRASTS"),
    )
    method: str = option(
        "mean_difference",
        "how it is made; random: a control direction",
        choices=KeysOf("steering.directions:DIRECTIONS"),
    )
    draw: int = option(
        0,
        "of the questions that it is made from: 0, each once; else the n-th draw of them with replacement",
        at_least=0,
    )
    operator: str = option("add", "what is done to the stream along it", choices=KeysOf("steering.operators:OPERATORS"))
    positions: str = option(
        "answer",
        "where it acts; answer: at the last token of the prompt, and on whatever is written",
        choices=POSITIONS,
    )
    unit: str = option("residual_norm", "unit of the magnitudes", choices=KeysOf("steering.interventions:UNITS"))
    layer: str = option(
        "auto",
        f"candidates, of which the one is taken where the smallest push turns the answers: {LAYERS}; 10+14: both",
        check=layer_fault,
    )
    magnitudes: str = option(
        "auto", "auto, or a list such as -1,-0.5,0.5,1", leading_hyphen=True, check=magnitudes_fault
    )
    controls: int | None = option(
        None,
        "directions drawn by chance to rank the vector among; 99 for an answer "
        f"(0; without a panel {CONTROLS_WITHOUT_PANEL})",
        at_least=0,
    )
    facts: int = option(
        60, "unrelated yes/no facts that the dial is tried on; 0: none", at_least=0, check=even_up_to_200
    )
    reversed: int = option(
        40, "fitting questions asked reversed as well (a yes: not able), to tell a yes-bias; 0: none", at_least=0
    )
    tests: tuple[str, ...] = option(
        (),
        "interchange: does the answer hang on what lies along the vector? mediation: does the push go through what a "
        "probe reads?",
        choices=TESTS,
        metavar="NAME[,NAME]",
        needs={"operator": "add", "positions": "answer"},
    )
    instructed: bool = option(
        False, "a baseline without steering: ask again with 'only if you are at least t% sure', for eight t"
    )

    def check(self) -> None:
        """Several layers at once have no control of their kind, and no test follows them."""
        super().check()
        for name in ("controls", "tests"):
            if getattr(self, name) and "+" in self.layer:
                raise InputError(f"--{name} is about one layer, and --layer {self.layer} names several; leave it out")


@dataclass(frozen=True, kw_only=True)
class ReasonedOptions(EngineOptions, group="reasoned answers"):
    """Answers that are written after a reasoning."""

    answer: str = option(
        "direct",
        "reasoned: besides the first token, let the subject write its reasons at a few settings",
        choices=("direct", "reasoned"),
    )
    reasoned_settings: int = option(6, "how many of the sweep's, 0 among them", at_least=2)
    reasoned_tokens: int = option(160, "longer texts are cut off, and unread", at_least=2)


@dataclass(frozen=True, kw_only=True)
class SweepInputs(VerdictOptions, group="questions, panel, prompt"):
    """What is asked, and beside whose answers."""

    panel: str = option(
        "embedded",
        f"yes/no of the targets: CSV, JSONL or Parquet; or {PANELS}; {NO_PANEL}: what the dial does to the questions, "
        "and no verdict, also where the embedded one answers none of --questions",
    )
    hold_out: str = option(
        "questions",
        "what is tested on: half of the questions of every topic, or all questions of half of the topics",
        choices=("questions", "topics"),
    )
    show_prompt: bool = option(False, "print the first rendered prompt and stop", stored=False)


@dataclass(frozen=True, kw_only=True)
class SweepOptions(SweepInputs, SteeringOptions, ReasonedOptions, DryRunOptions, RunOptions, group="run"):
    """All that a sweep understands."""

    tensor_parallel: bool = option(
        False,
        "torchrun's processes hold one model together, each a part of it, where it is larger than a GPU",
        stored=False,
    )

    def check(self) -> None:
        """What is about targets takes a panel."""
        super().check()
        for name in OF_TARGETS if self.panel == NO_PANEL else ():
            if getattr(self, name) != declared(self)[name][0].default:
                raise InputError(f"{flag(name)} is about targets, and there is no panel; leave it out or give --panel")

    def beside(self, has_panel: bool) -> Self:
        """The same once questions and panel are read: whether there is a panel, and how many controls.

        Raises:
            InputError: there is none, and another option is about its targets.
        """
        usual = 0 if has_panel or "+" in self.layer else CONTROLS_WITHOUT_PANEL
        controls = usual if self.controls is None else self.controls
        return replace(self, panel=self.panel if has_panel else NO_PANEL, controls=controls)

    def settings(self) -> list[float] | None:
        """The magnitudes, 0 among them; None where they are chosen on the fitting split."""
        from steering.reading import grid_of

        return None if self.magnitudes == "auto" else grid_of([0.0, *map(float, self.magnitudes.split(","))])
