"""Which respondents a factor analysis can use."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from onedial.core.errors import InputError
from onedial.scale.correlations.two_by_two import MIN_SHARED
from onedial.stats.answers import Answers, names, one_kind_of_answer, warn
from onedial.stats.arrays import Booleans

MIN_RESPONDENTS = 3


def usable_answers(answers: Answers) -> Answers:
    """The respondents that gave both kinds of answer; a warning names the others.

    Raises:
        InputError: fewer than three are left.
    """
    usable = require_usable(answers)
    if usable is not answers:
        warn(one_kind_of_answer(names(answers.respondents[~answers.varies])))
    return usable


def require_usable(answers: Answers) -> Answers:
    """The respondents that gave both kinds of answer, without a warning about the others.

    Raises:
        InputError: fewer than three are left; one factor has no unique solution then.
    """
    if answers.varies.sum() < MIN_RESPONDENTS:
        left_out = answers.respondents[~answers.varies]
        reason = f" ({names(left_out)} gave only one kind of answer, or none)" if len(left_out) else ""
        raise InputError(
            f"{int(answers.varies.sum())} of {answers.n_respondents} respondents gave both yes and no{reason}; "
            "a factor model needs at least 3 such respondents, so add respondents or questions"
        )
    return answers if answers.varies.all() else answers.select(answers.varies)


def linked_respondents(answered: Booleans) -> Booleans:
    """(respondent,) True for those that hang together with at least two others by shared questions.

    Two respondents are linked when they share at least three questions. A loading says how closely a respondent follows
    what others follow too: alone it has no meaning, and of two only the product of both is known.

    Raises:
        InputError: no three respondents hang together, so that nothing that is shared can be estimated.
    """
    seen = answered.astype(np.float32)
    linked = in_threes(seen.T @ seen >= MIN_SHARED)
    if not linked.any():
        raise InputError(
            f"no three of the {answered.shape[1]} respondents hang together by {MIN_SHARED} shared questions, so "
            "that nothing shared can be estimated; give respondents that answered the same questions"
        )
    return linked


def require_one_part(answers: Answers) -> None:
    """Nothing, where the respondents hang together by shared questions.

    Raises:
        InputError: two parts of three or more share too few questions for anything to compare them.
    """
    seen = answers.answered[:, answers.varies].astype(np.float32)
    _, part = connected_components(seen.T @ seen >= MIN_SHARED, directed=False)
    large = np.flatnonzero(np.bincount(part) >= MIN_RESPONDENTS)
    if len(large) > 1:
        parts = " | ".join(names(answers.respondents[answers.varies][part == number], 3) for number in large)
        raise InputError(
            f"the panel falls into {len(large)} parts that share fewer than {MIN_SHARED} questions ({parts}): whether "
            "they share a scale cannot be known; analyse each by itself, or add respondents that answered questions of "
            "several"
        )


def in_threes(linked: Booleans) -> Booleans:
    """(respondent,) True for members of a connected part of at least three, given (respondent, respondent) links."""
    _, part = connected_components(linked, directed=False)
    return np.asarray(np.bincount(part)[part] >= MIN_RESPONDENTS)
