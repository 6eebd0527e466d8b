"""Every script says what it does before it does anything."""

from pathlib import Path

import pytest
from forks import run_program

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PROGRAMS = sorted(path.name for path in SCRIPTS.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_gives_its_help_and_writes_nothing(name, tmp_path):
    done = run_program(SCRIPTS / name, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"Usage: {name}" in done.stdout
    assert not list(tmp_path.iterdir())
