"""What is shown of a run: figures, report, the terminal's summary, W&B. Reads; computes no result."""

from onedial.report.results import SWEEP_RESULTS

__all__ = [
    "SWEEP_RESULTS",
]
