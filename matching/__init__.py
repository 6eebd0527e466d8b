"""Does one steered model reproduce the yes/no of others? Works on saved tables, needs no model.

sweep (question x magnitude) + panel (question x target) -> match_targets -> TargetMatches -> judge -> Verdict
"""

from matching.comparison import Comparison, compare_runs, mcnemar, paired_difference
from matching.controls import ControlDial, control_table
from matching.dial import Dial, dial_of_crossings, dial_of_grid, readable_range
from matching.dial_comparison import CUT, DialComparison, compare_dials, reach_at_kl
from matching.dial_profile import (
    PROFILE_COLUMNS,
    PROFILE_VERDICTS,
    WRITING,
    DialProfile,
    profile_of,
    sureness_by_setting,
)
from matching.facts import FactsResult, facts_result
from matching.inputs import ExperimentInputs, load_inputs
from matching.judgement import Judgement, SweepTables, judge_tables
from matching.match import TargetMatches, dose_response, match_targets
from matching.multiverse import (
    Universe,
    judge_universe,
    multiverse_summary,
    multiverse_table,
    no_result,
    universes_of,
)
from matching.path import DialPath, dial_path
from matching.prospects import Prospects, prospects_of
from matching.reasoned import ReasonedComparison, as_sweep, compare_reasoned
from matching.replacement import dial_order, replacement_table
from matching.splits import FITTING, SPLITS, TEST, assign_splits
from matching.status import EDGE, JUDGED, MIN_FITTING, MIN_OF_A_KIND, MIN_TEST
from matching.sweep_run import SweepRun
from matching.tables import SweepGrid, sweep_grid
from matching.usable import UsableRange, usable_range
from matching.verdict import (
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
    "EDGE",
    "FITTING",
    "CANNOT_BE_JUDGED",
    "MIN_TARGETS",
    "REACH",
    "readable_range",
    "ANSWERS",
    "CUT",
    "DIALS",
    "ASKED_OTHERWISE",
    "FLAGS",
    "JUDGED",
    "MIN_FITTING",
    "MIN_OF_A_KIND",
    "MIN_TEST",
    "PROFILE_COLUMNS",
    "PROFILE_VERDICTS",
    "PUSHES",
    "RULE",
    "SPLITS",
    "TEST",
    "UNREAD_DECIDE",
    "WRITING",
    "Comparison",
    "ControlDial",
    "Dial",
    "DialComparison",
    "DialPath",
    "DialProfile",
    "ExperimentInputs",
    "FactsResult",
    "Judgement",
    "Prospects",
    "ReasonedComparison",
    "SweepGrid",
    "SweepRun",
    "SweepTables",
    "TargetMatches",
    "Universe",
    "UsableRange",
    "Verdict",
    "as_sweep",
    "assign_splits",
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
    "load_inputs",
    "match_targets",
    "mcnemar",
    "multiverse_summary",
    "multiverse_table",
    "no_result",
    "paired_difference",
    "profile_of",
    "prospects_of",
    "reach_at_kl",
    "replacement_table",
    "sureness_by_setting",
    "sweep_grid",
    "universes_of",
    "usable_range",
]
