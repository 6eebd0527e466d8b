"""On pretended GPUs: the numbers of the CPU, nothing mixed, and a budget of waits and copies for what is repeated."""

from dataclasses import replace

import pandas as pd
import pytest
import torch
from pretended_device import on_device, over_cards, pretended_devices
from tiny_models import byte_tokenizer, tiny_hf, tiny_model, vectors_at

from onedial.asking.instruments import CAN_YOU_ANSWER
from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.asking.questions import Question
from onedial.models.forward.activations import read_activations
from onedial.models.inside.gradients import margin_gradients
from onedial.models.inside.store_filling import store_activations
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.respondent import LocalRespondent
from onedial.models.tokens import pad_batch
from onedial.models.written_scores import read_written
from steering.causes import patched_margins
from steering.effects.side_effects import kl_on_text
from steering.interventions import Intervention
from steering.reading import answers_along
from steering.sweeping import sweep

QUESTIONS = [Question(f"q{place}", f"Who is poet {place}?{' And why?' * (place % 3)}") for place in range(8)]
PASSAGES = ["The ferry left the harbour.", "Swifts fly and sleep."]
GRID = [-1.0, 0.0, 1.0]
GPU = "cuda:0"
pytestmark = pytest.mark.launched  # every operation is looked at: eight seconds a test


def asked(model):
    return PromptSet.build(model, QUESTIONS, METACOGNITIVE)


def on_gpu(architecture="llama"):
    return OpenModel(on_device(tiny_hf(architecture), GPU), byte_tokenizer(), name=f"tiny-{architecture}")


def of_both(vectors):
    """One intervention at either kind of position, several layers at once."""
    return [Intervention.of(*vectors, positions=at, intervention_id=at) for at in ("last", "all")]


@pytest.fixture(scope="module")
def vectors():
    """Made on the CPU, for the same weights."""
    return vectors_at(tiny_model("llama"), [1, 3])


def test_what_is_mixed_raises_and_what_waits_is_counted():
    with pretended_devices() as counts:
        here, there = torch.ones(3, device=GPU), torch.ones(3, device="cuda:1")
        for other in (there, torch.ones(3)):
            with pytest.raises(RuntimeError, match="got numbers of"):
                here + other
        assert (counts.waits, counts.to_host, counts.across) == (0, 0, 0)
        assert float((here + here.to(GPU)).sum()) == 6.0
        assert here[here > 0].tolist() == [1.0] * 3
        assert (here.cpu() + there.to(GPU).cpu()).tolist() == [2.0] * 3
        assert here[[0, 1]].device == torch.device(GPU)
        assert (counts.waits, counts.to_device, counts.to_host, counts.across) == (6, 1, 3, 1)


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "bloom"])
def test_a_pretended_gpu_answers_as_the_cpu(architecture):
    here = tiny_model(architecture)
    both = of_both(vectors_at(here, [1, 3]))
    expected = sweep(here, both, asked(here), GRID).table
    with pretended_devices():
        there = on_gpu(architecture)
        result = sweep(there, both, asked(there), GRID).table
    pd.testing.assert_frame_equal(result, expected, atol=1e-4, rtol=0)


def counted(work):
    """(waits, copies to the device) of a second call, once what is copied once lies there."""
    with pretended_devices() as counts:
        model = on_gpu()
        prompts = asked(model)
        work(model, prompts)
        counts.forget()
        work(model, prompts)
        return counts


def per_piece(few, many, pieces):
    """What each further batch, token or intervention costs in (waits, copies to the device)."""
    few, many = counted(few), counted(many)
    return (many.waits - few.waits) / pieces, (many.to_device - few.to_device) / pieces


def test_a_batch_of_the_sweep_waits_twice(vectors):
    """A batch of the sweep waits twice for its tokens and for its answers."""
    both = of_both(vectors)
    for interventions in (both[:1], both[1:]):
        costs = [
            lambda model, prompts, size=size, pushed=interventions: answers_along(
                model, pushed, replace(prompts, at_once=size), GRID
            )
            for size in (8, 4)
        ]
        assert per_piece(*costs, pieces=1) == (2, 1)


