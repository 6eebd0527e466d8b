"""Token statistics of written texts: equal to a plain forward, alone or in a batch, whoever wrote the text."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from psychometric_data import token_statistics
from tiny_models import ARCHITECTURES, tiny_model

from onedial.asking.instruments import CLOSED_BOOK
from onedial.core.errors import InputError
from onedial.models.written_scores import read_written

QUESTIONS = ["Who?", "What is the tallest of all the trees?", "When, to the day?"]
TEXTS = ["the sea", "a redwood, I think", "Yes"]


def by_a_plain_forward(model, prompt, text):
    """Whole logits of transformers' own forward, over ids that are tokenised in one piece."""
    whole = model.tokenizer(f"{prompt} {text}", add_special_tokens=False)["input_ids"]
    n_prompt = len(model.tokenizer(prompt, add_special_tokens=False)["input_ids"])
    with torch.inference_mode():
        logits = model.hf(input_ids=torch.tensor([whole]), use_cache=False).logits[0].double().numpy()
    return token_statistics(logits[n_prompt - 1 : -1], whole[n_prompt:])


@pytest.mark.parametrize("architecture", ["llama", "mistral", "gemma2"])
def test_statistics_are_those_of_transformers_own_forward(architecture):
    assert architecture in ARCHITECTURES
    model = tiny_model(architecture)
    prompts = [CLOSED_BOOK.prompt(question) for question in QUESTIONS]
    for result, prompt, text in zip(read_written(model, prompts, TEXTS), prompts, TEXTS, strict=True):
        expected = by_a_plain_forward(model, model.render(prompt), text)
        for name in ("log_p", "entropy", "self_certainty", "margin"):
            np.testing.assert_allclose(getattr(result.statistics, name), getattr(expected, name), atol=2e-4)


def test_a_text_alone_is_read_as_in_a_batch():
    model = tiny_model("qwen2")
    prompts = [CLOSED_BOOK.prompt(question) for question in QUESTIONS]
    together = read_written(model, prompts, TEXTS, batch_size=3)
    for one, prompt, text in zip(together, prompts, TEXTS, strict=True):
        (alone,) = read_written(model, [prompt], [text])
        np.testing.assert_allclose(one.statistics.log_p, alone.statistics.log_p, atol=1e-4)
        assert (one.starts, one.ends) == (alone.starts, alone.ends)


def test_tokens_know_where_they_stand_in_the_text():
    model = tiny_model()
    (result,) = read_written(model, [CLOSED_BOOK.prompt("Who?")], ["a sea"])
    pieces = ["a sea"[start:end] for start, end in zip(result.starts, result.ends, strict=True)]
    assert pieces == ["", *"a sea"]  # the blank that joins text and prompt is a token of its own here


def test_an_empty_text_has_no_tokens_and_a_mismatch_is_refused():
    model = tiny_model()
    result = read_written(model, [CLOSED_BOOK.prompt("Who?")] * 2, ["", "me"])
    assert [len(each.statistics) for each in result] == [0, 3]  # the blank, m, e
    with pytest.raises(InputError, match="1 texts for 2 prompts"):
        read_written(model, [CLOSED_BOOK.prompt("Who?")] * 2, ["me"])


@pytest.mark.long
def test_written_answers_are_read_as_transformers_reads_them():
    """The embedded model's own answers are read as transformers reads them."""
    from onedial.models.model import load_model
    from onedial.models.respondent import LocalRespondent

    model = load_model("smollm2-135m-instruct")
    prompts = [CLOSED_BOOK.prompt(question) for question in ("What is the capital of France?", "Who wrote Hamlet?")]
    short = replace(CLOSED_BOOK, reader=replace(CLOSED_BOOK.reader, max_new_tokens=8))
    answers = list(LocalRespondent(model).answer(prompts, short))
    texts = [each.raw_text.strip() for each in sorted(answers, key=lambda each: each.place)]
    for result, prompt, text in zip(read_written(model, prompts, texts), prompts, texts, strict=True):
        expected = by_a_plain_forward(model, model.render(prompt), text)
        for name in ("log_p", "entropy", "self_certainty", "margin"):
            np.testing.assert_allclose(getattr(result.statistics, name), getattr(expected, name), atol=1e-3)
