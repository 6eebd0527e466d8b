"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question."""

from psychometrics.answers import PsychometricsWarning
from psychometrics.eigenvalue_null import EigenvalueNull
from psychometrics.f_beta import FBetaCurve, f_beta_curve
from psychometrics.factor_model import FactorModel, fit_factor_model
from psychometrics.permutation import permutation_null
from psychometrics.quadratic import QuadraticFit, quadratic_fit
from psychometrics.scores import factor_scores
from psychometrics.smoothing import SmoothedCorrelation, smooth_correlation
from psychometrics.tetrachoric import TetrachoricResult, tetrachoric
from psychometrics.thresholds import threshold_table

__all__ = [
    "EigenvalueNull",
    "FBetaCurve",
    "FactorModel",
    "PsychometricsWarning",
    "QuadraticFit",
    "SmoothedCorrelation",
    "TetrachoricResult",
    "f_beta_curve",
    "factor_scores",
    "fit_factor_model",
    "permutation_null",
    "quadratic_fit",
    "smooth_correlation",
    "tetrachoric",
    "threshold_table",
]
