"""The recipes of docs/architecture.md, followed in a copy of the project: what they say to add is added, then run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (Add .*?)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))
LINES = 30


def blocks_of(recipe):
    """(language, text) of each block of code."""
    return re.findall(r"```(\w*)\n(.*?)```", recipe, re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project's files, and an environment in which its packages come from there."""
    folder = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run(copy, *command, shell=False):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment = kept | {"PYTHONPATH": str(copy), "PATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command[0] if shell else command, shell=shell, cwd=copy, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_there_are_five_and_each_is_short():
    assert [name.split()[-1] for name in RECIPES] == ["direction", "operator", "instrument", "respondent", "report"]
    for name, recipe in RECIPES.items():
        assert sum(len(text.strip().splitlines()) for _, text in blocks_of(recipe)) <= LINES, name


@pytest.mark.slow
@pytest.mark.embedded_model
def test_all_recipes_can_be_followed_one_after_the_other(copy):
    """Two minutes, since the page is followed to the letter: eight programs, four of which load the embedded model."""
    said = []
    for recipe in RECIPES.values():
        for language, text in blocks_of(recipe):
            file = re.match(r"# (\S+\.py)\n", text)
            if file:
                with open(copy / file.group(1), "a", encoding="utf-8") as target:
                    target.write("\n\n" + text[file.end() :])
            elif language == "python":
                said.append(run(copy, sys.executable, "-c", text))
            else:
                said += [run(copy, line, shell=True) for line in text.replace("\\\n", " ").strip().splitlines()]
    print("".join(said))
    passed = [int(n) for n in re.findall(r"(\d+) passed", "".join(said))]
    assert len(passed) == 3
    assert min(passed) > 0
    for names in (["median_difference"], ["stretch"], ["count", "-0.1"], ["report:"]):
        assert any(all(name in each for name in names) for each in said), names
    assert said[-1].strip() == "1"
