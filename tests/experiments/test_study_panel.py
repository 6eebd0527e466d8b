"""experiments/study_panel.py: one page about a panel, whose numbers are those of the statistics."""

import html
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from forks import run_program
from simulations.shared_or_own import panel as planted_panel

from onedial.confidence.shared_or_own import shared_or_own
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.stats.roc import auc

PROGRAM = Path(__file__).parents[2] / "experiments" / "study_panel.py"


def run(*arguments):
    return run_program(PROGRAM, *arguments)


def page_of(folder):
    return " ".join(html.unescape((folder / "report.html").read_text()).split())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Ten models of five families with numeric confidence, as a long panel with a table of respondents."""
    folder = tmp_path_factory.mktemp("study")
    sure, right, kin = planted_panel(np.repeat(list("abcde"), 2), 300, 4, family=0.3, own=0.3)
    sure = (sure / sure.max()).round(2)
    topics = pd.Series(np.where(np.arange(300) % 2, "art", "law"), sure.index)
    long = sure.rename_axis("question_id").melt(ignore_index=False, var_name="respondent", value_name="confidence")
    long["answered_correctly"] = right.melt()["value"].to_numpy()
    long = long.reset_index()
    long["said_yes"] = (long["confidence"] >= 0.8).astype(float).where(long["confidence"].notna())
    long["question_id"] = "q" + long["question_id"].astype(str)
    long.to_csv(folder / "panel.csv", index=False)
    pd.DataFrame({"respondent": kin.index, "model": kin.index, "family": kin.to_numpy()}).to_csv(
        folder / "who.csv", index=False
    )
    made = run(folder / "panel.csv", "--respondents", folder / "who.csv", "--out", folder / "out", "--replicates", "9")
    assert made.returncode == 0, made.stderr
    return sure, right, kin, topics, folder / "out", made.stdout


def test_its_tables_are_what_the_statistics_give(planted):
    sure, right, kin, _, out, _ = planted
    readings = pd.read_csv(out / "readings.csv", index_col=0)
    yes = (sure >= 0.8).astype(float).where(sure.notna())
    eigenvalues = fit_factor_model(yes).eigenvalues.to_numpy()
    assert readings.loc["as answered", "first"] == pytest.approx(eigenvalues[0] / len(eigenvalues))
    assert {"at least 80", "at least 95", "at least its median", "graded"} <= set(readings.index)
    own = pd.read_csv(out / "shared_or_own.csv", index_col=0)
    expected = shared_or_own(sure, right, kin, n_bootstrap=9).models
    np.testing.assert_allclose(own["own"][expected.index], expected["own"], atol=1e-6)
    area = pd.read_csv(out / "predictors_by_model.csv", index_col=0).loc["a0", "its own confidence"]
    assert area == pytest.approx(auc(sure["a0"].to_numpy(), right[["a0"]].to_numpy())[0])


def test_the_page_says_its_sentence_and_shows_every_figure_and_number(planted):
    *_, out, printed = planted
    page, summary = page_of(out), json.loads((out / "summary.json").read_text())
    assert summary["sentence"][1:] in page
    assert summary["sentence"][1:] in printed
    captions = json.loads((out / "figures" / "captions.json").read_text())
    assert set(captions) == {"scree", "loadings", "base_models", "f_beta", "shared_or_own", "predictors"}
    assert page.count("<figure>") == len(captions)
    for sentence in summary["sentences"].values():
        assert sentence[1:] in page
    assert "10 models on 300 questions" in page


def test_yes_and_no_alone_make_one_reading_and_no_claim_about_knowledge(tmp_path):
    made = run("frontier", "--out", tmp_path / "out", "--replicates", "0")
    assert made.returncode == 0, made.stderr
    assert pd.read_csv(tmp_path / "out" / "readings.csv")["reading"].tolist() == ["as answered"]
    page = page_of(tmp_path / "out")
    assert "nobody knows which are right" in page
    assert "Does a model know itself?" not in page


def panel_of(n_respondents, n=120):
    """Yes and no of respondents that follow one scale."""
    rng = np.random.default_rng(0)
    hidden = 0.8 * rng.standard_normal((n, 1)) + 0.6 * rng.standard_normal((n, n_respondents))
    names, ids = [f"m{i}" for i in range(n_respondents)], pd.Index([f"q{i}" for i in range(n)], name="question_id")
    return pd.DataFrame(hidden, ids, names)


def test_three_that_say_both_yes_and_no_are_too_few_and_no_folder_is_made(tmp_path):
    (panel_of(4) > [0, 0, 0, 9]).astype(int).to_csv(tmp_path / "panel.csv")
    refused = run(tmp_path / "panel.csv", "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert "3 of 4 respondents of 120 questions say both yes and no, and a study takes 4" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_more_respondents_than_one_factor_is_fitted_to_have_a_page_without_that_fit(tmp_path):
    (panel_of(72) > 0).astype(int).to_csv(tmp_path / "panel.csv")
    made = run(tmp_path / "panel.csv", "--out", tmp_path / "out", "--replicates", "0")
    assert made.returncode == 0, made.stderr
    assert np.isnan(pd.read_csv(tmp_path / "out" / "readings.csv")["rmsea"].iloc[0])
    assert "RMSEA of" not in page_of(tmp_path / "out").split("Readings")[0]


def test_a_cut_that_nearly_nobody_passes_is_an_empty_reading(tmp_path):
    (94 / (1 + np.exp(-panel_of(6)))).round().to_csv(tmp_path / "panel.csv")
    made = run(f"{tmp_path / 'panel.csv'}:60", "--out", tmp_path / "out", "--replicates", "0")
    assert made.returncode == 0, made.stderr
    readings = pd.read_csv(tmp_path / "out" / "readings.csv", index_col=0)
    assert readings.loc["at least 95", "n_models"] == 0
    assert np.isnan(readings.loc["at least 95", "first"])
    assert readings.loc["graded", "first"] > 0.5
    assert "in 3 of them too few respondents say both yes and no" in page_of(tmp_path / "out")


def test_what_a_run_has_stored_can_be_given_back_as_a_file_of_options_and_goes_on(tmp_path):
    folder = tmp_path / "run"
    begun = run_program(PROGRAM, "embedded", "--replicates", "0", "--seed", "3", "--out", folder)
    assert begun.returncode == 0, begun.stderr
    stored = yaml.safe_load((folder / "config.yaml").read_text())
    assert (stored["panel"], stored["replicates"], stored["seed"]) == ("embedded", 0, 3)
    again = run_program(PROGRAM, "--config", folder / "config.yaml", "--out", folder, "--resume")
    assert again.returncode == 0, again.stderr
    assert yaml.safe_load((folder / "config.yaml").read_text()) == stored
    other = run_program(PROGRAM, "--config", folder / "config.yaml", "--seed", "4", "--out", folder, "--resume")
    assert other.returncode == 2
    assert "seed = 3, but now seed = 4" in other.stderr
