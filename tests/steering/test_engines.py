"""What is written by another engine: a push as it is told, the worker's hooks, and a proof that catches each fault."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fake_vllm import FAULTS, FakeVllm
from tiny_models import outspoken_model, vectors_at
from torch import nn

from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK
from onedial.asking.prompts import METACOGNITIVE
from onedial.core.errors import InputError
from onedial.models.respondent import LocalRespondent
from onedial.models.writing import Decoding, generate
from steering.engines import proof
from steering.engines.requests import SPANS, Request, as_line, check_told
from steering.engines.vllm_side.worker import Pushes
from steering.engines.writer import Vllm, python_with_vllm, write_with_vllm
from steering.interventions import Intervention
from steering.operators import OPERATORS
from steering.respondent import SteeredRespondent

QUESTIONS = [f"Who sang {'of the river ' * (i % 3)}in {1900 + i}?" for i in range(3)]


@pytest.fixture
def model():
    return outspoken_model()


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    """A proof by fewer tokens: here all is in float32, and nothing hides."""
    monkeypatch.setattr(proof, "N_TOKENS", 5)


@pytest.fixture
def sequences(model):
    return model.token_ids([METACOGNITIVE.fill(text) for text in QUESTIONS])


def written_by(model, fault="", **more):
    model.writer = Vllm(model, FakeVllm(model, fault, **more))
    return model.writer


@pytest.mark.parametrize(
    ("operator", "positions"),
    [*(("add", positions) for positions in SPANS), ("ablate", "all"), ("ablate", "last"), ("clamp", "all")],
)
def test_each_push_is_told_so_that_the_same_texts_are_written(model, sequences, operator, positions):
    intervention = Intervention.of(*vectors_at(model, [1, 2]), positions=positions, operator=operator)
    for magnitude in (0.0, 0.7):
        plain = generate(model, sequences, 6, push=intervention * magnitude)
        written_by(model)
        assert generate(model, sequences, 6, push=intervention * magnitude) == plain
        model.writer = None


def test_pushes_may_be_mixed_and_texts_come_in_their_order(model, sequences):
    add = Intervention.of(*vectors_at(model, [2]), positions="all")
    last = Intervention.of(*vectors_at(model, [1], seed=1), positions="last", operator="clamp")
    sequences = [*sequences, *sequences[:2]]
    pushes = [add * 0.8, None, last * -0.6, last * 0.0, add * -0.8]
    expected = [generate(model, [ids], 6, push=push)[0] for ids, push in zip(sequences, pushes, strict=True)]
    sunk = []
    written = written_by(model).write(
        [Request(ids, push) for ids, push in zip(sequences, pushes, strict=True)],
        6,
        sink=lambda *each: sunk.append(each),
    )
    assert written == expected
    assert sorted(sunk) == list(enumerate(expected)) or dict(sunk) == dict(enumerate(expected))
    assert len(model.writer.proofs) == 3  # unsteered, and each kind of push


def test_a_text_ends_where_its_stop_says_so_and_no_later(model, sequences):
    def stop(text):
        return len(text) >= 4

    plain = generate(model, sequences, 12, Decoding(stop=stop))
    written_by(model)
    assert generate(model, sequences, 12, Decoding(stop=stop)) == plain
    assert any(each.n_tokens < 12 for each in plain)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_caught_before_anything_is_written_with_it(model, sequences, fault):
    positions = "last" if fault == "place in its chunk" else "all"
    intervention = Intervention.of(*vectors_at(model, [2]), positions=positions)
    writer = written_by(model, fault)
    requests = [Request(ids, intervention * m) for ids in sequences for m in (-0.7, 0.0, 0.7)]
    with pytest.raises(InputError, match="vLLM does not write what transformers writes"):
        writer.write(requests, 4)
    with pytest.raises(InputError, match="vLLM does not write"):  # it is not forgotten
        writer.write(requests, 4)


def test_a_proof_takes_the_lowest_and_highest_setting(model):
    """A proof is by the lowest and the highest setting and of one by its half as well."""
    push = Intervention.of(*vectors_at(model, [2]))

    def chosen(*magnitudes):
        return [each.magnitude for each in proof.proof_settings([push * m for m in magnitudes])]

    assert chosen(0.3, -0.6, 0.0, 0.9) == [-0.6, 0.9]
    assert chosen(0.8, 0.8, 0.0) == [0.4, 0.8]
    assert chosen(0.0) == []


def test_a_prefix_is_used_again_under_the_same_push_alone(model, sequences):
    vector = vectors_at(model, [2])[0]
    everywhere, last = (Intervention.of(vector, positions=positions) for positions in ("all", "last"))
    fake = FakeVllm(model)
    writer = Vllm(model, fake)
    ids = sequences[0]
    writer.write([Request(ids, push) for push in (None, everywhere * 0.5, everywhere * 0.6, last * 0.5)], 2)
    fake.asked = []
    pushes = [None, everywhere * 0.0, everywhere * 0.5, everywhere * 0.5, everywhere * 0.6, last * 0.5, last * 0.5]
    writer.write([Request(ids, push) for push in pushes], 2)
    salts = [each["salt"] for each in fake.asked]
    assert salts[0] == salts[1]
    assert salts[2] == salts[3] != salts[4]
    assert len(set(salts)) == 5


def test_respondents_write_by_the_engine(model):
    """Respondents write by the engine and are read by the logits as ever."""
    prompts = [METACOGNITIVE.fill(text) for text in QUESTIONS]
    push = Intervention.of(*vectors_at(model, [2]), positions="all")
    respondents = [lambda: LocalRespondent(model), lambda: SteeredRespondent(model, push, 0.6)]

    def said(instrument):
        return [
            {answer.place: (answer.raw_text, answer.margin) for answer in make().answer(prompts, instrument)}
            for make in respondents
        ]

    plain = {instrument.name: said(instrument) for instrument in (CLOSED_BOOK, CAN_YOU_ANSWER)}
    fake = FakeVllm(model)
    model.writer = Vllm(model, fake)
    for instrument in (CLOSED_BOOK, CAN_YOU_ANSWER):
        np.testing.assert_equal(said(instrument), plain[instrument.name])
        assert fake.asked


REFUSED = {
    "rotate": "no step along its direction",
    "a hook": "edited by hooks or was changed",
    "other weights": "edited by hooks or was changed",
    "no room": "vLLM has room for 40",
    "no push": "can't be steered by a function",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_exact_is_refused_in_one_sentence(model, sequences, what):
    vector = vectors_at(model, [2])[0]
    writer = written_by(model, max_tokens=40 if what == "no room" else 256)
    push: object = Intervention.of(vector, positions="all") * 0.3
    if what == "rotate":
        push = Intervention.of(vector, operator="rotate") * 0.3
    elif what == "no push":
        push = lambda: None  # noqa: E731
    elif what == "a hook":
        model.stack.layers[0].register_forward_hook(lambda *given: None)
    elif what == "other weights":
        with torch.no_grad():
            model.hf.get_output_embeddings().weight[0] += 1
    with pytest.raises(InputError, match=REFUSED[what]) as error:
        writer.generate(sequences, 20, push=push)
    assert "\n" not in str(error.value)


def test_without_vllm_or_weights_in_a_folder_nothing_is_begun(model, monkeypatch):
    with pytest.raises(InputError, match="lie in memory"):
        write_with_vllm(model)
    monkeypatch.delenv("ONEDIAL_VLLM_PYTHON", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install onedial"):
        python_with_vllm()
    with pytest.raises(InputError, match="no Python that can be started"):
        python_with_vllm("/nowhere/python")


@pytest.mark.parametrize("operator", ["add", "ablate", "clamp"])
@pytest.mark.parametrize("magnitude", [-1.3, 0.1, 2.0])
def test_a_line_is_what_its_operator_does(operator, magnitude):
    generator = torch.Generator().manual_seed(0)
    stream, direction = torch.randn(7, 12, generator=generator), torch.randn(12, generator=generator)
    direction /= direction.norm()
    along, share = as_line(operator, magnitude, 40.0)
    moved = stream + (along + share * (stream @ direction))[:, None] * direction
    expected = OPERATORS[operator](stream, direction, torch.full((7,), magnitude), 40.0)
    torch.testing.assert_close(moved, expected, rtol=1e-5, atol=1e-4)


def test_an_operator_of_ones_own_is_told_where_it_is_such_a_line(monkeypatch):
    half = lambda x, d, m, length: x + (m.float() * (length - 0.5 * (x @ d)))[..., None] * d  # noqa: E731
    monkeypatch.setitem(OPERATORS, "half", half)
    assert as_line("half", 2.0, 3.0) == pytest.approx((6.0, -1.0))
    check_told("half", "last")


# ---- what vLLM's worker does -----------------------------------------------------------------------------------------


class Layer(nn.Module):
    """As vLLM's: gives what is to be added, and the stream before it; or, `whole`, the stream alone."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def forward(self, hidden, residual):
        stream = hidden + residual
        return (stream * 1.5, None) if self.whole else (stream * 0.5, stream)


