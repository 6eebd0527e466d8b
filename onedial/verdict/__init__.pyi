from .comparing.comparison import Comparison, compare_runs, mcnemar, paired_difference
from .comparing.dial_comparison import CUT, DialComparison, compare_dials, reach_at_kl
from .comparing.dial_profile import (
    PROFILE_COLUMNS,
    PROFILE_VERDICTS,
    WRITING,
    DialProfile,
    profile_of,
    sureness_by_setting,
)
from .comparing.multiverse import (
    Universe,
    judge_universe,
    multiverse_summary,
    multiverse_table,
    no_result,
    universes_of,
)
from .comparing.reasoned import ReasonedComparison, as_sweep, compare_reasoned
from .controls import ControlDial, control_table
from .criteria.status import EDGE, JUDGED, MIN_FITTING, MIN_OF_A_KIND, MIN_TEST
from .criteria.usable import UsableRange, usable_range
from .dial import Dial, dial_of_crossings, dial_of_grid, readable_range
from .judgement import Judgement, SweepTables, judge_tables
from .match import TargetMatches, dose_response, match_targets
from .path import DialPath, dial_path
from .prospects import Prospects, prospects_of
from .rivals.facts import FactsResult, facts_result
from .rivals.replacement import dial_order, replacement_table
from .sweep_run import SweepRun
from .tables import SweepGrid, sweep_grid
from .verdict import (
    ANSWERS,
    ASKED_OTHERWISE,
    CANNOT_BE_JUDGED,
    DIALS,
    FLAGS,
    MIN_TARGETS,
    PUSHES,
    REACH,
    RULE,
    UNREAD_DECIDE,
    Verdict,
    judge,
)

__all__ = [
    "ANSWERS",
    "ASKED_OTHERWISE",
    "CANNOT_BE_JUDGED",
    "CUT",
    "Comparison",
    "ControlDial",
    "DIALS",
    "Dial",
    "DialComparison",
    "DialPath",
    "DialProfile",
    "EDGE",
    "FLAGS",
    "FactsResult",
    "JUDGED",
    "Judgement",
    "MIN_FITTING",
    "MIN_OF_A_KIND",
    "MIN_TARGETS",
    "MIN_TEST",
    "PROFILE_COLUMNS",
    "PROFILE_VERDICTS",
    "PUSHES",
    "Prospects",
    "REACH",
    "RULE",
    "ReasonedComparison",
    "SweepGrid",
    "SweepRun",
    "SweepTables",
    "TargetMatches",
    "UNREAD_DECIDE",
    "Universe",
    "UsableRange",
    "Verdict",
    "WRITING",
    "as_sweep",
    "compare_dials",
    "compare_reasoned",
    "compare_runs",
    "control_table",
    "dial_of_crossings",
    "dial_of_grid",
    "dial_order",
    "dial_path",
    "dose_response",
    "facts_result",
    "judge",
    "judge_tables",
    "judge_universe",
    "match_targets",
    "mcnemar",
    "multiverse_summary",
    "multiverse_table",
    "no_result",
    "paired_difference",
    "profile_of",
    "prospects_of",
    "reach_at_kl",
    "readable_range",
    "replacement_table",
    "sureness_by_setting",
    "sweep_grid",
    "universes_of",
    "usable_range",
]
