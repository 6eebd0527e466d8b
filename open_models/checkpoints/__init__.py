"""Getting weights: where a name leads to, what may be read, and models for machines without a hub."""

from open_models.checkpoints.embedded import converted_folder, ensure_converted, is_converted
from open_models.checkpoints.pieces import OFFLINE_MODELS, find_offline_model
from open_models.checkpoints.weights import (
    WeightsLocation,
    load_config,
    load_weights,
    resolve_weights,
    weights_are_here,
)

__all__ = [
    "OFFLINE_MODELS",
    "WeightsLocation",
    "converted_folder",
    "ensure_converted",
    "find_offline_model",
    "is_converted",
    "load_config",
    "load_weights",
    "resolve_weights",
    "weights_are_here",
]
