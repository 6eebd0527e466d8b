"""What a notebook gives by mistake is refused in a sentence.

In a process of its own: here, annotations are checked before the code that a user meets.
"""

from pathlib import Path

from forks import run_program

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
MISTAKES = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from tiny_models import tiny_model
from onedial.core.errors import InputError
from onedial.asking.prompts import Prompt
from onedial.models import PromptSet
from steering import sweep

model = tiny_model("llama")
for mistake in (
    lambda: model.token_ids([7]),
    lambda: PromptSet.build(model, ["Why?"], 3),
    lambda: sweep(model, torch.ones(model.d_model), ["Why?"], 1.0),
):
    try:
        mistake()
    except InputError as error:
        print(error)
"""


def test_wrong_kinds_are_refused_in_a_sentence(tmp_path):
    """A number for a prompt or for a template and a tensor for a vector are refused in a sentence."""
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    done = run_program(tmp_path / "mistakes.py", HELPERS)
    assert done.returncode == 0, done.stderr
    prompt, template, tensor = done.stdout.splitlines()
    assert prompt.startswith("a prompt was given as int: '7'; give a text, a chat")
    assert template.startswith("a prompt was given as int; give a framing (neutral, cautious, eager, ...)")
    assert tensor.startswith("a Tensor says neither its layer nor how long a push is; make a vector of it by steering.")
