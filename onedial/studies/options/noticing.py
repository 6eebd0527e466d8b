"""Declare the options of `experiments/ask.py noticing`."""

from dataclasses import dataclass

from onedial.core.options import RunOptions, option
from onedial.studies.options.shared import POSITIONS, SubjectOptions


@dataclass(frozen=True, kw_only=True)
class NoticingOptions(SubjectOptions, RunOptions, group="noticing"):
    """All that is understood."""

    layer: int | None = option(None, "after which thoughts are injected (three fifths of the depth)", at_least=0)
    magnitudes: tuple[float, ...] = option((0.1, 0.3, 1.0), "strengths, in residual norms", above=0)
    positions: str = option("all", "where they act", choices=POSITIONS)
    concepts: tuple[str, ...] = option((), "words of your own, at least 8 (forty)", metavar="WORD[,WORD]")
