"""A steered subject as a respondent, and texts generated along the dial."""

from dataclasses import replace

import pytest
import torch
from tiny_models import tiny_model, vectors_at

from onedial.asking.instruments import REASONED
from onedial.asking.questions import Question
from steering.respondent import ask_along

QUESTIONS = [Question(f"q{i}", text) for i, text in enumerate(["Who sang?", "Which river is longest?", "When?"])]
LAYER = 2


def vector_of(model):
    return vectors_at(model, [LAYER])[0]


def short(n_tokens):
    return replace(REASONED, reader=replace(REASONED.reader, max_new_tokens=n_tokens))


class Scripted:
    """Makes a tiny model write given texts, whatever it is asked: row r gets texts[r], then only dots."""

    def __init__(self, model, texts):
        self.model = model
        self.scripts = [model.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        self.step = 0

    def __call__(self, module, args, output):
        dot = self.model.tokenizer.encode(".", add_special_tokens=False)[0]
        logits = torch.full_like(output, -50.0)
        for row, script in enumerate(self.scripts):
            logits[row, -1, script[self.step] if self.step < len(script) else dot] = 50.0
        self.step += 1
        return logits


def test_reasoned_answers_stop_at_their_line_and_cut_off_ones_are_unread():
    model = tiny_model("llama")
    vector = vector_of(model)
    lengths = [len(ids) for ids in model.token_ids([REASONED.prompt(q.text) for q in QUESTIONS])]
    order = sorted(range(3), key=lambda i: (-lengths[i], i))
    texts = ["I do.\nAnswer: Yes\n", "Answer: Yes or No? Nay.\nAnswer: No\n", "Yes, one could think so, and further"]
    scripted = Scripted(model, [texts[i] for i in order])
    handle = model.hf.get_output_embeddings().register_forward_hook(scripted)
    table = ask_along(model, vector, [0.5], QUESTIONS, short(40))
    handle.remove()
    assert list(table.question_id) == ["q0", "q1", "q2"]
    assert table.said_yes[:2].tolist() == [1.0, 0.0]
    assert table.said_yes.isna().tolist() == [False, False, True]
    assert table.raw_text[:2].tolist() == texts[:2]
    assert table.tokens_out.tolist() == [len(model.tokenizer.encode(t)) for t in texts[:2]] + [40]


@pytest.mark.parametrize("chat", [True, False])
def test_reasoned_answers_come_for_every_setting(chat):
    """Reasoned answers come for every question and magnitude of chat and base models."""
    model = tiny_model("qwen3", chat=chat)
    vector = vector_of(model)
    table = ask_along(model, vector, [-1.0, 0.0, 1.0], QUESTIONS, short(5))
    assert table.magnitude.tolist() == [-1.0] * 3 + [0.0] * 3 + [1.0] * 3
    assert table.question_id.tolist() == ["q0", "q1", "q2"] * 3
    assert len(table) == 9
    assert table.tokens_out.between(1, 5).all()
