"""A label that was planted is read, one that was not is not, nothing leaks, and the words get their due."""

import numpy as np
import pandas as pd
import pytest
from planted import planted
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from onedial.core.errors import InputError
from onedial.stats.intervals import unit_weights
from onedial.stats.solvers import METHODS, Training
from probes.fitting.choice import choose_layer
from probes.fitting.controls import control_labels, shuffled_within
from probes.fitting.crossfit import CrossFitted, cross_fit, of_rows, platt
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import PROBE_COLUMNS, ProbeTask, brier_skill_of, measure_layer, words_of
from probes.layer_files import load_layer, save_layer


@pytest.fixture(scope="module")
def result():
    sample = planted({"there": 1.6, "absent": 0.0}, n=680, d=24, unknown=0.05)
    return sample, measure_layer(sample.rows, sample.task())


def line(reading, label, method="logistic"):
    table = reading.table
    return table[(table["label"] == label) & (table["method"] == method)].iloc[0]


def test_the_table_has_one_line_per_label_and_method_with_its_counts(result):
    sample, reading = result
    assert tuple(reading.table.columns) == PROBE_COLUMNS
    assert len(reading.table) == 2 * len(METHODS)
    row = line(reading, "there")
    assert row["n"] + row["n_unknown"] == 680
    assert row["n_positive"] == (sample.truth["there"] == 1).sum()


@pytest.mark.parametrize("method", METHODS)
def test_a_planted_label_reads_and_an_absent_one_does_not(result, method):
    """A planted label reads nearly as well as it could and an absent one not at all."""
    present, absent = line(result[1], "there", method), line(result[1], "absent", method)
    best = norm.cdf(1.6 / np.sqrt(2))
    # The difference of means is no best reader where topics move the activations too.
    assert best - (0.2 if method == "mean_difference" else 0.07) < present["auroc"] < best + 0.03
    assert present["low"] > 0.6
    assert absent["low"] < 0.5 < absent["high"]
    assert abs(absent["auroc"] - 0.5) < 0.08


def test_shuffled_labels_and_words_that_say_nothing_read_at_chance(result):
    row = line(result[1], "there")
    assert abs(row["shuffled"] - 0.5) < 0.06
    assert row["selectivity"] == pytest.approx(row["auroc"] - row["shuffled"])
    assert abs(row["text"] - 0.5) < 0.1
    assert row["over_text_low"] > 0


def test_probabilities_are_calibrated_on_topics_that_were_not_seen(result):
    row = line(result[1], "there")
    assert row["ece"] < 0.07
    assert 0.2 < row["brier_skill"] < 0.5
    assert -0.05 < line(result[1], "absent")["brier_skill"] < 0.02


def test_the_probe_of_all_questions_has_the_log_odds_of_held_out_ones(result):
    _, reading = result
    probe = reading.probes["logistic"]["there"]
    assert probe.direction.norm().item() == pytest.approx(1, abs=1e-5)
    fresh = planted({"there": 1.6, "absent": 0.0}, n=680, d=24)  # the same directions, other labels unknown
    odds = probe.intercept + probe.slope * (fresh.rows @ probe.direction.double().numpy())
    truth = fresh.truth["there"].to_numpy()
    slope = platt(odds[:, None], truth[:, None])[1][0]
    assert slope > 0.8  # no surer of itself than it should be
    assert np.mean(1 / (1 + np.exp(-odds))) == pytest.approx(truth.mean(), abs=0.1)


def test_groups_never_leak_a_label_that_is_the_topic_does_not_read(monkeypatch):
    """Each topic has activations and a label of its own: a fold that mixed topics would read it perfectly."""
    rng = np.random.default_rng(0)
    topic = np.arange(400) % 20
    rows = 5 * rng.standard_normal((20, 80))[topic] + rng.standard_normal((400, 80))
    truth = (rng.permutation(20) < 10)[topic].astype(float)[:, None]
    folds = TopicFolds.of([f"t{number}" for number in topic])
    mixed = TopicFolds.of([f"q{number}" for number in range(400)])
    leaking = cross_fit(of_rows(rows), ["a"], truth, mixed)["logistic"]
    assert ((leaking.score > 0) == (truth == 1)).mean() > 0.98
    seen = []
    of = Training.of
    monkeypatch.setattr(Training, "of", lambda rows, **o: seen.append(len(rows)) or of(rows, **o))
    fitted = cross_fit(of_rows(rows), ["a"], truth, folds)["logistic"]
    assert sorted(set(seen)) == [240, 320]  # three or four of five folds of 80
    correct = (fitted.score > 0) == (truth == 1)
    assert correct.mean() < 0.8


