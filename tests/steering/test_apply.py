"""Steering around forwards and around generate: the right positions, once, and nothing else."""

from dataclasses import replace

import pytest
import torch
from bare_hook import bare_logits
from tiny_models import byte_tokenizer, tiny_hf, tiny_model, vectors_at

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from steering.apply import POSITIONS
from steering.interventions import Intervention

PROMPTS = [Prompt("Who wrote the first ode to a river?"), Prompt("Why?"), Prompt("Which planet is the ninth, if any?")]
LAYER = 2


@pytest.fixture(scope="module", params=["llama", "gemma3", "mamba"])  # whose cache doesn't know its length
def model(request):
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def llama():
    return tiny_model("llama")


def vector_of(model):
    return vectors_at(model, [LAYER])[0]


def generate(model, batch, **options):
    return model.hf.generate(
        input_ids=batch.input_ids,
        attention_mask=batch.attention_mask.long(),
        do_sample=False,
        max_new_tokens=6,
        min_new_tokens=6,
        pad_token_id=model.stack.pad_id,
        output_logits=True,
        return_dict_in_generate=True,
        **options,
    )


def edited_columns(n_prompt, positions):
    return {
        "answer": slice(n_prompt - 1, None),
        "last": slice(n_prompt - 1, n_prompt),
        "prompt": slice(0, n_prompt),
        "all": slice(None),
        "generated": slice(n_prompt, None),
    }[positions]


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("cached", [True, False])
def test_batched_generation_equals_bare_hooks_on_each_prompt_alone(model, positions, cached):
    vector = vector_of(model)
    batch = model.tokenise(PROMPTS)
    push = Intervention.of(vector, positions=positions)
    with push.steer(model, 1.5):
        written = generate(model, batch, use_cache=cached)
    width = batch.input_ids.shape[1]
    for row, n_prompt in enumerate(batch.lengths.tolist()):
        ids = written.sequences[row, width - n_prompt :]
        columns = edited_columns(n_prompt, positions)
        for step in range(6):
            expected = bare_logits(model, ids[: n_prompt + step], push, 1.5, columns)
            assert torch.allclose(written.logits[step][row], expected, atol=2e-4)


def test_each_position_is_counted_once_with_a_cache(llama):
    vector = vector_of(llama)
    batch = llama.tokenise(PROMPTS)
    n_prompt, rows = int(batch.lengths.sum()), len(PROMPTS)
    expected = {
        "answer": (6, 6 * rows),
        "last": (1, rows),
        "prompt": (1, n_prompt),
        "all": (6, n_prompt + 5 * rows),
        "generated": (5, 5 * rows),
    }
    for positions, (firings, edits) in expected.items():
        with vector.at(positions).steer(llama, 1.0) as count:
            generate(llama, batch)
        assert (count.firings, count.edits) == (firings, edits)


def test_a_second_generate_in_the_same_context_has_its_own_prompt(llama):
    vector = vector_of(llama)
    long, short = llama.tokenise(PROMPTS[:1]), llama.tokenise(PROMPTS[1:2])
    for cached in (True, False):
        with vector.steer(llama, 1.5):
            alone = generate(llama, short, use_cache=cached).sequences
        with vector.steer(llama, 1.5):
            generate(llama, long, use_cache=cached)
            after = generate(llama, short, use_cache=cached).sequences
        assert torch.equal(alone, after)


@pytest.mark.parametrize("side", ["left", "right"])
def test_each_row_is_steered_at_its_last_token(model, side):
    """Plain forwards are steered at each rows last token and padding is untouched."""
    vector = vector_of(model)
    batch = model.tokenise(PROMPTS, side=side)
    before = model.read_residual(batch, [LAYER], "all")[:, 0]
    with vector.steer(model, 2.0) as count:
        after = model.read_residual(batch, [LAYER], "all")[:, 0]
    moved = (after != before).any(dim=-1)
    assert count.edits == len(PROMPTS)
    assert torch.equal(moved.sum(dim=1), torch.ones(len(PROMPTS), dtype=torch.long))
    assert moved[torch.arange(len(PROMPTS)), batch.last_index].all()
    with vector.at("all").steer(model, 2.0):
        everywhere = model.read_residual(batch, [LAYER], "all")[:, 0]
    assert torch.equal((everywhere != before).any(dim=-1), batch.attention_mask)


