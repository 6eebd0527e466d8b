"""Which reader reads what, found from the files themselves.

A format is a module with one signature: `is_mine(path)` looks at a file or folder, `read(path, choices)` gives its
runs. Adding one touches the dictionary below and nothing else.
"""

from pathlib import Path
from typing import Any

from onedial.asking.named_data import unknown_name
from onedial.asking.tables import listed
from onedial.core.errors import InputError
from onedial.panels.formats import batches, every_eval_ever, inspect_logs, lm_eval_samples, plain_tables
from onedial.panels.formats.records import LogChoices, LogRun

OF_LOGS = ("question_id", "question", "topic", "confidence", "options", "final")
"""What may be named of a log, by the field of its documents or metadata that holds it."""


IMPORTERS: dict[str, Any] = {
    module.FORMAT: module for module in (inspect_logs, lm_eval_samples, every_eval_ever, batches, plain_tables)
}
"""Name of a format to its reader; the first that recognises a file reads it."""
_PICKLES = {".man", ".pkl", ".pickle", ".pt", ".bin", ".joblib"}
_PASSED_OVER = ("results_", "run_spec", "respondents.csv", "eval-set.json", "logs.json", "listing.json")
"""Files beside logs that are none, such as Inspect's lists of the logs of a folder."""


def read_logs(source: str | Path, choices: LogChoices | None = None, format: str | None = None) -> list[LogRun]:
    """All runs of a file, or of all files below a folder.

    Args:
        source: a log, a table, or a folder that holds such.
        choices: what the user chose for the readers.
        format: a key of `IMPORTERS`; None finds it from each file.

    Raises:
        InputError: nothing that can be read, an unknown format, a file that its reader refuses, or it takes too long.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pd.DataFrame({"model": ["m"], "question": ["Who wrote Emma?"], "raw_text": ["Yes"]})
    >>> rows.to_csv(Path(folder.name) / "log.csv", index=False)
    >>> read_logs(Path(folder.name) / "log.csv")[0].model
    'm'
    """
    path, choices = Path(source), choices or LogChoices()
    if format is not None and format not in IMPORTERS:
        raise unknown_name("is no format called", format, IMPORTERS, "none, so that it is found from the file")
    if not path.exists():
        raise InputError(f"there is no file or folder {path}; check the path")
    if path.suffix.lower() in _PICKLES:
        raise InputError(
            f"{path} is a pickle, which can run any code when it is opened; it is never read here: write what it holds "
            "as JSON or CSV where it was made"
        )
    runs = [run for name_of_format, name in _logs(path, format) for run in _read(name_of_format, name, choices)]
    if not runs:
        raise InputError(f"{path} holds no log of {', '.join(IMPORTERS)}; give a log, or name its format with --format")
    return runs


def _read(path: Path, format: str, choices: LogChoices) -> list[LogRun]:
    roles = plain_tables.ROLES if format == plain_tables.FORMAT else OF_LOGS
    if unknown := [role for role in choices.columns if role not in roles]:
        raise InputError(
            f"--columns {unknown[0]}={choices.columns[unknown[0]]}: of a {format} file may be named {', '.join(roles)}"
        )
    try:
        return list(IMPORTERS[format].read(path, choices))
    except InputError:
        raise
    except (AttributeError, TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        # a part of it is of another kind than that format has there
        raise InputError(
            f"{path} is not built as {format} builds it ({' '.join(str(error).split())[:100]}); was it changed by hand?"
        ) from error


def _logs(path: Path, format: str | None) -> list[tuple[Path, str]]:
    """Files and folders to read, each with its format."""
    if format is not None and (path.is_file() or IMPORTERS[format].is_mine(path)):
        return [(path, format)]
    name_of_format = _format_of(path, format)
    if name_of_format is not None or path.is_file():
        if name_of_format is None:
            raise InputError(f"{path} is none of {listed(IMPORTERS)}; name its format with --format if it is one")
        return [(path, name_of_format)]
    below = []
    for child in sorted(path.iterdir()):
        if child.name.startswith((".", *_PASSED_OVER)) or (child.is_file() and child.suffix.lower() in _PICKLES):
            continue
        if child.is_dir() or _format_of(child, format) is not None:
            below += _logs(child, format)
    return below


def _format_of(path: Path, format: str | None) -> str | None:
    names = [format] if format is not None else list(IMPORTERS)
    return next((name for name in names if IMPORTERS[name].is_mine(path)), None)
