"""A label that does not read is called so as often as it should be, though the folds share their training questions."""

import numpy as np
import pandas as pd
import pytest

from onedial.studies.probes.layers import chosen_tables
from probes import (
    Concordance,
    ProbeTask,
    TopicFolds,
    auroc_of_copies,
    cross_fit,
    measure_layer,
    of_rows,
    readers_of,
    reads_by_chance,
    topic_draws,
)
from probes.fitting.reads_at_all import held_out

FOLDS = TopicFolds.of([f"t{place % 17}" for place in range(340)])


def drawn(seed, shift):
    rng = np.random.default_rng(seed)
    truth = (rng.random(340) < 0.5).astype(float)
    return rng.standard_normal((340, 10)) + shift * truth[:, None] * np.eye(10)[0], truth


def area_and_copies(seed, shift):
    rows, truth = drawn(seed, shift)
    score = cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"].score[:, 0]
    area = Concordance.of(score, truth, FOLDS).area(topic_draws(17, 99))
    return area, auroc_of_copies(readers_of(rows, FOLDS), truth, FOLDS, 99, seed)


def test_the_readers_give_the_scores_of_the_probes_that_they_stand_for():
    rows, truth = drawn(0, 0.6)
    score = cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"].score[:, 0]
    np.testing.assert_allclose(held_out(readers_of(rows, FOLDS), truth[:, None], FOLDS)[:, 0], score, rtol=1e-8)


def test_labels_without_meaning_spread_wider_than_an_interval_over_topics_knows_and_are_seldom_called_readable():
    found = [area_and_copies(seed, 0.0) for seed in range(20)]
    assert np.mean([copies.std() / area.se for area, copies in found]) > 1.15
    assert np.mean([reads_by_chance(area.auroc, copies) <= 0.05 for area, copies in found]) <= 0.2
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
    found = {layer: measure_layer(rows + layer, task, ["lda"], ["lda"]) for layer in (0, 1)}
    table = pd.concat(reading.table.assign(layer=layer) for layer, reading in found.items())
    by_layer = {layer: reading.fitted["lda"] for layer, reading in found.items()}
    chosen = chosen_tables(table, task, by_layer, "lda", lambda layer: rows + layer)[0].set_index("label")
    assert chosen.loc["planted", "p_reads"] == 1 / 500
    assert chosen.loc["planted", "auroc"] > chosen.loc["planted", "null_high"] > 0.5
    assert chosen.loc["coin", "p_reads"] > 0.05
    assert chosen.loc["planted", "p_adds"] == 1 / 500
    assert chosen.loc["coin", "p_adds"] > 0.01  # 1 coin in 20 comes out at .05
