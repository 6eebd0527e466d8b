"""What lies in a store is what the model holds, to the bit; nothing is read twice, and no other is taken for it."""

from dataclasses import replace

import pytest
import torch
from forks import run_together
from safetensors import safe_open
from tiny_experiment import alone
from tiny_models import save_tiny, tiny_model

from onedial.asking.prompts import METACOGNITIVE, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.forward.residual import Site
from onedial.models.forward.sites import module_at
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.inside.store_filling import store_activations
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import pad_batch

TEXTS = ["Who?", "Why is the sky blue, of all things?", "When did the river Rhine freeze?", "Where?", "Who is it?"]
QUESTIONS = [Question(f"q{place}", f"{TEXTS[place % 5]} {'And then? ' * (place % 3)}".strip()) for place in range(20)]
AT_THE_END = PromptTemplate("Can you answer this? {question}", "Answer:", "at the end")


@pytest.fixture(scope="module")
def model():
    return tiny_model("llama")


def prompts_of(model, questions=QUESTIONS, template=AT_THE_END):
    return PromptSet.build(model, questions, template)


def shared_beginning(prompts):
    columns = zip(*prompts.sequences, strict=False)
    return next(place for place, tokens in enumerate(columns) if len(set(tokens)) > 1)


def streams(model, sequence, site):
    """One prompt by itself, by a plain forward and a bare hook."""
    kept = []
    handle = module_at(model.stack, site).register_forward_hook(
        lambda module, args, output: kept.append(output[0] if isinstance(output, tuple) else output)
    )
    with torch.inference_mode():
        model.final_residual(pad_batch([sequence], 0))
    handle.remove()
    return kept[0][0]


def every_layer(store):
    return torch.stack([store.read(layer) for layer in store.layers], dim=1)


@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gemma3", "qwen3_next"])
def test_stored_activations_are_those_freshly_read_to_the_bit(architecture, tmp_path):
    model = tiny_model(architecture)
    prompts = prompts_of(model)
    fresh = read_activations(model, prompts, range(model.n_layers))
    stored = store_activations(model, prompts, tmp_path / "store")
    assert stored.question_ids == fresh.question_ids
    assert stored.layers == fresh.layers
    assert torch.equal(every_layer(stored), fresh.residuals)
    assert torch.equal(stored.margin, fresh.margin)
    assert torch.equal(stored.mass, fresh.mass)


@pytest.mark.parametrize("architecture", ["llama", "mistral", "gemma2", "gemma3", "qwen3_next"])
def test_every_site_and_position_is_that_of_a_plain_forward(architecture, tmp_path):
    model = tiny_model(architecture)
    prompts = prompts_of(model)
    kinds = ("resid", "mlp") if architecture == "qwen3_next" else ("resid", "attn", "mlp")
    store = store_activations(
        model, prompts, tmp_path / "store", sites=kinds, positions=("last", "question"), layers=[1, 4]
    )
    for kind in kinds:
        for layer in (1, 4):
            last, question = store.read(layer, kind), store.read(layer, kind, "question")
            for place in (0, 1, 7):
                plain = streams(model, prompts.sequences[place], Site(kind, layer))
                near = 2e-4 * plain.abs().max()
                assert (last[place] - plain[-1]).abs().max() < near
                assert (question[place] - plain[prompts.question_ends[place]]).abs().max() < near


@pytest.mark.parametrize("template", [METACOGNITIVE, AT_THE_END, PromptTemplate("{question}\nWell?", "Answer:")])
def test_the_questions_last_token_holds_its_last_letter(model, template):
    prompts = prompts_of(model, template=template)
    for question, sequence, end in zip(QUESTIONS, prompts.sequences, prompts.question_ends, strict=True):
        assert model.tokenizer.decode(sequence[: end + 1]).endswith(question.text)


def test_a_question_that_begins_another_is_read_at_its_own_end(model, tmp_path):
    """The common beginning of the prompts reaches past the shorter question's end."""
    questions = [Question("a", "Who"), Question("b", "Who sang")]
    prompts = PromptSet.build(model, questions, PromptTemplate("{question} s", "", "nothing between"))
    assert min(prompts.question_ends) < shared_beginning(prompts)
    store = store_activations(model, prompts, tmp_path / "store", positions=("question",), layers=[2])
    for place in (0, 1):
        plain = streams(model, prompts.sequences[place], Site("resid", 2))[prompts.question_ends[place]]
        assert (store.read(2, position="question")[place] - plain).abs().max() < 1e-4 * plain.abs().max()


def test_sixteen_bits_stay_sixteen_bits_on_disk(tmp_path):
    """Sixteen bits stay sixteen bits on the disk and come out as they were."""
    model = tiny_model("llama")
    model.hf.bfloat16()
    prompts = prompts_of(model)
    store = store_activations(model, prompts, tmp_path / "store", layers=[3])
    (shard, *_) = sorted((tmp_path / "store" / "shards").iterdir())
    with safe_open(shard, framework="pt") as file:
        assert file.get_tensor("blocks.3.hook_out@last").dtype == torch.bfloat16
    assert torch.equal(store.read(3), read_activations(model, prompts, [3]).residuals[:, 0])


