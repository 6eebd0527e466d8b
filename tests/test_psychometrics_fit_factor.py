"""experiments/fit_factor.py from a panel file to tables and figures."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from psychometric_data import answers, one_factor

from psychometrics import (
    FactorModel,
    PsychometricsWarning,
    bootstrap_questions,
    confidence_accuracy_regression,
    f_beta_curve,
    fit_factor_model,
    permutation_null,
    quadratic_fit_test,
    revised_parallel_analysis,
)

PROGRAM = Path(__file__).parent.parent / "experiments" / "fit_factor.py"


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True)


def wide_file(folder: Path, panel: pd.DataFrame) -> str:
    file = folder / "panel.csv"
    panel.rename_axis("question_id").rename(index=lambda row: f"q{row}").to_csv(file)
    return str(file)


def test_a_wide_panel_becomes_tables_and_figures(tmp_path):
    panel = answers("gaps")
    done = run(
        wide_file(tmp_path, panel),
        "--out",
        str(tmp_path / "out"),
        "--replicates",
        "19",
        "--sensitivity-replicates",
        "9",
    )
    assert done.returncode == 0, done.stderr
    assert "first factor" in done.stdout
    assert "no F-beta" in done.stdout
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"factor.json", "respondents.csv", "questions.csv", "eigenvalues.csv", "sensitivity.csv"} <= written
    assert {"missingness.csv", "summary.json", "correlations.csv"} <= written
    model = FactorModel.load(tmp_path / "out" / "factor.json")
    np.testing.assert_allclose(model.loadings, fit_factor_model(panel).loadings)
    assert model.null is not None
    assert model.null.n_replicates == 19
    respondents = pd.read_csv(tmp_path / "out" / "respondents.csv", index_col=0)
    assert (respondents["loading_low"] <= respondents["loading_high"]).all()
    np.testing.assert_allclose(respondents["loading"], model.loadings["factor_1"], rtol=1e-6)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["n_zero_cell_pairs"] == model.tetrachoric.n_zero_cell_pairs
    captions = json.loads((tmp_path / "out" / "figures" / "captions.json").read_text())
    assert set(captions) == {"correlations", "loadings", "scree"}
    for name in captions:
        assert (tmp_path / "out" / "figures" / f"{name}.png").stat().st_size > 10_000


def test_a_long_panel_with_correctness_adds_calibration(tmp_path):
    truth = one_factor(0, 120, 4, rates=(0.3, 0.7), missing=0.1)
    right = np.random.default_rng(0).random(truth.answers.shape) < 0.5
    margin = np.where(truth.answers == 1, 1, -1) * np.random.default_rng(1).random(truth.answers.shape) * 4
    cells = [(i, j) for i in range(120) for j in range(4)]
    rows = [(f"q{i}", f"m{j}", truth.answers[i, j], int(right[i, j]), margin[i, j]) for i, j in cells]
    names = ["question_id", "respondent", "said_yes", "answered_correctly", "margin"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "long.csv", index=False)
    out = tmp_path / "out"
    done = run(str(tmp_path / "long.csv"), "--out", str(out), "--replicates", "9", "--sensitivity-replicates", "0")
    assert done.returncode == 0, done.stderr
    labels = pd.Index([f"q{i}" for i in range(120)]), pd.Index([f"m{j}" for j in range(4)])
    said, correct = (pd.DataFrame(values, *labels) for values in (truth.answers, right))
    written = pd.read_csv(out / "f_beta.csv", index_col=0)
    np.testing.assert_allclose(written[labels[1]], f_beta_curve(said, correct).curve, rtol=1e-6)
    lines = pd.read_csv(out / "confidence_accuracy.csv", index_col=0)
    expected = confidence_accuracy_regression(said, correct).line.slope
    assert lines.loc["as is", "slope"] == pytest.approx(expected, rel=1e-6)
    assert {"calibration.csv", "pairwise.csv", "pairwise_pooled.csv"} <= {file.name for file in out.iterdir()}
    calibration = pd.read_csv(out / "calibration.csv", index_col=0)
    known = ~np.isnan(truth.answers[:, 0])
    brier = ((1 / (1 + np.exp(-margin[:, 0])) - right[:, 0]) ** 2)[known].mean()
    assert calibration.loc["m0", "brier"] == pytest.approx(brier, rel=1e-6)
    assert (out / "figures" / "f_beta.svg").exists()
    assert (out / "figures" / "confidence_accuracy.png").exists()


@pytest.mark.parametrize(
    ("content", "extra", "message"),
    [
        ("question_id,a,b,c\nq1,1,0,1\n", [], "gave both yes and no"),
        ("question_id,a,b,c\nq1,1,0,perhaps\n", [], "perhaps"),
        ("question_id,a,b,c\nq1,1,0,1\n", ["--replicates", "1"], "--replicates 1; give 0, or at least 2"),
    ],
)
def test_a_panel_that_cannot_be_used_ends_in_one_sentence(tmp_path, content, extra, message):
    (tmp_path / "panel.csv").write_text(content)
    done = run(str(tmp_path / "panel.csv"), "--out", str(tmp_path / "out"), *extra)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_help_needs_no_heavy_library():
    start = time.perf_counter()
    done = run("--help")
    assert done.returncode == 0
    assert "PANEL" in done.stdout
    assert time.perf_counter() - start < 2


def test_figures_show_the_numbers_that_they_are_given():
    from reporting import factor_figures as draw

    varied = answers("gaps")
    with pytest.warns(PsychometricsWarning, match="always gave only one kind"):
        model = fit_factor_model(varied.assign(always=1))
    bootstrap, parabola = bootstrap_questions(varied, 9), quadratic_fit_test(varied, 9)
    parallel, shuffled = revised_parallel_analysis(varied, 2, 9), permutation_null(varied, 9)
    drawing = draw.loadings_against_threshold(model, bootstrap, parabola)
    points = drawing.figure.axes[0].containers[0].lines[0].get_xydata()
    np.testing.assert_allclose(points[:, 1], model.loadings["factor_1"].dropna())
    assert "1 respondents that gave only one kind" in drawing.caption
    axes = draw.scree(model, shuffled, parallel).figure.axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(lines["panel"], model.eigenvalues)
    np.testing.assert_allclose(lines["one factor fewer"], parallel.mean)
    image = draw.correlation_map(model).figure.axes[0].images[0].get_array()
    order = model.thresholds.sort_values().index
    np.testing.assert_allclose(image.filled(np.nan), model.tetrachoric.correlation.loc[order, order])
