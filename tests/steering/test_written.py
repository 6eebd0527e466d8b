"""Texts read at settings of a dial are as likely as the steered model itself finds them, token by token."""

import numpy as np
import pytest
import torch
from tiny_models import tiny_model, vectors_at

from onedial.asking.instruments import CLOSED_BOOK
from onedial.models.written_scores import read_written
from steering.effects.written import written_along
from steering.interventions import Intervention, steered

QUESTIONS = ["Who?", "What is the tallest of all the trees?", "When, to the day?"]
TEXTS = ["the sea", "a redwood, I think", "Yes"]
NAMES = ["q0", "q1", "q2"]
PROMPTS = [CLOSED_BOOK.prompt(question) for question in QUESTIONS]


def by_steps(model, intervention, magnitude, prompt, text):
    """Log-probability of each token, the prompt in one forward and the text in another, as `generate` runs them."""
    whole = model.tokenizer(f"{model.render(prompt)} {text}", add_special_tokens=False)["input_ids"]
    half = len(model.tokenizer(model.render(prompt), add_special_tokens=False)["input_ids"])
    with torch.inference_mode(), steered(model, intervention, magnitude):
        begun = model.hf(input_ids=torch.tensor([whole[:half]]), use_cache=True)
        rest = model.hf(input_ids=torch.tensor([whole[half:]]), past_key_values=begun.past_key_values, use_cache=True)
    log_p = torch.cat([begun.logits[0], rest.logits[0]])[half - 1 : -1].log_softmax(dim=-1)
    entropy = -(log_p.exp() * log_p).sum(dim=-1)
    top = log_p[0].topk(2).values
    return [
        log_p.gather(1, torch.tensor(whole[half:])[:, None]).mean().item(),
        entropy.mean().item(),
        (top[0] - top[1]).item(),
    ]


@pytest.mark.parametrize("architecture", ["llama", "gemma2"])
@pytest.mark.parametrize("positions", ["last", "prompt", "all", "generated"])
def test_a_text_under_a_push_is_as_likely_as_where_the_subject_writes(architecture, positions):
    model = tiny_model(architecture)
    intervention = Intervention.of(*vectors_at(model, [1, 2]), positions=positions)
    found = written_along(model, PROMPTS, TEXTS, NAMES, [intervention], [-0.4, 0.6])
    for magnitude, own in found.groupby("magnitude"):
        for name, prompt, text in zip(NAMES, PROMPTS, TEXTS, strict=True):
            row = own.set_index("question_id").loc[name, ["mean log-probability", "entropy", "first margin"]]
            expected = by_steps(model, intervention, magnitude, prompt, text)
            np.testing.assert_allclose(row.to_numpy(float), expected, atol=3e-4)


def test_at_magnitude_0_a_text_is_read_as_without_steering_and_elsewhere_it_is_not():
    model = tiny_model("qwen2")
    one, other = (Intervention.of(vector) for vector in vectors_at(model, [1, 2]))
    found = written_along(
        model, PROMPTS, TEXTS, NAMES, [one, other], {one.intervention_id: [0.0, 0.5], other.intervention_id: [0.5]}
    )
    plain = [read.statistics.log_p.mean() for read in read_written(model, PROMPTS, TEXTS)]
    still = found[found["magnitude"] == 0]
    np.testing.assert_allclose(still["mean log-probability"], plain, atol=1e-5)
    pushed = found[found["magnitude"] != 0].groupby("intervention_id")["mean log-probability"].mean()
    assert len({round(value, 5) for value in [*pushed, np.mean(plain)]}) == 3


def test_an_empty_text_has_no_number():
    model = tiny_model()
    (vector,) = vectors_at(model, [2])
    found = written_along(model, PROMPTS[:2], ["", "me"], NAMES[:2], [vector], [0.3])
    assert found["mean log-probability"].isna().tolist() == [True, False]