def test_a_second_use_runs_no_model_and_opening_needs_none(model, tmp_path, monkeypatch):
    prompts = prompts_of(model)
    first = store_activations(model, prompts, tmp_path / "store")
    monkeypatch.setattr(model.stack.module, "forward", lambda *a, **k: pytest.fail("the model was run"))
    again = store_activations(model, prompts, tmp_path / "store")
    assert torch.equal(again.read(4), first.read(4))
    assert torch.equal(ActivationStore.open(tmp_path / "store").margin, first.margin)


def test_a_store_that_was_broken_off_goes_on_to_the_same_bits(model, tmp_path, monkeypatch):
    prompts = prompts_of(model)
    monkeypatch.setattr("onedial.models.prompt_set.questions_per_batch", lambda *a: 4)
    both = ("last", "question")
    whole = store_activations(model, prompts, tmp_path / "whole", positions=both)
    write, written = ActivationStore.write, []

    def failing(store, *arguments):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(arguments[0])
        write(store, *arguments)

    monkeypatch.setattr(ActivationStore, "write", failing)
    with pytest.raises(KeyboardInterrupt):
        store_activations(model, prompts, tmp_path / "broken", positions=both)
    with pytest.raises(InputError, match="holds 8 of 20 questions and lacks 12; read the rest with store_activations"):
        ActivationStore.open(tmp_path / "broken")
    written[:] = []
    monkeypatch.setattr(ActivationStore, "write", write)
    seen = []
    resumed = store_activations(model, prompts, tmp_path / "broken", positions=both, progress=seen.append)
    assert sum(seen) == 12
    assert torch.equal(every_layer(resumed), every_layer(whole))
    assert torch.equal(resumed.read(2, position="question"), whole.read(2, position="question"))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ("model", "holds activations of tiny-llama .* but the model is tiny-llama"),
        ("prompt", "holds activations with prompt_hash"),
        ("questions", "holds activations with prompts = other ones"),
        ("layers", r"with layers = \(0, 1, 2, 3, 4\), not \(1,\)"),
        ("positions", "with positions = "),
        ("dtype", "with dtype = float32, not bfloat16"),
    ],
)
def test_a_store_of_something_else_is_refused(other, sentence, model, tmp_path):
    store_activations(model, prompts_of(model), tmp_path / "store")
    asked, prompts, options = model, prompts_of(model), {}
    if other == "model":
        asked = tiny_model("llama", seed=1)
    elif other == "prompt":
        prompts = prompts_of(model, template=METACOGNITIVE)
    elif other == "questions":
        prompts = prompts_of(model, [replace(QUESTIONS[0], text="Whose?"), *QUESTIONS[1:]])
    elif other == "layers":
        options = {"layers": [1]}
    elif other == "positions":
        options = {"positions": ("question",)}
    else:
        asked = tiny_model("llama")
        asked.hf.bfloat16()
    with pytest.raises(InputError, match=sentence):
        store_activations(asked, prompts, tmp_path / "store", **options)


def test_what_is_no_store_is_refused_in_one_sentence(model, tmp_path):
    store = store_activations(model, prompts_of(model), tmp_path / "store", layers=[1])
    for wrong, sentence in (
        (lambda: store.read(2), "layer 2 was asked for, but .* holds 1"),
        (lambda: store.read(1, "attn"), "site 'attn' was asked for, but .* holds resid"),
        (lambda: store.read(1, position="question"), "position 'question' was asked for"),
        (lambda: ActivationStore.open(tmp_path), "holds no activations"),
        (lambda: store_activations(model, prompts_of(model), tmp_path), "is not empty and holds no activations"),
        (lambda: store_activations(model, prompts_of(model), tmp_path / "x", sites=["resid_post"]), "'resid_post' is"),
        (lambda: store_activations(model, prompts_of(model), tmp_path / "x", positions=["first"]), "positions first"),
        (lambda: store_activations(model, prompts_of(model), tmp_path / "x", layers=[9]), "layer 9 requested"),
    ):
        with pytest.raises(InputError, match=sentence):
            wrong()
    assert not (tmp_path / "x").exists()
    (shard, *_) = sorted((store.folder / "shards").iterdir())
    shard.write_bytes(shard.read_bytes()[:40])
    with pytest.raises(InputError, match="is damaged, or no part of a store"):
        ActivationStore.open(store.folder)


TWO = """
import sys
import torch
from accelerate import PartialState
from onedial.models import PromptSet, load_model, store_activations
from onedial.models.processes import start_processes
from onedial.asking import Question, PromptTemplate

start_processes()
model = load_model(sys.argv[1], device="cpu")
questions = [Question(f"q{i}", "Who? " * (1 + i % 7)) for i in range(40)]
prompts = PromptSet.build(model, questions, PromptTemplate("Well: {question}", "Answer:"))
store = store_activations(model, prompts, sys.argv[2])
assert len(store.done()) == 40
"""


@pytest.mark.launched
def test_two_processes_fill_one_store_with_the_bits_of_one(tmp_path):
    save_tiny(tmp_path / "model", "llama")
    (tmp_path / "two.py").write_text(TWO)
    with open(tmp_path / "log.txt", "w") as log:
        for out, n in (("one", 1), ("2", 2)):
            given = [tmp_path / "two.py", tmp_path / "model", tmp_path / out]
            assert run_together(*given, log=log, env=alone(), n=n) == [0] * n, (tmp_path / "log.txt").read_text()
    alone_store, shared = ActivationStore.open(tmp_path / "one"), ActivationStore.open(tmp_path / "2")
    assert torch.equal(every_layer(alone_store), every_layer(shared))
