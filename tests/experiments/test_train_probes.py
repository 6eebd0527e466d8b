"""The probing program from end to end on a tiny model: tables, report, resume, and what it refuses."""

import json
import shutil
from html import unescape

import pandas as pd
import pytest
from tiny_experiment import ROOT, as_arguments, assert_bounded, counted, foretold, run_here, write_experiment
from tiny_models import save_outspoken

from onedial.models.inside.activation_store import ActivationStore

TRAIN_PROBES = ROOT / "experiments" / "train_probes.py"


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    result = write_experiment(folder, n=160, n_targets=4)
    few = {"replicates": 39, "shuffles": 2, "facts": 60, "nulls": 9, "n_pushed": 20, "controls": 3}
    few |= {"folds": 3, "statement_layers": 1, "n_patched": 10, "n_reasoned": 4}
    return result | {"store": folder / "store"} | few


@pytest.fixture(scope="module")
def finished(options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    with counted() as asked:
        assert run_here(TRAIN_PROBES, *as_arguments(options | {"out": folder})) == 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("onedial.studies.probes.probes_stages.seconds_of_a_layer", lambda *about: 1.0)
        patched.setattr("onedial.studies.probes.probes_stages.seconds_of_a_search", lambda *about: 1.0)
        patched.setattr("onedial.studies.start.Start.load_subject", lambda *about: pytest.fail("a model is loaded"))
        assert_bounded(foretold(TRAIN_PROBES, options), asked)
    return folder


def test_every_label_at_every_layer_stands_in_the_table_and_the_report(finished):
    table = pd.read_csv(finished / "probes.csv")
    assert set(table["layer"]) == set(range(5))
    assert set(table["method"]) == {"logistic", "ridge", "lda", "mean_difference"}
    labels = set(table["label"])
    assert {"easy for all", "yes: target 0", "yes: target 3"} <= labels
    assert len(table) == 5 * 4 * len(labels)
    assert table["auroc"].between(0, 1).all()
    page = unescape((finished / "report.html").read_text())
    assert json.loads((finished / "summary.json").read_text())["sentence"] in page
    chosen = pd.read_csv(finished / "chosen.csv")
    assert set(chosen["label"]) == labels
    assert (chosen["highest"] >= chosen["auroc"] - 0.2).all()
    assert chosen["p_reads"].between(0, 1, inclusive="right").all()
    easy = chosen.set_index("label").loc["easy for all"]  # the panel's answers are drawn by chance
    assert easy["low"] - 0.05 < 0.5 < easy["high"] + 0.05


def test_directions_of_labels_and_facts_are_compared(finished):
    """Directions of the main labels and of the facts are held against each other."""
    chosen = pd.read_csv(finished / "chosen.csv").set_index("label")
    facts = pd.read_csv(finished / "chosen_facts.csv")
    assert "fact is true" in set(facts["label"])
    directions, cross, transfer, erasure, effects = (
        pd.read_csv(finished / f"{name}.csv") for name in ("directions", "cross", "transfer", "erasure", "effects")
    )
    main = [label for label in dict.fromkeys(cross["probe"]) if label in set(chosen.index)]
    assert "easy for all" in main
    layer = directions["layer"].unique()
    assert len(layer) == 1
    assert directions["method"].value_counts().to_dict() == dict.fromkeys(
        ("logistic", "mean_difference"), len(main) * (len(main) - 1) / 2
    )
    assert directions["cosine"].between(-1, 1).all()
    assert len(cross) == len(main) * len(chosen) + len(facts) ** 2
    assert len(transfer) == 2 * len(main) * len(facts)
    assert len(erasure) == len(main) ** 2
    # On the diagonal stands what the table of probes holds.
    probes = pd.read_csv(finished / "probes.csv").set_index(["layer", "label", "method"])["auroc"]
    for label in main:
        auroc = cross[(cross["probe"] == label) & (cross["label"] == label)]["auroc"].item()
        assert auroc == pytest.approx(probes[layer[0], label, "logistic"], abs=1e-6)
        gone = erasure[(erasure["erased"] == label) & (erasure["label"] == label)]["after"].item()
        assert gone == pytest.approx(0.5, abs=0.15)
    kinds = effects["kind"].value_counts()
    assert kinds.to_dict() == {"probe": 2 * len(main) + len(facts), "random": 3, "covariance": 3}
    assert (effects["n"] + effects["n_unread"] == 20).all()


def test_statements_are_read_without_labels(finished):
    statements = pd.read_csv(finished / "statements.csv")
    assert set(statements["method"]) == {"ccs", "polar ccs", "supervised"}
    assert (statements["n"] == 60).all()
    assert statements["auroc"].between(0, 1).all()


def test_patches_recover_the_donors_margin_at_the_last_layer(finished):
    """Patches recover the donors margin at the last layer and some texts are read as they come."""
    patching = pd.read_csv(finished / "patching.csv")
    assert pd.read_parquet(finished / "tokens_written.parquet")["question_id"].nunique() == 4
    last = patching[patching["layer"] == 4]
    assert last["recovered"].tolist() == pytest.approx([1, 1], abs=1e-3)
    assert (patching["n"] == 10).all()


def test_probes_are_read_on_another_checkpoint(finished, options, tmp_path, call):
    save_outspoken(tmp_path / "other", "llama", 1)  # the same weights under another name
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"stage": "elsewhere"', '"stage": "gone"'))
    given = options | {"out": run, "resume": True, "other_model": tmp_path / "other", "store": options["store"]}
    assert call(TRAIN_PROBES, *as_arguments(given)).code == 0
    table = pd.read_csv(run / "elsewhere.csv").set_index("label")
    row = table.loc["easy for all"]
    assert row["elsewhere"] == pytest.approx(row["at_home"], abs=1e-6)


@pytest.mark.launched
def test_a_run_that_was_broken_off_ends_with_the_same_tables(finished, options, tmp_path, call):
    broken = tmp_path / "run"
    shutil.copytree(finished, broken)
    parts = sorted((broken / "probes").iterdir())
    tables = [*broken.glob("*.csv"), broken / "report.html"]
    for file in [*parts[2:], *sorted((broken / "facts").iterdir())[:2], *tables]:
        file.unlink()
    manifest = broken / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"completed": true', '"completed": false'))
    assert call(TRAIN_PROBES, *as_arguments(options | {"out": broken, "resume": True})).code == 0
    for table in sorted(finished.glob("*.csv")):
        pd.testing.assert_frame_equal(pd.read_csv(table), pd.read_csv(broken / table.name), obj=table.name)
    assert (broken / "report.html").exists()


def test_a_second_run_reads_no_activation_anew(options, finished, tmp_path, call, monkeypatch):
    monkeypatch.setattr(ActivationStore, "write", lambda *a: pytest.fail("a batch was read again"))
    arguments = options | {"out": tmp_path / "run", "layer": "1-2", "method": "lda", "store": options["store"]}
    arguments |= {"facts": 0, "stages": "probes,directions"}
    ended = call(TRAIN_PROBES, *as_arguments(arguments))
    assert ended.code == 2
    assert "holds activations with layers = (0, 1, 2, 3, 4), not (1, 2)" in ended.err
    assert not (tmp_path / "run").exists()
    del arguments["layer"]
    assert call(TRAIN_PROBES, *as_arguments(arguments)).code == 0
    assert set(pd.read_csv(tmp_path / "run" / "probes.csv")["method"]) == {"lda"}
    assert (tmp_path / "run" / "erasure.csv").exists()
    assert not (tmp_path / "run" / "transfer.csv").exists()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"layer": "2-9"}, "layer 9 requested, but this model has layers 0-4"),
        ({"compare_at": 9}, "--compare-at 9 is none of the layers"),
        ({"n_questions": 30}, "no label has"),
    ],
)
def test_bad_options_give_one_sentence_and_leave_nothing_behind(wrong, sentence, options, tmp_path, call):
    ended = call(TRAIN_PROBES, *as_arguments(options | {"store": tmp_path / "store", "out": tmp_path / "run"} | wrong))
    assert ended.code == 2
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "run").exists()
