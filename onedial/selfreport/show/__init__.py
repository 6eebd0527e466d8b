"""The figures of batteries and self-prediction."""
