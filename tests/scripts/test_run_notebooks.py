"""The runner says which notebook failed, and saves whole runs only."""

import itertools
from pathlib import Path

import nbformat
import pytest
from forks import run_program
from tiny_experiment import call

__all__ = ["call"]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "scripts" / "run_notebooks.py"
a_kernel = pytest.mark.launched  # a server of its own, which takes seconds to start


def write_notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


def run(*arguments):
    return run_program(PROGRAM, *arguments)


@a_kernel
def test_a_notebook_that_runs_is_saved_with_its_outputs_and_one_that_fails_is_left_alone(tmp_path):
    good, bad = tmp_path / "good.ipynb", tmp_path / "bad.ipynb"
    write_notebook(good, "from pathlib import Path\nprint(Path.cwd())")
    write_notebook(bad, "print(1)", "raise ValueError('no such layer')", "print(2)")
    before = bad.read_bytes()
    done = run(good, bad, "--save")
    assert done.returncode == 1
    assert "failed: bad.ipynb" in done.stdout
    assert "no such layer" in done.stderr
    assert bad.read_bytes() == before
    saved = nbformat.read(good, as_version=4)
    assert Path(saved.cells[0].outputs[0].text.strip()).samefile(tmp_path)
    assert "language_info" not in saved.metadata


@a_kernel
def test_without_save_nothing_is_written(tmp_path):
    notebook = tmp_path / "good.ipynb"
    write_notebook(notebook, "print(1)")
    before = notebook.read_bytes()
    assert run(notebook).returncode == 0
    assert notebook.read_bytes() == before


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", '{"nbformat": 4}'])
def test_what_is_no_notebook_is_refused_in_one_sentence(tmp_path, content, call):
    path = tmp_path / "broken.ipynb"
    if content is not None:
        path.write_text(content)
    ended = call(PROGRAM, path)
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert len(ended.err.splitlines()) == 1


# ---- the notebooks of the project, as they are stored --------------------------------------------------------------

STORED = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_notebook_was_run_whole_and_says_something_after_every_cell(path):
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert cells[0].source.splitlines()[0].endswith("?")
    for cell, after in itertools.pairwise(cells):
        if cell.cell_type == "code":
            assert cell.execution_count is not None
            assert cell.outputs
            assert not [
                output for output in cell.outputs if output.output_type == "error" or "stderr" in output.values()
            ]
            assert after.cell_type == "markdown"
    assert cells[-1].cell_type == "markdown"
