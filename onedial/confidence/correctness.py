"""What a respondent said about itself beside what it then did: two matrices that must belong together."""

import numpy as np

from onedial.core import InputError
from onedial.stats import Answers, Booleans


def aligned_correctness(said: Answers, right: Answers) -> tuple[Answers, Answers, Booleans]:
    """Bring `right` into the order of `said`.

    Returns:
        said, right, and (question, respondent) True where both are known.

    Raises:
        InputError: the questions or the respondents differ.
    """
    for what, ours, theirs in (
        ("respondents", said.respondents, right.respondents),
        ("questions", said.questions, right.questions),
    ):
        if len(ours) != len(theirs) or (not ours.equals(theirs) and set(ours) != set(theirs)):
            raise InputError(
                f"the answers hold {len(ours)} {what} and the correctness {len(theirs)}, and they must be the same; "
                f"give both matrices with the same {what}"
            )
    if not (said.questions.equals(right.questions) and said.respondents.equals(right.respondents)):
        if not right.questions.is_unique or not said.questions.is_unique:
            raise InputError("question ids repeat, so that answers and correctness cannot be joined; make them unique")
        rows = right.questions.get_indexer(said.questions)
        columns = right.respondents.get_indexer(said.respondents)
        grid = np.ix_(rows, columns)
        right = Answers(right.yes[grid], right.answered[grid], said.questions, said.respondents)
    return said, right, said.answered & right.answered
