"""Statements as they stand and negated: the words, and streams as a plain forward has them."""

import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.questions import Question
from onedial.asking.statements import NEGATION, STATEMENT_PROMPT, load_statements
from onedial.core.errors import InputError
from onedial.panels.questions.facts import load_facts
from probes.directions.statement_streams import StatementStores


@pytest.fixture(scope="module")
def statements():
    return load_statements(load_facts(40))


def test_every_fact_has_a_statement_that_a_marker_negates():
    statements = load_statements(load_facts())
    assert len(statements) == 200
    assert sum(one.true for one in statements) == 100
    assert all(one.pattern.count("{marker}") == 1 and one.pattern.endswith(".") for one in statements)
    first = statements[0]
    assert first.text() == "Paris is the capital of France."
    assert first.text(NEGATION) == "Paris is not the capital of France."
    assert first.true
    assert not statements[1].true
    assert len({one.text() for one in statements}) == 200


def test_a_question_that_is_no_fact_has_no_statement():
    with pytest.raises(InputError, match="1 of 1 facts have no statement, first 'q'"):
        load_statements([Question("q", "Is it?", ("yes",))])


def test_streams_are_those_of_a_plain_forward_over_prompt_and_answer(statements, tmp_path):
    model = outspoken_model()
    stores = StatementStores.read(model, statements, str(tmp_path / "s"), layers=[1, 3], n_folds=5)
    real = stores.at(3)
    assert real.streams.shape == (40, 2, 2, model.d_model)
    prompt = STATEMENT_PROMPT.fill(statements[7].text(NEGATION))
    tokens = model.answer_tokens(prompt)
    for answer, token in enumerate((tokens.yes[0], tokens.no[0])):
        ids = torch.tensor([[*model.token_ids([prompt])[0], token]])
        with torch.no_grad():
            plain = model.hf(ids, output_hidden_states=True).hidden_states[4][0, -1]  # after block 3, counted from 0
        torch.testing.assert_close(torch.from_numpy(real.streams[7, 1, answer]).float(), plain, rtol=1e-4, atol=1e-4)
