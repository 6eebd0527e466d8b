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
from .checks.question_invariance import QuestionInvariance, question_invariance
from .checks.residual_correlations import ResidualCorrelations, residual_correlations
from .checks.respondent_invariance import RespondentInvariance, respondent_invariance
from .checks.simulation import Simulated
from .correlations.correlation_intervals import CorrelationIntervals, correlation_intervals
from .correlations.polychoric import PolychoricResult, polychoric
from .correlations.tetrachoric import TetrachoricResult, tetrachoric
from .correlations.thresholds import threshold_table
from .factor.factor_fit import FEWEST_FITTED, MOST_FITTED, FactorFit, factor_fit
from .factor.factor_model import FactorModel, fit_factor_model
from .factor.factor_names import name_factors
from .factor.factor_places import factor_places
from .factor.hierarchy import Hierarchy, schmid_leiman
from .factor.minres import minres_one_factor
from .factor.rotation import RotatedLoadings, rotate
from .factor.scores import factor_scores
from .irt.external import PlacedRespondents, QuestionScale
from .irt.graded_answers import cut_confidence
from .irt.graded_response import GradedModel, graded_response_model
from .irt.irt import IrtModel, two_parameter_irt
from .irt.rasch import RaschTest, rasch_test
from .irt.reliability import Reliability, difficulty_reliability
from .irt.scale_distribution import ScaleDistribution, scale_distribution
from .misfit.answer_fit import AnswerFit, answer_fit
from .place.evaluation import evaluate_placing, placing_summary
from .place.linking import Link, ScaleBank, link_panels
from .place.placement import Placement, rate_over
from .place.plausible_values import plausible_values
from .place.question_bank import QuestionBank, kin_of
from .specific.bifactor import BifactorModel, SpecificFactors, bifactor_model, specific_factors
from .specific.generalizability import Generalizability, generalizability, measurements_of
from .specific.kin_account import kin_account, kin_bend
from .specific.kin_pairs import KinPairs, kin_pairs
from .specific.near_copies import NearCopies, near_copies
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
    "BifactorModel",
    "BundleInvariance",
    "ClusterStructure",
    "CorrelationIntervals",
    "EigenvalueNull",
    "FactorFit",
    "FactorModel",
    "Generalizability",
    "GradedModel",
    "GradedPanel",
    "Hierarchy",
    "IrtModel",
    "KinPairs",
    "Link",
    "NearCopies",
    "OneFactorBootstrap",
    "PanelAnalysis",
    "PlacedRespondents",
    "Placement",
    "PolychoricResult",
    "QuadraticFit",
    "QuestionBank",
    "QuestionBootstrap",
    "QuestionInvariance",
    "QuestionScale",
    "RaschTest",
    "Reliability",
    "ResidualCorrelations",
    "RespondentInvariance",
    "RivalAccounts",
    "RotatedLoadings",
    "ScaleBank",
    "ScaleDistribution",
    "Simulated",
    "SpecificFactors",
    "TetrachoricResult",
    "analyse_graded_panel",
    "analyse_panel",
    "analysis_summary",
    "analysis_tables",
    "answer_fit",
    "bifactor_model",
    "bootstrap_questions",
    "bundle_invariance",
    "cluster_structure",
    "correlation_intervals",
    "cut_confidence",
    "difficulty_reliability",
    "evaluate_placing",
    "factor_fit",
    "factor_places",
    "factor_scores",
    "fit_factor_model",
    "generalizability",
    "graded_response_model",
    "graded_tables",
    "kin_account",
    "kin_bend",
    "kin_of",
    "kin_pairs",
    "kinship_of",
    "link_panels",
    "measurements_of",
    "minres_one_factor",
    "missingness_test",
    "name_factors",
    "near_copies",
    "one_factor_bootstrap",
    "one_page",
    "permutation_null",
    "placing_summary",
    "plausible_values",
    "polychoric",
    "polychoric_factor",
    "quadratic_fit",
    "quadratic_fit_test",
    "question_invariance",
    "rasch_test",
    "rate_over",
    "residual_correlations",
    "respondent_invariance",
    "revised_parallel_analysis",
    "rival_accounts",
    "rotate",
    "scale_distribution",
    "schmid_leiman",
    "sensitivity_table",
    "specific_factors",
    "summarise_sensitivity",
    "tetrachoric",
    "threshold_table",
    "two_parameter_irt",
    "write_factor_report",
]
