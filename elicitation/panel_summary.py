"""How a panel's respondents answer, in one row each: how often yes, how often unread, and how much their margins know.

AUROC is the probability that a question of one kind has a higher margin than one of the other kind (ties count one
half): .5 is a margin that knows nothing.
"""

import pandas as pd

from elicitation.questions import Question

EASY, HARD = (1, 2), (4, 5)


def auroc(margin: pd.Series, is_positive: pd.Series) -> float:
    """P(margin of a positive > margin of a negative), ties one half; nan where either kind is missing.

    Args:
        margin: one value per question; nan is left out.
        is_positive: 1, 0, or nan for questions that are left out.
    """
    both = margin.notna() & is_positive.notna()
    ranks, positive = margin[both].rank(), is_positive[both].astype(bool)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return float("nan")
    return (float(ranks[positive].sum()) - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def summarise_panel(responses: pd.DataFrame, questions: list[Question]) -> pd.DataFrame:
    """One row per respondent, in the order of the responses.

    Args:
        responses: long table with question_id, respondent, said_yes (1, 0, nan), margin, mass, answered_correctly.
        questions: give the intended levels.

    Returns:
        Index respondent; columns n, yes_rate (of those read), unread (share), median_mass, auroc_level (margin,
        levels 1-2 against 4-5; questions without a knowable answer left out) and auroc_correct (margin, questions
        that its model answered correctly against the others).
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
            "auroc_level": auroc(own["margin"], easy[own.index]),
            "auroc_correct": auroc(own["margin"], own["answered_correctly"]),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("respondent")


def accuracy_by_level(closed_book: pd.DataFrame, questions: list[Question]) -> pd.DataFrame:
    """Share of closed-book answers that are correct: one row per model, one column per level, and `all`.

    Args:
        closed_book: columns model, question_id, correct (1, 0, nan where nothing can be graded).
        questions: give the levels; those without one count in `all` alone.
    """
    levels = {question.id: question.level for question in questions}
    graded = closed_book[closed_book["correct"].notna()].assign(level=lambda rows: rows["question_id"].map(levels))
    table = graded.pivot_table(index="model", columns="level", values="correct", aggfunc="mean", sort=False)
    table = table[sorted(table.columns)]
    table.columns = [int(level) for level in table.columns]
    return table.assign(all=graded.groupby("model")["correct"].mean())
