"""The stages of `experiments/score_written.py`: how far a model's samples agree, in words and in meaning.

agreement: equal words, and votes; meaning: pairs of answers that a judge or a model of natural language inference holds
for the same.
"""

from onedial.studies.written.agreement import agreement_of_samples
from onedial.studies.written.meaning import (
    MEANING_SURER,
    MeaningJudge,
    agreement_of_meanings,
    check_of_judge,
    judge_meanings,
    read_samples,
)

__all__ = [
    "MEANING_SURER",
    "MeaningJudge",
    "agreement_of_meanings",
    "agreement_of_samples",
    "check_of_judge",
    "judge_meanings",
    "read_samples",
]
