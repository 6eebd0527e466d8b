from .categories import cut_confidence
from .checks.accounts import RivalAccounts, rival_accounts
from .checks.bundles import BundleInvariance, bundle_invariance
from .checks.clusters import ClusterStructure, cluster_structure
from .checks.eigenvalue_null import EigenvalueNull
from .checks.missingness import missingness_test
from .checks.one_factor import OneFactorBootstrap, one_factor_bootstrap, revised_parallel_analysis
from .checks.permutation import permutation_null
from .checks.quadratic import QuadraticFit, quadratic_fit
from .checks.quadratic_null import quadratic_fit_test
from .checks.question_bootstrap import QuestionBootstrap, bootstrap_questions
from .checks.residual_correlations import ResidualCorrelations, residual_correlations
from .checks.simulation import Simulated
from .correlations.correlation_intervals import CorrelationIntervals, correlation_intervals
from .correlations.polychoric import PolychoricResult, polychoric
from .correlations.tetrachoric import TetrachoricResult, tetrachoric
from .correlations.thresholds import threshold_table
from .equal_slopes import RaschTest, rasch_test
from .factor.factor_fit import FEWEST_FITTED, MOST_FITTED, FactorFit, factor_fit
from .factor.factor_model import FactorModel, fit_factor_model
from .factor.factor_names import name_factors
from .factor.minres import minres_one_factor
from .factor.rotation import RotatedLoadings, rotate
from .factor.scores import factor_scores
from .misfit.answer_fit import AnswerFit, answer_fit
from .place.evaluation import evaluate_placing, placing_summary
from .place.placement import Placement, rate_over
from .place.question_bank import QuestionBank, kin_of
from .place.question_scale import PlacedRespondents, QuestionScale
from .response_model import Reliability, ResponseModel, response_model
from .scale_distribution import ScaleDistribution, scale_distribution
from .specific.kin_account import kin_account, kin_bend
from .specific.kin_pairs import KinPairs, kin_pairs
from .specific.near_copies import NearCopies, near_copies
from .specific.specific_factors import SpecificFactors, specific_factors
from .study.analysis_tables import analysis_summary, analysis_tables
from .study.factor_report import write_factor_report
from .study.graded_panel import GradedPanel, analyse_graded_panel, graded_tables, polychoric_factor
from .study.kinship import kinship_of
from .study.one_page import one_page
from .study.panel_analysis import PanelAnalysis, analyse_panel
from .study.sensitivity import sensitivity_table
from .study.sensitivity_summary import summarise_sensitivity

__all__ = [
    "FEWEST_FITTED",
    "MOST_FITTED",
    "AnswerFit",
    "BundleInvariance",
    "ClusterStructure",
    "CorrelationIntervals",
    "EigenvalueNull",
    "FactorFit",
    "FactorModel",
    "GradedPanel",
    "KinPairs",
    "NearCopies",
    "OneFactorBootstrap",
    "PanelAnalysis",
    "PlacedRespondents",
    "Placement",
    "PolychoricResult",
    "QuadraticFit",
    "QuestionBank",
    "QuestionBootstrap",
    "QuestionScale",
    "RaschTest",
    "Reliability",
    "ResidualCorrelations",
    "ResponseModel",
    "RivalAccounts",
    "RotatedLoadings",
    "ScaleDistribution",
    "Simulated",
    "SpecificFactors",
    "TetrachoricResult",
    "analyse_graded_panel",
    "analyse_panel",
    "analysis_summary",
    "analysis_tables",
    "answer_fit",
    "bootstrap_questions",
    "bundle_invariance",
    "cluster_structure",
    "correlation_intervals",
    "cut_confidence",
    "evaluate_placing",
    "factor_fit",
    "factor_scores",
    "fit_factor_model",
    "graded_tables",
    "kin_account",
    "kin_bend",
    "kin_of",
    "kin_pairs",
    "kinship_of",
    "minres_one_factor",
    "missingness_test",
    "name_factors",
    "near_copies",
    "one_factor_bootstrap",
    "one_page",
    "permutation_null",
    "placing_summary",
    "polychoric",
    "polychoric_factor",
    "quadratic_fit",
    "quadratic_fit_test",
    "rasch_test",
    "rate_over",
    "residual_correlations",
    "response_model",
    "revised_parallel_analysis",
    "rival_accounts",
    "rotate",
    "scale_distribution",
    "sensitivity_table",
    "specific_factors",
    "summarise_sensitivity",
    "tetrachoric",
    "threshold_table",
    "write_factor_report",
]
