"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question.

Signs: threshold = Phi^-1(yes rate), higher = more often yes; difficulty = -EAP score, higher = harder; the loadings of
a factor have a positive sum. Functions take arrays, DataFrames and anything with `to_frame()`, question by respondent,
with 1 = yes, 0 = no, nan = missing.
"""

from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.place.question_bank import QuestionBank, kin_of
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.scale.study.checks import CHECKS, Check
from onedial.scale.study.panel_fit import Finding

__all__ = [
    "CHECKS",
    "Check",
    "FactorModel",
    "Finding",
    "PanelAnalysis",
    "QuestionBank",
    "analyse_panel",
    "fit_factor_model",
    "kin_of",
    "residual_correlations",
]
