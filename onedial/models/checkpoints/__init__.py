"""Find and read weights: folders, hub, GGUF, the embedded model."""
