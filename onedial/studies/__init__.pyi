from .bill import BUDGET_MAY_CHANGE, add_budget_options, bill_of, money, tell_costs
from .inputs import (
    add_panel_options,
    add_subject_options,
    layers_by_config,
    model_names,
    numbers_of,
    prompt_of,
    questions_by_split,
    read_inputs,
)
from .start import Start

__all__ = [
    "BUDGET_MAY_CHANGE",
    "Start",
    "add_budget_options",
    "add_panel_options",
    "add_subject_options",
    "bill_of",
    "layers_by_config",
    "model_names",
    "money",
    "numbers_of",
    "prompt_of",
    "questions_by_split",
    "read_inputs",
    "tell_costs",
]
