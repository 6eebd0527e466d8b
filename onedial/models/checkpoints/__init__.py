"""Weights: folders, hub, GGUF, the embedded model."""
