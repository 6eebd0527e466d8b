"""Steering vectors: how they are made and applied, and what a sweep of their magnitude does to the answers."""

from steering.extraction import extract_vector, extract_vectors
from steering.prompt_set import PromptSet
from steering.sweep import SweepResult, sweep
from steering.vectors import SteeringSpec, SteeringVector, random_vector

__all__ = [
    "PromptSet",
    "SteeringSpec",
    "SteeringVector",
    "SweepResult",
    "extract_vector",
    "extract_vectors",
    "random_vector",
    "sweep",
]
