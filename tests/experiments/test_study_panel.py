"""experiments/study_panel.py: one page about a panel, whose numbers are those of the statistics."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forks import run_program
from psychometric_data import one_factor
from simulations.shared_or_own import panel as planted_panel

from onedial.confidence.calibration import calibration_table
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.confidence.f_beta import f_beta_curve
from onedial.confidence.metacognition import metacognition_table
from onedial.confidence.shared_or_own import shared_or_own
from onedial.panels.panel_files import load_panel
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.stats.roc import auc
from onedial.studies.panel import readings
from onedial.studies.panel.case import StudyCase
from onedial.studies.panel.sentences import not_on_it, turned

STUDY_FIGURES = {"rates", "base_models", "f_beta", "reliability", "shared_or_own", "predictors"}
PROGRAM = Path(__file__).parents[2] / "experiments" / "study_panel.py"


def run(*arguments, drawn=False):
    return run_program(PROGRAM, *arguments, drawn=drawn)


def page_of(folder):
    page = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", (folder / "report.html").read_text())
    return " ".join(html.unescape(page).split())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Ten models of five families with numeric confidence, as a long panel with a table of respondents."""
    folder = tmp_path_factory.mktemp("study")
    sure, right, kin = planted_panel(np.repeat(list("abcde"), 2), 300, 4, family=0.3, own_part=0.3)
    sure = (sure / sure.max()).round(2)
    long = sure.rename_axis("question_id").melt(ignore_index=False, var_name="respondent", value_name="confidence")
    long["answered_correctly"] = right.melt()["value"].to_numpy()
    long = long.reset_index()
    long["said_yes"] = (long["confidence"] >= 0.8).astype(float).where(long["confidence"].notna())
    long["question_id"] = "q" + long["question_id"].astype(str)
    long.to_csv(folder / "panel.csv", index=False)
    (folder / "elicitation.yaml").write_text("top: 1\n")
    pd.DataFrame({"respondent": kin.index, "model": kin.index, "family": kin.to_numpy()}).to_csv(
        folder / "who.csv", index=False
    )
    made = run(folder / "panel.csv", "--respondents", folder / "who.csv", "--out", folder / "out", "--replicates", "9")
    assert made.returncode == 0, made.stderr
    return sure, right, kin, folder / "out", made.stdout


def test_its_tables_are_what_the_statistics_give(planted):
    sure, right, kin, out, sentences = planted
    assert "One scale explains" in sentences
    captions = json.loads((out / "figures" / "captions.json").read_text())
    assert set(captions) == {*STUDY_FIGURES, "scree", "loadings"}
    assert page_of(out).count("<figure>") == len(captions)
    readings = pd.read_csv(out / "readings.csv", index_col=0)
    yes = (sure >= 0.8).astype(float).where(sure.notna())
    eigenvalues = fit_factor_model(yes).eigenvalues.to_numpy()
    assert readings.loc["as answered", "first"] == pytest.approx(eigenvalues[0] / len(eigenvalues))
    assert {"at least 80", "at least 95", "at least its median"} <= set(readings.index)
    stored = pd.read_csv(out / "shared_or_own.csv", index_col=0)
    expected = shared_or_own(sure, right, kin, n_bootstrap=9).models
    np.testing.assert_allclose(stored["own"][expected.index], expected["own"], atol=1e-6)
    area = pd.read_csv(out / "predictors_by_model.csv", index_col=0).loc["a0", "its own confidence"]
    assert area == pytest.approx(auc(sure["a0"].to_numpy(), right[["a0"]].to_numpy())[0])


def test_each_null_is_drawn_once(planted, monkeypatch, tmp_path):
    sure, *_ = planted
    (sure >= 0.8).astype(int).rename_axis("question_id").to_csv(tmp_path / "panel.csv")
    drawn = []
    for name in ("permutation_null", "revised_parallel_analysis", "quadratic_fit_test"):
        made = getattr(readings, name)
        monkeypatch.setattr(readings, name, lambda *a, made=made, name=name, **k: drawn.append(name) or made(*a, **k))
    case = StudyCase(load_panel(tmp_path / "panel.csv"), 9, 0)
    assert case.readings.loc["as answered", "n_models"] == 10
    assert len(case.as_answered.eigenvalues()) == 10
    assert len(drawn) == len(set(drawn)) == 3


