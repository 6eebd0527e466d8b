"""What a notebook gives by mistake is refused in a sentence.

In a process of its own: here, annotations are checked before the code that a user meets.
"""

from pathlib import Path

from forks import run_program

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
MISTAKES = """
import inspect
import sys
sys.path.insert(0, sys.argv[1])
import torch
import onedial, probes
from tiny_models import tiny_model
from onedial.core.errors import InputError
from onedial.asking.prompts import Prompt
from onedial.models import PromptSet
from steering import cosines, random_vector, sweep, vector_from_texts

model = tiny_model("llama")
vector = vector_from_texts(model, ["a", "b"], ["c", "d"], layer=1)
push = vector * 0.1
assert [times for _, times in sum([push / 2, push]).terms] == [0.05, 0.1]
for mistake in (
    lambda: model.token_ids([7]),
    lambda: PromptSet.build(model, ["Why?"], 3),
    lambda: sweep(model, torch.ones(model.d_model), ["Why?"], 1.0),
    lambda: vector + 1,
    lambda: cosines([vector, push]),
    lambda: random_vector(push, 1),
    lambda: push.write(model, "Why?", 1.0),
    lambda: vector.along("Why?", model),
    lambda: vector.write("Why?", model, 1.0),
    lambda: vector.along(model, "Why?", "all"),
    lambda: vector.at("all").export_gguf(0.3, model, 0.3),
    lambda: vector.tokens(model, n=0),
):
    try:
        mistake()
    except (InputError, AttributeError) as error:
        print(error)
for room in map(sys.modules.get, ("onedial", "probes", "steering")):
    for name in room.__all__:
        function = getattr(room, name)
        if not inspect.isfunction(function) or name == "load_model":  # which needs no argument
            continue
        if "jaxtyping" in str(function.__annotations__):  # a check of shapes is before it here
            continue
        try:
            raise AssertionError(function())
        except InputError as error:
            assert f"; write {name}(" in str(error), name
"""


def test_wrong_kinds_are_refused_in_a_sentence(tmp_path):
    """A number for a prompt or for a template, a tensor for a vector, and no arguments at all."""
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    done = run_program(tmp_path / "mistakes.py", HELPERS)
    assert done.returncode == 0, done.stderr
    prompt, template, tensor, *others = done.stdout.splitlines()
    assert prompt.startswith("a prompt was given as int: '7'; give a text, a chat")
    assert template.startswith("a prompt was given as int; give a framing (neutral, cautious, eager, ...)")
    assert tensor.startswith("Tensor says neither its layer nor how long a push is; make a vector of it by steering.")
    beginnings = (
        "int says neither its layer",
        "directions were given as SteeringVector, Push",
        "Push stands where a vector belongs",
        "a push is one setting and has no 'write'",
        "str stands where the model belongs",
        "OpenModel stands where texts belong",
        "layer 'all' is no whole number",
        "0.3 does not end in .gguf",
        "n=0 tokens",
    )
    for message, beginning in zip(others, beginnings, strict=True):
        assert message.startswith(beginning)
