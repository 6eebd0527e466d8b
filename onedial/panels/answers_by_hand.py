"""Read answers of one respondent, as somebody keeps them who asks a model by hand: question_id and answer."""

from pathlib import Path

import pandas as pd

from onedial.asking.elicited import Elicitation
from onedial.asking.tables import listed, name_of, read_table
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.spellings import WANTED, Spellings


def load_answers(path: str | Path, questions: pd.Index, elicitation: Elicitation | None = None) -> pd.Series:
    """Read a table of `question_id` and `answer` (1/0, yes/no or true/false; blank where none was read).

    Args:
        questions: those that are known; answers to others are left out, and counted in a notice.
        elicitation: further spellings of yes and no.

    Returns:
        question_id -> 1, 0 or nan, in the order of the file.

    Raises:
        InputError: an unusable file, an answer that cannot be read, a question twice, or none that is known.

    >>> import pandas as pd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/answers.csv"
    >>> pd.DataFrame({"question_id": ["q1", "q2"], "answer": ["yes", ""]}).to_csv(path, index=False)
    >>> load_answers(path, pd.Index(["q1", "q2"])).tolist()
    [1.0, nan]
    """
    table = read_table(path)
    table.require("question_id", "answer")
    ids = pd.Index(table.parse("question_id", name_of, "give every question its id"), name="question_id")
    answers = pd.Series(
        table.parse("answer", Spellings.of(elicitation).said, WANTED), ids, dtype=float, name="said_yes"
    )
    if ids.has_duplicates:
        row = int(ids.duplicated().argmax())
        raise InputError(f"{table.where(row)} repeats the question {ids[row]!r}; keep one row per question")
    strange = ids[~ids.isin(questions)]
    if len(strange) == len(ids):
        raise InputError(
            f"none of the {len(ids)} questions of {path} is known, such as {ids[0]!r}; "
            f"give the panel's identifiers, such as {questions[0]!r}"
        )
    if len(strange):
        notice(f"{path}: {len(strange)} answers are to questions that are not on the scale: {listed(strange)}")
    return answers.drop(strange)
