from .asking import FRAMINGS, Question
from .confidence import calibration_table, compare_predictors, f_beta_curve, shared_or_own
from .core.errors import InputError
from .models import OpenModel, PromptSet, load_model
from .panels import ResponseMatrix, load_panel, load_questions
from .scale import FactorModel, QuestionBank, analyse_panel, fit_factor_model
from .verdict import SweepRun, judge_tables

__all__ = [
    "FRAMINGS",
    "FactorModel",
    "InputError",
    "OpenModel",
    "PromptSet",
    "Question",
    "QuestionBank",
    "ResponseMatrix",
    "SweepRun",
    "analyse_panel",
    "calibration_table",
    "compare_predictors",
    "f_beta_curve",
    "fit_factor_model",
    "judge_tables",
    "load_model",
    "load_panel",
    "load_questions",
    "shared_or_own",
]
