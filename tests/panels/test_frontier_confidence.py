"""The panel frontier-confidence says what the published answers say: recomputed here from its files by plain numpy."""

import csv
import gzip
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.joining import join_questions_and_panel
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import base_model_means, correctness_of, stated_confidence
from onedial.panels.questions.question_files import load_questions

FOLDER = files("onedial.panels") / "data" / "frontier_confidence"
IMPUTED = 985
HARDLY = "openai/gpt-oss-120b"


def rows():
    with FOLDER.joinpath("answers.csv.gz").open("rb") as file, gzip.open(file, "rt") as text:
        return list(csv.DictReader(text))


def tables():
    """Confidence (0-100) and correctness, question x respondent."""
    every = rows()
    questions, names = sorted({row["question_id"] for row in every}), sorted({row["respondent"] for row in every})
    sure = np.full((len(questions), len(names)), np.nan)
    right = sure.copy()
    places = {name: place for place, name in enumerate(questions)} | {name: place for place, name in enumerate(names)}
    for row in every:
        cell = places[row["question_id"]], places[row["respondent"]]
        sure[cell] = float(row["confidence"] or "nan")
        right[cell] = float(row["correct"] or "nan")
    return questions, names, sure, right


@pytest.fixture(scope="module")
def panel():
    return load_panel("frontier-confidence")


def test_its_numbers_are_the_file_s_and_its_yes_is_at_least_95_of_them(panel):
    questions, names, sure, right = tables()
    assert panel.answers.shape == (1500, 33)
    numbers = stated_confidence(panel)
    assert numbers.source == "stated"
    np.testing.assert_allclose(numbers.values.loc[questions, names], sure / 100)
    np.testing.assert_array_equal(correctness_of(panel).loc[questions, names], right)
    yes = np.where(np.isnan(sure), np.nan, sure >= 95)
    np.testing.assert_array_equal(panel.answers.loc[questions, names], yes)


def test_what_was_imputed_is_no_answer(panel):
    every = rows()
    blank = [row["respondent"] for row in every if not row["confidence"]]
    assert (len(every), len(blank), blank.count(HARDLY)) == (47151, IMPUTED, 980)
    assert sum(row["said"] == "" for row in every) == sum(row["correct"] == "" for row in every) == 13
    assert not {row["respondent"] for row in every if row["confidence"] == "50"} & set(blank)
    assert panel.answers[HARDLY].notna().sum() == 520
    keys = {}
    for file in ("questions.csv.gz", "beginnings.csv"):
        data = FOLDER.joinpath(file).read_bytes()
        text = (gzip.decompress(data) if file.endswith("gz") else data).decode()
        keys |= {row["question_id"]: row["answer"] for row in csv.DictReader(text.splitlines(keepends=True))}
    assert all(row["correct"] == str(int(row["said"] == keys[row["question_id"]])) for row in every if row["said"])


def test_confidence_does_not_follow_accuracy_between_models(panel):
    _, names, sure, right = tables()
    both = ~np.isnan(sure) & ~np.isnan(right)
    line = stats.linregress(*(np.nanmean(np.where(both, each, np.nan), axis=0) for each in (right, sure / 100)))
    assert (round(line.slope, 3), round(line.pvalue, 2)) == (-0.033, 0.52)
    outcome = base_model_means(panel, correctness_of(panel), stated_confidence(panel).values).loc[names]
    result = confidence_accuracy_regression(outcome["confidence"], outcome["accuracy"]).line
    assert (result.slope, result.n) == (pytest.approx(line.slope, abs=1e-9), 33)


@pytest.mark.parametrize("cut", ["97.5", "median"])
def test_another_cut_is_named_behind_a_colon(cut):
    questions, names, sure, _ = tables()
    panel = load_panel(f"frontier-confidence:{cut}")
    least = np.nanmedian(sure, axis=0) if cut == "median" else float(cut)
    np.testing.assert_array_equal(panel.answers.loc[questions, names], np.where(np.isnan(sure), np.nan, sure >= least))


def test_several_cuts_are_more_targets_and_no_more_models():
    with pytest.warns(Notice, match="99 respondents of 33 base models"):
        panel = load_panel("frontier-confidence:90,95,100")
    assert panel.answers.shape == (1500, 99)
    assert panel.respondents["model"].nunique() == 33
    assert panel.respondents.groupby("model")["framing"].agg(list).map(tuple).unique().tolist() == [
        ("at least 90", "at least 95", "at least 100")
    ]
    for model in ("openai/gpt-5.4-2026-03-05", "google/gemma-3-1b"):
        rates = [panel.answers[f"{model}: at least {cut}"].mean() for cut in (90, 95, 100)]
        assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("frontier-confidence:high", "no cut that can be read; write frontier-confidence:CUT/TOP"),
        ("frontier-confidence:nan", "no cut that can be read"),
        ("frontier-confidence:120", "a cut at 120 lies outside the panel's numbers, 0 to 100"),
        ("frontier-confidence:90,90", "names a cut twice"),
        ("frontier:90", r"scale of the numbers .* not declared"),
    ],
)
def test_a_cut_that_cannot_be_is_refused(given, reason):
    with pytest.raises(InputError, match=reason):
        load_panel(given)


def wide(sure, in_words):
    """The published numbers of three models on forty questions, a column for each model."""
    rows = [{"question_id": f"q{i}"} | {f"m{j}": in_words(sure[i, j]) for j in range(3)} for i in range(40)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("in_words", "cut"),
    [
        (lambda number: "" if np.isnan(number) else f"{number:g}%", "95/100"),
        (lambda number: "" if np.isnan(number) else f"{number:g}", "95/100"),
        (lambda number: number / 100, "0.95/1"),
    ],
    ids=["percent signs", "to 100", "to 1"],
)
@pytest.mark.parametrize("shape", ["wide", "long", "long under other names"])
def test_stated_numbers_are_cut_however_the_table_is_laid_out(tmp_path, shape, in_words, cut):
    sure = tables()[2][:40]
    frame = wide(sure, in_words)
    if shape != "wide":
        frame = frame.melt("question_id", var_name="respondent", value_name="confidence")
        frame["answered_correctly"] = 1
    if shape == "long under other names":
        frame = frame.rename(columns={"respondent": "model", "answered_correctly": "correct"})
    frame.to_csv(tmp_path / "panel.csv", index=False)
    panel = load_panel(f"{tmp_path / 'panel.csv'}:{cut}")
    yes = np.where(np.isnan(sure[:, :3]), np.nan, sure[:, :3] >= 95)
    np.testing.assert_array_equal(panel.answers[["m0", "m1", "m2"]], yes)
    np.testing.assert_allclose(stated_confidence(panel).values[["m0", "m1", "m2"]], sure[:, :3] / 100)
    assert (correctness_of(panel) is None) == (shape == "wide")


def test_only_questions_whose_text_is_whole_are_asked(panel):
    with pytest.warns(Notice, match="126 are known by their beginning only"):
        questions = load_questions("frontier-confidence")
    shared, joined, report = join_questions_and_panel(questions, panel)
    assert (len(shared), report.by_id, report.unmatched_panel) == (1374, 1374, 126)
    assert joined.about_questions.shape[0] == 1374
    for question in questions:
        assert len(question.options) == 4
        assert question.answers == ("ABCD"[question.right_option], question.options[question.right_option].strip())
    beginnings = panel.about_questions["beginning"].dropna()
    assert set(beginnings.index) == set(panel.question_texts.index[panel.question_texts.isna()])
    assert (beginnings.str.len() <= 80).all()
