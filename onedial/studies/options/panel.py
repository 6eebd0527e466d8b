"""The options of `experiments/study_panel.py`."""

from dataclasses import dataclass
from typing import Literal

from onedial.core.errors import InputError
from onedial.core.options import Options, RunOptions, option
from onedial.studies.options.shared import PANELS, PanelOptions

YES_AND_NO = ("questions", "n_factors", "extraction")


@dataclass(frozen=True, kw_only=True)
class DeepOptions(Options, group="with --deep"):
    """What is asked of a panel's scale."""

    deep: bool = option(False, "ask everything of its scale", excludes=("confidence",))
    confidence: bool = option(False, "ask everything of its confidence")
    questions: str | None = option(
        None, "file with id, question, topic, level of the questions (none; of embedded its own)", needs=("deep",)
    )
    categories: tuple[float, ...] = option(
        (),
        "read numbers as ordered categories that begin at these points, as 70,80,90,95,99 (yes and no)",
        metavar="POINTS",
        check=lambda points: None if sorted(set(points)) == list(points) else "give points that rise",
        excludes=YES_AND_NO,
        needs=("deep",),
    )
    n_factors: int = option(1, "that are fitted", at_least=1, needs=("deep",))
    extraction: Literal["minres", "principal"] = option("minres", "of the factors", needs=("deep",))
    thresholds: str = option(
        "pairwise", "of each pair, or of all answers", choices=("pairwise", "global"), needs=("deep",)
    )
    zero_cells: str = option(
        "half", "what is done about empty cells", choices=("half", "none", "exclude"), needs=("deep",)
    )


@dataclass(frozen=True, kw_only=True)
class StudyOptions(PanelOptions, DeepOptions, RunOptions, group="study"):
    """What is asked of a panel."""

    panel: str = option("frontier-confidence", f"CSV, JSONL or Parquet; or {PANELS}", positional=True)
    replicates: int | None = option(
        None,
        "random draws of each null and interval (199; with --deep 499, with --confidence 999); 0: none",
        at_least=0,
    )

    def check(self) -> None:
        """One draw is no null."""
        super().check()
        if self.deep and self.replicates == 1:
            raise InputError("--replicates 1: give 0, or at least 2")

    @property
    def n_replicates(self) -> int:
        """Random draws of each null and interval."""
        default = 499 if self.deep else 999 if self.confidence else 199
        return default if self.replicates is None else self.replicates
