"""Interventions: how they are made and applied, and what a sweep of their magnitude does to the answers."""

from steering.adapters import (
    ADAPTER_PASSES,
    ADAPTER_SETTINGS,
    MOST_READINGS,
    Adapter,
    LoraDial,
    adapted,
    train_adapter,
)
from steering.apply import steered
from steering.asking import ASKED_COLUMNS, ask_settings
from steering.comparison import DirectionComparison, compare_directions, share_by_effect
from steering.contrasts import CONTRASTS, Contrast
from steering.controls import CONTROLS
from steering.cost import CostPrediction, ModelSize, predict_cost
from steering.critical import CriticalMagnitudes, critical_magnitudes, crossings_along
from steering.dials import (
    DIAL_COLUMNS,
    RATES,
    SURENESS,
    Dial,
    InterventionDial,
    MovedCut,
    PromptDial,
    Temperature,
    ask_together,
    instructed_threshold,
    personas,
    place_settings,
)
from steering.directions import DIRECTIONS
from steering.effects import EFFECT_COLUMNS, effects_of
from steering.exporting import export_gguf, export_lm_eval, export_tensors, import_vectors
from steering.forecast import (
    RunForecast,
    forecast_comparison,
    forecast_multiverse,
    forecast_run,
    measure_and_forecast,
)
from steering.gate import Expected, Gate, choose_gate, expected_share
from steering.interventions import POSITIONS, ROLES, Intervention
from steering.layers import LayerScan, candidate_layers, scan_layers
from steering.magnitudes import read_magnitudes, yes_rates
from steering.operators import OPERATORS
from steering.plan import SweepPlan, make_plan, ranges_along
from steering.readability import check_readability
from steering.reasoned import reasoned_instrument, reasoned_sweep, short_grid
from steering.reliability import Reliability, reliability_of
from steering.respondent import SteeredRespondent, ask_along, generate_steered
from steering.side_effects import (
    FACT_EFFECT_COLUMNS,
    LIMIT,
    TEXT_COLUMNS,
    effects_on_text,
    fact_effects,
    kl_on_text,
)
from steering.speed import measure_speed
from steering.sweep import SweepResult, sweep
from steering.vectors import (
    UNITS,
    SteeringVector,
    check_making,
    contrast_of,
    extract_vector,
    extract_vectors,
    random_vector,
    vectors_of,
)
from steering.written import SURENESS_OF_WRITING, written_along

__all__ = [
    "ADAPTER_PASSES",
    "ADAPTER_SETTINGS",
    "ASKED_COLUMNS",
    "CONTRASTS",
    "CONTROLS",
    "DIAL_COLUMNS",
    "DIRECTIONS",
    "EFFECT_COLUMNS",
    "FACT_EFFECT_COLUMNS",
    "LIMIT",
    "MOST_READINGS",
    "OPERATORS",
    "POSITIONS",
    "RATES",
    "ROLES",
    "SURENESS",
    "SURENESS_OF_WRITING",
    "TEXT_COLUMNS",
    "UNITS",
    "Adapter",
    "Contrast",
    "CostPrediction",
    "CriticalMagnitudes",
    "Dial",
    "DirectionComparison",
    "Expected",
    "Gate",
    "Intervention",
    "InterventionDial",
    "LayerScan",
    "LoraDial",
    "ModelSize",
    "MovedCut",
    "PromptDial",
    "Reliability",
    "RunForecast",
    "SteeredRespondent",
    "SteeringVector",
    "SweepPlan",
    "SweepResult",
    "Temperature",
    "adapted",
    "ask_along",
    "ask_settings",
    "ask_together",
    "candidate_layers",
    "check_readability",
    "choose_gate",
    "compare_directions",
    "contrast_of",
    "critical_magnitudes",
    "crossings_along",
    "effects_of",
    "effects_on_text",
    "expected_share",
    "export_gguf",
    "export_lm_eval",
    "export_tensors",
    "extract_vector",
    "check_making",
    "extract_vectors",
    "fact_effects",
    "forecast_comparison",
    "forecast_multiverse",
    "forecast_run",
    "generate_steered",
    "import_vectors",
    "instructed_threshold",
    "kl_on_text",
    "make_plan",
    "measure_and_forecast",
    "measure_speed",
    "personas",
    "place_settings",
    "predict_cost",
    "random_vector",
    "ranges_along",
    "read_magnitudes",
    "reasoned_instrument",
    "reasoned_sweep",
    "reliability_of",
    "scan_layers",
    "share_by_effect",
    "short_grid",
    "steered",
    "sweep",
    "train_adapter",
    "vectors_of",
    "written_along",
    "yes_rates",
]
