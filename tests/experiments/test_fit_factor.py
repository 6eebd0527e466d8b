"""experiments/study_panel.py --deep from a panel file to tables and figures."""

import html
import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pandas as pd
from forks import run_program
from psychometric_data import answers

from onedial.scale.factor.factor_model import FactorModel, fit_factor_model

PROGRAM = Path(__file__).parents[2] / "experiments" / "study_panel.py"


def run(*arguments: str, drawn: bool = False) -> CompletedProcess:
    return run_program(PROGRAM, *arguments, "--deep", drawn=drawn)


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
        drawn=True,
    )
    assert done.returncode == 0, done.stderr
    assert "First factor" in done.stdout
    printed = " ".join(done.stdout.split())
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["verdict"].split(". ")[0] in printed
    assert "what confidence is worth: python experiments/study_panel.py" in done.stdout
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"factor.json", "respondents.csv", "questions.csv", "eigenvalues.csv", "sensitivity.csv"} <= written
    assert {"missingness.csv", "summary.json", "correlations.csv"} <= written
    model = FactorModel.load(tmp_path / "out" / "factor.json")
    np.testing.assert_allclose(model.loadings, fit_factor_model(panel).loadings)
    respondents = pd.read_csv(tmp_path / "out" / "respondents.csv", index_col=0)
    assert (respondents["loading_low"] <= respondents["loading_high"]).all()
    np.testing.assert_allclose(respondents["loading"], model.loadings["factor_1"], rtol=1e-6)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    page = " ".join(html.unescape((tmp_path / "out" / "report.html").read_text()).split())
    assert summary["verdict"].partition(". ")[0] in page
    for title, sentences in summary["sections"].items():
        assert title in page
        assert all(sentence in page for sentence in sentences)
    fitting = pd.read_csv(tmp_path / "out" / "respondents_fit.csv", index_col=0)
    assert re.search(r">infit<.*?<th scope=.row.>(.*?)</th>", page).group(1) == fitting["l_z"].idxmin()
    first = respondents["threshold"].idxmin()
    cells = re.findall(rf'<th scope="row">{re.escape(str(first))}</th>(.*?)</tr>', page)[-1]
    row = respondents.loc[first]
    blank = len(panel) - int(row["n_answers"])
    assert f">{row['loading']:.2f} [".replace("-", "\N{MINUS SIGN}") in cells
    assert cells.endswith(f"<td>{row['n_answers']:.0f}</td><td>{blank}</td>")
    assert summary["n_zero_cell_pairs"] == model.tetrachoric.n_zero_cell_pairs
    captions = json.loads((tmp_path / "out" / "figures" / "captions.json").read_text())
    assert set(captions) == {"correlations", "curves", "loadings", "scale", "scree", "wright_map"}
    assert summary["page"][0] in done.stdout
    for name in captions:
        assert (tmp_path / "out" / "figures" / f"{name}.png").stat().st_size > 10_000


def test_principal_components_are_called_so_and_more_than_two_factors_are_counted(tmp_path):
    rng = np.random.default_rng(5)
    scales = 0.5 * rng.standard_normal((500, 1)) + np.sqrt(0.75) * rng.standard_normal((500, 3))
    latent = 0.9 * scales[:, np.arange(12) % 3] + np.sqrt(0.19) * rng.standard_normal((500, 12))
    panel = pd.DataFrame((latent > rng.uniform(-0.5, 0.5, 12)).astype(int), columns=[f"m{i}" for i in range(12)])
    options = ["--replicates", "19", "--sensitivity-replicates", "0", "--extraction", "principal"]
    done = run(wide_file(tmp_path, panel), "--out", str(tmp_path / "out"), *options)
    assert done.returncode == 0, done.stderr
    assert "by principal components" in done.stdout
    assert "minres" not in done.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["n_factors_by_revised_parallel_analysis"] == 3
    scree = pd.read_csv(tmp_path / "out" / "eigenvalues.csv", index_col=0)
    assert scree["one_factor_fewer_null_mean"].notna().sum() == 4


