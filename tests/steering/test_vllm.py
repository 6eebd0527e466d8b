"""The embedded model in vLLM itself, `make engine`: what it writes under a push, and that each fault is caught."""

import os
from pathlib import Path

import pandas as pd
import pytest

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.prompts import load_prompt
from onedial.core.errors import InputError
from onedial.models.model import load_model
from onedial.models.respondent import LocalRespondent
from onedial.models.writing import generate
from onedial.panels.questions.question_files import load_questions
from steering.effects.reasoned import reasoned_instrument, reasoned_sweep
from steering.engines.requests import SPANS, Request
from steering.engines.writer import VARIABLE, Vllm, write_with_vllm
from steering.interventions import Intervention
from steering.vectors import extract_vector

pytestmark = pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"needs vLLM ({VARIABLE}; `make engine`)")
HELPERS = Path(__file__).parent.parent / "helpers"
TOKENS = 24
FAULTS = ("first token only", "one row unsteered", "wrong layer", "3% too small", "place in its chunk")
"""Of `faulty_worker`, which runs beside vLLM."""
KINDS = {"most_used": ("answer", "all", "ablate"), "the_rest": ("last", "prompt", "generated", "clamp")}
"""Positions, and operators at two layers at once; each kind takes a proof of some seconds."""


@pytest.fixture(scope="module")
def questions():
    return load_questions("embedded", n=40)


@pytest.fixture(scope="module")
def model():
    return load_model("smollm2-135m-instruct")


@pytest.fixture(scope="module")
def fault(tmp_path_factory):
    file = tmp_path_factory.mktemp("fault") / "fault.txt"
    file.write_text("")
    return file


@pytest.fixture(scope="module")
def ask(model, fault):
    """vLLM with a worker that can be given a fault; one for the module, since it takes half a minute to start."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(HELPERS))
        patched.setenv("FAULT_FILE", str(fault))
        writer = write_with_vllm(model, options={"worker_extension_cls": "faulty_worker.FaultyWorker"})
        model.writer = None
        yield writer._ask
        writer.close()


@pytest.fixture
def writer(model, ask, fault):
    fault.write_text("")
    model.writer = Vllm(model, ask)
    yield model.writer
    model.writer = None


@pytest.fixture(scope="module")
def vectors(model, questions):
    return [extract_vector(model, questions, layer=layer) for layer in (20, 12)]


@pytest.fixture(scope="module")
def sequences(model, questions):
    instrument = reasoned_instrument(load_prompt("study"))
    return model.token_ids([instrument.prompt(question.text) for question in questions[:2]])


def intervention(kind, vectors):
    if kind in SPANS:
        return Intervention.of(vectors[0], positions=kind)
    return Intervention.of(*vectors, positions="all", operator=kind)


def test_every_place_is_of_a_kind():
    assert set(SPANS) < {kind for kinds in KINDS.values() for kind in kinds}


@pytest.mark.parametrize("kinds", KINDS)
def test_texts_under_mixed_pushes_are_those_of_transformers(writer, model, vectors, sequences, kinds):
    pushes = [None, *(intervention(kind, vectors) * m for kind in KINDS[kinds] for m in (-0.3, 0.3))]
    requests = [Request(ids, push) for push in pushes for ids in sequences]
    written = writer.write(requests, TOKENS)
    model.writer = None
    expected = [text for push in pushes for text in generate(model, sequences, TOKENS, push=push)]
    assert written == expected
    steered = {(tuple(each.token_ids), text.text) for each, text in zip(requests, written, strict=True)}
    assert len(steered) > 2 * len(sequences)  # a push that changes nothing would show nothing
    assert max(proof.apart for proof in writer.proofs) < 1e-4
    assert all(proof.likeliest == 1 for proof in writer.proofs)


@pytest.mark.parametrize("planted", FAULTS)
def test_each_fault_of_a_worker_is_caught(writer, vectors, sequences, fault, planted):
    fault.write_text(planted)
    dial = Intervention.of(vectors[0], positions="last" if planted == "place in its chunk" else "all")
    with pytest.raises(InputError, match="vLLM does not write what transformers writes"):
        writer.write([Request(ids, dial * m) for ids in sequences for m in (-0.3, 0.3)], 4)


@pytest.mark.parametrize("positions", ["all", "last"])
def test_a_prefix_that_is_kept_from_another_push_is_caught(writer, vectors, sequences, monkeypatch, positions):
    put = Vllm._put
    monkeypatch.setattr(Vllm, "_put", lambda *given: put(*given) | {"salt": f"kept {positions}"})
    dial = Intervention.of(vectors[0], positions=positions)
    requests = [Request(ids, dial * m) for ids in sequences for m in (-0.3, 0.3)]
    if positions == "all":
        with pytest.raises(InputError, match="vLLM does not write what transformers writes"):
            writer.write(requests, 4)
    else:  # keys and values before the last token are nobody's own
        writer.write(requests, 4)


def test_a_reasoned_sweep_writes_what_transformers_writes(writer, model, questions, vectors):
    dial, grid = Intervention.of(vectors[0], positions="all"), [-0.4, 0.0, 0.3]
    instrument, key = reasoned_instrument(load_prompt("study"), TOKENS), ["question_id", "magnitude"]

    def swept():
        parts = []
        reasoned_sweep(model, questions[:3], dial, grid, instrument, sink=parts.append)
        return pd.concat(parts).sort_values(key, ignore_index=True)

    by_vllm = swept()
    model.writer = None
    pd.testing.assert_frame_equal(by_vllm, swept())


def test_draws_are_the_same_by_the_same_seed_whatever_stands_beside_them(writer, sequences):
    requests = [Request(ids, None, seed) for seed in (1, 2) for ids in sequences]
    texts = writer.write(requests, 12, temperature=1.0)
    assert writer.write(requests[::-1], 12, temperature=1.0)[::-1] == texts
    assert texts[: len(sequences)] != texts[len(sequences) :]


def test_a_respondent_writes_as_it_does_by_transformers(writer, model, questions):
    prompts = [CLOSED_BOOK.prompt(question.text) for question in questions[:12]]
    by_place = {each.place: each.raw_text for each in LocalRespondent(model).answer(prompts, CLOSED_BOOK)}
    model.writer = None
    assert by_place == {each.place: each.raw_text for each in LocalRespondent(model).answer(prompts, CLOSED_BOOK)}


def test_what_vllm_says_is_wrong_is_handed_on_in_a_sentence(model):
    with pytest.raises(InputError, match="no_such_option"):
        write_with_vllm(model, options={"no_such_option": 1})
