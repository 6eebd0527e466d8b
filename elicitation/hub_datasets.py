"""Questions of published data sets, read through `datasets`, asked closed-book: whatever passage there is stays out.

The three data sets write their answers in three ways; which way is seen from the row, so that a local folder in the
hub's layout may have any name:

    squad      answers = {"text": [...], "answer_start": [...]}
    nq_open    answer = [...]
    trivia_qa  answer = {"value": ..., "aliases": [...], ...}
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from common import InputError
from elicitation.questions import Question, question_id

HUB_NAMES = {
    "squad": "rajpurkar/squad",
    "nq_open": "google-research-datasets/nq_open",
    "trivia_qa": "mandarjoshi/trivia_qa",
    "rajpurkar/squad": "rajpurkar/squad",
    "google-research-datasets/nq_open": "google-research-datasets/nq_open",
    "mandarjoshi/trivia_qa": "mandarjoshi/trivia_qa",
}
SPLIT = "validation"
# TriviaQA comes in several configurations of the same questions; this one ships no evidence documents.
_CONFIGURATION = "rc.nocontext"
_COLUMNS = ("id", "question_id", "question", "answers", "answer")


def load_from_hub(name: str) -> list[Question]:
    """The validation split of a data set: a name of `HUB_NAMES`, or a local folder (which goes first).

    Questions come as they stand, repeats included.

    Raises:
        InputError: the hub cannot be reached, the data set cannot be read, has no such split, or no questions.
    """
    rows = _validation_rows(name)

    if "question" not in rows.column_names or not {"answers", "answer"} & set(rows.column_names):
        raise InputError(
            f"the data set {name} has the columns {', '.join(rows.column_names)}; "
            "it needs `question` and `answers` or `answer`: rename them, or give a JSONL, CSV or Parquet file"
        )
    rows = rows.select_columns([column for column in _COLUMNS if column in rows.column_names])
    return [_question(row, name, number) for number, row in enumerate(rows, start=1)]


def _validation_rows(name: str) -> Any:
    import datasets

    try:
        if Path(name).is_dir():
            return _local_rows(Path(name))
        hub_id = HUB_NAMES[name]
        return datasets.load_dataset(hub_id, _CONFIGURATION if "trivia_qa" in hub_id else None, split=SPLIT)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"the {SPLIT} split of the data set {name} cannot be read ({reason}); "
            "without a connection give a local folder in the hub's layout, or a JSONL, CSV or Parquet file"
        ) from error


def _local_rows(folder: Path) -> Any:
    import datasets

    if _CONFIGURATION in datasets.get_dataset_config_names(str(folder)):
        return datasets.load_dataset(str(folder), _CONFIGURATION, split=SPLIT)
    if (folder / _CONFIGURATION).is_dir():  # copied without the README that declares the configurations
        folder = folder / _CONFIGURATION
    return datasets.load_dataset(str(folder), split=SPLIT)


def _question(row: dict[str, Any], name: str, number: int) -> Question:
    text = row["question"]
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the data set {name}, row {number} of {SPLIT}, asks nothing; give another data set or a file")
    text = text.strip()
    identity = row.get("id") or row.get("question_id") or question_id(text)
    answers = row["answers"] if "answers" in row else row["answer"]
    return Question(id=str(identity), text=text, answers=_answers(answers))


def _answers(cell: Any) -> tuple[str, ...]:
    given: Iterable[Any]
    if isinstance(cell, dict):
        given = cell["text"] if "text" in cell else [cell.get("value"), *(cell.get("aliases") or ())]
    elif isinstance(cell, str):
        given = [cell]
    else:
        given = cell or ()
    return tuple(dict.fromkeys(str(answer).strip() for answer in given if answer is not None and str(answer).strip()))
