"""Steering vectors: how they are made and applied, and what a sweep of their magnitude does to the answers."""

from steering.apply import steered
from steering.critical import CriticalMagnitudes, critical_magnitudes
from steering.extraction import extract_vector, extract_vectors
from steering.generation import generate_steered
from steering.prompt_set import PromptSet
from steering.sweep import SweepResult, sweep
from steering.vectors import SteeringSpec, SteeringVector, random_vector

__all__ = [
    "CriticalMagnitudes",
    "PromptSet",
    "SteeringSpec",
    "SteeringVector",
    "SweepResult",
    "critical_magnitudes",
    "extract_vector",
    "extract_vectors",
    "generate_steered",
    "random_vector",
    "steered",
    "sweep",
]
