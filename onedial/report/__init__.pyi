from .contents import Contents
from .figures.comparison_figures import draw_dials, draw_direction_cosines
from .figures.multiverse_figure import multiverse_figure
from .inspect_log import write_answer_log, write_inspect_log
from .multiverse_report import write_multiverse_report
from .overview import doubts, ranked
from .profile_report import write_profile_report
from .report import write_report
from .run_comparison_report import comparison_figures, comparison_sections, comparison_sentence, write_comparison
from .sections import OVERVIEW, SECTIONS
from .sweep_watcher import SweepWatcher
from .terminal import print_summary

__all__ = [
    "Contents",
    "OVERVIEW",
    "SECTIONS",
    "SweepWatcher",
    "comparison_figures",
    "comparison_sections",
    "comparison_sentence",
    "doubts",
    "draw_dials",
    "draw_direction_cosines",
    "multiverse_figure",
    "print_summary",
    "ranked",
    "write_comparison",
    "write_answer_log",
    "write_inspect_log",
    "write_multiverse_report",
    "write_profile_report",
    "write_report",
]
