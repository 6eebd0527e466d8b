"""Knowledge of its own is told apart from what is hard for all."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.folds import TopicFolds
from probes.fitting.labels import OWN_CORRECT, ProbeLabels, correct_label
from probes.fitting.measure import ProbeTask
from probes.own_correctness import ITS_OWN, OWN_COLUMNS, own_or_shared

N = 510
ONE, TWO = correct_label("one"), correct_label("two")


def drawn(weight: float, seed: int = 0):
    """Streams that hold the shared difficulty, and `weight` of what only the subject knows; labels that follow both."""
    rng = np.random.default_rng(seed)
    ease, private, rows = rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal((N, 12))
    rows[:, 0] += 2 * ease
    rows[:, 1] += 2 * weight * private
    right = {
        OWN_CORRECT: (ease + private + 0.3 * rng.standard_normal(N) > 0).astype(float),
        ONE: (ease + rng.standard_normal(N) > 0).astype(float),
        TWO: (ease + rng.standard_normal(N) > 0).astype(float),
    }
    names = [f"{model}: {framing}" for model in ("one", "two") for framing in "abc"]
    ids = pd.Index([f"q{place}" for place in range(N)], name="question_id")
    answers = pd.DataFrame({name: (ease + 0.7 * rng.standard_normal(N) > 0).astype(float) for name in names}, ids)
    models = [name.split(":")[0] for name in names]
    respondents = pd.DataFrame({"model": models, "framing": "", "family": ""}, index=pd.Index(names, name="respondent"))
    truth = pd.DataFrame(right, index=ids)
    labels = ProbeLabels(truth, 1 - answers.mean(axis=1), ResponseMatrix(answers, respondents), ())
    topics = [f"t{place % 17}" for place in range(N)]
    texts = tuple(f"what is thing {place}?" for place in range(N))
    task = ProbeTask(truth, texts, TopicFolds.of(topics), n_bootstrap=199)
    fitted = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["lda"])["lda"]
    return rows, fitted, task, labels


def test_private_knowledge_is_found_in_its_own_correctness_alone():
    table = own_or_shared(*drawn(weight=1.0))
    assert tuple(table.columns) == OWN_COLUMNS
    assert table["label"].tolist() == [OWN_CORRECT, ONE, TWO]
    assert table["own"].tolist() == [True, False, False]
    first, one, two = (row for _, row in table.iterrows())
    assert first["p_beyond"] < 0.01
    assert (table["verdict"] == ITS_OWN).tolist() == [True, False, False]
    for other in (one, two):
        assert 0.5 < other["by_own_probe"] < first["by_own_probe"]
    assert first["by_own_probe"] == pytest.approx(first["reading"])


def test_a_stream_that_holds_the_difficulty_alone_has_nothing_of_its_own():
    table = own_or_shared(*drawn(weight=0.0))
    assert (table["reading"] > 0.6).all()
    assert table["verdict"].tolist() == ["nothing found"] * 3


def test_without_anybodys_correctness_there_is_nothing_to_say():
    rows, fitted, task, labels = drawn(weight=0.0)
    renamed = fitted.take([ONE])
    object.__setattr__(renamed, "labels", ("yes: one: a",))
    with pytest.raises(InputError, match="nobody's correctness is known"):
        own_or_shared(rows, renamed, task, labels)
