"""Execute the notebooks, each in a fresh kernel of this Python, and fail where a cell fails.

    python scripts/run_notebooks.py                    # all of notebooks/, as CI does; nothing is written
    python scripts/run_notebooks.py --save             # keep the new outputs
    python scripts/run_notebooks.py my_notebook.ipynb

Exit code 0 if every cell of every notebook ran, 1 if one did not, 2 if a file is no notebook.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from onedial.core import InputError, Options, option, parse_options, run_command, write_text

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    paths = options.notebooks or sorted(FOLDER.glob("*.ipynb"))
    if not paths:
        raise InputError(f"there is no notebook in {FOLDER}; name one")
    failed = [path.name for path in paths if not execute(path, options.save, options.timeout)]
    print(
        f"{len(paths) - len(failed)} of {len(paths)} notebooks ran" + (f"; failed: {', '.join(failed)}" * bool(failed))
    )
    return 1 if failed else 0


def execute(path: Path, save: bool, timeout: int) -> bool:
    """Run one notebook from its own folder; True if every cell ran.

    A notebook that fails is never saved, so that the outputs on disk are those of a whole run.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = read(path)
    metadata = dict(notebook.metadata)  # the kernel adds its version, which would change with every machine
    client = NotebookClient(
        notebook, timeout=timeout, record_timing=False, resources={"metadata": {"path": str(path.resolve().parent)}}
    )
    began = time.perf_counter()
    try:
        # Without ipywidgets, which nothing here needs, tqdm would warn in the first output.
        client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore:IProgress"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"{path.name}: failed after {time.perf_counter() - began:.0f} s\n{error}", file=sys.stderr)
        return False
    print(f"{path.name}: {len(notebook.cells)} cells, {time.perf_counter() - began:.0f} s", flush=True)
    if save:
        notebook.metadata = nbformat.from_dict(metadata)
        write_text(path, nbformat.writes(notebook) + "\n")
    return True


def read(path: Path):
    """A notebook in today's format.

    Raises:
        InputError: no such file, or no notebook.
    """
    import nbformat

    if not path.is_file():
        raise InputError(f"there is no notebook {path}; check the path")
    try:
        return nbformat.read(path, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no notebook ({type(error).__name__}); give an .ipynb file") from error


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    notebooks: tuple[Path, ...] = option((), "which (default: all of notebooks/)", positional=True)
    save: bool = option(False, "write the outputs into the notebooks")
    timeout: int = option(600, "seconds for one cell")


if __name__ == "__main__":
    sys.exit(run_command(main))