def test_scores_of_a_fold_do_not_move_when_its_own_labels_do(result):
    sample, _ = result
    task = sample.task()
    changed = task.values.copy()
    inside = task.folds.inside(2)
    changed[inside] = 1 - changed[inside]
    features = of_rows(sample.rows)
    before = cross_fit(features, task.labels, task.values, task.folds, ["logistic", "ridge"])
    after = cross_fit(features, task.labels, changed, task.folds, ["logistic", "ridge"])
    for method, fitted in before.items():
        assert np.array_equal(fitted.score[inside], after[method].score[inside])
        assert np.array_equal(fitted.inner[2], after[method].inner[2], equal_nan=True)
        assert np.array_equal(fitted.probability()[inside], after[method].probability()[inside])
        assert not np.array_equal(fitted.score[~inside], after[method].score[~inside])


def test_each_fold_takes_its_best_penalty():
    """By scikit-learn's area over each inner fold, from fits of one penalty at a time."""
    penalties = (0.003, 0.3, 30.0)
    sample = planted({"weak": 0.7, "strong": 3.0}, n=340, d=120)
    task = sample.task()
    rows, folds = of_rows(sample.rows), task.folds
    chosen = cross_fit(rows, task.labels, task.values, folds, ["ridge"], penalties)["ridge"]
    alone = [cross_fit(rows, task.labels, task.values, folds, ["ridge"], [each])["ridge"] for each in penalties]
    for fold in range(folds.n_folds):
        inside = folds.inside(fold)
        for label in range(2):
            areas = []
            for fitted in alone:
                parts = [folds.inside(other) for other in range(folds.n_folds) if other != fold]
                pairs = [task.values[part, label].sum() * (1 - task.values[part, label]).sum() for part in parts]
                area = [roc_auc_score(task.values[part, label], fitted.inner[fold][part, label]) for part in parts]
                areas.append(round(float(np.average(area, weights=pairs)), 12))
            best = max(place for place in range(3) if areas[place] == max(areas))
            assert chosen.penalty[fold, label] == penalties[best]
            np.testing.assert_allclose(chosen.score[inside, label], alone[best].score[inside, label], atol=1e-9)
    assert len(np.unique(chosen.penalty)) > 1
    equal = cross_fit(of_rows(sample.rows[:, :1]), task.labels, task.values, folds, ["ridge"], penalties)["ridge"]
    assert (equal.penalty == 30.0).all()


def test_the_words_read_what_stands_in_them_from_training_words_alone():
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.5).astype(float)
    texts = [f"what is {'simple' if label else 'arcane'} thing {i}?" for i, label in enumerate(truth)]
    folds = TopicFolds.of([f"t{i % 15}" for i in range(300)])
    fitted = cross_fit(words_of(texts), ["a"], truth[:, None], folds)["logistic"]
    assert ((fitted.score[:, 0] > 0) == (truth == 1)).all()
    one_word = words_of(["a b", "a c", "unseen d"])
    rows, standardise = one_word(np.array([True, True, False]))
    assert not standardise
    assert rows.shape == (3, 1 + 2)  # only "a" stands in two questions that may be looked at; and two lengths


def test_shuffling_keeps_every_topics_rate():
    """Shuffling within topics keeps every topics rate and what is unknown."""
    sample = planted({"a": 1.0}, n=170, unknown=0.2)
    task = sample.task()
    shuffled = shuffled_within(task.values, task.folds.topic, 1)
    assert np.array_equal(np.isnan(shuffled), np.isnan(task.values))
    for topic in range(17):
        in_topic = task.folds.topic == topic
        assert np.nansum(shuffled[in_topic]) == np.nansum(task.values[in_topic])
    assert not np.array_equal(shuffled, task.values, equal_nan=True)


