"""Interventions: how they are made and applied, and what a sweep of their magnitude does to the answers."""

from steering.directions import DIRECTIONS
from steering.exporting import as_vector, export_gguf, import_vectors
from steering.interventions import Intervention, Push, SteeringVector
from steering.looking import cosines
from steering.operators import OPERATORS
from steering.sweeping import SweepResult, dose_response, sweep
from steering.texts import vector_from_texts
from steering.vectors import extract_vector, random_vector

__all__ = [
    "DIRECTIONS",
    "Intervention",
    "OPERATORS",
    "Push",
    "SteeringVector",
    "SweepResult",
    "as_vector",
    "cosines",
    "dose_response",
    "export_gguf",
    "extract_vector",
    "import_vectors",
    "random_vector",
    "sweep",
    "vector_from_texts",
]
