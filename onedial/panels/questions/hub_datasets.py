"""Tables of questions that `datasets` reads: a data set of the hub, or a folder in its layout."""

from pathlib import Path

import pandas as pd

from onedial.asking.tables import Table, listed
from onedial.core.errors import InputError
from onedial.panels.questions.question_columns import Preset


def hub_tables(name: str, preset: Preset | None) -> list[Table]:
    """The tables of a data set, one for each of its configurations that are asked.

    Args:
        name: a hub id, behind which :SPLIT or :CONFIGURATION:SPLIT may stand; or a folder.
        preset: says what of it is asked, where it is one.

    Raises:
        InputError: it cannot be reached or read, or nothing says which configuration or split is meant.
    """
    import datasets

    path, *parts = (name,) if Path(name).is_dir() else name.split(":")
    try:
        known = datasets.get_dataset_config_names(path)
        configs = (
            [parts[0]] if len(parts) > 1 else [each for each in (preset.config if preset else ()) if each in known]
        )
        configs = configs or known
        if preset is None and len(configs) > 1:
            raise InputError(f"{path} has the configurations {listed(configs)}; say which: {path}:{configs[0]}:SPLIT")
        tables = []
        for config in configs:
            splits = datasets.get_dataset_split_names(path, config)
            split = parts[-1] if parts else preset.split if preset else splits[0]
            if split not in splits or (len(splits) > 1 and not (parts or preset)):
                raise InputError(f"{path} has the splits {listed(splits)}; say which, as in {path}:{splits[0]}")
            rows = datasets.load_dataset(path, config, split=split)
            frame = pd.DataFrame(rows.to_list(), columns=rows.column_names, dtype=object)
            tables.append(Table(Path(f"{path}, {config}, {split}"), frame, list(range(1, len(frame) + 1)), "row"))
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"the data set {path} cannot be read ({reason}); without a connection give a folder of its files, or a file"
        ) from error
    return tables
