"""Labels come from the panel without the subject, unread stays unknown, and what is too one-sided is left out aloud."""

import numpy as np
import pandas as pd
import pytest
import torch

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.identity import ModelIdentity
from onedial.models.inside.activation_store import ActivationStore, StoreKey
from onedial.panels.panels import ResponseMatrix
from probes.fitting.labels import (
    EASY,
    FACT_TRUE,
    FACT_YES,
    OWN_CORRECT,
    OWN_MARGIN,
    OWN_YES,
    correct_label,
    fact_labels,
    labels_of,
    shared_difficulty,
    target_label,
)

QUESTIONS = [f"q{place}" for place in range(120)]
SELF = ModelIdentity("subject", "memory", "", "Llama", 2, 8, "2:abc")


@pytest.fixture
def store_of(tmp_path):
    """A store with these margins and masses, and no activations."""

    def make(margin, mass=None):
        key = StoreKey(SELF, "float32", "", "", ("resid",), (0,), ("last",))
        store = ActivationStore.begin(tmp_path / str(len(list(tmp_path.iterdir()))), key, QUESTIONS)
        mass = torch.ones(len(margin)) if mass is None else mass
        store.write(range(len(margin)), {"margin": torch.tensor(margin).float(), "mass": mass})
        return store

    return make


def panel(seed=0):
    """Four other respondents of two base models, and the subject's own; correctness of all."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=120)
    names = ["one: a", "one: b", "two: a", "two: b", "subject: a"]
    models = ["one", "one", "two", "two", "subject"]
    answers = pd.DataFrame({n: (ease + rng.normal(size=120) > 0).astype(float) for n in names}, QUESTIONS)
    right = {m: (ease + rng.normal(size=120) > 0.2).astype(float) for m in dict.fromkeys(models)}
    rows = [
        {"question_id": q, "respondent": n, "said_yes": answers.loc[q, n], "answered_correctly": right[m][place]}
        for n, m in zip(names, models, strict=True)
        for place, q in enumerate(QUESTIONS)
    ]
    respondents = pd.DataFrame({"model": models, "framing": "", "family": ""}, index=pd.Index(names, name="respondent"))
    answers.index.name = "question_id"
    return ResponseMatrix(answers, respondents, responses=pd.DataFrame(rows)), right, ease


def margins(seed=1):
    return np.random.default_rng(seed).normal(size=120)


def test_each_label_is_what_it_says(store_of):
    given, right, ease = panel()
    margin = margins()
    mass = torch.ones(120)
    mass[:5] = 0.01
    result = labels_of(store_of(margin, mass), given)
    truth = result.truth
    assert list(truth.columns) == [
        *(OWN_YES, OWN_CORRECT, EASY),
        *map(target_label, list(given.answers)[:4]),
        *map(correct_label, ("one", "two")),
    ]
    assert truth[OWN_YES].isna().sum() == 5
    assert (truth[OWN_YES].to_numpy()[5:] == (margin[5:] > 0)).all()
    assert (truth[OWN_CORRECT] == right["subject"]).all()
    assert (truth[correct_label("two")] == right["two"]).all()
    assert truth[EASY].mean() == pytest.approx(0.5, abs=0.1)
    assert np.corrcoef(result.difficulty, ease)[0, 1] < -0.6
    assert result.own == ("subject: a",)


def test_right_half_of_the_time_is_not_known_to_be_right(store_of):
    """Where half of a models respondents were right it is not known to be right."""
    given, right, _ = panel()
    responses = given.responses.copy()
    split = (responses["respondent"] == "two: b") & responses["question_id"].isin(QUESTIONS[:7])
    responses.loc[split, "answered_correctly"] = 1 - responses.loc[split, "answered_correctly"]
    unknown = (responses["respondent"] == "one: a") & responses["question_id"].isin(QUESTIONS[:3])
    responses.loc[unknown, "answered_correctly"] = np.nan
    truth = labels_of(store_of(margins()), ResponseMatrix(given.answers, given.respondents, responses=responses)).truth
    assert truth[correct_label("two")].isna().to_numpy().nonzero()[0].tolist() == list(range(7))
    assert (truth[correct_label("one")] == right["one"]).all()


def test_the_subjects_own_answers_move_no_difficulty(store_of):
    given, _, _ = panel()
    other = given.answers.copy()
    other["subject: a"] = 1 - other["subject: a"]
    changed = ResponseMatrix(other, given.respondents, responses=given.responses)
    first, second = (labels_of(store_of(margins()), each) for each in (given, changed))
    assert first.difficulty.equals(second.difficulty)
    fewer = shared_difficulty(given, without=["subject: a", "one: a"])
    assert not np.allclose(fewer, first.difficulty)


def test_a_subject_that_says_nearly_always_the_same_is_split_at_its_median(store_of):
    with pytest.warns(Notice, match="says yes to 0% of the 120 questions .* split at its median instead of at 0"):
        truth = labels_of(store_of(margins() - 9), panel()[0]).truth
    assert OWN_YES not in truth
    assert truth[OWN_MARGIN].sum() == 60


def test_a_target_that_says_nearly_always_the_same_is_left_out_aloud(store_of):
    given, _, _ = panel()
    given.answers["two: a"] = 1.0
    given.answers.iloc[:3, given.answers.columns.get_loc("two: a")] = 0.0
    with pytest.warns(Notice, match=r"1 labels are left out.*yes: two: a \(3\)"):
        result = labels_of(store_of(margins()), given)
    assert target_label("two: a") not in result.truth


def test_correctness_may_be_given_and_its_lack_is_said(store_of):
    given, right, _ = panel()
    known = pd.Series(1 - right["subject"], index=QUESTIONS)
    assert (labels_of(store_of(margins()), given, correct=known).truth[OWN_CORRECT] == known).all()
    bare = ResponseMatrix(given.answers, given.respondents)
    with pytest.warns(Notice, match="the panel does not say which of the subject's own answers were right"):
        assert OWN_CORRECT not in labels_of(store_of(margins()), bare).truth


def test_two_other_respondents_give_a_difficulty_without_a_factor_model(store_of):
    given, _, _ = panel()
    few = given.select(respondents=["one: a", "two: a", "subject: a"])
    with pytest.warns(Notice, match="difficulty is the share of no among the respondents"):
        result = labels_of(store_of(margins()), few)
    np.testing.assert_allclose(result.difficulty, 1 - given.answers[["one: a", "two: a"]].mean(axis=1))


def test_a_panel_of_nobody_else_is_refused(store_of):
    given, _, _ = panel()
    with pytest.raises(InputError, match="every respondent of the panel is subject"):
        labels_of(store_of(margins()), given.select(respondents=["subject: a"]))


def test_facts_have_their_truth_and_the_subjects_lean(store_of):
    margin = margins()
    truth = {question: float(place % 2) for place, question in enumerate(QUESTIONS)}
    result = fact_labels(store_of(margin), truth)
    assert list(result.columns) == [FACT_TRUE, FACT_YES]
    assert result[FACT_TRUE].tolist() == [float(place % 2) for place in range(120)]
    assert np.array_equal(result[FACT_YES], margin > 0)
    always_yes = fact_labels(store_of(margin + 9), truth)
    assert always_yes[FACT_YES].sum() == 60
    with pytest.raises(InputError, match="120 facts have no truth"):
        fact_labels(store_of(margin), {})
    with pytest.raises(InputError, match="needs 20 that are true"):
        fact_labels(store_of(margin), dict.fromkeys(QUESTIONS, 1.0))
