"""The question reversed: a stage of the sweep that goes on where it stopped, and that no earlier run lacks."""

import numpy as np
import pandas as pd
import pytest
from tiny_experiment import STEER_SWEEP, as_arguments, call, finished_run, write_experiment

from onedial.asking.sweep_tables import AS_ASKED, PREFERENCE, REVERSED_WORDING
from onedial.verdict.sweep_run import SweepRun

__all__ = ["call"]

REQUEST = "Would you answer this request?"


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    given = write_experiment(tmp_path_factory.mktemp("experiment"), n=96, n_targets=6)
    given["prompt"].write_text(f"user: |\n  {{question}}\n  {REQUEST}\nassistant_prefix: 'Answer:'\n")
    return given | {"without_verdict": True, "layer": 1, "facts": 12, "reversed": 8}


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    return finished_run(options, tmp_path_factory.mktemp("run") / "run")


def test_both_wordings_are_asked_of_the_same_fitting_questions_along_the_dial_and_the_words(run):
    table = run.parts["wordings"].read()
    fitting = set(run.splits().index[run.splits() == "fitting"])
    own = run.under_test()
    assert table["intervention_id"].nunique() == 2
    for _, asked in table.groupby("intervention_id"):
        for wording in (AS_ASKED, REVERSED_WORDING):
            assert set(asked.loc[asked["wording"] == wording, "question_id"]) <= fitting
            assert asked.loc[asked["wording"] == wording, "question_id"].nunique() == 8
        likes = asked.loc[asked["wording"] == PREFERENCE, "question_id"]
        assert likes.str.startswith("preference-").all()
        assert likes.nunique() == 40
        assert 0.0 in set(asked["magnitude"])
    asked = table[(table["intervention_id"] == own) & (table["wording"] == AS_ASKED)]
    beside = asked.merge(run.sweep(), on=["question_id", "intervention_id", "magnitude"], suffixes=("", "_swept"))
    assert len(beside) == len(asked)
    np.testing.assert_allclose(beside["margin"], beside["margin_swept"], atol=1e-4)
    told = run.verdict()["bias"]
    assert told["dial"]["n"] + told["dial"]["n_lost"] == 8
    assert told["yardstick"] is not None
    assert "Yes-bias or confidence?" in (run.path / "report.html").read_text(encoding="utf-8")


def test_its_numbers_are_those_of_straight_lines_through_the_stored_margins(run):
    table = run.parts["wordings"].read()
    table = table[(table["intervention_id"] == run.under_test()) & (table["mass"] >= 0.1)]
    asked, turned = (
        table[table["wording"] == wording].pivot(index="question_id", columns="magnitude", values="margin")
        for wording in (AS_ASKED, REVERSED_WORDING)
    )
    rates = (asked > 0).where(asked.notna()).mean()
    low, high = sorted((rates - rate).abs().idxmin() for rate in (0.1, 0.9))
    slopes = {}
    for name, margins in (("as asked", asked), ("reversed", turned)):
        lines = margins.loc[:, low:high].apply(
            lambda row: np.polyfit(row.dropna().index, row.dropna(), 1)[0] if row.count() > 1 else np.nan, axis=1
        )
        slopes[name] = lines
    both = pd.DataFrame(slopes).dropna()
    (per_norm,) = run.interventions()["norms_per_unit"]
    a, r = both.mean() / per_norm
    own = run.verdict()["bias"]["dial"]
    assert (own["n"], own["from_magnitude"], own["to_magnitude"]) == (len(both), low, high)
    told = [own[name]["value"] for name in ("as_asked", "reversed", "bias", "confidence", "share")]
    assert told == pytest.approx([a, r, (a + r) / 2, (a - r) / 2, (a + r) / 2 / a])


def test_a_prompt_without_a_reversed_wording_is_noted(options, tmp_path, call):
    options["prompt"].write_text("user: |\n  {question}\n  Can you tell?\nassistant_prefix: 'Answer:'\n")
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": tmp_path / "run", "magnitudes": "-1,1"}))
    assert ended.code == 0, ended.err
    run = SweepRun.open(tmp_path / "run")
    assert any("no reversed wording" in note for note in run.run.manifest.notes)
    assert run.verdict()["bias"] is None
