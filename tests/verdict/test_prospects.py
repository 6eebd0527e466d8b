"""Before a model is asked: which targets could be judged, and how many questions it would take."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from onedial.asking.questions import Question, questions_frame, stratified_sample
from onedial.core.errors import InputError
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.panels import ResponseMatrix, respondents_table
from onedial.panels.splits import assign_splits
from onedial.verdict.prospects import prospects_of


def inputs_of(n_all, n_asked, rates):
    rng = np.random.default_rng(3)
    questions = [Question(f"q{i}", f"Who was number {i}?", (), f"topic {i % 2}") for i in range(n_all)]
    names = [f"t{number}" for number in range(len(rates))]
    answers = pd.DataFrame(
        (rng.random((n_all, len(rates))) < rates).astype(float),
        index=pd.Index([question.id for question in questions], name="question_id"),
        columns=pd.Index(names, name="respondent"),
    )
    panel = ResponseMatrix(answers, respondents_table(names))
    asked = stratified_sample(questions, n_asked, 0)
    splits = assign_splits(questions_frame(asked), 0)
    return ExperimentInputs(asked, dict(splits), panel.select(questions=[question.id for question in asked]))


def test_constant_targets_cannot_be_judged():
    """Targets that always say the same cannot be judged on any number of questions."""
    result = prospects_of(inputs_of(300, 200, [0.5, 0.5, 0.5, 0.5, 1.0, 0.0]))
    assert result.status.tolist() == ["possible"] * 4 + ["constant"] * 2
    assert not result.suffices
    assert "2 with one answer only" in str(result)


def test_a_panel_that_says_one_thing_is_refused():
    with pytest.raises(InputError, match="none of the 2 targets says both yes and no to the 200 questions"):
        prospects_of(inputs_of(300, 200, [1.0, 0.0]))


@pytest.mark.parametrize(
    ("yes", "no", "fitting", "expected"),
    [(10, 40, 10, "possible"), (10, 39, 10, "few"), (9, 41, 10, "few"), (41, 9, 10, "few"), (10, 40, 9, "few")],
)
def test_the_fewest_answers_are_those_of_the_status(yes, no, fitting, expected):
    """The fewest answers that let a target be judged are those of the status."""
    inputs = inputs_of(200, 200, [0.5] * 6)
    splits = pd.Series(inputs.splits)
    answers = inputs.panel.answers.copy()
    column = pd.Series(np.nan, answers.index)
    column[splits.index[splits == "test"][: yes + no]] = [1.0] * yes + [0.0] * no
    column[splits.index[splits == "fitting"][:fitting]] = 1.0
    answers["t0"] = column
    panel = ResponseMatrix(answers, inputs.panel.respondents)
    result = prospects_of(replace(inputs, panel=panel))
    assert result.status["t0"] == expected


def test_five_framings_of_one_base_model_do_not_suffice():
    inputs = inputs_of(300, 200, [0.4, 0.5, 0.6, 0.5, 0.4])
    respondents = inputs.panel.respondents.assign(model="one")
    result = prospects_of(replace(inputs, panel=ResponseMatrix(inputs.panel.answers, respondents)))
    assert (result.n_possible, result.n_models, result.suffices) == (5, 1, False)


def test_wordings_of_one_question_count_once():
    """160 questions in one wording each can be judged on; 40 in four cannot, though as much is answered."""
    alone = inputs_of(160, 160, [0.4, 0.5, 0.6, 0.5, 0.4])
    assert prospects_of(alone).suffices
    of = [replace(each, wording_of=f"w{number // 4}") for number, each in enumerate(alone.questions)]
    assert prospects_of(replace(alone, questions=of)).n_possible == 0
