"""The stages of `experiments/ask.py written`: what is written and asked (study), and how far a model's samples agree,
in words (agreement) and in meaning (meaning: pairs that a judge or a model of natural language inference compares)."""

from onedial.studies.written.study import score_written

__all__ = ["score_written"]
