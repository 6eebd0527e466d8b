"""The stages of `experiments/ask_battery.py`: what is asked about, who answers, every test, and its scores; and the
scores of self-prediction, whoever asked.

What is on disk is not asked again. material: questions and options; respondents: models, or a subject at each setting
of its dial; recorded: a record of answers; answer_log: every answer; asking: the tests; ending: tables and figures.
"""

from onedial.studies.battery.answer_log import kept
from onedial.studies.battery.asking import ask, authors_of
from onedial.studies.battery.ending import finish
from onedial.studies.battery.material import material_of
from onedial.studies.battery.recorded import RECORDED, NotRecorded, read_record
from onedial.studies.battery.respondents import models_elsewhere, respondents_of
from onedial.studies.battery.self_prediction import score_self_prediction, write_self_prediction_page
from onedial.studies.battery.tuned import check_tuned, score_tuned, tuned_answers

__all__ = [
    "RECORDED",
    "NotRecorded",
    "ask",
    "authors_of",
    "check_tuned",
    "finish",
    "kept",
    "material_of",
    "models_elsewhere",
    "read_record",
    "respondents_of",
    "score_self_prediction",
    "score_tuned",
    "tuned_answers",
    "write_self_prediction_page",
]
