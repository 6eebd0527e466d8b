"""Readings while a model writes: they are a forward's own, and a planted course with a planted verdict is found."""

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.instruments import CAN_YOU_ANSWER, REASONED
from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import encode
from probes.fitting.linear import fit_probe
from probes.while_writing import course_of, read_while_writing

QUESTIONS = [Question(f"q{i}", f"Who sang of river {i}{' and sea' * (i % 3)}?", topic=f"t{i % 5}") for i in range(30)]


@pytest.fixture(scope="module")
def written():
    model = outspoken_model()
    streams = read_activations(model, PromptSet.build(model, QUESTIONS, METACOGNITIVE), [3]).residuals[:, 0]
    label = (np.arange(30) % 2).astype(float)
    probe = fit_probe(streams, label)
    rows = streams.double().numpy()
    table = read_while_writing(model, QUESTIONS[:3], {"odd": probe}, 3, rows, max_new_tokens=12)
    return model, rows, probe, table


def test_a_reading_is_that_of_a_plain_forward_over_prompt_and_text(written):
    model, rows, probe, table = written
    readings = table[table["question_id"] == "q1"].sort_values("place")
    prompt = model.render(REASONED.prompt(QUESTIONS[1].text))
    ids = encode(model.tokenizer, prompt + "".join(readings["token"]))
    with torch.no_grad():
        streams = model.hf(torch.tensor([ids]), output_hidden_states=True).hidden_states[4][0].double().numpy()
    along, scale = streams @ probe.direction.double().numpy(), rows @ probe.direction.double().numpy()
    expected = (along[-len(readings) :] - scale.mean()) / scale.std()
    assert len(readings) == readings["n_tokens"].iloc[0]
    np.testing.assert_allclose(readings["reading"], expected, atol=1e-3)
    assert readings["progress"].iloc[0] == 0
    assert readings["progress"].iloc[-1] == 1


def test_an_instrument_that_writes_nothing_is_refused(written):
    model, rows, probe, _ = written
    with pytest.raises(InputError, match="writes nothing"):
        read_while_writing(model, QUESTIONS, {"odd": probe}, 3, rows, CAN_YOU_ANSWER)


def test_a_course_that_parts_on_the_way_tells_the_verdict_from_there_on():
    rng, tables = np.random.default_rng(0), []
    for question in range(60):
        progress, said_yes = np.linspace(0, 1, 40), float(question % 2)
        course = np.where(progress > 0.5, 2 * said_yes - 1, 0) + rng.standard_normal(40) + 0.5 * rng.standard_normal()
        tables.append(
            pd.DataFrame({"question_id": question, "progress": progress, "label": "known", "reading": course,
                          "said_yes": said_yes if question < 50 else np.nan})
        )  # fmt: skip
    course = course_of(pd.concat(tables), n_bootstrap=99)
    assert course.groupby("verdict")["n"].first().to_dict() == {"yes": 25, "no": 25, "unread": 10}
    yes = course[course["verdict"] == "yes"].set_index("progress")
    assert yes.loc[0.25, "auroc_low"] < 0.55
    assert yes.loc[0.75, "auroc_low"] > 0.8
    assert yes.loc[0.75, "mean"] == pytest.approx(1, abs=0.4)


def test_too_few_of_a_verdict_tell_nothing():
    table = pd.DataFrame({"question_id": [0, 1], "progress": 0.0, "label": "known", "reading": [1.0, 2.0],
                          "said_yes": [1.0, 0.0]})  # fmt: skip
    course = course_of(table, n_bootstrap=9)
    assert course["auroc"].isna().all()
