"""Declare the options of `experiments/panel.py`, a class for each of its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onedial.core.options import DryRunOptions, KeysOf, RunOptions, option
from onedial.studies.options.shared import QUESTIONS, ColumnOptions, DeclaredOptions, EngineOptions, PanelOptions

SAMPLE_JUDGED = 200
INSPECT_LOG = "inspect-log"


def part_of(text: str) -> tuple[int, int] | None:
    """Which of how many parts, such as 2/3; None where the text says none.

    >>> part_of("2/3"), part_of("4/3")
    ((2, 3), None)
    """
    this, _, of = text.partition("/")
    return (int(this), int(of)) if this.isdigit() and of.isdigit() and 1 <= int(this) <= int(of) else None


@dataclass(frozen=True, kw_only=True)
class CollectOptions(ColumnOptions, EngineOptions, DryRunOptions, RunOptions, group="collecting"):
    """All that collecting a panel understands.

    Every answer is saved under what was asked of whom, so a collection may go on with more or other questions.
    """

    respondents: Path = option(..., "YAML: who is asked (docs/collecting.md)", metavar="FILE", may_change=True)
    questions: str = option("embedded", QUESTIONS, may_change=True)
    n_questions: int | None = option(
        None, "draw N of them, each topic and level by its share", at_least=1, metavar="N", may_change=True
    )
    closed_book: bool = option(True, "also ask each question itself, and grade the answers", may_change=True)
    device: str | None = option(None, "cpu, cuda, cuda:N (default: CUDA where there is one)", may_change=True)
    device_map: str | None = option(None, "auto: spread each model over several GPUs", may_change=True)
    budget: float | None = option(
        None, "ask nothing that could pass it; needs prices", above=0, metavar="MONEY", may_change=True
    )
    judge: str | None = option(
        None,
        f"let the file's judge grade {SAMPLE_JUDGED} closed-book answers, to compare; or all, and take its grades",
        choices=("sample", "all"),
        may_change=True,
    )
    shard: str | None = option(
        None,
        "ask the I-th of N parts of the questions alone",
        metavar="I/N",
        check=lambda text: None if part_of(text) else "give a part of a whole such as 2/3",
        may_change=True,
    )
    merge: tuple[Path, ...] = option(
        (), "first take over the answers of another collection", metavar="DIR", repeated=True, may_change=True
    )
    seed: int = option(0, "of every draw", at_least=0, may_change=True)


def pairs_fault(pairs: Sequence[str]) -> str | None:
    """Say what to give instead of what is no OURS=THEIRS."""
    both = all(all(part.strip() for part in pair.partition("=")) or pair == "question_id=" for pair in pairs)
    return None if both else "write OURS=THEIRS, such as said_yes=verdict,respondent=llm"


def asked_fault(words: Sequence[str]) -> str | None:
    """Say what to give instead of what is neither a kind nor TASK=KIND."""
    kinds = [word.rpartition("=")[2] for word in words]
    return None if set(kinds) <= {"yes-no", "question"} else "write yes-no, question, or TASK=yes-no,TASK=question"


@dataclass(frozen=True, kw_only=True)
class ImportOptions(DeclaredOptions):
    """What is read, and as what."""

    sources: tuple[Path, ...] = option(..., "log, table, or a folder of them", positional=True, metavar="SOURCE")
    out: Path = option(..., "new folder to write to", metavar="DIR")
    format: str | None = option(
        None, "of the files (found from each)", choices=KeysOf("onedial.panels.formats.formats:IMPORTERS")
    )
    asked: tuple[str, ...] = option(
        (),
        "what the logs asked: yes-no (can you answer this?) or question (the question itself), or of each task",
        metavar="KIND or TASK=KIND,...",
        check=asked_fault,
    )
    shared_lines: Literal["cut", "keep"] | None = option(
        None, "the lines that all prompts of a task share: around the questions (cut), or of them (keep)"
    )
    score: str | None = option(None, "which score says that the question itself was answered correctly")
    confidence_scale: float | None = option(
        None, "what stands for certain there: 1, 10, 100; needed where there is one", above=0, metavar="N"
    )
    incomplete: bool = option(False, "take what is there of an evaluation that ended in an error")
    columns: tuple[str, ...] = option(
        (), "columns of a table, or fields of a log: raw_text=reply", metavar="OURS=THEIRS,...", check=pairs_fault
    )


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ColumnOptions, PanelOptions, group="export"):
    """What is written, and how."""

    to: str = option(
        ...,
        "format; inspect-log of a run",
        choices=KeysOf("onedial.panels.formats.exporting:EXPORTERS", INSPECT_LOG),
        metavar="FORMAT",
    )
    out: Path = option(
        ...,
        "a new file: JSONL, or .eval",
        metavar="FILE",
        check=lambda out: "that is taken; choose another name" if out.exists() else None,
    )
    value: Literal["said_yes", "answered_correctly", "came_true"] = option(
        "said_yes",
        "what is written; came_true: whether the yes or no did",
    )
    questions: str | None = option(None, "give accepted answers: a name or a file (the panel's name)")
    respondent: tuple[str, ...] = option((), "only this one; may be repeated", metavar="NAME", repeated=True)
