"""Questions of published data sets, read through `datasets`: by name from the hub, or from a folder in its layout.

Which columns a data set has decides how it is read (`onedial.panels.questions.question_table`); whatever passage there
is stays out.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from onedial.asking.questions import Question
from onedial.asking.tables import Table
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.questions.layouts import questions_of


@dataclass(frozen=True)
class DataSet:
    """Where a data set lies on the hub.

    Attributes:
        hub_id: owner and name.
        configurations: which of its parts are asked, one after the other; empty for its only one.
    """

    hub_id: str
    configurations: tuple[str, ...] = ()


DATA_SETS = {
    "squad": DataSet("rajpurkar/squad"),
    "nq_open": DataSet("google-research-datasets/nq_open"),
    # TriviaQA comes in several configurations of the same questions; this one ships no evidence documents.
    "trivia_qa": DataSet("mandarjoshi/trivia_qa", ("rc.nocontext",)),
    "simple_qa": DataSet("basicv8vc/SimpleQA"),
    "mmlu": DataSet("cais/mmlu", ("all",)),
    "mmlu_pro": DataSet("TIGER-Lab/MMLU-Pro"),
    "gpqa": DataSet("Idavidrein/gpqa", ("gpqa_main",)),
    "gpqa_diamond": DataSet("Idavidrein/gpqa", ("gpqa_diamond",)),
    "math": DataSet(
        "EleutherAI/hendrycks_math",
        (
            *("algebra", "counting_and_probability", "geometry", "intermediate_algebra"),
            *("number_theory", "prealgebra", "precalculus"),
        ),
    ),
    "math_500": DataSet("HuggingFaceH4/MATH-500"),
}
"""Names that a user can give; the hub ids do as well."""
CODE = ("humaneval", "openai_humaneval", "openai/openai_humaneval", "mbpp", "google-research-datasets/mbpp")
_SPLITS = ("test", "validation", "eval", "dev", "train")
_LOOKED_AT = 50
"""Rows that tell whether a split has answers."""
_CONFIGURATIONS = tuple(dict.fromkeys(part for known in DATA_SETS.values() for part in known.configurations))


def named_data_set(name: str) -> DataSet | None:
    """The data set of a name or a hub id; None for others.

    Raises:
        InputError: the name is of a data set that asks for code.
    """
    if name.lower() in CODE:
        raise InputError(f"{name} asks for code, which could only be graded by running it; give questions with answers")
    by_id = {known.hub_id: known for known in reversed(DATA_SETS.values())}
    return DATA_SETS.get(name) or by_id.get(name)


def load_from_hub(name: str) -> list[Question]:
    """The questions of a data set: a name of `DATA_SETS`, a hub id of one, or a local folder (which goes first).

    Questions come as they stand, repeats included.

    Raises:
        InputError: the hub cannot be reached, the data set cannot be read, or no split of it holds questions.
    """
    import datasets

    try:
        if Path(name).is_dir():
            tables = _local_tables(Path(name))
        elif (known := named_data_set(name)) is not None:
            tables = [_to_ask(name, known.hub_id, part) for part in known.configurations or (None,)]
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"the data set {name} cannot be read ({reason}); "
            "without a connection give a local folder in the hub's layout, or a JSONL, CSV or Parquet file"
        ) from error
    return [question for table in tables for question in questions_of(table)[0]]


def _local_tables(folder: Path) -> list[Table]:
    """The parts of a folder: those that a data set of its name has, else any that are known, else all of it."""
    import datasets

    name = str(folder)
    wanted = DATA_SETS[folder.name].configurations if folder.name in DATA_SETS else _CONFIGURATIONS
    ways: Sequence[list[tuple[str, str | None, str | None]]] = (
        [(name, part, None) for part in wanted if part in datasets.get_dataset_config_names(name)],
        # copied without the README that declares the configurations: folders, or files, of their names
        [(str(folder / part), None, None) for part in wanted if (folder / part).is_dir()],
        [(name, None, file.name) for part in wanted for file in sorted(folder.glob(f"{part}.*")) if file.is_file()],
        [(name, None, None)],
    )
    return [_to_ask(name, *way) for way in next(filter(None, ways))]


def _to_ask(name: str, path: str, configuration: str | None = None, data_files: str | None = None) -> Table:
    """The split that a data set's questions are asked from: the first of `_SPLITS` that tells right answers.

    Args:
        name: what the user gave. path, configuration, data_files: what `datasets.load_dataset` takes.
    """
    import datasets

    splits = ["train"] if data_files else datasets.get_dataset_split_names(path, configuration)
    tables = []
    for split in sorted(splits, key=lambda split: _SPLITS.index(split) if split in _SPLITS else len(_SPLITS)):
        rows = datasets.load_dataset(path, configuration, split=split, data_files=data_files)
        frame = pd.DataFrame(rows.to_list(), columns=rows.column_names, dtype=object)
        tables.append(Table(Path(f"the data set {name}"), frame, list(range(1, len(frame) + 1)), "row"))
        if _tells_answers(tables[-1]):
            return tables[-1]
    return tables[0]


def _tells_answers(table: Table) -> bool:
    """Whether some of its first questions have an answer: test splits often keep theirs back."""
    head = replace(table, frame=table.frame.head(_LOOKED_AT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        return any(question.answers for question in questions_of(head)[0])
