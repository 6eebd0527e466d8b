"""Does one steered model reproduce the yes/no of others? Works on saved tables, needs no model.

sweep (question x magnitude) + panel (question x target) -> match_targets -> TargetMatches -> judge -> Verdict
"""

from matching.controls import control_signal, control_signals, judged_targets
from matching.inputs import ExperimentInputs, load_inputs
from matching.match import TargetMatches, match_targets
from matching.splits import assign_splits
from matching.status import JUDGED
from matching.verdict import SENTENCES, Verdict, judge

__all__ = [
    "JUDGED",
    "SENTENCES",
    "ExperimentInputs",
    "TargetMatches",
    "Verdict",
    "assign_splits",
    "control_signal",
    "control_signals",
    "judge",
    "judged_targets",
    "load_inputs",
    "match_targets",
]
