"""The recipes of docs/architecture.md, followed in a copy of the project: what they say to add is added, then run.

The embedded model is replaced by a random one with as many layers; what the commands say is otherwise kept.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from forks import run_program

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (Add .*?)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))
LINES = 30
EMBEDDED = "smollm2-135m-instruct"
SMALL = """
import sys

sys.path.append("tests/helpers")
from tiny_models import save_outspoken

save_outspoken("small", "llama", num_hidden_layers=30, max_position_embeddings=4096)
"""
"""In the copy, whose instruments its tokenizer reads."""


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


def run(copy, program, *arguments):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = run_program(program, *arguments, env=kept | {"PYTHONPATH": str(copy)}, cwd=copy, root=copy)
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def run_python(copy, text):
    (copy / "block.py").write_text(text.replace(EMBEDDED, "small"), encoding="utf-8")
    return run(copy, copy / "block.py")


def run_line(copy, line):
    """A command; a sweep is given the small model."""
    name, *words = shlex.split(line)
    if name == "python":
        swept = ["--model", "small"] if words[0].endswith("steer_sweep.py") else []
        return run(copy, *words, *swept)
    return subprocess.run([name, *words], cwd=copy, capture_output=True, text=True, check=True).stdout


def test_there_are_five_and_each_is_short():
    assert [name.split()[-1] for name in RECIPES] == ["direction", "operator", "instrument", "respondent", "report"]
    for name, recipe in RECIPES.items():
        assert sum(len(text.strip().splitlines()) for _, text in blocks_of(recipe)) <= LINES, name


def test_all_recipes_can_be_followed(copy):
    """All is added before the first program runs, so that one interpreter can import the copy for all of them."""
    steps = []
    for recipe in RECIPES.values():
        for language, text in blocks_of(recipe):
            file = re.match(r"# (\S+\.py)\n", text)
            if file:
                with open(copy / file.group(1), "a", encoding="utf-8") as target:
                    target.write("\n\n" + text[file.end() :])
            elif language == "python":
                steps.append((run_python, text))
            else:
                lines = text.replace("\\\n", " ").strip().splitlines()
                steps += [(run_line, line) for line in lines]
    run_python(copy, SMALL)
    said = [follow(copy, text) for follow, text in steps]
    print("".join(said))
    passed = [int(n) for n in re.findall(r"(\d+) passed", "".join(said))]
    assert len(passed) == 3
    assert min(passed) > 0
    for names in (["median_difference"], ["stretch"], ["count", "-0.1"], ["report:"]):
        assert any(all(name in each for name in names) for each in said), names
    assert said[-1].strip() == "1"
