"""A sweep with every stage that there is: controls, wordings, causes, reasoning, and what each stores."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from shared_runs import default_run, whole_run
from tiny_experiment import STEER_SWEEP, as_arguments

from onedial.asking.sweep_tables import AS_ASKED, DRAWN_ROLES, REVERSED_WORDING
from onedial.report.report import contents_of
from onedial.studies.sweep.causes import OWN_MARGIN, PANEL, labels_to_read, layers_above
from onedial.verdict.sweep_run import SweepRun
from steering.causes import INTERCHANGE_COLUMNS, MEDIATION_COLUMNS
from steering.dials.dials import SURENESS


@pytest.fixture(scope="module")
def run():
    return whole_run().run


def test_directions_beside_the_vector_are_swept_and_ranked(run):
    under_test, sweep = run.under_test(), run.sweep()
    assert set(sweep["intervention_id"]) == {under_test}
    interventions = run.interventions().set_index("intervention_id")
    assert interventions["role"].tolist()[:5] == ["vector", *DRAWN_ROLES[:3], "unembedding"]
    along = run.parts["controls"].read()
    assert set(along["intervention_id"]) == set(interventions.index) - {under_test}
    assert set(along["question_id"]) == set(sweep["question_id"])
    for name, magnitudes in along.groupby("intervention_id")["magnitude"]:
        assert sorted(set(magnitudes)) == list(interventions["magnitudes"][name])
    direction, controls = run.verdict().direction, contents_of(run)["controls"]
    drawn = controls[controls["drawn"]]
    assert direction.n_controls == len(drawn)
    assert direction.ranks["signal"] == 1 + int((drawn["signal"] >= direction.vector["signal"]).sum())


def test_an_instructed_threshold_stands_among_the_baselines(run):
    instructed = run.parts["instructed"].read()
    assert set(instructed["question_id"]) == set(run.splits()[run.splits() != "extraction"].index)
    assert sorted(set(instructed["level"])) == list(SURENESS)
    assert "instructed threshold" in contents_of(run)["baselines"].index


def test_tables_of_causes_hold_what_was_swapped_and_what_was_held(run):
    swapped, held = run.run.read_table("interchange.csv"), run.run.read_table("mediation.csv")
    assert tuple(swapped.columns) == (*INTERCHANGE_COLUMNS, "pairs")
    assert tuple(held.columns) == (*MEDIATION_COLUMNS, "auroc")
    n_test = int((run.splits() == "test").sum())
    n_pairs = (swapped["n"] + swapped["n_unread"]).groupby(swapped["pairs"]).unique()
    assert n_pairs["panel"].tolist() == [n_test // 3]
    assert n_pairs["own margin"] <= n_test // 3  # of those whose margin was read
    assert swapped.loc[swapped["pairs"] == "own margin", "gap_low"].min() > 0
    assert (held["n"] + held["n_unread"] == 32).all()
    assert set(held["layer"]) == set(layers_above(1, 5))
    kinds = held[held["layer"] == held["layer"].min()]["kind"].value_counts()
    assert kinds[["random", "shuffled", "words", "vector"]].tolist() == [19, 19, 1, 1]
    assert held.loc[held["kind"] == "probe", "auroc"].between(0, 1).all()


def test_both_wordings_are_asked_of_the_same_questions(run):
    """Both wordings are asked of the same fitting questions along the dial and the words."""
    table, fitting = run.parts["wordings"].read(), set(run.splits().index[run.splits() == "fitting"])
    assert table["intervention_id"].nunique() == 2
    for _, asked in table.groupby("intervention_id"):
        for wording in (AS_ASKED, REVERSED_WORDING):
            ids = set(asked.loc[asked["wording"] == wording, "question_id"])
            assert len(ids) == 8
            assert ids <= fitting
    asked = table[(table["intervention_id"] == run.under_test()) & (table["wording"] == AS_ASKED)]
    beside = asked.merge(run.sweep(), on=["question_id", "intervention_id", "magnitude"], suffixes=("", "_swept"))
    assert len(beside) == len(asked)
    np.testing.assert_allclose(beside["margin"], beside["margin_swept"], atol=1e-4)


def test_yes_bias_is_that_of_straight_lines_through_the_stored_margins(run):
    table = run.parts["wordings"].read()
    table = table[(table["intervention_id"] == run.under_test()) & (table["mass"] >= 0.1)]
    asked, turned = (
        table[table["wording"] == wording].pivot(index="question_id", columns="magnitude", values="margin")
        for wording in (AS_ASKED, REVERSED_WORDING)
    )
    rates = (asked > 0).where(asked.notna()).mean()
    low, high = sorted((rates - rate).abs().idxmin() for rate in (0.1, 0.9))
    slopes = {
        name: margins.loc[:, low:high].apply(
            lambda row: np.polyfit(row.dropna().index, row.dropna(), 1)[0] if row.count() > 1 else np.nan, axis=1
        )
        for name, margins in (("as asked", asked), ("reversed", turned))
    }
    both = pd.DataFrame(slopes).dropna()
    (per_norm,) = run.interventions().set_index("intervention_id").loc[[run.under_test()], "norms_per_unit"]
    a, r = both.mean() / per_norm
    bias = run.verdict().bias.dial
    assert (bias.n, bias.n + bias.n_lost) == (len(both), 8)
    assert (bias.from_magnitude, bias.to_magnitude) == (low, high)
    stored = [getattr(bias, name).value for name in ("as_asked", "reversed", "bias", "confidence", "share")]
    assert stored == pytest.approx([a, r, (a + r) / 2, (a - r) / 2, (a + r) / 2 / a])


def test_a_prompt_without_a_reversed_wording_is_noted():
    run = default_run().run
    assert any("no reversed wording" in note for note in run.run.manifest.notes)
    assert run.verdict().bias is None


def test_every_reasoned_text_is_kept(run):
    """Every reasoned text of fitting and test is kept at settings of the direct sweep."""
    texts, splits = run.parts["reasoned"].read(), run.splits()
    assert {0.0} < set(texts["magnitude"]) <= set(run.sweep()["magnitude"])
    assert set(texts["question_id"]) == set(splits[splits != "extraction"].index)
    assert len(texts) == texts["magnitude"].nunique() * texts["question_id"].nunique()
    result = contents_of(run).numbers("reasoned")
    assert result["verdict"] is None  # a tiny model says nothing that can be read
    assert "2 of 6 targets are not known to have reasoned" in json.dumps(run.run.manifest.notes)


def test_broken_off_among_its_texts_it_ends_with_the_same_ones(unreported, run, call, tmp_path):
    folder = shutil.copytree(run.path, tmp_path / "run")
    lost = sorted((folder / "reasoned").glob("part-*.parquet"))[2:]
    assert lost
    for late in (*lost, *(folder / name for name in ("verdict.json", "matches.csv", "reasoned.json"))):
        late.unlink()
    ended = call(STEER_SWEEP, *as_arguments(whole_run().options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    pd.testing.assert_frame_equal(SweepRun.open(folder).parts["reasoned"].read(), run.parts["reasoned"].read())
    assert (folder / "reasoned.json").read_bytes() == (run.path / "reasoned.json").read_bytes()


def test_a_label_is_read_where_ten_of_either_kind_are_fitted():
    names, fitted = [f"q{i}" for i in range(40)], np.arange(40) < 30
    unsteered = pd.DataFrame({"margin": np.arange(40.0), "mass": [*[1.0] * 39, 0.0]}, names)
    panel = SimpleNamespace(answers=pd.DataFrame({"m": np.arange(40) % 2}, names))
    for n_wrong in (9, 10):
        correct = pd.Series((np.arange(40) >= n_wrong).astype(float), names)
        inputs = SimpleNamespace(panel=panel, subject_correct=correct)
        labels = labels_to_read(SimpleNamespace(unsteered=unsteered, inputs=inputs), names, fitted)
        assert list(labels) == [OWN_MARGIN, PANEL, "own correctness"][: 2 + (n_wrong == 10)]
    assert labels[OWN_MARGIN].tolist()[:-1] == [0] * 15 + [1] * 24  # above the median of what is fitted
    assert np.isnan(labels[OWN_MARGIN].iloc[-1])