def test_a_further_intervention_is_copied_and_waited_for_once(vectors):
    one, two = ([Intervention.of(vector) for vector in vectors[:n]] for n in (1, 2))
    costs = [
        lambda model, prompts, pushed=pushed: answers_along(model, pushed, replace(prompts, at_once=4), GRID)
        for pushed in (one, two)
    ]
    assert per_piece(*costs, pieces=1) == (1, 1)  # its grid, for all batches


def test_a_batch_of_activations_waits_three_times_at_any_number_of_layers(vectors, tmp_path):
    for layers in ([2], [0, 1, 2, 3, 4]):
        costs = [lambda model, prompts, read_layers=layers: read_activations(model, prompts, read_layers)]
        assert counted(costs[0]).waits == 4  # the common beginning beside it

    def stored(sites, name):
        folders = iter(range(9))
        return lambda model, prompts: store_activations(
            model, prompts, tmp_path / f"{name}{next(folders)}", sites=sites, positions=("last", "question")
        )

    assert per_piece(stored(["resid"], "a"), stored(["resid", "attn", "mlp"], "b"), pieces=1) == (0, 0)


@pytest.mark.parametrize("positions", ["last", "all", "generated"])
def test_steering_a_written_token_waits_for_nothing_more(vectors, positions):
    """Steering a written token waits for nothing beyond what writing does."""
    intervention = Intervention.of(*vectors, positions=positions)
    prompts = [Prompt("Who?"), Prompt("Why is it?")]

    def write(n, magnitude):
        return lambda model, _: model.generate(prompts, intervention * magnitude, max_new_tokens=n)

    def plainly(n):
        return lambda model, _: model.generate(prompts, max_new_tokens=n)

    assert per_piece(write(2, 0.5), write(4, 0.5), 2) == per_piece(plainly(2), plainly(4), 2)


def test_a_further_setting_on_text_waits_for_nothing_more(vectors):
    intervention = Intervention.of(*vectors, positions="all")
    few, many = (
        counted(
            lambda model, _, settings=settings: kl_on_text(
                model, [intervention], {intervention.intervention_id: settings}, passages=PASSAGES
            )
        )
        for settings in ([0.5], [0.5, 0.6, 0.7])
    )
    assert (many.waits, many.to_device) == (few.waits, few.to_device)


def test_a_further_layer_or_group_waits_once_at_most():
    """A further layer text or group of answers is waited for once at most."""
    asked_twice = [CAN_YOU_ANSWER.prompt(question.text) for question in QUESTIONS]

    def answers(size):
        return lambda model, _: list(LocalRespondent(model, batch_size=size).answer(asked_twice, CAN_YOU_ANSWER))

    def scored(n):
        return lambda model, _: read_written(model, [Prompt("Who?")] * n, ["It is him."] * n)

    def patched(n):
        return lambda model, prompts: patched_margins(model, prompts, [0, 1], [2, 3], range(n))

    def gradients(n):
        return lambda model, prompts: margin_gradients(model, prompts, range(n))

    assert per_piece(gradients(1), gradients(4), 3) == (0, 0)
    assert per_piece(patched(1), patched(4), 3) == (0, 0)
    assert per_piece(scored(1), scored(3), 2) == (1, 1)
    assert per_piece(answers(8), answers(4), 1) == (2, 1)


def test_over_three_cards_answers_stay():
    for n_layers in (6, 9):
        changes = dict(num_hidden_layers=n_layers, tie_word_embeddings=False)
        here = tiny_model("llama", **changes)
        both = of_both(vectors_at(here, [1, n_layers - 1]))
        expected = sweep(here, both, asked(here), GRID).table
        with pretended_devices():
            there = OpenModel(over_cards(tiny_hf("llama", **changes), 3), byte_tokenizer(), name="tiny-llama")
            prompts = asked(there)
            result = sweep(there, both, prompts, GRID).table
        pd.testing.assert_frame_equal(result, expected, atol=1e-4, rtol=0)


def test_a_batch_of_tokens_is_one_copy():
    with pretended_devices() as counts:
        batch = pad_batch([[1, 2, 3], [4]], 0).to(GPU)
        assert counts.to_device == 1
    assert batch.attention_mask.own.tolist() == [[True] * 3, [False, False, True]]
