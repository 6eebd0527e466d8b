from .contents import Contents
from .figures.comparison_figures import draw_dials, draw_direction_cosines
from .figures.multiverse_figure import multiverse_figure
from .inspect_log import write_answer_log, write_inspect_log
from .multiverse_report import write_multiverse_report
from .profile_report import write_profile_report
from .report import contents_of, keep_judgement, print_summary, write_report
from .run_comparison_report import comparison_figures, comparison_sections, comparison_sentence, write_comparison
from .sweep_results import SWEEP_RESULTS
from .sweep_watcher import SweepWatcher

__all__ = [
    "Contents",
    "SWEEP_RESULTS",
    "SweepWatcher",
    "comparison_figures",
    "contents_of",
    "keep_judgement",
    "comparison_sections",
    "comparison_sentence",
    "draw_dials",
    "draw_direction_cosines",
    "multiverse_figure",
    "print_summary",
    "write_comparison",
    "write_answer_log",
    "write_inspect_log",
    "write_multiverse_report",
    "write_profile_report",
    "write_report",
]
