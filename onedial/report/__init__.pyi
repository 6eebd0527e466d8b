from .comparison import comparison_sentence, write_comparison
from .contents import Contents
from .dials import write_dials
from .inspect_log import write_answer_log, write_inspect_log
from .multiverse import write_multiverse
from .profile import write_profile
from .report import contents_of, keep_judgement, print_summary, write_report
from .sweep_results import SWEEP_RESULTS
from .sweep_watcher import SweepWatcher

__all__ = [
    "Contents",
    "SWEEP_RESULTS",
    "SweepWatcher",
    "contents_of",
    "keep_judgement",
    "comparison_sentence",
    "print_summary",
    "write_comparison",
    "write_dials",
    "write_multiverse",
    "write_answer_log",
    "write_inspect_log",
    "write_profile",
    "write_report",
]
