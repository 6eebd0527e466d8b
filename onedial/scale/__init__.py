"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question.

Signs: threshold = Phi^-1(yes rate), higher = more often yes; difficulty = -EAP score, higher = harder; the loadings of
a factor have a positive sum. Functions take arrays, DataFrames and anything with `to_frame()`, question by respondent,
with 1 = yes, 0 = no, nan = missing.
"""

from onedial.scale.checks.bundles import bundle_invariance
from onedial.scale.checks.clusters import cluster_structure
from onedial.scale.checks.missingness import missingness_test
from onedial.scale.checks.question_bootstrap import bootstrap_questions
from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.factor.factor_fit import factor_fit
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.factor.structure import (
    one_factor_bootstrap,
    permutation_null,
    quadratic_fit_test,
    revised_parallel_analysis,
)
from onedial.scale.misfit.answer_fit import answer_fit
from onedial.scale.place.question_bank import QuestionBank, kin_of
from onedial.scale.response_model import rasch_test, response_model
from onedial.scale.scale_distribution import scale_distribution
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.scale.study.check_list import CHECKS, Check
from onedial.scale.study.panel_fit import Finding

__all__ = [
    "CHECKS",
    "Check",
    "FactorModel",
    "Finding",
    "PanelAnalysis",
    "QuestionBank",
    "analyse_panel",
    "answer_fit",
    "bootstrap_questions",
    "bundle_invariance",
    "cluster_structure",
    "factor_fit",
    "fit_factor_model",
    "kin_of",
    "missingness_test",
    "one_factor_bootstrap",
    "permutation_null",
    "quadratic_fit_test",
    "rasch_test",
    "residual_correlations",
    "response_model",
    "revised_parallel_analysis",
    "scale_distribution",
    "tetrachoric",
]
