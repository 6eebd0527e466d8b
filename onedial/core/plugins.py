"""Load code of one's own that the programs know: a direction, operator, instrument, battery test, respondent, baseline,
check of the scale, section of the report or architecture.

A plugin is a Python file that puts entries into the project's dictionaries when it is imported, such as
`steering.DIRECTIONS["median"] = median`. It is named by `--plugin my.py`, or installed with an entry point:

    [project.entry-points."onedial.plugins"]
    mine = "my_package.onedial_plugin"
"""

import functools
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from onedial.core.errors import InputError

GROUP = "onedial.plugins"
"""Of entry points."""


def load_plugin(path: str) -> ModuleType:
    """Import one file, once per process.

    Raises:
        InputError: there is no such Python file, or importing it fails; the sentence says in which line.
    """
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.is_file():
        raise InputError(f"--plugin {path}: there is no such Python file; give the path of one that ends in .py")
    name = f"onedial_plugin_{file.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"--plugin {path} cannot be imported{_where(error, file)}: {error!r}") from error
    return module


@functools.cache
def load_installed_plugins() -> None:
    """Import, once, what installed packages offer under the entry points of `GROUP`.

    Raises:
        InputError: one of them cannot be imported; it is named.
    """
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:
            raise InputError(
                f"the installed plugin {entry.name} ({entry.value}) cannot be imported: {error!r}"
            ) from error


def _where(error: BaseException, file: Path) -> str:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line})"
