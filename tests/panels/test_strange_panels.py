"""Panels as people have them: scales told by respondent, columns and rows that are none, blanks and spellings."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.confidence.calibration import calibration_table
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.panel import panel_from_logs
from onedial.panels.formats.records import LogChoices
from onedial.panels.inputs import load_inputs
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import base_model_means, correctness_of, stated_confidence
from onedial.panels.questions.question_files import load_questions
from onedial.panels.spellings import Spellings

DATA = Path(__file__).parent / "data"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def panel_of(tmp_path, text, cut=""):
    return load_panel(f"{write(tmp_path / 'p.csv', text)}{cut}")


# --- scales ---


def test_shares_and_percentages_in_one_file_are_each_read_on_their_own_scale():
    with pytest.warns(Notice, match="'gpt-x', 'llama-q' state numbers from 0 to 1, the others to 100"):
        panel = load_panel(f"{DATA / 'mixed_long.csv'}:70")
    stated, correct = stated_confidence(panel).values, correctness_of(panel)
    means = base_model_means(panel, correct, stated)
    line = confidence_accuracy_regression(means["confidence"], means["accuracy"]).line
    assert stated["gpt-x"].mean() == pytest.approx(0.55, abs=0.005)
    assert calibration_table(stated, correct)["ece_mass"]["gpt-x"] == pytest.approx(0.14, abs=0.005)
    assert line.slope == pytest.approx(1.38, abs=0.005)
    raw = pd.read_csv(DATA / "mixed_long.csv").pivot(index="question_id", columns="model", values="confidence")
    least = raw.max().map(lambda most: 0.7 if most <= 1 else 70)
    assert (panel.answers == (raw >= least).loc[panel.answers.index, panel.answers.columns]).all(axis=None)


def test_ratings_are_asked_back_and_the_answer_is_named_behind_the_cut():
    path = DATA / "long_1to10.csv"
    with pytest.raises(InputError, match=r"nothing exceeds 10 .*long_1to10\.csv:8/10"):
        load_panel(f"{path}:8")
    raw = pd.read_csv(path).pivot(index="question_id", columns="model", values="confidence")
    for top in (10, 100):
        panel = load_panel(f"{path}:8/{top}")
        own = panel.answers.loc[raw.index, raw.columns]
        assert (own == (raw >= 8)).all(axis=None)
        np.testing.assert_allclose(stated_confidence(panel).values.loc[raw.index, raw.columns], raw / top)


WIDE = "question_id,a,b\nq1,{},{}\nq2,{},{}\nq3,{},{}\n"


@pytest.mark.parametrize(
    ("cells", "cut", "shares"),
    [
        ((0.2, 20, 0.9, 90, 1, 100), ":70", [[0.2, 0.2], [0.9, 0.9], [1, 1]]),
        (("20%", 0.2, "90%", 0.9, "1%", 1), ":0.7", [[0.2, 0.2], [0.9, 0.9], [0.01, 1]]),
        ((0.2, 0, 0.9, 1, 0.5, 1), ":70", [[0.2, 0], [0.9, 1], [0.5, 1]]),
        ((0.2, 0.1, 0.9, 0.3, 1, 0.5), ":70", [[0.2, 0.1], [0.9, 0.3], [1, 0.5]]),
        ((3, 5, 4, 1, 5, 2), ":4/5", [[0.6, 1], [0.8, 0.2], [1, 0.4]]),
        ((0, 20, 0, 90, 0, 55), ":70", [[0, 0.2], [0, 0.9], [0, 0.55]]),
        ((80.5, 20, 0.55, 90, 90, 55), ":70", [[0.805, 0.2], [0.0055, 0.9], [0.9, 0.55]]),
        ((80, 20, 0.55, 90, 90, 55), ":70/100", [[0.8, 0.2], [0.0055, 0.9], [0.9, 0.55]]),
    ],
)
def test_a_scale_is_told_by_what_a_respondent_states(tmp_path, cells, cut, shares):
    panel = panel_of(tmp_path, WIDE.format(*cells), cut)
    np.testing.assert_allclose(stated_confidence(panel).values, shares)
    assert (panel.answers == (np.array(shares) >= (0.8 if "/" in cut else 0.7))).all(axis=None)


@pytest.mark.parametrize(
    ("cells", "cut", "reason"),
    [
        ((3, 5, 4, 1, 5, 2), ":4", "nothing exceeds 5"),
        ((3, 50, 4, 100, 10, 20), ":70", "nothing exceeds 10 in what 'a' state"),
        ((1, 50, 0, 100, 1, 20), ":70", "nothing exceeds 1 in what 'a' state"),
        ((80, 50, 0.55, 100, 90, 20), ":70", "'a' state numbers between 0 and 1 and whole ones to 90"),
        ((30, 50, 40, 100, 50, 20), ":0.7", "holds numbers to 100, and a cut at 0.7: name it as 70"),
        ((30, 50, 40, 120, 50, 20), ":70", "line 3, column 'b' holds '120'; give a number from 0 to 100"),
        ((1, 0, 0, 1, 1, 0), ":70", "no numbers to cut .*only yes and no"),
        (("yes", 50, 40, 100, 50, 20), ":70", "line 2, column 'a' holds 'yes'; give a number from 0 to 100"),
        ((30, 50, 40, 100, 50, 20), "", "line 2, column 'a' holds '30'; .* numbers become a yes at a cut"),
    ],
)
def test_a_doubtful_scale_is_asked_back(tmp_path, cells, cut, reason):
    with pytest.raises(InputError, match=reason):
        panel_of(tmp_path, WIDE.format(*cells), cut)


def test_the_table_of_respondents_can_name_each_ones_scale(tmp_path):
    write(tmp_path / "respondents.csv", "respondent,top\na,10\nb,100\n")
    panel = panel_of(tmp_path, WIDE.format(3, 50, 4, 100, 10, 20), ":70")
    np.testing.assert_allclose(stated_confidence(panel).values, [[0.3, 0.5], [0.4, 1], [1, 0.2]])


def test_decimal_commas_of_a_spreadsheet_are_points(tmp_path):
    text = "\ufeffquestion_id;a;b\r\nq1;0,25;0,9\r\nq2;0,125;1\r\n"
    np.testing.assert_allclose(stated_confidence(panel_of(tmp_path, text, ":0.7")).values, [[0.25, 0.9], [0.125, 1]])
    with pytest.raises(InputError, match="holds '1,000'"):
        panel_of(tmp_path, text.replace("0,25", "1,000"), ":0.7")
    rows = "question_id;model;said_yes;confidence\nq1;a;1;0,95\nq2;a;0;0,5\n"
    assert imported(write(tmp_path / "long.csv", rows))["confidence"].tolist() == [0.95, 0.5]


# --- columns and rows ---


def test_a_column_that_counts_the_rows_is_no_base_model():
    with pytest.warns(Notice, match="'Unnamed: 0' .counts the rows"):
        panel = load_panel(f"{DATA / 'unnamed_conf.csv'}:70")
    assert list(panel.answers.columns) == ["gpt-x", "claude-y", "gemini-z", "llama-q", "mistral-k", "qwen-t"]


ABOUT = {
    "difficulty": (0.3, 0.9, 0.1),
    "n_correct": (1, 0, 1),
    "num_tokens": (5, 9, 12),
    "answer_count": (1, 1, 0),
    "total": (2, 1, 2),
    "label": (1, 0, 1),
    "answerKey": ("A", "B", "A"),
    "source": ("wiki", "wiki", "nyt"),
    "Language": ("en", "de", "en"),
    "accuracy": (0.5, 0.1, 0.9),
    "mean_confidence": (72.5, 12.5, 85.0),
    "remark": ("fine", "too long", "odd wording"),
    "published": (1998, 2001, 2020),
    "row": (4, 9, 2),
    "": (0, 1, 2),
    "Unnamed: 0.1": (1, 2, 3),
    "number": (1, 2, 3),
}


@pytest.mark.parametrize("name", ABOUT)
@pytest.mark.parametrize("in_numbers", [False, True])
def test_what_tells_of_the_questions_is_no_respondent_and_is_named(tmp_path, name, in_numbers):
    answers = {"a": (90, 20, 75), "b": (55, 5, 95)} if in_numbers else {"a": (1, 0, 1), "b": (0, 0, 1)}
    frame = pd.DataFrame({"question_id": ["q1", "q2", "q3"], **answers, name: ABOUT[name]})
    frame.to_csv(tmp_path / "p.csv", index=False)
    with pytest.warns(Notice, match=f"no respondents: '{name}'"):
        panel = load_panel(f"{tmp_path / 'p.csv'}{':70' if in_numbers else ''}")
    assert list(panel.answers.columns) == ["a", "b"]


def test_a_respondent_that_the_table_of_respondents_names_stays_one(tmp_path):
    write(tmp_path / "respondents.csv", "respondent\nmax\nb\n")
    assert list(panel_of(tmp_path, "question_id,max,b\nq1,1,0\nq2,0,1\n").answers.columns) == ["max", "b"]


def test_topics_and_levels_of_a_wide_panel_are_kept_and_words_for_levels_are_read_everywhere(tmp_path):
    rows = "".join(
        f"q{n},Who wrote book {n}?,{'art' if n % 2 else 'sea'},{'easy' if n % 3 else 'hard'},1,0\n" for n in range(8)
    )
    path = write(tmp_path / "p.csv", f"question_id,question,topic,level,a,b\n{rows}")
    panel = load_panel(path)
    assert panel.about_questions["topic"].tolist() == ["sea", "art"] * 4
    assert list(panel.answers.columns) == ["a", "b"]
    inputs = load_inputs(str(path))
    assert [question.level for question in inputs.questions] == [3, 1, 1, 3, 1, 1, 3, 1]
    assert {question.topic for question in inputs.questions} == {"art", "sea"}


def test_a_category_is_the_topic_where_there_is_none(tmp_path):
    panel = panel_of(tmp_path, "question_id,category,a,b\nq1,art,1,0\nq2,sea,0,1\n")
    assert panel.about_questions["topic"].tolist() == ["art", "sea"]


@pytest.mark.parametrize("name", ["mean", "Mean", "TOTAL", "average", "sum", "std"])
def test_rows_that_sum_up_others_are_no_questions(tmp_path, name):
    text = f"question_id,question,a,b\nq1,Who?,1,0\nq2,Where?,0,1\n{name},,0.5,0.5\n"
    with pytest.warns(Notice, match=f"the rows '{name}' sum up others"):
        assert list(panel_of(tmp_path, text).answers.index) == ["q1", "q2"]
    assert [question.id for question in load_questions(tmp_path / "p.csv")] == ["q1", "q2"]


@pytest.mark.parametrize(
    "text",
    [
        "model,q1,q2,q3\ngpt,1,0,1\nclaude,0,0,\n",
        "Model,q1,q2,q3,average\ngpt,yes,no,yes,0.67\nclaude,no,no,N/A,0\n",
        ",q1,q2,q3\ngpt,1,0,1\nclaude,0,0,\n",
        "Unnamed: 0,q1,q2,q3\ngpt,1,0,1\nclaude,0,0,null\n",
        "Unnamed: 0,model,q1,q2,q3\n0,gpt,1,0,1\n1,claude,0,0,-\n",
    ],
)
def test_a_table_with_its_models_in_the_rows_is_turned(tmp_path, text):
    with pytest.warns(Notice, match="the models stand in the rows"):
        panel = panel_of(tmp_path, text)
    expected = pd.DataFrame({"gpt": [1.0, 0, 1], "claude": [0, 0, np.nan]}, index=["q1", "q2", "q3"])
    pd.testing.assert_frame_equal(panel.answers, expected, check_names=False)


# --- blanks and spellings ---


@pytest.mark.parametrize("word", ["NA", "N/A", "n/a", "null", "None", "-", "–", "NaN", "#N/A", "<NA>"])
@pytest.mark.parametrize("cut", ["", ":70"])
def test_words_for_a_blank_are_blanks_in_every_kind_of_panel(tmp_path, word, cut):
    yes, no = (90, 20) if cut else (1, 0)
    wide = panel_of(tmp_path, f"question_id,a,b\nq1,{yes},{word}\nq2,{no},{yes}\n", cut)
    column = "confidence" if cut else "said_yes"
    rows = f"q1,a,{yes}\nq1,b,{word}\nq2,a,{no}\nq2,b,{yes}\n"
    long = panel_of(tmp_path, f"question_id,respondent,{column}\n{rows}", cut)
    for panel in (wide, long):
        np.testing.assert_array_equal(panel.answers, [[1, np.nan], [0, 1]])


def test_other_words_for_a_blank_are_named_beside_the_panel(tmp_path):
    text = "question_id,a,b\nq1,1,refused\nq2,0,1\n"
    with pytest.raises(InputError, match="holds 'refused'"):
        panel_of(tmp_path, text)
    write(tmp_path / "elicitation.yaml", "question: Can you?\nblank: [refused]\n")
    np.testing.assert_array_equal(panel_of(tmp_path, text).answers, [[1, np.nan], [0, 1]])


def test_an_import_on_one_scale_refuses_numbers_on_another():
    choices = LogChoices(confidence_scale=100, columns={"answered_correctly": "correct"})
    with pytest.raises(InputError, match="'gpt-x' states numbers from 0 to 1, and --confidence-scale is 100"):
        read_logs(DATA / "mixed_long.csv", choices)


def imported(path, *spellings):
    return panel_from_logs(read_logs(path, LogChoices(spellings=Spellings(*spellings)))).panel


def test_a_wide_table_is_imported_with_its_own_spellings():
    panel = imported(DATA / "janein.csv", ("Ja",), ("Nein",))
    said = panel.pivot(index="question_id", columns="respondent", values="said_yes")
    raw = pd.read_csv(DATA / "janein.csv", index_col=0) == "Ja"
    assert (said == raw.loc[said.index, said.columns]).all(axis=None)
    with pytest.raises(InputError, match="they hold 'Nein', 'Ja'; name their spellings with --yes and --no"):
        imported(DATA / "janein.csv")
    with pytest.raises(InputError, match="'ja' is given as a spelling of two"):
        Spellings(("Ja",), ("ja",))


@pytest.mark.parametrize(
    "text",
    [
        "question_id,a,b\nq1,oui,non\nq2,non,rien\n",
        "model,q1,q2\na,oui,non\nb,non,rien\n",
        "question_id,respondent,said_yes\nq1,a,oui\nq1,b,non\nq2,a,non\nq2,b,rien\n",
    ],
)
def test_spellings_are_read_in_every_shape_of_a_table(tmp_path, text):
    panel = imported(write(tmp_path / "p.csv", text), ("oui",), ("non",), ("rien",))
    said = panel.pivot(index="question_id", columns="respondent", values="said_yes")
    np.testing.assert_array_equal(said, [[1, 0], [0, np.nan]])


# --- questions that are keyed the other way round

KEYS = {
    "reversed": ["", "x", "0"],
    "reverse_coded": ["False", "true", "no"],
    "Reversed": [0, 1, 0],
    "key": [1, -1, 1],
    "keyed": ["+", "-", "+"],
    "direction": ["positive", "negative", "positive"],
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("shape", ["wide", "long", "beside"])
def test_answers_to_reversed_questions_are_turned_for_the_scale_and_kept_for_a_sweep(tmp_path, name, shape):
    frame = pd.DataFrame({"question_id": ["q1", "q2", "q3"], name: KEYS[name], "a": [1, 0, 1], "b": [0, 1, np.nan]})
    if shape == "long":
        frame = frame.melt(["question_id", name], ["a", "b"], "respondent", "said_yes").assign(margin=0.5)
    if shape == "beside":
        write(tmp_path / "elicitation.yaml", "question: Can you?\nquestions: about.csv\n")
        frame[["question_id", name]].to_csv(tmp_path / "about.csv", index=False)
        frame = frame.drop(columns=name)
    frame.to_csv(tmp_path / "p.csv", index=False)
    panel = load_panel(tmp_path / "p.csv")
    np.testing.assert_array_equal(panel.answers, [[1, 0], [0, 1], [1, np.nan]])
    with pytest.warns(Notice, match=r"1 of 3 questions are reversed .q2."):
        turned = keyed(panel)
    np.testing.assert_array_equal(turned.answers, [[1, 0], [1, 0], [1, np.nan]])
    if shape == "long":
        assert turned.responses.set_index("question_id")["margin"].to_dict() == {"q1": 0.5, "q2": -0.5, "q3": 0.5}


def test_numbers_on_reversed_questions_are_turned_within_their_scale(tmp_path):
    path = write(tmp_path / "p.csv", "question_id,key,a,b\nq1,1,6,2\nq2,-1,5,1\nq3,1,3,\n")
    panel = keyed(load_panel(path, numbers=True))
    values = panel.responses.pivot(index="question_id", columns="respondent", values="confidence")
    np.testing.assert_array_equal(values, [[6, 2], [2, 6], [3, np.nan]])


@pytest.mark.parametrize(("name", "cells"), [("reversed", ("maybe", "no")), ("key", (0, -1)), ("reversed", (1, -1))])
def test_a_keying_that_is_not_understood_is_named(tmp_path, name, cells):
    text = f"question_id,{name},a,b\nq1,{cells[0]},1,0\nq2,{cells[1]},0,1\nq3,1,0,1\n"
    with pytest.raises(InputError, match=f"the column '{name}' says .* of the question 'q[12]'"):
        panel_of(tmp_path, text)


# --- what is told of an answer, a respondent or a row ---

LONG = "question_id,respondent,said_yes"
FAILING = [
    *(("refused", 1, 0), ("Parse Failed", True, False), ("is_valid", "no", "yes"), ("status", "timeout_error", "ok")),
    ("finish_reason", "content_filter", "length"),
]


@pytest.mark.parametrize(
    ("text", "answers", "said"),
    [
        (
            f"{LONG},error\nq1,a,1,\nq2,a,0,none\nq1,b,0,timeout\nq2,b,1,",
            [[1, None], [0, 1]],
            "1 answers count as unread",
        ),
        (
            "question_id,respondent,confidence,error\nq1,a,99,\nq2,a,20,\nq1,b,0,timeout\nq2,b,98,",
            [[1, None], [0, 1]],
            "1 answers count as unread",
        ),
        *(
            (
                f"{LONG},{name}\nq1,a,1,{fine}\nq2,a,0,{fine}\nq1,b,0,{cell}\nq2,b,1,{fine}",
                [[1, None], [0, 1]],
                f"1 answers count as unread, since the column '{name}'",
            )
            for name, cell, fine in FAILING
        ),
        ("question_id,a,a_correct,b,b_confidence\nq1,1,0,0,1\nq2,0,1,1,0", [[1, 0], [0, 1]], "told of another column"),
        ("sep=;\nquestion_id;a;b\nq1;1;0\nq2;0;1", [[1, 0], [0, 1]], None),
        ("question_id,GPT-4,gpt-4\nq1,1,0\nq2,0,1", [[1, 0], [0, 1]], "are taken for 2 respondents"),
        (f"{LONG},error\nq1,a,1,\nq2,a,0,\n{LONG},error\nq1,b,0,\nq2,b,1,", [[1, 0], [0, 1]], "1 further lines name"),
        ("question_id,answerable,a,b\nq1,True,1,0\nq2,False,0,1", [[1, 0], [0, 1]], "'answerable' (by its name)"),
    ],
    ids=[
        *(
            "a failed answer",
            "a failed number",
            *(name for name, *_ in FAILING),
            "a column about a column",
            "a line for Excel",
            "names alike",
        ),
        *("a second header", "a truth of questions"),
    ],
)
def test_what_is_no_answer_is_named_and_not_counted(tmp_path, text, answers, said, recwarn):
    panel = panel_of(tmp_path, text, ":95" if ",confidence," in text else "")
    np.testing.assert_array_equal(panel.answers.to_numpy(float), np.array(answers, dtype=float))
    assert said is None or any(said in str(each.message) for each in recwarn)
    if "unread" in (said or "") and ",said_yes," in text:
        assert imported(tmp_path / "p.csv")["said_yes"].isna().sum() == 1


def test_an_id_of_each_answer_and_codes_without_a_key_are_refused(tmp_path):
    with pytest.raises(InputError, match="an id of its own"):
        panel_of(tmp_path, "id,question,respondent,said_yes\n1,Who?,a,1\n2,Who?,b,0\n3,What?,a,1\n4,What?,b,1")
    for name in ("id", "sample_id", "custom_id"):
        rows = f"{name},prompt,model,said_yes\n1,Who?,a,1\n2,Who?,b,0\n3,What?,a,1\n4,What?,b,1"
        with pytest.raises(InputError, match="an id of its own"):
            read_logs(write(tmp_path / "ids.csv", rows), LogChoices())
    codes = write(tmp_path / "codes.csv", f"{LONG}\nq1,a,1\nq2,a,2\nq1,b,2\nq2,b,1")
    with pytest.raises(InputError, match="'2', a number that is neither 1 nor 0"):
        read_logs(codes, LogChoices())
    read = panel_from_logs(read_logs(codes, LogChoices(spellings=Spellings(("1",), ("2",)))))
    assert read.panel["said_yes"].mean() == 0.5
