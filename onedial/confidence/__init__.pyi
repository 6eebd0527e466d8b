from .abstention import (
    Unknowable,
    break_even,
    coverage_curve,
    distributional_correctness,
    selective_auc,
    unknowable_discrimination,
)
from .calibration import Estimate, auroc, brier_score, brier_skill, calibration_table, expected_calibration_error
from .confidence_accuracy import ConfidenceAccuracy, Line, confidence_accuracy_regression
from .confidence_report import write_confidence_report
from .conformal import FEWEST, AnsweringThreshold, OptionSets, answering_threshold, option_sets
from .f_beta import FBetaCurve, f_beta_curve
from .knowledge import WhoseKnowledge, whose_knowledge
from .metacognition import MetaD, meta_d_prime, metacognition_sentences, metacognition_table
from .pairwise import PairwiseCalibration, pairwise_calibration
from .samples import ZONES, Agreement, certainty_zones, habits, sample_agreement, samples_until_sure
from .signals import signal_table
from .tokens import SURER, TokenStatistics, question_lift, shown_lift, token_scores

__all__ = [
    "Agreement",
    "AnsweringThreshold",
    "ConfidenceAccuracy",
    "Estimate",
    "FBetaCurve",
    "FEWEST",
    "Line",
    "MetaD",
    "OptionSets",
    "PairwiseCalibration",
    "SURER",
    "TokenStatistics",
    "Unknowable",
    "WhoseKnowledge",
    "ZONES",
    "answering_threshold",
    "auroc",
    "break_even",
    "brier_score",
    "brier_skill",
    "calibration_table",
    "certainty_zones",
    "confidence_accuracy_regression",
    "coverage_curve",
    "distributional_correctness",
    "expected_calibration_error",
    "f_beta_curve",
    "habits",
    "meta_d_prime",
    "metacognition_sentences",
    "metacognition_table",
    "option_sets",
    "pairwise_calibration",
    "question_lift",
    "sample_agreement",
    "samples_until_sure",
    "selective_auc",
    "shown_lift",
    "signal_table",
    "token_scores",
    "unknowable_discrimination",
    "whose_knowledge",
    "write_confidence_report",
]