def test_a_decoding_loop_by_hand_continues_its_prompt(llama):
    vector = vector_of(llama)
    batch = llama.tokenise(PROMPTS[:1])
    with vector.steer(llama, 1.5) as count, torch.no_grad():
        first = llama.hf(input_ids=batch.input_ids, use_cache=True)
        token = first.logits[:, -1:].argmax(-1)
        llama.hf(input_ids=token, past_key_values=first.past_key_values, use_cache=True)
    assert (count.firings, count.edits) == (2, 2)


@pytest.mark.parametrize("positions", POSITIONS)
def test_magnitude_zero_changes_no_bit_of_the_logits(model, positions):
    vector, batch = vector_of(model), model.tokenise(PROMPTS)
    plain = generate(model, batch)
    with vector.at(positions).steer(model, 0.0):
        zero = generate(model, batch)
    assert torch.equal(plain.sequences, zero.sequences)
    assert all(torch.equal(a, b) for a, b in zip(plain.logits, zero.logits, strict=True))


def test_the_model_is_as_it_was_after_an_exception(llama):
    vector = vector_of(llama)

    def interrupted():
        with vector.steer(llama, 1.0):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "generate" not in vars(llama.hf)
    assert [m for m in llama.hf.modules() if m._forward_hooks or m._forward_pre_hooks] == []


def test_a_context_in_which_nothing_ran_says_so(llama):
    with pytest.raises(InputError, match="acted nowhere"), vector_of(llama).steer(llama, 1.0):
        pass


def test_a_vector_of_another_model_and_an_endless_magnitude_are_refused(llama):
    other = tiny_model("llama", seed=1)
    with pytest.raises(InputError, match="extract a vector from this model"), vector_of(llama).steer(other, 1.0):
        pass
    with pytest.raises(InputError, match="one finite number"), vector_of(llama).steer(llama, float("nan")):
        pass


def test_the_checkpoints_own_generation_config_does_not_leak_in(llama):
    vector = vector_of(llama)
    hf = tiny_hf("llama")
    hf.generation_config.update(repetition_penalty=3.0, do_sample=True, temperature=2.0, top_k=3)
    opinionated = OpenModel(hf, byte_tokenizer(), name="tiny-llama")
    plain = llama.generate(PROMPTS, vector * 0.0, max_new_tokens=12)
    assert opinionated.generate(PROMPTS, vector * 0.0, max_new_tokens=12) == plain


def test_a_prompt_that_leaves_no_room_to_write_is_refused(llama):
    with pytest.raises(InputError, match="512 at most"):
        llama.generate(PROMPTS, vector_of(llama) * 1.0, max_new_tokens=500)


def test_a_sum_is_added_up_before_one_cast(model):
    """Two vectors at different positions, and one at another layer, beside the hook that adds their sum."""
    first, third = vectors_at(model, [LAYER, LAYER + 1])
    second = replace(first, direction=first.direction.flip(0))
    batch = model.tokenise(PROMPTS[:1])
    push = 0.7 * first.at("all") - 1.5 * second + 2 * third.at("last")
    additions = {
        LAYER: (0.7 * first.residual_norm * first.direction, -1.5 * second.residual_norm * second.direction),
        LAYER + 1: (0.0 * third.direction, 2 * third.residual_norm * third.direction),
    }

    def edit(layer):
        def change(stream):
            everywhere, at_last = (each.to(stream) for each in additions[layer])
            added = everywhere.expand_as(stream).clone()
            added[:, -1] += at_last
            return stream + added

        return model.edit_residual(layer, change)

    with push.steer(model):
        pushed = model.final_residual(batch)
    with edit(LAYER), edit(LAYER + 1):
        torch.testing.assert_close(pushed, model.final_residual(batch))


def test_a_vector_less_itself_changes_no_bit(llama):
    vector, batch = vector_of(llama), llama.tokenise(PROMPTS)
    plain = llama.final_residual(batch)
    with (0.3 * vector - 0.3 * vector).steer(llama):
        assert torch.equal(llama.final_residual(batch), plain)


def test_a_given_text_is_scored_at_all_positions_alone(llama):
    vector, batch = vector_of(llama), llama.tokenise(PROMPTS[:1])

    def scored(what):
        with what.steer(llama, 1.0):
            return llama.hf(input_ids=batch.input_ids, labels=batch.input_ids).loss

    with pytest.raises(InputError, match=r"positions 'answer'.*vector.at\('all'\)"):
        scored(vector)
    assert scored(vector.at("all")).isfinite()
