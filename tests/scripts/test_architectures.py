"""The table of architectures in the documentation is what the script finds."""

import importlib.util
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    specification = importlib.util.spec_from_file_location("architectures", ROOT / "scripts" / "architectures.py")
    module = importlib.util.module_from_spec(specification)
    import sys

    sys.modules["architectures"] = module
    specification.loader.exec_module(module)
    return module


def documented():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    table = page.partition("| architecture | known as |")[2].partition("\n\n")[0]
    return [line for line in table.splitlines() if line.startswith("| `")]


def test_every_row_of_the_script_stands_in_the_documentation(script):
    said = [line.split("|")[1:4] for line in documented()]
    assert [[f" `{row.model_type}` ", f" {row.known_as} ", f" {row.layers} "] for row in script.ROWS] == said
    assert len(said) >= 24


@pytest.mark.parametrize(
    "model_type", ["olmo", "gpt2", "gpt_neox", "deepseek_v3", "qwen3_next", "falcon", "granite", "opt"]
)
def test_a_row_says_what_a_tiny_model_of_it_does(script, model_type):
    rows = [row for row in script.ROWS if row.model_type == model_type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = script.table(rows)[2:]
    assert found == [line for line in documented() if line.startswith(f"| `{model_type}`")]