class Stack(nn.Module):
    def __init__(self, whole):
        super().__init__()
        self.layers = nn.ModuleList(Layer(whole) for _ in range(3))

    def forward(self, x):
        hidden, residual = x, torch.zeros_like(x)
        for layer in self.layers:
            given = layer(hidden, residual)
            hidden, residual = given if isinstance(given, tuple) else (given, torch.zeros_like(given))
            residual = torch.zeros_like(hidden) if residual is None else residual
        return hidden + residual


def runner_of(model, rows):
    """What a worker's runner holds of a forward; rows: name -> (tokens computed before, tokens now, push)."""
    starts = np.cumsum([0, *(now for _, now, _ in rows.values())])
    return SimpleNamespace(
        model=model,
        input_batch=SimpleNamespace(
            req_ids=list(rows),
            num_computed_tokens_cpu=np.array([before for before, _, _ in rows.values()]),
            generators={},
        ),
        discard_request_mask=SimpleNamespace(np=np.array(["first chunk" in name for name in rows])),
        query_start_loc=SimpleNamespace(np=starts),
        requests={
            name: SimpleNamespace(
                sampling_params=SimpleNamespace(extra_args={"push": push} if push else None),
                generator=f"of {name}" if name != "plain" else None,
            )
            for name, (_, _, push) in rows.items()
        },
    )


