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


def test_a_wide_panel_becomes_tables_a_page_and_figures(tmp_path):
    panel, out = answers("gaps"), tmp_path / "out"
    few = ("--replicates", "19")
    done = run(wide_file(tmp_path, panel), "--out", str(out), *few, drawn=True)
    assert done.returncode == 0, done.stderr
    model = FactorModel.load(out / "factor.json")
    np.testing.assert_allclose(model.loadings, fit_factor_model(panel).loadings)
    respondents = pd.read_csv(out / "respondents.csv", index_col=0)
    ends = respondents[["loading_low", "loading_high"]].dropna()
    assert (ends["loading_low"] <= ends["loading_high"]).all()
    assert ends.abs().max(axis=None) <= 1
    np.testing.assert_allclose(respondents["pairwise_loading"], model.loadings["factor_1"], rtol=1e-6)
    summary = json.loads((out / "summary.json").read_text())
    written = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", (out / "report.html").read_text())
    page = " ".join(html.unescape(written).split())
    assert summary["verdict"].split(". ")[0] in " ".join(done.stdout.split())
    for title, sentences in summary["sections"].items():
        assert title in page
        assert all(sentence in page for sentence in sentences)
    first = respondents["threshold"].idxmin()
    cells = re.findall(rf'<th scope="row">{re.escape(str(first))}</th>(.*?)</tr>', page)[-1]
    n_answers = int(respondents.loc[first, "n_answers"])
    assert cells.endswith(f"<td>{n_answers}</td><td>{len(panel) - n_answers}</td>")
    assert summary["n_zero_cell_pairs"] == model.tetrachoric.n_zero_cell_pairs
    captions = json.loads((out / "figures" / "captions.json").read_text())
    assert set(captions) == {"correlations", "loadings", "scale", "scree", "wright_map"}
    assert all((out / "figures" / f"{name}.png").stat().st_size > 10_000 for name in captions)


def test_a_panel_of_several_models_and_topics_is_told_apart(tmp_path):
    rng = np.random.default_rng(1)
    code, topic = np.repeat(np.arange(4), 3), rng.integers(0, 2, 240)
    latent = 0.4 * rng.standard_normal((240, 1)) + 0.7 * rng.standard_normal((240, 4))[:, code]
    latent = latent + np.sqrt(1 - 0.16 - 0.49) * rng.standard_normal((240, 12))
    panel = pd.DataFrame((latent > rng.uniform(-0.5, 0.5, 12)).astype(int), columns=[f"m{i}" for i in range(12)])
    file = wide_file(tmp_path, panel)
    about = pd.DataFrame(
        {"respondent": panel.columns, "model": [f"base{one}" for one in code], "framing": "", "family": ""}
    )
    about.to_csv(tmp_path / "respondents.csv", index=False)
    questions = pd.DataFrame({"id": [f"q{i}" for i in range(240)], "question": [f"What is {i}?" for i in range(240)],
                              "topic": np.where(topic == 1, "birds", "trees"), "level": 1})  # fmt: skip
    questions.to_csv(tmp_path / "questions.csv", index=False)
    options = ["--questions", str(tmp_path / "questions.csv"), "--replicates", "19"]
    done = run(file, "--out", str(tmp_path / "out"), *options)
    assert done.returncode == 0, done.stderr
    assert "12 respondents are 4 models" in done.stdout
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"clusters.csv", "topic_by_respondent.csv", "topic_by_model.csv"} <= written
    assert {"factors.csv", "residuals.csv", "scale.csv"} <= written
    assert (tmp_path / "out" / "figures" / "clusters.svg").exists()
    shares = json.loads((tmp_path / "out" / "summary.json").read_text())["clusters"]
    assert shares["within_only"] > 0.3
    few = run(file, "--questions", "embedded", "--out", str(tmp_path / "other"), "--replicates", "0")
    assert few.returncode == 2
    assert "says nothing of 240 of the panel's questions" in few.stderr
