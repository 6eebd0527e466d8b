"""experiments/study_panel.py --confidence: what it prints and writes is what the statistics say."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forks import run_program
from psychometric_data import one_factor

from onedial.confidence.calibration import calibration_table
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.confidence.f_beta import f_beta_curve
from onedial.confidence.metacognition import metacognition_sentences, metacognition_table

PROGRAM = Path(__file__).parents[2] / "experiments" / "study_panel.py"


def run(*arguments, drawn=False):
    return run_program(PROGRAM, *arguments, "--confidence", drawn=drawn)


def long_panel(n=120, n_models=4, n_framings=2, **more):
    """Answers, correctness (one per model) and margins with a known relation, as a long table."""
    truth = one_factor(0, n, n_models * n_framings, rates=(0.3, 0.7), missing=0.1)
    draw = np.random.default_rng(1)
    rows = []
    for j in range(n_models * n_framings):
        model = f"org/m{j // n_framings}"
        right = np.random.default_rng(j // n_framings).random(n) < 0.3 + 0.1 * (j // n_framings)
        for i in range(n):
            said = truth.answers[i, j]
            margin = (1 if said == 1 else -1) * draw.random() * 4
            rows.append((f"q{i}", f"m{j // n_framings}: f{j % n_framings}", model, said, int(right[i]), margin))
    names = ["question_id", "respondent", "model", "said_yes", "answered_correctly", "margin"]
    return pd.DataFrame(rows, columns=names).assign(**more)


def matrices(table):
    return (
        table.pivot(index="question_id", columns="respondent", values=v) for v in ("said_yes", "answered_correctly")
    )


def page_of(folder):
    """The report's text, entities and line breaks resolved."""
    return " ".join(html.unescape((folder / "report.html").read_text()).split())


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    table = long_panel()
    table.to_csv(folder / "panel.csv", index=False)
    done = run(folder / "panel.csv", "--out", folder / "out", "--replicates", "19", "--seed", "3", drawn=True)
    assert done.returncode == 0, done.stderr
    return table, folder / "out", done.stdout


def test_the_tables_hold_what_the_statistics_give(scored):
    table, out, _ = scored
    order = list(dict.fromkeys(table["question_id"]))
    said, right = (matrix.reindex(order) for matrix in matrices(table))
    written = pd.read_csv(out / "f_beta.csv", index_col=0)
    np.testing.assert_allclose(written[said.columns], f_beta_curve(said, right).curve, rtol=1e-6)
    calibration = pd.read_csv(out / "calibration.csv", index_col=0)
    margins = (
        table.dropna(subset=["said_yes"])
        .pivot(index="question_id", columns="respondent", values="margin")
        .reindex(order)
    )
    sure = (1 / (1 + np.exp(-margins))).where(said.notna())
    theirs = calibration_table(sure, right, n_bootstrap=19, seed=3)
    np.testing.assert_allclose(calibration.loc[theirs.index, "brier"], theirs["brier"], rtol=1e-6)
    np.testing.assert_allclose(calibration.loc[theirs.index, "auroc_low"], theirs["auroc_low"], rtol=1e-6)


def test_what_confidence_adds_to_the_yes_stands_in_a_table_and_in_words(scored):
    table, out, printed = scored
    margins = table.dropna(subset=["said_yes"]).pivot(index="question_id", columns="respondent", values="margin")
    _, right = matrices(table)
    expected = metacognition_table(1 / (1 + np.exp(-margins)), right[margins.columns], n_bootstrap=0)
    found = pd.read_csv(out / "metacognition.csv", index_col=0)
    np.testing.assert_allclose(found.loc[expected.index, "meta_d"], expected["meta_d"], rtol=1e-6)
    assert (found["m_ratio_low"] <= found["m_ratio_high"]).sum() == found["m_ratio"].notna().sum()
    assert all(sentence in printed for sentence in metacognition_sentences(expected))


def test_the_line_is_between_base_models_whose_framings_are_averaged_first(scored):
    table, out, printed = scored
    known = table.dropna(subset=["said_yes"])
    by_framing = known.groupby(["model", "respondent"])[["said_yes", "answered_correctly"]].mean()
    means = by_framing.groupby("model").mean()
    expected = confidence_accuracy_regression(means["said_yes"], means["answered_correctly"]).line
    line = pd.read_csv(out / "confidence_accuracy.csv", index_col=0).loc["as is"]
    assert line["n"] == 4
    assert line["slope"] == pytest.approx(expected.slope, rel=1e-6)
    assert (
        f"between 4 base models (framings averaged first), yes rate on accuracy: slope {line['slope']:.2f}" in printed
    )
    assert pd.read_csv(out / "base_models.csv")["n_respondents"].tolist() == [2, 2, 2, 2]


