"""How a panel's respondents answer, in one row each: how often yes, how often unread, and how much their margins know.

AUROC (`onedial.stats.roc_area`) is the probability that a question of one kind has a higher margin than one of the
other kind: .5 is a margin that knows nothing.
"""

import pandas as pd

from onedial.asking import Question
from onedial.stats import roc_area

EASY, HARD = (1, 2), (4, 5)


def summarise_panel(responses: pd.DataFrame, questions: list[Question]) -> pd.DataFrame:
    """One row per respondent, in the order of the responses.

    Args:
        responses: long table with question_id, respondent, said_yes (1, 0, nan), margin, mass, answered_correctly.
        questions: give the intended levels.

    Returns:
        Index respondent; columns n, yes_rate (of those read), unread (share), median_mass, auroc_level (margin,
        levels 1-2 against 4-5; questions without a knowable answer left out), auroc_correct (margin, questions
        that its model answered correctly against those that it answered wrong) and n_graded (how many questions that
        rests on: those to which its model gave an answer that can be graded).

    >>> import pandas as pd
    >>> from onedial.panels import load_questions
    >>> rows = pd.DataFrame({"question_id": ["q1"], "respondent": ["a"], "said_yes": [1.0], "margin": [1.0]})
    >>> questions = load_questions([{"id": "q1", "question": "Who wrote Emma?"}])
    >>> summarise_panel(rows.assign(mass=0.9, answered_correctly=1.0), questions).shape[0]
    1
    """
    levels = {question.id: question.level for question in questions if not question.unknowable}
    is_easy = {level: 1.0 for level in EASY} | {level: 0.0 for level in HARD}
    easy = responses["question_id"].map(levels).map(is_easy)
    rows = {}
    for respondent, own in responses.groupby("respondent", sort=False):
        rows[respondent] = {
            "n": len(own),
            "yes_rate": own["said_yes"].mean(),
            "unread": own["said_yes"].isna().mean(),
            "median_mass": own["mass"].median(),
            "auroc_level": float(roc_area(own["margin"], easy[own.index])),
            "auroc_correct": float(roc_area(own["margin"], own["answered_correctly"])),
            "n_graded": own["answered_correctly"].notna().sum(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("respondent")
