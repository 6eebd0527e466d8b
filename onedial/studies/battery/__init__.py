"""Ask models about themselves (`experiments/ask.py`): the battery, a questionnaire, the tests of self-prediction.

What the store holds is not asked again. everybody: how all are asked, and how each program ends; respondents: models,
or a subject at each setting of its dial; recorded: a record of answers; predict, self_prediction, tuned: of
self-prediction.
"""