def test_the_best_respondent_of_each_attitude_stands_beside_one_of_another_model(scored):
    table, out, printed = scored
    said, right = matrices(table)
    curve = f_beta_curve(said, right).curve
    attitudes = pd.read_csv(out / "attitudes.csv", index_col=0)
    models = dict(zip(table["respondent"], table["model"], strict=True))
    for _, row in attitudes.iterrows():
        values = curve.loc[row["beta"]]
        assert values[row["best"]] == values.max() == pytest.approx(row["f_beta"], rel=1e-6)
        assert models[row["best_other_model"]] != models[row["best"]]
        accuracy = right[row["best"]][said[row["best"]].notna()].mean()
        square = row["beta"] ** 2
        assert row["always_yes"] == pytest.approx((1 + square) * accuracy / (square * accuracy + 1), rel=1e-6)
    assert "both cost the same" in printed


def test_missing_answers_stand_beside_every_rate(scored):
    table, out, printed = scored
    rates = pd.read_csv(out / "respondents.csv", index_col=0)
    unread = table["said_yes"].isna().groupby(table["respondent"]).sum()
    assert rates["n_unread"].to_dict() == unread.to_dict()
    assert (rates["yes_low"] < rates["yes_rate"]).all()
    assert "120 questions, 8 respondents of 4 base models" in printed
    assert re.search(r"m0: f0\s+0\.\d\d \(0\.\d\d to 0\.\d\d\)\s+\d+", printed)


def test_the_report_says_for_how_many_confidence_is_worth_something_and_shows_every_number(scored):
    _, out, _ = scored
    page, summary = page_of(out), json.loads((out / "summary.json").read_text())
    calibration = pd.read_csv(out / "calibration.csv", index_col=0)
    told = (calibration["auroc_low"] > 0.5).sum()
    assert f"Confidence tells right from wrong for {told} of {len(calibration)} respondents" in page
    mean = json.loads((out / "shared_or_own_mean.json").read_text())
    assert f"{mean['total']:.2f}, all share {mean['shared']:.2f}, and" in page.replace("−", "-")
    assert summary["shared_or_own"][1:] in page
    assert summary["line_between_models"][1:] in page
    assert all(sentence in page for sentence in summary["metacognition"])
    for name, row in calibration.iterrows():
        assert re.search(
            rf'<th scope="row">{name}</th><td[^>]*>{row["n"]:.0f}</td><td[^>]*>{row["mean_confidence"]:.2f}</td>', page
        )
    assert page.count("<figure>") == len(json.loads((out / "figures" / "captions.json").read_text()))


def test_every_figure_is_drawn_with_a_caption(scored):
    _, out, _ = scored
    captions = json.loads((out / "figures" / "captions.json").read_text())
    assert set(captions) == {"rates", "f_beta", "base_models", "reliability", "shared_or_own", "predictors"}
    for name in captions:
        assert (out / "figures" / f"{name}.png").stat().st_size > 10_000


def test_two_base_models_get_no_line_however_many_framings_they_have(tmp_path):
    long_panel(60, n_models=2, n_framings=4).to_csv(tmp_path / "p.csv", index=False)
    done = run(tmp_path / "p.csv", "--out", tmp_path / "out", "--replicates", "0")
    assert done.returncode == 0, done.stderr
    assert "holds 2 base models with grades, and a line between models takes 3" in done.stdout
    assert not (tmp_path / "out" / "confidence_accuracy.csv").exists()
    assert "2 base models" in json.loads((tmp_path / "out" / "summary.json").read_text())["line_between_models"]


def test_without_replicates_no_interval_and_no_test_is_claimed(tmp_path):
    long_panel(60).to_csv(tmp_path / "p.csv", index=False)
    done = run(tmp_path / "p.csv", "--out", tmp_path / "out", "--replicates", "0")
    assert "not tested" in done.stdout
    assert not (tmp_path / "out" / "shared_or_own.csv").exists()
    assert "m_ratio_low" not in pd.read_csv(tmp_path / "out" / "metacognition.csv").columns
    assert "brier_low" not in pd.read_csv(tmp_path / "out" / "calibration.csv").columns
    assert "whether it is of oneself could not be tested" in page_of(tmp_path / "out")


def test_stated_confidence_goes_before_margins_and_without_either_it_is_said(tmp_path):
    table = long_panel(60)
    table.assign(confidence=0.75).to_csv(tmp_path / "stated.csv", index=False)
    done = run(tmp_path / "stated.csv", "--out", tmp_path / "a", "--replicates", "0")
    assert "calibration of confidence as stated" in done.stdout
    assert (pd.read_csv(tmp_path / "a" / "calibration.csv")["mean_confidence"] == 0.75).all()
    table.drop(columns="margin").to_csv(tmp_path / "plain.csv", index=False)
    done = run(tmp_path / "plain.csv", "--out", tmp_path / "b", "--replicates", "0")
    assert "no calibration: the panel holds yes and no, but neither stated confidence nor margins" in done.stdout
    assert not (tmp_path / "b" / "calibration.csv").exists()
    assert "The panel holds yes and no without numeric confidence" in page_of(tmp_path / "b")


def test_a_panel_without_grades_gives_rates_alone(tmp_path):
    done = run("frontier", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "450 questions, 18 respondents of 18 base models" in done.stdout
    assert "does not say which answers were correct" in done.stdout
    assert "about refusal, not ability" in done.stdout
    assert "does not say which answers were correct" in page_of(tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "respondents.csv",
        "figures",
        "config.yaml",
        "report.html",
        "manifest.json",
        "log.txt",
    }
