"""Plan a sweep: layer, magnitudes, reliability, what it will cost."""
