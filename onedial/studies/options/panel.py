"""Declare the options of `experiments/study_panel.py`."""

from dataclasses import dataclass

from onedial.core.errors import InputError
from onedial.core.options import RunOptions, option
from onedial.studies.options.shared import PANELS, ColumnOptions, PanelOptions


@dataclass(frozen=True, kw_only=True)
class DeepOptions(ColumnOptions, group="with --deep"):
    """What is asked of a panel's scale."""

    deep: bool = option(False, "ask everything of its scale", excludes=("confidence",))
    confidence: bool = option(False, "ask everything of its confidence")
    questions: str | None = option(
        None, "file with id, question, topic, level of the questions (none; of embedded its own)", needs=("deep",)
    )
    n_factors: int = option(1, "that are fitted", at_least=1, needs=("deep",))


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
