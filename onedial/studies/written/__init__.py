"""Score what models write: the stages of `experiments/ask.py written`.

What is written, read and asked, and how far a model's samples agree in words (written_study) and in meaning (meaning).
"""

from onedial.studies.written.written_study import score_written

__all__ = ["score_written"]
