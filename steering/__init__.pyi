from .apply import steered
from .asking import ASKED_COLUMNS, ask_settings
from .contrasts import CONTRASTS, Contrast
from .controls import CONTROLS, word_push
from .critical import CriticalMagnitudes, critical_magnitudes, crossings_along
from .dials.adapters import (
    ADAPTER_PASSES,
    ADAPTER_SETTINGS,
    MOST_READINGS,
    Adapter,
    LoraDial,
    adapted,
    train_adapter,
    tuned_to_answers,
)
from .dials.comparison import DirectionComparison, compare_directions, share_by_effect
from .dials.dials import (
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
from .dials.gate import Expected, Gate, choose_gate, expected_share
from .directions import DIRECTIONS, Directions, unit_and_length
from .effects.effects import EFFECT_COLUMNS, effects_of
from .effects.interchange import INTERCHANGE_COLUMNS, INTERCHANGE_PAIRS, interchange
from .effects.mediation import (
    MEDIATION_COLUMNS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
    mediation,
)
from .effects.reasoned import reasoned_instrument, reasoned_sweep, short_grid
from .effects.side_effects import (
    FACT_EFFECT_COLUMNS,
    LIMIT,
    REVERSED_SETTINGS,
    TEXT_COLUMNS,
    effects_on_text,
    fact_effects,
    kl_on_text,
)
from .effects.written import SURENESS_OF_WRITING, written_along
from .exporting import export_gguf, export_lm_eval, export_tensors, import_vectors
from .interventions import POSITIONS, ROLES, Intervention
from .operators import OPERATORS
from .planning.cost import CostPrediction, ModelSize, predict_cost
from .planning.forecast import RunForecast, forecast_comparison, forecast_multiverse, forecast_run, measure_and_forecast
from .planning.layers import LayerScan, candidate_layers, scan_layers
from .planning.magnitudes import doubling, read_magnitudes, yes_rates
from .planning.plan import SweepPlan, make_plan, ranges_along
from .planning.readability import check_readability
from .planning.reliability import Reliability, reliability_of
from .planning.speed import measure_speed
from .pushes import Push
from .respondent import SteeredRespondent, ask_along, generate_steered
from .sweeping import SweepResult, sweep
from .vectors import (
    UNITS,
    SteeringVector,
    check_making,
    contrast_of,
    extract_vector,
    extract_vectors,
    random_vector,
    vectors_of,
)

__all__ = [
    "REVERSED_SETTINGS",
    "doubling",
    "word_push",
    "ADAPTER_PASSES",
    "ADAPTER_SETTINGS",
    "ASKED_COLUMNS",
    "Adapter",
    "CONTRASTS",
    "CONTROLS",
    "Contrast",
    "CostPrediction",
    "CriticalMagnitudes",
    "DIAL_COLUMNS",
    "DIRECTIONS",
    "Dial",
    "DirectionComparison",
    "Directions",
    "EFFECT_COLUMNS",
    "Expected",
    "FACT_EFFECT_COLUMNS",
    "Gate",
    "INTERCHANGE_COLUMNS",
    "INTERCHANGE_PAIRS",
    "Intervention",
    "InterventionDial",
    "LIMIT",
    "LayerScan",
    "LoraDial",
    "MEDIATION_COLUMNS",
    "MEDIATION_DRAWN",
    "MEDIATION_LAYERS",
    "MEDIATION_QUESTIONS",
    "MOST_READINGS",
    "ModelSize",
    "MovedCut",
    "OPERATORS",
    "POSITIONS",
    "PromptDial",
    "Push",
    "RATES",
    "ROLES",
    "Reliability",
    "RunForecast",
    "SURENESS",
    "SURENESS_OF_WRITING",
    "SteeredRespondent",
    "SteeringVector",
    "SweepPlan",
    "SweepResult",
    "TEXT_COLUMNS",
    "Temperature",
    "UNITS",
    "adapted",
    "ask_along",
    "ask_settings",
    "ask_together",
    "candidate_layers",
    "check_making",
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
    "extract_vectors",
    "fact_effects",
    "forecast_comparison",
    "forecast_multiverse",
    "forecast_run",
    "generate_steered",
    "import_vectors",
    "instructed_threshold",
    "interchange",
    "kl_on_text",
    "make_plan",
    "measure_and_forecast",
    "mediation",
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
    "tuned_to_answers",
    "unit_and_length",
    "vectors_of",
    "written_along",
    "yes_rates",
]
