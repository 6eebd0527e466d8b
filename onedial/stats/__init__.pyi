from .agreement import count, count_permuted, count_resampled, interval
from .answers import (
    Answers,
    PsychometricsWarning,
    as_answers,
    frame_of,
    names,
    numbers_or_nan,
    one_kind_of_answer,
    warn,
)
from .arrays import Booleans, Floats, Integers, number, unmasked
from .estimate import Estimate, estimate, rank_correlation
from .groups import labels_of
from .intervals import FEWEST_UNITS, area_interval, drawn_units, mean_interval, resampled_interval, unit_weights
from .level import LEVEL, MOST_UNREAD, QUANTILES_95, Z_95, interval_95, p_value
from .multiple_tests import adjusted, chi_squared_tail, p_text
from .numbers import (
    FEWEST_MODELS,
    FEWEST_TOPICS,
    PanelEstimate,
    average_within_models,
    model_means,
    panel_estimate,
    without_each_model,
)
from .power import POWER, least_on_average, least_z
from .remembered import fits_remembered, remembered
from .resampling import N_RESAMPLES, chunks, counted_once, groups_among, permuted_rows, resampled_weights, strata_of
from .roc import auc, auc_resampled, roc_area, roc_area_interval
from .shares import rates, share_of, wilson_interval
from .texts import ALPHAS, nearest_texts, ridge_scores, surface_features, text_features

__all__ = [
    "ALPHAS",
    "Answers",
    "Booleans",
    "FEWEST_MODELS",
    "FEWEST_TOPICS",
    "FEWEST_UNITS",
    "Floats",
    "Integers",
    "LEVEL",
    "MOST_UNREAD",
    "N_RESAMPLES",
    "Estimate",
    "PanelEstimate",
    "estimate",
    "POWER",
    "PsychometricsWarning",
    "rates",
    "QUANTILES_95",
    "Z_95",
    "adjusted",
    "area_interval",
    "as_answers",
    "auc",
    "auc_resampled",
    "average_within_models",
    "chi_squared_tail",
    "chunks",
    "count",
    "count_permuted",
    "count_resampled",
    "counted_once",
    "drawn_units",
    "fits_remembered",
    "frame_of",
    "groups_among",
    "interval",
    "interval_95",
    "labels_of",
    "least_on_average",
    "least_z",
    "mean_interval",
    "model_means",
    "names",
    "nearest_texts",
    "number",
    "panel_estimate",
    "rank_correlation",
    "numbers_or_nan",
    "one_kind_of_answer",
    "p_text",
    "p_value",
    "permuted_rows",
    "remembered",
    "resampled_weights",
    "resampled_interval",
    "ridge_scores",
    "roc_area",
    "roc_area_interval",
    "share_of",
    "strata_of",
    "surface_features",
    "text_features",
    "unit_weights",
    "unmasked",
    "warn",
    "wilson_interval",
    "without_each_model",
]