def test_yes_and_no_alone_make_one_reading_and_no_claim_about_knowledge(tmp_path):
    made = run("frontier", "--out", tmp_path / "out", "--replicates", "0")
    assert made.returncode == 0, made.stderr
    assert pd.read_csv(tmp_path / "out" / "readings.csv")["reading"].tolist() == ["as answered"]
    page = page_of(tmp_path / "out")
    assert "nobody knows which are right" in page
    assert "Do their yes and no follow one scale?" in page
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


def test_a_cut_that_nearly_nobody_passes_is_an_empty_reading(tmp_path):
    (94 / (1 + np.exp(-panel_of(6)))).round().to_csv(tmp_path / "panel.csv")
    made = run(f"{tmp_path / 'panel.csv'}:60/100", "--out", tmp_path / "out", "--replicates", "0")
    assert made.returncode == 0, made.stderr
    readings = pd.read_csv(tmp_path / "out" / "readings.csv", index_col=0)
    assert readings.loc["at least 95", "n_models"] == 0
    assert np.isnan(readings.loc["at least 95", "first"])


def test_five_models_get_no_parabola(tmp_path):
    """Neither a curve nor a number."""
    (panel_of(5) > 0).astype(int).to_csv(tmp_path / "panel.csv")
    made = run(tmp_path / "panel.csv", "--out", tmp_path / "out", "--replicates", "19", drawn=True)
    assert made.returncode == 0, made.stderr
    assert pd.read_csv(tmp_path / "out" / "readings.csv")["parabola_r2"].isna().all()
    assert "too few for a parabola" in (tmp_path / "out" / "figures" / "loadings.svg").read_text()


def test_who_is_not_on_the_scale_is_named_where_there_is_one():
    columns = {"loading": [0.8, -0.5, 0.1, 0.0], "n_questions": 400, "n_unread": [0, 0, 0, 365]}
    table = pd.DataFrame(columns, index=["with", "maker/against", "by dice", "few answers"])
    assert not_on_it(table, pd.Series({"n_factors": 1})) == " Not on it: against, by dice."
    assert not_on_it(table, pd.Series({"n_factors": 0})) == ""


def test_who_answers_the_other_way_round_is_named():
    table = pd.DataFrame({"loading": [0.8, -0.5, -0.1]}, index=["with", "against", "by dice"])
    assert turned(table, pd.Series({"n_factors": 1})).startswith("against answers the other way round")
    assert turned(table.drop("against"), pd.Series({"n_factors": 1})) == ""
    assert turned(table, pd.Series({"n_factors": 0})) == ""


# ---- what its confidence is worth ------------------------------------------------------------------------------------


