"""Each kind of subject gets its conclusion: one that says yes when pushed, one that names, one that notices."""

import numpy as np
import pytest
from tiny_models import tiny_model
from tuned import LAYER, tuned_subject

from onedial.asking.respondents import Identity, Response
from onedial.core.errors import InputError
from onedial.core.run.parts import Parts
from steering.effects import noticing
from steering.effects.noticing import (
    ANSWER_COLUMNS,
    ANSWER_KEY,
    CONCEPT,
    CONCEPTS,
    EQUAL_KL,
    KINDS,
    RANDOM,
    answers_to,
    conclusions_of,
    mean_and_ends,
    noticing_of_model,
    noticing_scores,
    sentence_of,
)

WORDS = CONCEPTS[:16]
SPELT = {word: (word,) for word in WORDS}


@pytest.fixture
def briefly(monkeypatch):
    """Few control questions, and few texts for the equal effects."""
    monkeypatch.setattr(noticing, "N_CONTROLS", 4)
    monkeypatch.setattr(noticing, "N_PASSAGES", 3)


class Scripted:
    """A subject whose yes, of each question, rises by so much under a push; and that may name what is pushed."""

    identity = Identity("scripted")

    def __init__(self, trial, shifts, names, rng):
        self.trial, self.shifts, self.names, self.rng = trial, shifts, names, rng

    def answer(self, prompts, instrument):
        name = "control" if instrument.name == "fact" else instrument.name
        for place, _ in enumerate(prompts):
            if name in ("named", "anyway"):
                word = self.trial.concept if self.names else WORDS[int(self.rng.integers(len(WORDS)))]
                yield Response(place, probabilities=tuple(float(each == word) for each in WORDS), mass=1.0)
            else:
                rise = self.shifts.get((self.trial.kind, name), self.shifts.get(name, 0.0)) * self.trial.magnitude
                margin = -1.0 + rise + 0.2 * self.rng.standard_normal() * bool(self.trial.magnitude)
                yield Response(place, margin=margin, mass=1.0)


def told_of(shifts, names=False, seed=0):
    rng = np.random.default_rng(seed)
    answers = answers_to(lambda trial: Scripted(trial, shifts, names, rng), SPELT, [1.0])
    scores = noticing_scores(answers)
    return conclusions_of(answers, scores)[1.0], scores.set_index("kind"), scores


SUBJECTS = {
    "nothing rises": {},
    "a raised yes": {"notice": 2.0, "reversed": 2.0, "control": 2.0},
    "noticed": {(CONCEPT, "notice"): 2.0, (CONCEPT, "reversed"): -2.0},
    "any push does it": {"notice": 2.0, "reversed": -2.0},
}


@pytest.mark.parametrize("conclusion", SUBJECTS)
def test_a_subject_gets_its_conclusion(conclusion):
    concluded, by_kind, scores = told_of(SUBJECTS[conclusion])
    assert concluded == conclusion
    assert sentence_of({1.0: concluded}, scores).startswith("No injected") == (conclusion != "noticed")
    assert by_kind.loc[CONCEPT, "n"] == len(WORDS)


def test_a_yes_to_both_wordings_is_no_noticing():
    """It rises beyond the control questions, and so does its reverse."""
    assert told_of({"notice": 3.0, "reversed": 3.0, "control": 1.0})[0] == "a raised yes"


def test_naming_without_noticing_passes_nothing():
    concluded, by_kind, _ = told_of({"notice": 1.0, "reversed": 1.0, "control": 1.0}, names=True)
    assert concluded == "a raised yes"
    assert by_kind.loc[CONCEPT, ["named", "anyway"]].tolist() == [1.0, 1.0]


def test_always_no_passes_nothing():
    assert told_of({"notice": -1.0, "control": -1.0})[0] == "nothing rises"


