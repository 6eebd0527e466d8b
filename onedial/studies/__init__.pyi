from .bill import bill_of, tell_costs
from .exporting import export_panel, export_run
from .importing import import_panel
from .inputs import layers_by_config, questions_by_split, read_inputs, require_prospects, without_subject
from .start import Start

__all__ = [
    "Start",
    "bill_of",
    "export_panel",
    "export_run",
    "import_panel",
    "layers_by_config",
    "questions_by_split",
    "read_inputs",
    "require_prospects",
    "tell_costs",
    "without_subject",
]
