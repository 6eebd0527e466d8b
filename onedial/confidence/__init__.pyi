from .abstention import (
    Unknowable,
    break_even,
    coverage_curve,
    distributional_correctness,
    selective_auc,
    unknowable_discrimination,
)
from .calibration import Estimate, auroc, brier_score, brier_skill, calibration_table, expected_calibration_error
from .confidence_accuracy import ConfidenceAccuracy, RegressionLine, confidence_accuracy_regression
from .confidence_report import screening_section, write_confidence_report
from .conformal import FEWEST, AnsweringThreshold, OptionSets, answering_threshold, option_sets
from .f_beta import FBetaCurve, f_beta_curve
from .metacognition import MetaD, meta_d_prime, metacognition_sentences, metacognition_table
from .predictors import Predictors, compare_predictors, predictors_of_correctness
from .samples import (
    ZONES,
    Agreement,
    MeaningAgreement,
    certainty_zones,
    habits,
    intransitive,
    meaning_agreement,
    meaning_clusters,
    sample_agreement,
    samples_until_sure,
)
from .shared_or_own import SharedOrOwn, shared_or_own
from .signals import signal_table
from .tokens import SURER, TokenStatistics, question_lift, shown_lift, token_scores
from .validity import screen_confidence, screening_sentence

__all__ = [
    "Agreement",
    "AnsweringThreshold",
    "ConfidenceAccuracy",
    "Estimate",
    "FBetaCurve",
    "FEWEST",
    "MeaningAgreement",
    "MetaD",
    "OptionSets",
    "Predictors",
    "RegressionLine",
    "SURER",
    "SharedOrOwn",
    "TokenStatistics",
    "Unknowable",
    "ZONES",
    "answering_threshold",
    "auroc",
    "break_even",
    "brier_score",
    "brier_skill",
    "calibration_table",
    "certainty_zones",
    "compare_predictors",
    "confidence_accuracy_regression",
    "coverage_curve",
    "distributional_correctness",
    "expected_calibration_error",
    "f_beta_curve",
    "habits",
    "intransitive",
    "meaning_agreement",
    "meaning_clusters",
    "meta_d_prime",
    "metacognition_sentences",
    "metacognition_table",
    "option_sets",
    "predictors_of_correctness",
    "question_lift",
    "sample_agreement",
    "samples_until_sure",
    "screen_confidence",
    "screening_section",
    "screening_sentence",
    "selective_auc",
    "shared_or_own",
    "shown_lift",
    "signal_table",
    "token_scores",
    "unknowable_discrimination",
    "write_confidence_report",
]
