"""What is shown of a run: figures, report, lines in the terminal, W&B. Reads; computes no result."""

from reporting.comparison_figures import draw_dials, draw_direction_cosines
from reporting.confidence_report import write_confidence_report
from reporting.factor_report import write_factor_report
from reporting.figure_style import COLOURS, FAINT, STYLE, Drawing, save_figure
from reporting.formatters import headline
from reporting.multiverse_figure import multiverse_figure
from reporting.multiverse_report import write_multiverse_report
from reporting.probe_report import write_probe_figures, write_probe_report
from reporting.profile_report import write_profile_report
from reporting.progress import progress_bar
from reporting.report import write_report
from reporting.results import save_results
from reporting.run_comparison_report import write_comparison
from reporting.terminal import print_summary
from reporting.wandb_login import WandbOptions, check_wandb, wandb_is_installed, wandb_knows_key
from reporting.wandb_sweep import WandbMirror
from reporting.wandb_watcher import WandbWatcher

__all__ = [
    "COLOURS",
    "FAINT",
    "STYLE",
    "Drawing",
    "WandbMirror",
    "WandbOptions",
    "WandbWatcher",
    "check_wandb",
    "draw_dials",
    "draw_direction_cosines",
    "headline",
    "multiverse_figure",
    "print_summary",
    "progress_bar",
    "save_figure",
    "save_results",
    "wandb_is_installed",
    "wandb_knows_key",
    "write_comparison",
    "write_confidence_report",
    "write_factor_report",
    "write_multiverse_report",
    "write_probe_figures",
    "write_probe_report",
    "write_profile_report",
    "write_report",
]
