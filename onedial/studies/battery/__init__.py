"""What asks models about themselves (`experiments/ask.py`): the battery, a questionnaire, the tests of self-prediction.

What is on disk is not asked again. everybody: the frame of all; respondents: models, or a subject at each setting of
its dial; recorded: a record of answers; material, asking, ending: of the battery;
questionnaire; predict, self_prediction, tuned: of self-prediction.
"""

from onedial.studies.battery.asking import ask_battery
from onedial.studies.battery.material import material_of
from onedial.studies.battery.predict import ask_self_prediction, score_folder
from onedial.studies.battery.questionnaire import ask_questionnaire, coherence_of, scores_of
from onedial.studies.battery.recorded import RECORDED
from onedial.studies.battery.respondents import models_elsewhere, respondents_of
from onedial.studies.battery.self_prediction import score_self_prediction
from onedial.studies.battery.tuned import score_tuned, tuned_answers

__all__ = [
    "RECORDED",
    "ask_battery",
    "ask_questionnaire",
    "ask_self_prediction",
    "coherence_of",
    "material_of",
    "models_elsewhere",
    "respondents_of",
    "score_folder",
    "score_self_prediction",
    "score_tuned",
    "scores_of",
    "tuned_answers",
]
