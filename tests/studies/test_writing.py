"""What the subject of a finished sweep writes at settings of its dial is what the library writes there."""

from dataclasses import replace

import pytest
from shared_runs import shared_run

from onedial.asking import Prompt, load_prompt
from onedial.core import InputError
from onedial.models import load_model
from onedial.studies import WriteOnDemand, intervention_of
from onedial.studies.writing import LONGEST
from onedial.view import Wanted
from steering import generate_steered

MAGNITUDES = [-0.5, 0.0, 0.5]


@pytest.fixture(scope="module")
def swept():
    return shared_run(n_targets=3, layer="2", facts=0, magnitudes="-0.4,-0.2,0.2,0.4").run


@pytest.mark.parametrize("alone", [False, True])
def test_texts_are_those_of_the_swept_intervention_or_of_every_position_where_the_question_stands_alone(swept, alone):
    question = swept.questions().iloc[3]
    wanted, told = Wanted(swept.path, str(question["id"]), alone), []
    before = {file: file.stat().st_mtime_ns for file in swept.path.rglob("*")}
    texts = list(WriteOnDemand()(wanted, MAGNITUDES, told.append))
    model, intervention = load_model(swept.config["model"]), intervention_of(swept)
    prompt = Prompt(question["question"]) if alone else load_prompt(swept.config["prompt"]).fill(question["question"])
    if alone:
        intervention = replace(intervention, positions="all")
    expected = [generate_steered(model, [prompt], intervention, m, max_new_tokens=LONGEST)[0].text for m in MAGNITUDES]
    assert texts == expected
    assert len(set(texts)) > 1
    assert told[0] == f"loading {swept.config['model']}"
    assert f"writing at +0: {texts[1]}"[:30] in [each[:30] for each in told]
    assert {file: file.stat().st_mtime_ns for file in swept.path.rglob("*")} == before


def test_a_question_that_the_run_does_not_ask_is_refused_before_a_model_is_loaded(swept):
    told = []
    with pytest.raises(InputError, match="asks no question 'nothing'"):
        next(iter(WriteOnDemand()(Wanted(swept.path, "nothing", alone=False), MAGNITUDES, told.append)))
    assert told == []
