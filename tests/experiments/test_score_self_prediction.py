"""experiments/ask.py score: from a folder of raw answers to tables, a figure and a line per test."""

import pandas as pd
import pytest
from tiny_experiment import ROOT

PROGRAM = ROOT / "experiments" / "ask.py", "score"
FOLDER = ROOT / "tests" / "reference" / "self_execution"


def test_the_studys_answers_give_its_figures_and_who_predicts_whom(call, tmp_path):
    ended = call(*PROGRAM, FOLDER, "--replicates", "19", "--out", tmp_path / "run", drawn=True)
    assert ended.code == 0, ended.err
    restriction = pd.read_csv(tmp_path / "run" / "restriction.csv").set_index("model")
    assert restriction.loc["gemini-2.5-pro", ["accuracy", "accuracy_where_read"]].round(2).tolist() == [0.32, 0.93]
    crossed = pd.read_csv(tmp_path / "run" / "cross_association.csv").set_index("target")
    assert abs(crossed.loc["mean", "advantage"]) < 0.01
    output = " ".join(ended.out.replace("│", " ").split())
    assert "advantage of oneself over one's family" in output
    restriction = pd.read_csv(tmp_path / "run" / "cross_restriction.csv").set_index("target").loc["mean"]
    assert restriction["family"] > 0.01 > restriction["advantage"]
    assert "Correlation with ability over 15 models" in output
    assert (tmp_path / "run" / "figures" / "who_predicts_whom.png").exists()
    result = pd.read_csv(tmp_path / "run" / "correlations.csv", index_col=0)
    assert result.loc["mean", "ability"] == result.loc["ability", "mean"] == pytest.approx(0.625, abs=5e-4)
    raw = pd.read_csv(FOLDER / "difficulty.csv.gz").query("model == 'o4-mini'")
    groups = [of_group["tokens"] for _, of_group in raw.groupby("group_id")]
    difficulty = pd.read_csv(tmp_path / "run" / "difficulty.csv").set_index("model").loc["o4-mini"]
    assert difficulty["tokens"] == pytest.approx(raw["tokens"].mean())
    assert difficulty["tokens_spread"] == pytest.approx(
        pd.Series([of_group.std() / of_group.mean() for of_group in groups]).mean()
    )
