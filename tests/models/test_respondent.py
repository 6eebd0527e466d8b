"""A model on this machine as a respondent: what it answers is what its own logits say, whatever the batch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_models import outspoken_model, tiny_model

from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK
from onedial.asking.prompts import FRAMINGS, Prompt
from onedial.asking.respondents import answers_in_order
from onedial.models.respondent import LocalRespondent

WORDS = ["Who?", "What is the tallest of all the trees?", "When, to the day?", "Why is the sky blue at noon?", "Where?"]
PROMPTS = [FRAMINGS["neutral"].fill(text) for text in WORDS]


@pytest.mark.parametrize("architecture", ["llama", "mistral", "qwen2", "gemma2", "gemma3"])
def test_answers_equal_the_models_own_logits_whatever_the_batch(architecture):
    model = tiny_model(architecture)
    respondent = LocalRespondent(model, batch_size=2)
    responses = answers_in_order(respondent, PROMPTS, CAN_YOU_ANSWER)
    for prompt, response in zip(PROMPTS, responses, strict=True):
        tokens = model.answer_tokens(prompt)
        batch = model.tokenise([prompt])
        logits = model.hf(input_ids=batch.input_ids).logits[0, -1].double()
        margin = logits[list(tokens.yes)].logsumexp(0) - logits[list(tokens.no)].logsumexp(0)
        mass = logits.softmax(0)[[*tokens.yes, *tokens.no]].sum()
        assert response.margin == pytest.approx(margin.item(), abs=1e-4)
        assert response.mass == pytest.approx(mass.item(), abs=1e-5)


def test_an_answer_with_too_little_mass_is_unread_and_never_a_no():
    for response in LocalRespondent(tiny_model()).answer(PROMPTS, CAN_YOU_ANSWER):
        assert response.said_yes is (None if response.mass < 0.1 else response.margin > 0)
    spoken = LocalRespondent(outspoken_model()).answer(PROMPTS, CAN_YOU_ANSWER)
    assert {response.said_yes for response in spoken} <= {True, False}


def test_prompts_that_end_differently_are_each_read_by_their_own_tokens():
    prompts = [Prompt("Sure?", "Answer:"), Prompt("Sure?", ""), Prompt("Are you?", "Answer:")]
    respondent = LocalRespondent(outspoken_model())
    together = answers_in_order(respondent, prompts, CAN_YOU_ANSWER)
    alone = [response for prompt in prompts for response in respondent.answer([prompt], CAN_YOU_ANSWER)]
    assert [r.prompt_hash for r in together] == [r.prompt_hash for r in alone]
    assert len({r.prompt_hash for r in together}) == 3
    np.testing.assert_allclose([r.margin for r in together], [r.margin for r in alone], atol=1e-4)


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "gemma3"])
def test_writing_in_batches_is_greedy_writing(architecture):
    """Writing in batches equals taking the likeliest token again and again."""
    model = tiny_model(architecture)
    short = replace(CLOSED_BOOK, reader=replace(CLOSED_BOOK.reader, max_new_tokens=6))
    texts = [response.raw_text for response in answers_in_order(LocalRespondent(model, batch_size=3), PROMPTS, short)]
    ends = {model.tokenizer.eos_token_id, model.hf.generation_config.eos_token_id}
    for prompt, text in zip(PROMPTS, texts, strict=True):
        ids = list(model.token_ids([prompt])[0])
        written: list[int] = []
        for _ in range(6):
            with torch.no_grad():
                written.append(int(model.hf(input_ids=torch.tensor([ids + written])).logits[0, -1].argmax()))
            if written[-1] in ends:
                break
        lines = model.tokenizer.decode(written, skip_special_tokens=True).strip().splitlines()
        assert text == (lines[0] if lines else "")
