"""Interventions: how they are made and applied, and what a sweep of their magnitude does to the answers."""

from steering.contrasts import Contrast
from steering.dials.dials import ThresholdShift
from steering.directions import DIRECTIONS, Directions, unit_and_length
from steering.effects.reasoned import reasoned_instrument
from steering.exporting import export_gguf, import_vectors
from steering.interventions import Intervention, Push, SteeringVector
from steering.operators import OPERATORS
from steering.planning.magnitudes import yes_rates
from steering.respondent import generate_steered
from steering.sweeping import SweepResult, sweep
from steering.texts import vector_from_texts
from steering.vectors import contrast_of, extract_vector, extract_vectors, random_vector, vectors_of

__all__ = [
    "Contrast",
    "DIRECTIONS",
    "Directions",
    "Intervention",
    "ThresholdShift",
    "OPERATORS",
    "Push",
    "SteeringVector",
    "SweepResult",
    "contrast_of",
    "export_gguf",
    "extract_vector",
    "extract_vectors",
    "generate_steered",
    "import_vectors",
    "random_vector",
    "reasoned_instrument",
    "sweep",
    "unit_and_length",
    "vector_from_texts",
    "vectors_of",
    "yes_rates",
]
