"""Declare the options of `experiments/compare_dials.py` and of `experiments/multiverse.py`."""

from dataclasses import dataclass, replace
from typing import Self

from onedial.core.options import DryRunOptions, KeysOf, RunOptions, option
from onedial.studies.options.shared import (
    LAYERS,
    POSITIONS,
    TargetOptions,
    VerdictOptions,
    even_up_to_200,
    several_layers,
)

DIALS = ("interventions", "cut", "threshold", "personas")
MORE_DIALS = ("lora",)
"""Compared where they are named: an adapter has to be trained, and needs peft."""
QUESTIONS_OF_EMBEDDED = 200
PARAPHRASES = "paraphrases"
DIRECTIONS, OPERATORS = KeysOf("steering.directions:DIRECTIONS"), KeysOf("steering.operators:OPERATORS")
CONTRASTS, POLES = KeysOf("steering.contrasts:CONTRASTS"), KeysOf("onedial.asking.poles:POLES", "all")


@dataclass(frozen=True, kw_only=True)
class DialOptions(TargetOptions, DryRunOptions, RunOptions, group="what is compared"):
    """All that a comparison of dials understands."""

    n_questions: int | None = option(
        None, "draw this many of the questions that the panel answers (all; of the embedded ones 200)", at_least=1
    )
    dials: tuple[str, ...] = option(DIALS, "a threshold shift always is", choices=(*DIALS, *MORE_DIALS))
    methods: tuple[str, ...] = option(
        (), "directions, the first by every operator (all)", choices=DIRECTIONS, also=("method",)
    )
    framings: tuple[str, ...] = option(
        (), "contrasts by framing as further directions: all, or some (none)", choices=POLES
    )
    operators: tuple[str, ...] = option((), "of steering (all)", choices=OPERATORS, also=("operator",))
    contrast: str = option("response", "what directions are made of", choices=CONTRASTS)
    positions: str = option(
        "answer",
        "where it acts; answer: at the last token of the prompt, and on whatever is written",
        choices=POSITIONS,
    )
    layer: str = option("few", f"candidates: {LAYERS}", check=several_layers)
    together: int = option(3, "layers steered at once, magnitudes shared by effect; 0: none", at_least=0)
    facts: int = option(60, "unrelated facts; 0: none", at_least=0, check=even_up_to_200)
    passages: int = option(16, "neutral ones, for KL", at_least=1, at_most=64)
    lora_rate: float = option(0.9, "yes rate that --dials lora is trained to", above=0, below=1)

    def settled(self) -> Self:
        """With all names where none are given, and a number of the embedded questions."""
        few = self.panel == "embedded" and not self.questions
        return replace(
            super().settled(),
            n_questions=self.n_questions or (QUESTIONS_OF_EMBEDDED if few else None),
            methods=self.methods or tuple(DIRECTIONS),
            operators=self.operators or tuple(OPERATORS),
            framings=tuple(name for name in POLES if name != "all") if "all" in self.framings else self.framings,
        )


@dataclass(frozen=True, kw_only=True)
class MultiverseOptions(
    VerdictOptions, DryRunOptions, RunOptions, group="what is varied, each from the run's own choice"
):
    """All that a multiverse understands."""

    layer: str = option("auto", f"candidates: {LAYERS}", check=several_layers)
    contrasts: tuple[str, ...] = option(
        ("response", "answer"), "the run's own first", choices=CONTRASTS, also=("contrast",)
    )
    wordings: str = option(
        PARAPHRASES,
        "paraphrases: two more ways of asking, and every one with no named before yes; or prompts (files or "
        "framings), separated by commas",
    )
    draws: int = option(5, "further draws of the extraction questions", at_least=0)
    method: str = option("mean_difference", "how a direction is made", choices=DIRECTIONS)