def long_panel(n=120, n_models=4, n_framings=2, **more):
    """Answers, correctness (one per model) and margins with a known relation, as a long table."""
    truth = one_factor(0, n, n_models * n_framings, rates=(0.3, 0.7), missing=0.1)
    draw = np.random.default_rng(1)
    rows = []
    for j in range(n_models * n_framings):
        model = f"org/m{j // n_framings}"
        right = np.random.default_rng(j // n_framings).random(n) < 0.3 + 0.1 * (j // n_framings)
        for i in range(n):
            answer = truth.answers[i, j]
            margin = (1 if answer == 1 else -1) * draw.random() * 4
            rows.append((f"q{i}", f"m{j // n_framings}: f{j % n_framings}", model, answer, int(right[i]), margin))
    names = ["question_id", "respondent", "model", "said_yes", "answered_correctly", "margin"]
    return pd.DataFrame(rows, columns=names).assign(**more)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    table = long_panel()
    table.to_csv(folder / "panel.csv", index=False)
    given = ("--confidence", "--out", folder / "out", "--replicates", "19", "--seed", "3")
    done = run(folder / "panel.csv", *given, drawn=True)
    assert done.returncode == 0, done.stderr
    order = list(dict.fromkeys(table["question_id"]))
    yes, right, margins = (
        table.pivot(index="question_id", columns="respondent", values=name).reindex(order)
        for name in ("said_yes", "answered_correctly", "margin")
    )
    return table, yes, right, (1 / (1 + np.exp(-margins))).where(yes.notna()), folder / "out"


def test_the_tables_of_confidence_hold_what_the_statistics_give(scored):
    _, yes, right, sure, out = scored
    stored = {
        name: pd.read_csv(out / f"{name}.csv", index_col=0) for name in ("f_beta", "calibration", "metacognition")
    }
    np.testing.assert_allclose(stored["f_beta"][yes.columns], f_beta_curve(yes, right).curve, rtol=1e-6)
    theirs = calibration_table(sure, right, n_bootstrap=19, seed=3)
    for column in ("brier", "auroc_low", "resolution"):
        np.testing.assert_allclose(stored["calibration"].loc[theirs.index, column], theirs[column], rtol=1e-6)
    second = metacognition_table(sure, right)
    np.testing.assert_allclose(stored["metacognition"].loc[second.index, "meta_d"], second["meta_d"], rtol=1e-6)


def test_the_line_is_between_base_models_whose_framings_are_averaged_first(scored):
    table, *_, out = scored
    known = table.dropna(subset=["said_yes"])
    means = known.groupby(["model", "respondent"])[["said_yes", "answered_correctly"]].mean().groupby("model").mean()
    expected = confidence_accuracy_regression(means["said_yes"], means["answered_correctly"]).line
    line = pd.read_csv(out / "confidence_accuracy.csv", index_col=0).loc["as is"]
    assert line["n"] == 4
    assert line["slope"] == pytest.approx(expected.slope, rel=1e-6)
    assert pd.read_csv(out / "base_models.csv")["n_respondents"].tolist() == [2, 2, 2, 2]


def test_the_line_is_repeated_without_those_that_cannot_tell(tmp_path):
    rng = np.random.default_rng(0)
    right = rng.random((200, 5)) < [0.4, 0.5, 0.6, 0.7, 0.9]
    yes = np.where(rng.random((200, 5)) < 0.8, right, rng.random((200, 5)) < 0.5)
    yes[:, 4] = rng.random(200) < 0.3
    cells = pd.MultiIndex.from_product([range(200), list("abcde")], names=["question_id", "respondent"])
    table = pd.DataFrame({"said_yes": yes.ravel().astype(int), "answered_correctly": right.ravel().astype(int)}, cells)
    table.to_csv(tmp_path / "panel.csv")
    panel = load_panel(tmp_path / "panel.csv")
    line = StudyCase(panel, 0, 0).line_of_those_that_tell()
    rates, shares = (pd.Series(table[:, :4].mean(axis=0)) for table in (yes, right))
    expected = confidence_accuracy_regression(rates, shares).line
    assert (line["n"], line["slope"]) == (4, pytest.approx(expected.slope))
    assert StudyCase(panel.select(respondents=list("abcd")), 0, 0).line_of_those_that_tell() is None


def test_the_best_of_each_attitude_is_of_two_models(scored):
    """The best respondent of each attitude stands beside one of another model."""
    table, yes, right, _, out = scored
    curve = f_beta_curve(yes, right).curve
    models = dict(zip(table["respondent"], table["model"], strict=True))
    for _, row in pd.read_csv(out / "attitudes.csv", index_col=0).iterrows():
        values = curve.loc[row["beta"]]
        assert values[row["best"]] == values.max() == pytest.approx(row["f_beta"], rel=1e-6)
        assert models[row["best_other_model"]] != models[row["best"]]
        accuracy = right[row["best"]][yes[row["best"]].notna()].mean()
        square = row["beta"] ** 2
        assert row["always_yes"] == pytest.approx((1 + square) * accuracy / (square * accuracy + 1), rel=1e-6)


def test_missing_answers_stand_beside_every_rate_and_no_scale_is_needed(scored):
    table, *_, out = scored
    rates = pd.read_csv(out / "respondents.csv", index_col=0)
    unread = table["said_yes"].isna().groupby(table["respondent"]).sum()
    assert rates["n_unread"].to_dict() == unread.to_dict()
    assert (rates["yes_rate_low"] < rates["yes_rate"]).all()
    assert set(json.loads((out / "figures" / "captions.json").read_text())) == STUDY_FIGURES
    assert not (out / "readings.csv").exists()


def test_two_base_models_get_no_line(tmp_path):
    """Two base models get no line and without replicates no interval and no test is claimed."""
    long_panel(60, n_models=2, n_framings=4).to_csv(tmp_path / "p.csv", index=False)
    done = run(tmp_path / "p.csv", "--confidence", "--out", tmp_path / "out", "--replicates", "0")
    assert done.returncode == 0, done.stderr
    page = page_of(tmp_path / "out")
    assert "2 base models with grades, and a line between models takes 3" in page
    assert "was not tested: --replicates 0" in page
    assert not {"confidence_accuracy.csv", "shared_or_own.csv"} & {file.name for file in (tmp_path / "out").iterdir()}
    assert "brier_low" not in pd.read_csv(tmp_path / "out" / "calibration.csv").columns


def test_a_panel_without_grades_gives_rates_alone(tmp_path):
    done = run("frontier", "--confidence", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "about refusal, not ability" in done.stdout + done.stderr
    assert "does not say which answers were correct" in page_of(tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").glob("*.csv")} == {"respondents.csv"}