@pytest.mark.parametrize("whole", [False, True])
def test_a_worker_pushes_the_tokens_that_each_request_names_and_no_others(whole):
    directions = torch.nn.functional.normalize(torch.randn(2, 8, generator=torch.Generator().manual_seed(1)), dim=1)
    rows = {
        "plain": (0, 3, None),
        "last, in a second chunk": (4, 3, [6, 7, [[1, 0, 2.0, 0.0]]]),
        "last, in its first chunk": (0, 4, [6, 7, [[1, 0, 2.0, 0.0]]]),
        "generated": (6, 1, [6, 1 << 30, [[0, 1, 0.0, -1.0], [1, 0, 5.0, 0.0]]]),
        "prompt, as its text is written": (6, 1, [0, 6, [[1, 0, 2.0, 0.0]]]),
        "all": (0, 5, [0, 1 << 30, [[1, 1, -3.0, -0.5]]]),
    }
    stack = Stack(whole)
    x = torch.randn(17, 8, generator=torch.Generator().manual_seed(2))
    unsteered = stack(x)
    pushes = Pushes(runner_of(stack, rows), 3)
    pushes.directions = directions
    steered = stack(x)

    expected, at = [], 0
    for before, now, push in rows.values():
        for token in range(now):
            row = x[at + token]
            for layer in range(3):
                row = row * 1.5
                for number, direction, along, share in push[2] if push and push[0] <= before + token < push[1] else ():
                    if number == layer:
                        row = row + (along + share * (row @ directions[direction])) * directions[direction]
            expected.append(row)
        at += now
    torch.testing.assert_close(steered, torch.stack(expected))
    touched = (steered != unsteered).any(dim=1).tolist()
    assert touched == [False] * 3 + [False, False, True] + [False] * 4 + [True] + [False] + [True] * 5
    assert torch.equal(steered[:5], unsteered[:5])  # to the bit
    draws = pushes._runner.input_batch.generators
    assert sorted(draws) == [1, 3, 4, 5]  # not of the request without a seed, nor of a prompt that is not yet whole
    assert draws[5] == "of all"


def test_the_layers_are_looked_for_by_their_number():
    with pytest.raises(ValueError, match="0 lists of 7 layers"):
        Pushes(runner_of(Stack(True), {}), 7)