def test_control_labels_follow_the_opening_word_and_nothing_else():
    texts = [f"{word} thing?" for word in ("which", "who", "what", "how") for _ in range(20)]
    labels = control_labels(texts, 6)
    assert labels.shape == (80, 6)
    for column in labels.T:
        assert all(len(set(column[start : start + 20])) == 1 for start in range(0, 80, 20))
        assert 0.2 <= column.mean() <= 0.8
    assert control_labels(["what is it?"] * 30, 5).shape == (30, 0)


def test_the_layer_is_chosen_without_what_judges_it():
    """The layer is chosen without what judges it so that noise stays at chance."""
    noise = planted({"a": 0.0}, n=340)
    task = noise.task(n_shuffled=0, n_control=0)
    rng = np.random.default_rng(5)
    by_layer = {}
    for layer in range(12):
        rows = rng.standard_normal((340, 30))
        by_layer[layer] = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["lda"])["lda"]
    chosen = choose_layer(by_layer, "a", task.draws)
    assert chosen.highest > chosen.area.auroc
    assert chosen.area.low < 0.5 < chosen.area.high
    real = planted({"a": 2.0}, n=340)
    real_task = real.task()
    by_layer[12] = cross_fit(of_rows(real.rows), real_task.labels, real_task.values, real_task.folds, ["lda"])["lda"]
    mixed = {
        layer: CrossFitted(("a",), real_task.values, f.score, f.inner, f.penalty, real_task.folds)
        for layer, f in by_layer.items()
    }
    assert choose_layer(mixed, "a", real_task.draws).layer == 12


def test_a_layers_file_gives_back_scores_and_probes(result, tmp_path):
    sample, reading = result
    task = sample.task()
    save_layer(tmp_path / "L.safetensors", reading, task.labels)
    fitted, probes = load_layer(tmp_path / "L.safetensors", task)
    for method, scores in reading.fitted.items():
        np.testing.assert_allclose(fitted[method].score, scores.score, rtol=1e-6)
        np.testing.assert_allclose(fitted[method].inner, scores.inner, rtol=1e-6)
        made, stored = reading.probes[method]["there"], probes[method]["there"]
        assert (stored.slope, stored.intercept, stored.n_positive) == (made.slope, made.intercept, made.n_positive)
        assert (stored.direction == made.direction).all()
    other = ProbeTask(task.truth.rename(columns={"there": "here"}), task.texts, task.folds)
    with pytest.raises(InputError, match="holds other labels"):
        load_layer(tmp_path / "L.safetensors", other)


def test_what_cannot_be_probed_is_refused_in_one_sentence(result):
    sample, _ = result
    task = sample.task()
    few = pd.DataFrame({"a": np.r_[np.ones(9), np.zeros(671)]})
    for wrong, sentence in (
        (lambda: cross_fit(of_rows(sample.rows), ["a"], few.to_numpy(), task.folds), "'a': 9 questions of label 1"),
        (lambda: cross_fit(of_rows(sample.rows), ["a"], few.to_numpy() * 2, task.folds), "other values than 1, 0"),
        (lambda: cross_fit(of_rows(sample.rows), ["a", "b"], few.to_numpy(), task.folds), "labels of shape"),
        (lambda: of_rows(np.full((3, 2), np.nan)), "activations of 3 of 3 questions"),
        (lambda: measure_layer(sample.rows, task, ["svm"]), "the method 'svm' is not known"),
        (lambda: ProbeTask(few, ("a",), task.folds), "give all three for the same questions"),
        (lambda: choose_layer({}, "a", unit_weights(np.arange(3), 999, 0)), "no layers to choose among"),
    ):
        with pytest.raises(InputError, match=sentence):
            wrong()


def test_the_skill_of_the_mean_is_nothing_and_that_of_the_truth_is_all():
    truth = np.r_[np.ones(30), np.zeros(70)]
    assert brier_skill_of(np.full(100, 0.3), truth) == pytest.approx(0)
    assert brier_skill_of(truth, truth) == 1
    assert np.isnan(brier_skill_of(np.full(5, 0.5), np.ones(5)))
