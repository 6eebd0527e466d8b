"""Respondents of one base model are told from those of another, and the docs hold what the command prints."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix
from onedial.scale.study.kinship import kinship_of, main

ROOT = Path(__file__).parents[2]


def two_models(n=600, seed=0, loading=0.9):
    """Two framings of each of two models; every model finds other questions hard."""
    draw = np.random.default_rng(seed)
    columns, models = {}, {}
    for model in ("a", "b"):
        easy = draw.standard_normal(n)
        for framing, cut in (("bold", -0.5), ("shy", 0.5)):
            said = loading * easy + np.sqrt(1 - loading**2) * draw.standard_normal(n) > cut
            columns[f"{model}: {framing}"], models[f"{model}: {framing}"] = said.astype(float), model
    answers = pd.DataFrame(columns, index=pd.Index([f"q{row}" for row in range(n)], name="question_id"))
    about = pd.DataFrame({"model": models, "framing": "", "family": ""}).reindex(answers.columns)
    return ResponseMatrix(answers, about)


def test_framings_of_one_model_correlate_and_two_models_do_not():
    found = kinship_of(two_models())
    assert found.n_models == 2
    assert found.summary["pairs"].tolist() == [2, 4]
    assert found.summary.loc["within", "mean"] == pytest.approx(0.81, abs=0.08)
    assert found.summary.loc["between", "mean"] == pytest.approx(0, abs=0.12)
    assert found.eigenvalue_shares.sum() == pytest.approx(1)
    assert (found.eigenvalue_shares[:2] > 0.35).all()


def test_agreement_is_of_the_questions_that_both_answered():
    panel = two_models()
    answers = panel.answers.copy()
    answers.iloc[:100, 0] = np.nan
    found = kinship_of(ResponseMatrix(answers, panel.respondents))
    pair = found.pairs.iloc[0]
    both = answers.iloc[100:]
    assert pair["n"] == 500
    assert pair["agreement"] == pytest.approx((both["a: bold"] == both["a: shy"]).mean())


def test_a_copy_is_named_and_extreme_respondents_are_left_out():
    panel = two_models()
    answers = panel.answers.assign(**{"a: again": panel.answers["a: bold"], "a: never": 0.0})
    answers.iloc[0, answers.columns.get_loc("a: again")] = 1 - answers["a: bold"].iloc[0]
    about = panel.respondents.reindex(answers.columns)
    about.loc[["a: again", "a: never"]] = ["a", "", ""]
    found = kinship_of(ResponseMatrix(answers, about))
    assert found.left_out == ("a: never",)
    near = found.near_copies()
    assert near[["first", "second"]].to_numpy().tolist() == [["a: bold", "a: again"]]
    assert near["agreement"].iloc[0] == pytest.approx(599 / 600)


def test_a_panel_without_two_usable_respondents_is_refused():
    panel = two_models().select(respondents=["a: bold"])
    with pytest.raises(InputError, match=r"1 of 1 respondents have a yes rate between 0\.05 and 0\.95"):
        kinship_of(panel)


def test_the_docs_hold_what_the_command_prints_of_the_embedded_panel(capsys):
    main(["embedded"])
    printed = capsys.readouterr().out
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    docs = " ".join(page.replace("−", "-").split())
    assert "20 respondents of 4 base models" in printed
    for name in ("within", "between"):
        row = re.search(rf"{name}\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)", printed)
        cells = " | ".join(cell.replace("0.", ".") for cell in row.groups())
        assert f"| {cells} |" in docs, cells
    shares = re.search(r"variance: (.*)", printed)[1].replace("0.", ".").split(", ")
    assert f"hold {', '.join(shares[:4])} of the variance, then {shares[4]}" in docs


def test_the_command_says_when_there_is_only_one_respondent_per_model(capsys):
    main(["frontier"])
    assert re.search(r"within\s+0\s+NaN", capsys.readouterr().out)


@pytest.mark.parametrize("least", ["0.5", "-0.1", "2"])
def test_a_rate_that_leaves_nobody_is_refused(least):
    with pytest.raises(InputError, match=r"--least"):
        main(["embedded", "--least", least])