def test_detection_is_recomputed_from_the_answers():
    rng = np.random.default_rng(3)
    answers = answers_to(lambda trial: Scripted(trial, SUBJECTS["noticed"], False, rng), SPELT, [0.5, 1.0])
    scores = noticing_scores(answers).set_index(["magnitude", "kind"])
    plain = answers[answers["kind"] == "none"].groupby("asked")["margin"].mean()
    here = answers[(answers["kind"] == CONCEPT) & (answers["magnitude"] == 0.5)]
    mine = here.groupby(["concept", "asked"])["margin"].mean().unstack()
    detection = (mine["notice"] - plain["notice"]) - (mine["control"] - plain["control"])
    low, high = detection.mean() + np.array([-1, 1]) * 2.1314 * detection.std() / np.sqrt(len(WORDS))
    row = scores.loc[0.5, CONCEPT]
    assert row[["detection", "detection_low", "detection_high"]].tolist() == pytest.approx(
        [detection.mean(), low, high], abs=1e-4
    )


def test_what_is_on_disk_is_not_asked_again(tmp_path):
    parts, trials = Parts(tmp_path, ANSWER_COLUMNS, ANSWER_KEY), []

    def subject(trial):
        if len(trials) == 1 + 2 * len(WORDS):
            raise KeyboardInterrupt
        trials.append(trial)
        return Scripted(trial, SUBJECTS["noticed"], False, np.random.default_rng(len(trials)))

    with pytest.raises(KeyboardInterrupt):
        answers_to(subject, SPELT, [1.0], parts=parts)
    first, trials[:] = list(trials), []
    answers = answers_to(subject, SPELT, [1.0], parts=parts)
    assert {each.kind for each in trials} == {EQUAL_KL}
    assert len(first) + len(trials) == 1 + 3 * len(WORDS) == len(answers.drop_duplicates(ANSWER_KEY[:3]))


def test_what_cannot_be_read_is_counted_and_left_out():
    rng = np.random.default_rng(0)
    answers = answers_to(lambda trial: Scripted(trial, SUBJECTS["noticed"], False, rng), SPELT, [1.0])
    unread = answers["concept"].isin(WORDS[:10]) & (answers["asked"] == "notice")
    scores = noticing_scores(answers.assign(mass=answers["mass"].mask(unread, 0.01)))
    assert scores.set_index("kind").loc[CONCEPT, ["n", "n_unread"]].tolist() == [6, 10]
    conclusions = conclusions_of(answers, scores)
    assert conclusions[1.0] == "too few answers can be read"
    assert "cannot be said" in sentence_of(conclusions, scores)


def test_a_model_is_asked_at_each_push(briefly):
    model = tiny_model("llama")
    answers = noticing_of_model(model, 2, [1.0], concepts=[*"abcdefgh"])
    scores = noticing_scores(answers)
    assert scores["kind"].tolist() == list(KINDS)
    assert scores["n"].add(scores["n_unread"]).tolist() == [8, 8, 8]
    pushed = answers[answers["asked"] == "control"].pivot_table(index="kind", columns="concept", values="margin")
    assert pushed.loc[[CONCEPT, RANDOM, EQUAL_KL]].stack().nunique() > 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noticed", "steps", "conclusion"),
    [
        ((), 0, "nothing rises"),
        (("concept",), 30, "noticed"),
        pytest.param(("concept", "random"), 30, "any push does it", marks=pytest.mark.long),
    ],
)
def test_a_tuned_subject_notices_what_it_was_tuned_to(briefly, noticed, steps, conclusion):
    """An adapter above the layer of the pushes was told which of them to notice, or nothing."""
    words = [*"abcdefgh"]
    answers = noticing_of_model(tuned_subject(words, noticed, steps), LAYER, [1.0], concepts=words)
    assert conclusions_of(answers, noticing_scores(answers)) == {1.0: conclusion}


@pytest.mark.parametrize("magnitudes", [[], [0.0], [-1.0, 1.0]])
def test_magnitudes_lie_above_zero(magnitudes):
    with pytest.raises(InputError, match="above 0"):
        noticing_of_model(tiny_model("llama"), 2, magnitudes)


def test_the_interval_is_students():
    assert np.isnan(mean_and_ends(np.array([1.0]))[1])
