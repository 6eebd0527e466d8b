"""A label that does not read is called so as often as it should be, though the folds share their training questions."""

import numpy as np
import pandas as pd
import pytest

from onedial.stats.intervals import unit_weights
from onedial.studies.probes.layers import chosen_tables
from probes.fitting.concordance import Concordance, auroc_by_column
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask, measure_layer
from probes.fitting.reads_at_all import auroc_of_copies, copies_within, held_out, readers_of, reads_by_chance
from probes.residualise import beyond_known

FOLDS = TopicFolds.of([f"t{place % 17}" for place in range(340)])


def drawn(seed, shift):
    rng = np.random.default_rng(seed)
    truth = (rng.random(340) < 0.5).astype(float)
    return rng.standard_normal((340, 10)) + shift * truth[:, None] * np.eye(10)[0], truth


def area_and_copies(seed, shift):
    rows, truth = drawn(seed, shift)
    score = cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"].score[:, 0]
    area = Concordance.of(score, truth, FOLDS).area(unit_weights(np.arange(17), 99, 0))
    return area, auroc_of_copies(readers_of(rows, FOLDS), truth, FOLDS, 99, seed)


def test_the_readers_give_the_scores_of_the_probes_that_they_stand_for():
    rows, truth = drawn(0, 0.6)
    score = cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"].score[:, 0]
    np.testing.assert_allclose(held_out(readers_of(rows, FOLDS), truth[:, None], FOLDS)[:, 0], score, rtol=1e-8)


def test_meaningless_labels_are_seldom_called_readable():
    """Labels without meaning spread wider than an interval over topics knows and are seldom called readable."""
    result = [area_and_copies(seed, 0.0) for seed in range(20)]
    assert np.mean([copies.std() / area.se for area, copies in result]) > 1.15
    assert np.mean([reads_by_chance(area.auroc, copies) <= 0.05 for area, copies in result]) <= 0.2
    there = [area_and_copies(seed, 0.8) for seed in range(3)]
    assert all(reads_by_chance(area.auroc, copies) <= 0.05 for area, copies in there)


def test_what_is_unknown_stays_out_of_the_copies():
    rows, truth = drawn(1, 0.0)
    truth[:60] = np.nan
    copies = auroc_of_copies(readers_of(rows, FOLDS), truth, FOLDS, 19)
    assert np.isfinite(copies).all()
    assert copies.mean() == pytest.approx(0.5, abs=0.06)
    assert reads_by_chance(1.1, copies) == 1 / 20
    assert reads_by_chance(0.0, copies) == 1


def test_the_line_of_a_chosen_layer_says_whether_its_label_reads():
    rows, truth = drawn(3, 1.5)
    coin = (np.random.default_rng(4).random(340) < 0.5).astype(float)
    labels = pd.DataFrame({"planted": truth, "coin": coin})
    texts = tuple(f"what is thing {place}?" for place in range(340))
    task = ProbeTask(labels, texts, FOLDS, n_shuffled=1, n_control=0, n_bootstrap=19)
    result = {layer: measure_layer(rows + layer, task, ["lda"]) for layer in (0, 1)}
    table = pd.concat(reading.table.assign(layer=layer) for layer, reading in result.items())
    by_layer = {layer: reading.fitted["lda"] for layer, reading in result.items()}
    chosen = chosen_tables(table, task, by_layer, "lda", lambda layer: rows + layer)[0].set_index("label")
    assert chosen.loc["planted", "p_reads"] == 1 / 500
    assert chosen.loc["planted", "auroc"] > chosen.loc["planted", "null_high"] > 0.5
    assert chosen.loc["coin", "p_reads"] > 0.05
    assert chosen.loc["planted", "p_adds"] == 1 / 500
    assert chosen.loc["coin", "p_adds"] > 0.01  # 1 coin in 20 comes out at .05


