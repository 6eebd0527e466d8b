"""Measure what else a push does: facts, text, reasoned answers, what the model notices of it."""
