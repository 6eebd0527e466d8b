from .bill import bill_of, tell_costs
from .inputs import layers_by_config, questions_by_split, read_inputs
from .start import Start
from .writing import WriteOnDemand, intervention_of

__all__ = [
    "Start",
    "WriteOnDemand",
    "bill_of",
    "intervention_of",
    "layers_by_config",
    "questions_by_split",
    "read_inputs",
    "tell_costs",
]
