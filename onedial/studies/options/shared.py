"""Declare groups of options that several programs share: subject, questions, panel, what providers may cost."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from onedial.core.errors import InputError
from onedial.core.options import DryRunOptions, Options, RunOptions, option

if TYPE_CHECKING:
    from onedial.asking.questions import Question

SUBJECT = "smollm2-135m-instruct"
PROMPT = "neutral"
PROMPT_OF_EMBEDDED = "examples YN"
"""The embedded model knows little of itself when asked without examples (onedial/panels/data/README.md)."""
PANELS = "embedded, frontier (refusal, not ability), frontier-confidence (cut at 95; :90, :median elsewhere)"
LAYERS = "14, 10,12,14, 8-20, all, auto (every second of the middle half) or few (at .5, .6 and .7 of the depth)"
POSITIONS = ("answer", "last", "prompt", "all")
"""Where a push may act that is to move a yes or no; `steering.apply` says what each means."""
NO_PANEL = "none"
"""In place of a panel: nobody's answers stand beside the questions."""
QUESTIONS = "embedded, a preset such as arc or openai/gsm8k, a hub id, a folder or a file (docs/your_data.md)"


def names_fault(given: Sequence[str]) -> str | None:
    """What to give instead of no name at all, or one twice."""
    fault = not given or len(set(given)) < len(given)
    return "that names no model, or one twice; separate names by commas" if fault else None


@dataclass(frozen=True, kw_only=True)
class SubjectOptions(Options, group="subject"):
    """The open-weight model that is steered or read."""

    model: str = option(SUBJECT, "built-in name, hub id, local folder or GGUF file")
    revision: str | None = option(None, "branch, tag or commit of a hub id")
    dtype: str = option(
        "auto",
        "auto: the checkpoint's own on CUDA, float32 on the CPU",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    device_map: str | None = option(None, "auto spreads a large model over several GPUs")


def settings_fault(pairs: Sequence[str]) -> str | None:
    """What to give instead of what is no NAME=VALUE."""
    return None if all(name and value for name, _, value in (pair.partition("=") for pair in pairs)) else "NAME=VALUE"


@dataclass(frozen=True, kw_only=True)
class EngineOptions(Options, group="writing"):
    """What writes texts; logits are read with transformers in any case."""

    engine: str = option(
        "transformers",
        "vllm: many texts side by side, of which it is proven first that they are those of transformers",
        choices=("transformers", "vllm"),
        may_change=True,
    )
    engine_python: str | None = option(
        None,
        "Python of an environment that has vLLM, where this one has not (or ONEDIAL_VLLM_PYTHON)",
        metavar="FILE",
        needs={"engine": "vllm"},
        stored=False,
    )
    engine_options: tuple[str, ...] = option(
        (),
        "vLLM's own, such as tensor_parallel_size=4",
        metavar="NAME=VALUE[,...]",
        check=settings_fault,
        needs={"engine": "vllm"},
        may_change=True,
    )


def columns_fault(columns: str) -> str | None:
    """Say what to give instead of what is no mapping of columns."""
    from onedial.panels.questions.question_columns import QuestionColumns

    return _fault_of(QuestionColumns.of, columns)


def preset_fault(name: str) -> str | None:
    """Say what to give instead of what is no preset."""
    from onedial.panels.questions.question_columns import preset_of

    return _fault_of(preset_of, name)


def _fault_of(read: Callable[[str], object], given: str) -> str | None:
    """Read what was given and return the error's words, if there is one."""
    try:
        read(given)
    except InputError as error:
        return str(error)
    return None


@dataclass(frozen=True, kw_only=True)
class DeclaredOptions(Options, group="questions, panel, prompt"):
    """What a panel's table means where its names and words do not tell: goes before elicitation.yaml beside it."""

    about: tuple[str, ...] = option((), "columns of the panel that hold no answers", metavar="COLUMN,...")
    turned: str = option("", "a row of the panel is a respondent, who is named in this column", metavar="COLUMN")
    yes: tuple[str, ...] = option((), "how the panel spells yes, besides the usual, such as 1", metavar="WORD,...")
    no: tuple[str, ...] = option((), "how the panel spells no, besides the usual, such as 2", metavar="WORD,...")
    blank: tuple[str, ...] = option((), "how the panel spells nothing, besides the usual", metavar="WORD,...")

    @property
    def declared(self) -> dict[str, Any]:
        """By the keys of elicitation.yaml."""
        given = {"about": self.about, "yes": self.yes, "no": self.no, "blank": self.blank}
        words = {name: list(words) for name, words in given.items() if words}
        return words | ({"turned": self.turned} if self.turned else {})


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Options, group="questions, panel, prompt"):
    """How the table of --questions names its parts."""

    columns: str | None = option(
        None,
        "which column holds which part of the questions, such as question=prompt,answers=target",
        metavar="PART=COLUMN,...",
        check=columns_fault,
        excludes=("as_",),
        needs=("questions",),
    )
    as_: str | None = option(
        None, "read the questions like this preset", metavar="PRESET", check=preset_fault, needs=("questions",)
    )

    def read_questions(self, source: str) -> "list[Question]":
        """The questions of a source, read as the options say."""
        from onedial.panels.questions.question_files import load_questions

        return load_questions(source, columns=self.columns, preset=self.as_)


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(ColumnOptions, SubjectOptions, DeclaredOptions, RunOptions, group="questions, panel, prompt"):
    """What the subject is asked, and what others have said to it."""

    questions: str | None = option(None, f"{QUESTIONS}; by default the panel's own texts, or the embedded ones")
    n_questions: int | None = option(None, "draw this many of the questions that the panel answers (all)", at_least=1)
    panel: str = option("embedded", f"yes/no of the targets: CSV, JSONL or Parquet; or {PANELS}")
    respondents: str | None = option(None, "what is known of the targets (default: respondents.csv beside the panel)")
    prompt: str | None = option(
        None,
        "a .txt or .yaml file with one {question}, or a framing's name "
        f"(what the panel was asked; else {PROMPT}, for the embedded model {PROMPT_OF_EMBEDDED})",
    )

    def settled(self) -> Self:
        """With the prompt that the panel brings along, or that suits the model, where none is given."""
        return replace(super().settled(), prompt=prompt_of(self.model, self.panel, self.prompt))