def test_a_panel_of_several_models_and_topics_is_told_apart(tmp_path):
    rng = np.random.default_rng(1)
    code, topic = np.repeat(np.arange(4), 4), rng.integers(0, 2, 360)
    latent = 0.4 * rng.standard_normal((360, 1)) + 0.7 * rng.standard_normal((360, 4))[:, code]
    latent = latent + np.sqrt(1 - 0.16 - 0.49) * rng.standard_normal((360, 16))
    panel = pd.DataFrame((latent > rng.uniform(-0.5, 0.5, 16)).astype(int), columns=[f"m{i}" for i in range(16)])
    file = wide_file(tmp_path, panel)
    about = pd.DataFrame(
        {"respondent": panel.columns, "model": [f"base{one}" for one in code], "framing": "", "family": ""}
    )
    about.to_csv(tmp_path / "respondents.csv", index=False)
    questions = pd.DataFrame({"id": [f"q{i}" for i in range(360)], "question": [f"What is {i}?" for i in range(360)],
                              "topic": np.where(topic == 1, "birds", "trees"), "level": 1})  # fmt: skip
    questions.to_csv(tmp_path / "questions.csv", index=False)
    options = ["--questions", str(tmp_path / "questions.csv"), "--replicates", "19", "--sensitivity-replicates", "0"]
    done = run(file, "--out", str(tmp_path / "out"), *options)
    assert done.returncode == 0, done.stderr
    assert "16 respondents are 4 models" in done.stdout
    assert "each model shares only with itself" in " ".join(done.stdout.split())
    assert "In bundles by topic" in " ".join(done.stdout.split())
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"clusters.csv", "topic_by_respondent.csv", "topic_by_model.csv"} <= written
    assert {"factors.csv", "factor_correlations.csv", "residuals.csv", "scale.csv"} <= written
    assert (tmp_path / "out" / "figures" / "clusters.svg").exists()
    shares = json.loads((tmp_path / "out" / "summary.json").read_text())["clusters"]
    assert shares["within_only"] > 0.3
    few = run(file, "--questions", "embedded", "--out", str(tmp_path / "other"), "--replicates", "0")
    assert few.returncode == 2
    assert "says nothing of 360 of the panel's questions" in few.stderr


def test_numbers_are_read_as_ordered_categories_with_a_page_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(4), 2)
    hidden = 0.7 * rng.standard_normal((300, 1)) + 0.5 * rng.standard_normal((300, 4))[:, family]
    hidden = hidden + np.sqrt(1 - 0.49 - 0.25) * rng.standard_normal((300, 8))
    rating = np.searchsorted([-1.0, 0.0, 0.8], hidden) + 1.0
    rating[rng.random(rating.shape) < 0.05] = np.nan
    panel = pd.DataFrame(rating, columns=[f"m{i}" for i in range(8)])
    file = wide_file(tmp_path, panel)
    known = pd.DataFrame({"respondent": panel.columns, "family": [f"f{one}" for one in family]})
    known.to_csv(tmp_path / "respondents.csv", index=False)
    options = ("--categories", "2,3,4", "--replicates", "19", "--out", str(tmp_path / "out"))
    done = run(file, *options, drawn=True)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "4 ordered categories, which begin at 2, 3, 4" in said
    assert "of the variance is shared within a family only" in said
    assert "Not asked" not in said
    respondents = pd.read_csv(tmp_path / "out" / "respondents.csv", index_col=0)
    np.testing.assert_allclose(respondents["threshold at 3"], 0, atol=0.25)
    assert (respondents["difficulty at 4"] < respondents["difficulty at 2"]).all()
    difficulty = pd.read_csv(tmp_path / "out" / "questions.csv", index_col=0)["difficulty"]
    assert np.corrcoef(difficulty, panel.mean(axis=1))[0, 1] < -0.95
    page = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert "threshold at 3" in page
    assert "are asked of yes and no only" in page
    assert {file.stem for file in (tmp_path / "out" / "figures").glob("*.png")} == {"scree", "wright_map"}
    long = panel.rename_axis("question_id").reset_index().melt("question_id", None, "respondent", "confidence")
    long.to_csv(tmp_path / "long.csv", index=False)
    again = run(str(tmp_path / "long.csv"), *options[:-1], str(tmp_path / "long"))
    assert again.stdout.partition("report:")[0] == done.stdout.partition("report:")[0]
    bad = run(file, "--out", str(tmp_path / "bad"))
    assert bad.returncode == 2
    assert "with --categories" in bad.stderr
    assert not (tmp_path / "bad").exists()
