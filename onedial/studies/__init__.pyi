from .inputs import (
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
    "Start",
    "add_subject_options",
    "layers_by_config",
    "model_names",
    "numbers_of",
    "prompt_of",
    "questions_by_split",
    "read_inputs",
]
