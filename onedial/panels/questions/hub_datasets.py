"""Questions of published data sets, read through `datasets`: by name from the hub, or from a folder in its layout.

Which columns a data set has decides how it is read (`onedial.panels.questions.layouts`); whatever passage there is
stays out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onedial.asking import Question
from onedial.core import InputError
from onedial.panels.questions.layouts import LAYOUTS, Layout, layout_or_refusal


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
        InputError: the hub cannot be reached, the data set cannot be read, has no split to ask, or no questions.
    """
    questions = []
    for rows, layout in _tables(name):
        wanted = (*layout.needs, *layout.also)
        kept = rows.select_columns([column for column in wanted if column in rows.column_names])
        for number, row in enumerate(kept, start=1):
            questions.append(layout.question(row, f"the data set {name}, row {number}"))
    return questions


def _tables(name: str) -> Iterator[tuple[Any, Layout]]:
    import datasets

    try:
        if Path(name).is_dir():
            yield from _local_tables(Path(name))
        elif (known := named_data_set(name)) is not None:
            for configuration in known.configurations or (None,):
                yield _to_ask(name, known.hub_id, configuration)
    except InputError:
        raise
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"the data set {name} cannot be read ({reason}); "
            "without a connection give a local folder in the hub's layout, or a JSONL, CSV or Parquet file"
        ) from error


def _local_tables(folder: Path) -> Iterator[tuple[Any, Layout]]:
    """The parts of a folder: those that a data set of its name has, else any that are known, else all of it."""
    import datasets

    name = str(folder)
    wanted = DATA_SETS[folder.name].configurations if folder.name in DATA_SETS else _CONFIGURATIONS
    declared = [part for part in wanted if part in datasets.get_dataset_config_names(name)]
    # copied without the README that declares the configurations: folders, or files, of their names
    folders = [part for part in wanted if (folder / part).is_dir()]
    files = [file.name for part in wanted for file in sorted(folder.glob(f"{part}.*")) if file.is_file()]
    if declared:
        yield from (_to_ask(name, name, part) for part in declared)
    elif folders:
        yield from (_to_ask(name, str(folder / part)) for part in folders)
    elif files:
        yield from (_to_ask(name, name, data_files=file) for file in files)
    else:
        yield _to_ask(name, name)


def _to_ask(
    name: str, path: str, configuration: str | None = None, data_files: str | None = None
) -> tuple[Any, Layout]:
    """The split that a data set's questions are asked from, and how it is read; no other split is loaded in vain.

    Args:
        name: what the user gave. path, configuration, data_files: what `datasets.load_dataset` takes.
    """
    import datasets

    splits = ["train"] if data_files else datasets.get_dataset_split_names(path, configuration)
    layout, asked = None, dict.fromkeys(split for known in LAYOUTS.values() for split in known.splits)
    for split in [*(split for split in asked if split in splits), *splits]:
        rows = datasets.load_dataset(path, configuration, split=split, data_files=data_files)
        layout = layout_or_refusal(rows.column_names, f"the data set {name}")
        if split in layout.splits:
            return rows, layout
    wanted = " or ".join(layout.splits) if layout else "validation"
    raise InputError(
        f"the data set {name} has no {wanted} split, from which its questions are asked; it has {', '.join(splits)}: "
        "give a JSONL, CSV or Parquet file"
    )
