"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question.

Signs: threshold = Phi^-1(yes rate), higher = more often yes; difficulty = -EAP score, higher = harder; the loadings of
a factor have a positive sum. Functions take arrays, DataFrames and anything with `to_frame()`, question by respondent,
with 1 = yes, 0 = no, nan = missing.
"""

from common import p_value
from psychometrics.abstention import (
    Unknowable,
    break_even,
    coverage_curve,
    distributional_correctness,
    selective_auc,
    unknowable_discrimination,
)
from psychometrics.analysis_tables import analysis_summary, analysis_tables
from psychometrics.answers import PsychometricsWarning
from psychometrics.battery import BATTERY, battery_scores
from psychometrics.battery_overview import battery_overview
from psychometrics.calibration import (
    Estimate,
    auroc,
    brier_score,
    brier_skill,
    calibration_table,
    expected_calibration_error,
)
from psychometrics.clusters import ClusterStructure, cluster_structure
from psychometrics.confidence_accuracy import ConfidenceAccuracy, Line, confidence_accuracy_regression
from psychometrics.conformal import AnsweringThreshold, OptionSets, answering_threshold, option_sets
from psychometrics.correlation_intervals import CorrelationIntervals, correlation_intervals
from psychometrics.eigenvalue_null import EigenvalueNull
from psychometrics.external import PlacedRespondents, QuestionScale
from psychometrics.f_beta import FBetaCurve, f_beta_curve
from psychometrics.factor_fit import FactorFit, factor_fit
from psychometrics.factor_model import FactorModel, fit_factor_model
from psychometrics.factor_names import name_factors
from psychometrics.factor_places import factor_places
from psychometrics.graded_answers import cut_confidence
from psychometrics.graded_response import GradedModel, graded_response_model
from psychometrics.hierarchy import Hierarchy, schmid_leiman
from psychometrics.irt import IrtModel, two_parameter_irt
from psychometrics.metacognition import MetaD, meta_d_prime, metacognition_sentences, metacognition_table
from psychometrics.missingness import missingness_test
from psychometrics.one_factor import OneFactorBootstrap, one_factor_bootstrap, revised_parallel_analysis
from psychometrics.one_page import one_page
from psychometrics.pairwise import PairwiseCalibration, pairwise_calibration
from psychometrics.panel_analysis import PanelAnalysis, analyse_panel
from psychometrics.permutation import permutation_null
from psychometrics.polychoric import PolychoricResult, polychoric, polyserial
from psychometrics.pressure import pressure_scores, standardised_shifts
from psychometrics.quadratic import QuadraticFit, quadratic_fit
from psychometrics.quadratic_null import quadratic_fit_test
from psychometrics.question_bootstrap import QuestionBootstrap, bootstrap_questions
from psychometrics.question_invariance import QuestionInvariance, question_invariance
from psychometrics.questionnaires import (
    IntraclassCorrelation,
    cronbach_alpha,
    identical_share,
    intraclass_correlation,
    rating_model,
    revisions,
)
from psychometrics.rasch import RaschProportions, RaschTest, rasch_proportions, rasch_test
from psychometrics.relative_confidence import (
    CircularNull,
    PairedScores,
    bradley_terry,
    circular_null,
    circular_triads,
    elo,
    paired_design,
    paired_scores,
)
from psychometrics.reliability import Reliability, difficulty_reliability
from psychometrics.residual_correlations import ResidualCorrelations, residual_correlations
from psychometrics.respondent_invariance import RespondentInvariance, respondent_invariance
from psychometrics.revision import (
    STATES,
    Changes,
    SelfCorrection,
    debate_excess,
    honesty,
    mended_and_broken,
    parrot_states,
    self_correction,
    state_counts,
)
from psychometrics.roc import roc_area, roc_area_interval
from psychometrics.rotation import RotatedLoadings, rotate
from psychometrics.sample_agreement import (
    ZONES,
    Agreement,
    certainty_zones,
    habits,
    sample_agreement,
    samples_until_sure,
)
from psychometrics.scale_distribution import ScaleDistribution, scale_distribution
from psychometrics.scores import factor_scores
from psychometrics.self_prediction import (
    association_scores,
    cross_prediction,
    difficulty_scores,
    measured_ranks,
    pair_scores,
    prediction_matrix,
    restriction_scores,
)
from psychometrics.sensitivity import sensitivity_table
from psychometrics.sensitivity_summary import summarise_sensitivity
from psychometrics.shares import wilson_interval
from psychometrics.signals import signal_table
from psychometrics.simulation import Simulated
from psychometrics.smoothing import SmoothedCorrelation, smooth_correlation
from psychometrics.tetrachoric import TetrachoricResult, tetrachoric
from psychometrics.thresholds import threshold_table
from psychometrics.token_scores import (
    SURER,
    TokenStatistics,
    question_lift,
    shown_lift,
    token_scores,
)
from psychometrics.whose_knowledge import WhoseKnowledge, whose_knowledge

__all__ = [
    "BATTERY",
    "STATES",
    "SURER",
    "ZONES",
    "Agreement",
    "AnsweringThreshold",
    "Changes",
    "CircularNull",
    "ClusterStructure",
    "ConfidenceAccuracy",
    "CorrelationIntervals",
    "EigenvalueNull",
    "Estimate",
    "FBetaCurve",
    "FactorFit",
    "FactorModel",
    "GradedModel",
    "Hierarchy",
    "IntraclassCorrelation",
    "IrtModel",
    "Line",
    "MetaD",
    "OneFactorBootstrap",
    "OptionSets",
    "PairedScores",
    "PairwiseCalibration",
    "PanelAnalysis",
    "PlacedRespondents",
    "PolychoricResult",
    "PsychometricsWarning",
    "QuadraticFit",
    "QuestionBootstrap",
    "QuestionInvariance",
    "QuestionScale",
    "RaschProportions",
    "RaschTest",
    "Reliability",
    "ResidualCorrelations",
    "RespondentInvariance",
    "RotatedLoadings",
    "ScaleDistribution",
    "SelfCorrection",
    "Simulated",
    "SmoothedCorrelation",
    "TetrachoricResult",
    "TokenStatistics",
    "Unknowable",
    "WhoseKnowledge",
    "analyse_panel",
    "analysis_summary",
    "analysis_tables",
    "answering_threshold",
    "association_scores",
    "auroc",
    "battery_overview",
    "battery_scores",
    "bootstrap_questions",
    "bradley_terry",
    "break_even",
    "brier_score",
    "brier_skill",
    "calibration_table",
    "certainty_zones",
    "circular_null",
    "circular_triads",
    "cluster_structure",
    "confidence_accuracy_regression",
    "correlation_intervals",
    "coverage_curve",
    "cronbach_alpha",
    "cross_prediction",
    "cut_confidence",
    "debate_excess",
    "difficulty_reliability",
    "difficulty_scores",
    "distributional_correctness",
    "elo",
    "expected_calibration_error",
    "f_beta_curve",
    "factor_fit",
    "factor_places",
    "factor_scores",
    "fit_factor_model",
    "graded_response_model",
    "habits",
    "honesty",
    "identical_share",
    "intraclass_correlation",
    "measured_ranks",
    "mended_and_broken",
    "meta_d_prime",
    "metacognition_sentences",
    "metacognition_table",
    "missingness_test",
    "name_factors",
    "one_factor_bootstrap",
    "one_page",
    "option_sets",
    "p_value",
    "pair_scores",
    "paired_design",
    "paired_scores",
    "pairwise_calibration",
    "parrot_states",
    "permutation_null",
    "polychoric",
    "polyserial",
    "prediction_matrix",
    "pressure_scores",
    "quadratic_fit",
    "quadratic_fit_test",
    "question_invariance",
    "question_lift",
    "rasch_proportions",
    "rasch_test",
    "rating_model",
    "residual_correlations",
    "respondent_invariance",
    "restriction_scores",
    "revised_parallel_analysis",
    "revisions",
    "roc_area",
    "roc_area_interval",
    "rotate",
    "sample_agreement",
    "samples_until_sure",
    "scale_distribution",
    "schmid_leiman",
    "selective_auc",
    "self_correction",
    "sensitivity_table",
    "shown_lift",
    "signal_table",
    "smooth_correlation",
    "standardised_shifts",
    "state_counts",
    "summarise_sensitivity",
    "tetrachoric",
    "threshold_table",
    "token_scores",
    "two_parameter_irt",
    "unknowable_discrimination",
    "whose_knowledge",
    "wilson_interval",
]
