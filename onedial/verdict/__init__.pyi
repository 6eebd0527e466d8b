from .case import Case, sweep_grid
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
from .dial import Dial, dial_of_crossings
from .judgement import Judgement, SweepTables, judge_tables, rates_along_controls
from .match import dose_response
from .path import DialPath, dial_path
from .prediction.prediction import ALONE, FLOOR, OPEN_FLOOR, Prediction, predict, share_is_told, words_of_mark
from .prediction.sources import DIAL, OWN_FRAMINGS
from .prospects import Prospects, prospects_of
from .rivals.facts import FactsResult, facts_result
from .rivals.rivals import RIVALS, Rival
from .rivals.yes_bias import YesBias, split_margin, yes_bias
from .screening import CHECKS, Screened, screen
from .sweep_run import SweepRun
from .verdict import (
    ANSWERS,
    ASKED_OTHERWISE,
    CANNOT_BE_JUDGED,
    DIALS,
    FLAGS,
    MIN_TARGETS,
    NOT_REPRODUCED,
    ONE_MODEL,
    PUSHES,
    REACH,
    RULE,
    SURFACE_AS_GOOD,
    THIS_DIRECTION,
    UNREAD_DECIDE,
    UNTESTED,
    YES_BIAS,
    Verdict,
    judge,
)

__all__ = [
    "YesBias",
    "yes_bias",
    "ALONE",
    "ANSWERS",
    "ASKED_OTHERWISE",
    "CANNOT_BE_JUDGED",
    "CHECKS",
    "Case",
    "CUT",
    "Comparison",
    "ControlDial",
    "DIAL",
    "DIALS",
    "Dial",
    "DialComparison",
    "DialPath",
    "DialProfile",
    "EDGE",
    "FLAGS",
    "FLOOR",
    "OPEN_FLOOR",
    "FactsResult",
    "JUDGED",
    "Judgement",
    "MIN_FITTING",
    "MIN_OF_A_KIND",
    "MIN_TARGETS",
    "MIN_TEST",
    "NOT_REPRODUCED",
    "ONE_MODEL",
    "OWN_FRAMINGS",
    "PROFILE_COLUMNS",
    "PROFILE_VERDICTS",
    "PUSHES",
    "Prediction",
    "Prospects",
    "REACH",
    "RIVALS",
    "RULE",
    "ReasonedComparison",
    "Rival",
    "Screened",
    "SURFACE_AS_GOOD",
    "SweepRun",
    "SweepTables",
    "THIS_DIRECTION",
    "UNREAD_DECIDE",
    "UNTESTED",
    "Universe",
    "UsableRange",
    "Verdict",
    "WRITING",
    "YES_BIAS",
    "as_sweep",
    "compare_dials",
    "compare_reasoned",
    "compare_runs",
    "control_table",
    "dial_of_crossings",
    "dial_path",
    "dose_response",
    "facts_result",
    "judge",
    "judge_tables",
    "judge_universe",
    "mcnemar",
    "multiverse_summary",
    "multiverse_table",
    "no_result",
    "paired_difference",
    "predict",
    "profile_of",
    "prospects_of",
    "rates_along_controls",
    "reach_at_kl",
    "screen",
    "share_is_told",
    "sureness_by_setting",
    "split_margin",
    "sweep_grid",
    "universes_of",
    "usable_range",
    "words_of_mark",
]
