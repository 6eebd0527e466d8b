"""The share of a swap is that of a model whose answer is known, and what decides nothing ranks anywhere."""

import numpy as np
import pytest
import torch
from known_answers import ANSWER, ASIDE, LAYER, known_model

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from steering.causes import INTERCHANGE_COLUMNS, Chance, interchange, moved_margins
from steering.interventions import SteeringVector

QUESTIONS = [
    Question(f"q{n:02d}", f"Who sang of river {n * 37 % 101} and of the {'sea' * (n % 4)}?") for n in range(24)
]


@pytest.fixture(scope="module")
def model():
    return known_model(ANSWER)


@pytest.fixture(scope="module")
def pairs(model, prompts):
    order = np.argsort(read_activations(model, prompts, []).margin.numpy())
    names = [prompts.question_ids[place] for place in order]
    return list(zip(names[:15:-1], names[:8], strict=True))


def along(model, direction):
    return SteeringVector(direction, LAYER, 1.0, 1.0, model.identity)


def own(table, kind):
    return table[table["kind"] == kind].iloc[0]


def test_a_swap_moves_by_what_decides(model, prompts, pairs):
    """A direction at an angle to the answer's moves cos times what its own component differs by."""
    asked = prompts.subset([name for pair in pairs for name in pair])
    streams = read_activations(model, asked, [LAYER]).residuals[:, 0]
    differ = (streams[::2] - streams[1::2]).mean(dim=0)
    for lean in (1.0, 0.6, 0.0):
        line = lean * ANSWER + (1 - lean**2) ** 0.5 * ASIDE
        table = interchange(model, prompts, along(model, line), pairs, chance=Chance(9, 199))
        expected = float(lean * (differ @ line) / (differ @ ANSWER))
        result = own(table, "vector")
        assert tuple(table.columns) == INTERCHANGE_COLUMNS
        assert result["share"] == pytest.approx(expected, abs=0.12)
        assert result["low"] <= result["share"] <= result["high"]
        assert own(table, "words")["share"] == pytest.approx(1, abs=0.1)
        assert (result["n"], result["n_unread"]) == (8, 0)
        if lean == 1:
            assert result["p"] == pytest.approx(0.1)
            assert result["p_covariance"] <= 0.3
        if lean == 0:
            assert result["p"] > 0.1


def test_nothing_is_shared_where_the_questions_do_not_differ(model, prompts, pairs):
    mixed = [pair if n % 2 else pair[::-1] for n, pair in enumerate(pairs)]
    result = own(interchange(model, prompts, along(model, ANSWER), mixed, chance=Chance(2, 199)), "vector")
    assert result["gap_low"] < 0 < result["gap_high"]
    assert np.isnan(result[["share", "low", "high", "p"]].to_numpy(float)).all()


def test_each_question_is_moved_by_its_own_amount_alone(model, prompts):
    directions = torch.stack([ANSWER, ASIDE])
    amounts = torch.arange(48.0).reshape(24, 2) / 10 - 2
    moved = moved_margins(model, prompts, LAYER, directions, amounts)
    alone = [
        moved_margins(model, prompts.subset([name]), LAYER, directions, amounts[[place]])[0]
        for place, name in enumerate(prompts.question_ids)
    ]
    np.testing.assert_allclose(moved, np.stack(alone), atol=1e-4)
    slope = (moved[:, 0] - read_activations(model, prompts, []).margin.numpy()) / amounts[:, 0].numpy()
    assert (slope[np.isfinite(slope)] > 0).all()


@pytest.mark.parametrize("chosen", [[("q01", "q02")], [("q01", "q02"), ("q02", "q03")]])
def test_too_few_pairs_or_a_question_in_two_are_refused(model, prompts, chosen):
    with pytest.raises(InputError, match="give two or more, and each question in one"):
        interchange(model, prompts, along(model, ANSWER), chosen)
