"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question.

Signs: threshold = Phi^-1(yes rate), higher = more often yes; difficulty = -EAP score, higher = harder; the loadings of
a factor have a positive sum. Functions take arrays, DataFrames and anything with `to_frame()`, question by respondent,
with 1 = yes, 0 = no, nan = missing.
"""

from psychometrics.answers import PsychometricsWarning
from psychometrics.calibration import (
    Estimate,
    auroc,
    brier_score,
    brier_skill,
    calibration_table,
    expected_calibration_error,
)
from psychometrics.confidence_accuracy import ConfidenceAccuracy, Line, confidence_accuracy_regression
from psychometrics.eigenvalue_null import EigenvalueNull
from psychometrics.f_beta import FBetaCurve, f_beta_curve
from psychometrics.factor_model import FactorModel, fit_factor_model
from psychometrics.irt import IrtModel, two_parameter_irt
from psychometrics.missingness import missingness_test
from psychometrics.one_factor import OneFactorBootstrap, one_factor_bootstrap, revised_parallel_analysis
from psychometrics.pairwise import PairwiseCalibration, pairwise_calibration
from psychometrics.permutation import permutation_null
from psychometrics.quadratic import QuadraticFit, quadratic_fit
from psychometrics.quadratic_null import quadratic_fit_test
from psychometrics.question_bootstrap import QuestionBootstrap, bootstrap_questions
from psychometrics.scores import factor_scores
from psychometrics.sensitivity import sensitivity_table, summarise_sensitivity
from psychometrics.simulation import Simulated
from psychometrics.smoothing import SmoothedCorrelation, smooth_correlation
from psychometrics.tetrachoric import TetrachoricResult, tetrachoric
from psychometrics.thresholds import threshold_table

__all__ = [
    "ConfidenceAccuracy",
    "EigenvalueNull",
    "Estimate",
    "FBetaCurve",
    "FactorModel",
    "IrtModel",
    "Line",
    "OneFactorBootstrap",
    "PairwiseCalibration",
    "PsychometricsWarning",
    "QuadraticFit",
    "QuestionBootstrap",
    "Simulated",
    "SmoothedCorrelation",
    "TetrachoricResult",
    "auroc",
    "bootstrap_questions",
    "brier_score",
    "brier_skill",
    "calibration_table",
    "confidence_accuracy_regression",
    "expected_calibration_error",
    "f_beta_curve",
    "factor_scores",
    "fit_factor_model",
    "missingness_test",
    "one_factor_bootstrap",
    "pairwise_calibration",
    "permutation_null",
    "quadratic_fit",
    "quadratic_fit_test",
    "revised_parallel_analysis",
    "sensitivity_table",
    "smooth_correlation",
    "summarise_sensitivity",
    "tetrachoric",
    "threshold_table",
    "two_parameter_irt",
]
