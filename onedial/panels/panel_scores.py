"""Count in a panel what scores of confidence need: who was right, how sure each was, how often each says yes.

Framings of one base model are one model: where models are the units, the framings' rates are averaged first.

AUROC (`roc_area`) is the probability that a question of one kind has a higher margin than one of the
other kind: .5 is a margin that knows nothing.
"""

from typing import NamedTuple

import pandas as pd

from onedial.asking.measuring import matrix_of
from onedial.asking.questions import Question
from onedial.panels.panels import ResponseMatrix
from onedial.stats.roc import roc_area
from onedial.stats.shares import wilson_interval

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
    for respondent, answers in responses.groupby("respondent", sort=False):
        rows[respondent] = {
            "n": len(answers),
            "yes_rate": answers["said_yes"].mean(),
            "unread": answers["said_yes"].isna().mean(),
            "median_mass": answers["mass"].median(),
            "auroc_level": float(roc_area(answers["margin"], easy[answers.index])),
            "auroc_correct": float(roc_area(answers["margin"], answers["answered_correctly"])),
            "n_graded": answers["answered_correctly"].notna().sum(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("respondent")


class Confidence(NamedTuple):
    """Stated confidence and where it comes from.

    Attributes:
        values: question x respondent, 0 to 1, nan where there is none.
        source: "stated", or "margin" where it is 1 / (1 + exp(-margin)).
    """

    values: pd.DataFrame
    source: str


def correctness_of(panel: ResponseMatrix) -> pd.DataFrame | None:
    """Question x respondent, 1 = right, 0 = wrong, nan = unknown; None where the panel does not say.

    From the long panel's answered_correctly; of several samples what more than half say, a tie is unknown.

    >>> from onedial.panels import load_panel
    >>> correctness_of(load_panel("embedded")).shape
    (533, 25)
    """
    return _of_samples(panel, "answered_correctly")


def stated_confidence(panel: ResponseMatrix) -> Confidence | None:
    """Numeric confidence of each answer, the mean over its samples; None where the panel has only yes and no.

    A column `confidence` goes before margins. A margin counts only where the answer was read.

    >>> from onedial.panels import panel_from_long
    >>> rows = pd.DataFrame({"question_id": ["q1"], "respondent": ["a"], "said_yes": [1]})
    >>> stated_confidence(panel_from_long(rows)) is None
    True
    """
    stated = _of_samples(panel, "confidence")
    if stated is not None:
        return Confidence(stated, "stated")
    margins = _of_samples(panel, "margin")
    if margins is None:
        return None
    from scipy.special import expit

    share = pd.DataFrame(expit(margins.to_numpy(dtype=float)), margins.index, margins.columns)
    return Confidence(share.where(panel.answers.notna()), "margin")


def rates_of_respondents(panel: ResponseMatrix, correctness: pd.DataFrame | None = None) -> pd.DataFrame:
    """How often each respondent says yes and is right, with 95% intervals (Wilson's) and what is missing.

    Args:
        panel: with the base model of each respondent.
        correctness: question x respondent, 1, 0, nan (`correctness_of`).

    Returns:
        Index respondent; model, framing, n_questions, n_unread; yes_rate with yes_low and yes_high, of the answers that
        were read. With correctness also n_ungraded (questions without a known correctness), accuracy with its
        interval, n_both (read and graded), and came_true with its interval: the share of n_both on which yes was
        right or no was wrong.

    >>> from onedial.panels import panel_from_long
    >>> rows = pd.DataFrame({"question_id": ["q1", "q2"], "respondent": "a", "said_yes": [1, 0]})
    >>> rates_of_respondents(panel_from_long(rows))["yes_rate"].tolist()
    [0.5]
    """
    answers = panel.answers
    table = panel.respondents[["model", "framing"]].copy()
    table["n_questions"] = len(answers)
    table["n_unread"] = answers.isna().sum()
    _add_rate(table, "yes", answers)
    table = table.rename(columns={"yes": "yes_rate"})
    if correctness is not None:
        correctness = correctness.reindex(index=answers.index, columns=answers.columns)
        table["n_ungraded"] = correctness.isna().sum()
        _add_rate(table, "accuracy", correctness)
        both = answers.notna() & correctness.notna()
        table["n_both"] = both.sum()
        _add_rate(table, "came_true", (answers == correctness).astype(float).where(both))
    return table


def base_model_means(
    panel: ResponseMatrix, correctness: pd.DataFrame, stated: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row per base model: its framings' confidence and accuracy over what is known of both, averaged.

    Args:
        stated: question x respondent, 0 to 1, nan where there is none: numbers to take in place of the yes and no.

    Returns:
        Index model; confidence (mean yes rate, or mean of the numbers), accuracy, n_respondents, n_answers (of all its
        framings); models without any answer of which both are known are left out.

    >>> from onedial.panels import correctness_of, load_panel
    >>> panel = load_panel("embedded")
    >>> base_model_means(panel, correctness_of(panel)).shape[0]
    4
    """
    answers = panel.answers if stated is None else stated
    correctness = correctness.reindex(index=answers.index, columns=answers.columns)
    both = answers.notna() & correctness.notna()
    rates = pd.DataFrame(
        {
            "model": panel.respondents["model"],
            "confidence": answers.where(both).mean(),
            "accuracy": correctness.where(both).mean(),
            "n_answers": both.sum(),
        }
    )
    known = rates[rates["n_answers"] > 0]
    means = known.groupby("model", sort=False)[["confidence", "accuracy"]].mean()
    groups = known.groupby("model", sort=False)["n_answers"]
    return means.assign(n_respondents=groups.size(), n_answers=groups.sum())


def _add_rate(table: pd.DataFrame, name: str, values: pd.DataFrame) -> None:
    """Put the mean of each column into the table, with its interval."""
    table[name] = values.mean()
    table[f"{name}_low"], table[f"{name}_high"] = wilson_interval(values.sum(), values.notna().sum())


def _of_samples(panel: ResponseMatrix, column: str) -> pd.DataFrame | None:
    """Question x respondent, a column of the long panel (`matrix_of`); None where it has none, or only blanks."""
    responses = panel.responses
    if responses is None or column not in responses or responses[column].isna().all():
        return None
    return matrix_of(responses, column).reindex(index=panel.answers.index, columns=panel.answers.columns)
