"""The options of `experiments/collect_panel.py`."""

from dataclasses import dataclass
from pathlib import Path

from onedial.core import DryRunOptions, RunOptions, option
from onedial.studies.options.shared import QUESTIONS

SAMPLE_JUDGED = 200


def part_of(text: str) -> tuple[int, int] | None:
    """Which of how many parts, such as 2/3; None where the text says none.

    >>> part_of("2/3"), part_of("4/3")
    ((2, 3), None)
    """
    this, _, of = text.partition("/")
    return (int(this), int(of)) if this.isdigit() and of.isdigit() and 1 <= int(this) <= int(of) else None


@dataclass(frozen=True, kw_only=True)
class CollectOptions(DryRunOptions, RunOptions, group="collecting"):
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
    inspect_logs: bool = option(True, "keep inspect_ai's logs of providers and servers", may_change=True)
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
