"""Self-reports: equivalent forms, scores that point the same way, and numbers read from all their tokens."""

import math

import numpy as np
import pandas as pd
import pytest

from onedial.asking.instruments import CONFIDENCE_IN_NUMBERS, Scale
from onedial.asking.respondents import response_from_logits
from onedial.panels import load_questions
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, facts_for, self_efficacy_items


def test_the_expected_value_and_spread_of_planted_probabilities():
    scale = Scale("probability", ("low", "middle", "high"), (0.1, 0.5, 0.9))
    assert scale.expectation([0.25, 0.5, 0.25]) == pytest.approx((0.5, math.sqrt(0.5 * 0.16)))
    assert scale.expectation([0.0, 0.0, 1.0]) == pytest.approx((0.9, 0.0))
    assert all(math.isnan(value) for value in Scale("options", ("a", "b")).expectation([0.5, 0.5]))


def test_stated_confidence_is_over_all_number_tokens():
    """Stated confidence is the mean over all number tokens and the value the likeliest."""
    logits = np.log(np.array([0.0, 0.1, 0, 0, 0, 0, 0, 0, 0.3, 0.6]) + 1e-12)
    given = response_from_logits(CONFIDENCE_IN_NUMBERS.scale, logits, 0.9)
    assert given.value == pytest.approx(0.945)
    assert given.confidence == pytest.approx(0.1 * 0.145 + 0.3 * 0.845 + 0.6 * 0.945)
    unread = response_from_logits(CONFIDENCE_IN_NUMBERS.scale, logits, 0.05)
    assert (unread.value, unread.confidence) == (None, None)


@pytest.mark.parametrize("truth", [0.1, 0.5, 0.83])
def test_a_respondent_that_states_what_it_believes_is_read_as_calibrated(truth):
    """Planted: it puts its mass where its belief is; the expected value must find it, within half a decile."""
    values = np.array(CONFIDENCE_IN_NUMBERS.scale.values)
    logits = -((values - truth) ** 2) / (2 * 0.05**2)
    assert response_from_logits(CONFIDENCE_IN_NUMBERS.scale, logits, 1.0).confidence == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("name", ["P(True)", "P(IK)", "will answer", "stands by it, doubted"])
def test_lettered_forms_cross_order_and_letter(name):
    """Lettered forms cross order and letter and yes is always the affirmative."""
    report = SELF_REPORTS[name]
    assert list(report.forms) == ["A first", "A second", "B first", "B second"]
    item = Item("q", {slot: f"some {slot}" for slot in report.forms["A first"].template.slots})
    lines = {form: report.prompt(form, item).user.splitlines()[-4:-2] for form in report.forms}
    affirmative = {form: lines[form][0 if form.endswith("first") else 1] for form in lines}
    assert len({text[3:] for text in affirmative.values()}) == 1
    assert [text[0] for text in affirmative.values()] == ["A", "A", "B", "B"]
    assert len({tuple(text) for text in lines.values()}) == 4
    for form, instrument in report.forms.items():
        assert instrument.reader.spellings["yes"] == (f" {form[0]}", form[0])


def asked(**columns):
    return pd.DataFrame({"question_id": ["a", "b"], "mass": [1.0, 1.0], "margin": np.nan, "expected": np.nan} | columns)


def test_scores_turn_reversed_statements():
    """Scores turn reversed statements round and leave out what is unread."""
    report = SELF_REPORTS["self-efficacy"]
    items = [Item("a", {"statement": "do"}), Item("b", {"statement": "don't"}, sign=-1)]
    assert report.scores("1 is low", asked(expected=[3.0, 1.5]), items).tolist() == [3.0, 3.5]
    scores = SELF_REPORTS["P(IK)"].scores(
        "A first", asked(margin=[2.0, -1.0], mass=[0.05, 0.5]), [Item("a", {}), Item("b", {})]
    )
    assert scores.isna().tolist() == [True, False]
    assert scores.iloc[1] == -1.0


def test_both_numberings_of_the_scale_mean_the_same():
    report = SELF_REPORTS["self-efficacy"]
    one, other = (report.forms[form].scale for form in ("1 is low", "1 is high"))
    assert dict(zip(one.options, one.values, strict=True)) == dict(zip(other.options, other.values, strict=True))


@pytest.mark.parametrize(("n", "n_facts"), [(1, 2), (3, 2), (4, 4), (300, 200)])
def test_no_more_facts_are_asked_than_questions(n, n_facts):
    """But for one question, since facts come in pairs."""
    assert len(facts_for(load_questions("embedded")[:1] * n, 0)) == n_facts


def test_ten_public_domain_statements_come_with_their_keys():
    items = self_efficacy_items()
    assert len(items) == 10
    assert sum(item.sign == -1 for item in items) == 4
    assert items[0].slots["statement"] == "I complete tasks successfully."


@pytest.mark.parametrize(("direct", "reverse", "score"), [(2.0, 2.0, 0.0), (2.0, -2.0, 2.0), (-2.0, 2.0, -2.0)])
def test_a_raised_yes_is_no_noticing(direct, reverse, score):
    """Half of the wordings are reversed, so that a yes to all of them scores 0."""
    report = SELF_REPORTS["notices a push"]
    items = report.items([], 0)
    margins = [direct if item.sign > 0 else reverse for item in items]
    table = pd.DataFrame({"question_id": [item.item_id for item in items], "mass": 1.0, "margin": margins})
    assert report.scores("plain", table, items).mean() == score
    assert len({item.slots["question"] for item in items}) == len(items) == 8
