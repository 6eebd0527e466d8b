"""What stated confidence is worth: calibration, F-beta, meta-d', whose knowledge it is."""

from onedial.confidence.calibration import calibration_table
from onedial.confidence.f_beta import f_beta_curve
from onedial.confidence.metacognition import meta_d_prime
from onedial.confidence.predictors import compare_predictors, predictors_of_correctness
from onedial.confidence.shared_or_own import shared_or_own
from onedial.confidence.tokens import TokenStatistics
from onedial.confidence.validity import screen_confidence

__all__ = [
    "TokenStatistics",
    "calibration_table",
    "compare_predictors",
    "f_beta_curve",
    "meta_d_prime",
    "predictors_of_correctness",
    "screen_confidence",
    "shared_or_own",
]