def worded(seed, n_topics=10, per_topic=8, wordings=3):
    """Questions in three wordings: their streams are alike, and so are their labels, which mean nothing."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_topics * per_topic), wordings)
    topics = [f"t{number // per_topic}" for number in group]
    rows = rng.standard_normal((group.max() + 1, 8))[group] + 0.4 * rng.standard_normal((len(group), 8))
    truth = (rng.random(group.max() + 1) < 0.5)[group].astype(float)
    words = rng.standard_normal((group.max() + 1, 1))[group]
    return rows, np.where(rng.random(len(group)) < 0.05, 1 - truth, truth), words, topics, group.tolist()


def called_readable(groups_known):
    result = []
    for seed in range(40):
        rows, truth, words, topics, groups = worded(seed)
        folds = TopicFolds.of(topics, groups=groups if groups_known else None)
        readers = readers_of(rows, folds)
        auroc = auroc_by_column(held_out(readers, truth[:, None], folds), truth[:, None], folds.fold)[0]
        reads = reads_by_chance(auroc, auroc_of_copies(readers, truth, folds, 39, seed))
        result.append((reads, beyond_known(rows, truth, words, folds, 39, seed).p))
    return (np.array(result) <= 0.05).mean(axis=0)


def test_wordings_make_no_finding_together():
    """Wordings of one question make no finding once they change places together."""
    assert (called_readable(groups_known=False) >= 0.1).any()
    assert (called_readable(groups_known=True) <= 0.1).all()


def of_topics(seed, per_topic, shift=0.0):
    """120 questions, topics that move labels and streams a great deal; the label means nothing but for the shift."""
    rng = np.random.default_rng(seed)
    topic = np.arange(120) // per_topic
    effects = rng.standard_normal((2, 120, 8))[:, topic]
    truth = (2 * effects[0, :, 0] * (per_topic > 1) + rng.standard_normal(120) > 0).astype(float)
    rows = effects[1] * (per_topic > 1) + 0.5 * rng.standard_normal((120, 8)) + shift * truth[:, None] * np.eye(8)[0]
    return rows, truth, rng.standard_normal((120, 1)), TopicFolds.of([f"t{number}" for number in topic])


@pytest.mark.parametrize("per_topic", [3, 1])
def test_small_topics_make_no_finding_and_hide_none(per_topic):
    result = []
    for seed, shift in [(seed, 0.0) for seed in range(40)] + [(seed, 1.5) for seed in range(5)]:
        rows, truth, words, folds = of_topics(seed, per_topic, shift)
        readers = readers_of(rows, folds)
        auroc = auroc_by_column(held_out(readers, truth[:, None], folds), truth[:, None], folds.fold)[0]
        reads = reads_by_chance(auroc, auroc_of_copies(readers, truth, folds, 39, seed + 1000))
        result.append((reads, beyond_known(rows, truth, words, folds, 39, seed + 1000).p))
    is_named = np.array(result) <= 0.05
    assert (is_named[:40].mean(axis=0) <= 0.125).all()
    assert is_named[40:].all()


def test_untopical_questions_change_within_their_fold():
    """Questions without topics change places with their wordings in their fold."""
    alone = [f"q{place}" for place in range(12)]
    folds = TopicFolds.of(alone, n_folds=3, groups=[place // 2 for place in range(12)])
    where, together = folds.exchangeable()
    assert (where == folds.fold).all()
    assert (together[::2] == together[1::2]).all()
    assert len(set(together)) == 6
    topical = TopicFolds.of(["a", "a", "b", "b", "c", "c"], n_folds=3)
    assert topical.exchangeable() == (topical.topic, None)


def test_groups_change_places_as_wholes():
    """Groups change places as wholes within their topic and with others of their size."""
    topic = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    group = np.array([0, 1, 0, 1, 2, 3, 4, 3, 4, 4])
    values = np.arange(10.0)
    copies = copies_within(values, topic, group, 200, 0)
    assert (np.sort(copies, axis=0) == values[:, None]).all()
    assert {tuple(column) for column in copies[[0, 2]].T} == {(0.0, 2.0), (1.0, 3.0)}
    assert (copies[4:] == values[4:, None]).all()  # each the only group of its size in its topic