@dataclass(frozen=True, kw_only=True)
class TargetOptions(QuestionOptions, group="questions, panel, prompt"):
    """Whose yes and no is to be reproduced."""

    target: str | None = option(None, "only these respondents", metavar="NAME[,NAME]")
    keep_own: bool = option(False, "keep targets that are the subject's own model")


@dataclass(frozen=True, kw_only=True)
class VerdictOptions(TargetOptions, group="questions, panel, prompt"):
    """Whether a run that can come to no verdict is begun."""

    without_verdict: bool = option(
        False,
        "begin even where too few targets can be judged: a verdict takes five, of two base models, each with 50 test "
        "answers, 10 of a kind and 10 to fit on",
    )


@dataclass(frozen=True, kw_only=True)
class PanelOptions(DeclaredOptions, group="panel"):
    """A panel that a program reads, which asks no model, and what is known of its respondents."""

    panel: str = option(..., f"CSV, JSONL or Parquet; or {PANELS}", positional=True)
    respondents: Path | None = option(None, "table with respondent, model, framing, family")


@dataclass(frozen=True, kw_only=True)
class ReplicateOptions(Options):
    """How many draws are taken."""

    replicates: int = option(1999, "draws of the bootstrap", at_least=1)


@dataclass(frozen=True, kw_only=True)
class AskedModels(DryRunOptions, group="who is asked"):
    """Models here, of providers and of servers, and what they may cost."""

    model: tuple[str, ...] = option(
        (SUBJECT,),
        "names, folders, PROVIDER:MODEL or MODEL@ADDRESS; recorded:RUN scores again what a run was told",
        metavar="MODEL[,MODEL]",
        check=names_fault,
    )
    budget: float | None = option(
        None, "ask nothing that could pass it; needs --prices", above=0, metavar="MONEY", may_change=True
    )
    replies: Literal["schema", "line", "free"] = option(
        "line", "how models of providers and servers are asked for texts (docs/instruments.md)", may_change=True
    )
    prices: str | None = option(
        None,
        "money for a million tokens read and written, such as openai:gpt-4.1-mini=0.4/1.6",
        metavar="MODEL=IN/OUT,...",
        may_change=True,
    )


def prompt_of(model: str, panel: str, prompt: str | None = None) -> str:
    """The prompt that was given, or what the panel brings along, or what suits the model."""
    from onedial.asking.elicited import prompt_of_panel

    of_panel = None if panel == NO_PANEL else prompt_of_panel(panel)
    return str(prompt or of_panel or (PROMPT_OF_EMBEDDED if model == SUBJECT else PROMPT))


def even_up_to_200(n: int) -> str | None:
    """Facts come in pairs, and there are 200."""
    return "give an even number up to 200, since they come in pairs" if n % 2 or n > 200 else None


def layer_fault(layer: str) -> str | None:
    """What to give instead of what names no layer of any model."""
    named = layer in ("all", "auto", "few") or re.fullmatch(r"\d+(-\d+)?([,+] *\d+(-\d+)?)* *", layer)
    return (
        None
        if named
        else "give an index (14), a list (10,12), a range (8-20), all, auto, few, or layers at once (10+14)"
    )


def magnitudes_fault(text: str) -> str | None:
    """What to give instead of what is neither auto nor two numbers."""
    try:
        values = {0.0, *map(float, text.split(","))}
    except ValueError:
        values = set()
    if text == "auto" or (len(values) > 2 and all(map(math.isfinite, values))):
        return None
    return "give auto, or two or more numbers such as -1,-0.5,0.5,1"


def several_layers(layer: str) -> str | None:
    """Where candidates are wanted, and layers at once or none come."""
    if fault := layer_fault(layer):
        return fault
    return "that names layers at once; separate candidates by commas" if "+" in layer else None
