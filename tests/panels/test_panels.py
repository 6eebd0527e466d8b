"""Panels keep what was answered, what was not read, and who answered; what cannot be an answer is refused by place."""

import json

import numpy as np
import pandas as pd
import pytest

from onedial.asking.questions import Question, question_id
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.joining import drop_own, join_questions_and_panel, same_model
from onedial.panels.panel_files import load_panel
from onedial.panels.panels import ResponseMatrix, counts_of_samples, panel_from_long, panel_long
from onedial.panels.questions.question_files import load_questions

NAN = np.nan


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def panel(tmp_path):
    written(
        tmp_path / "respondents.csv",
        "respondent,model,framing,family,model_sha256\n"
        "m1,org/Tiny-1B,neutral,tiny,aa\nm2,Tiny-1B,bold,tiny,\nm3,org/Other,neutral,other,BB\n",
    )
    path = written(
        tmp_path / "panel.csv",
        "question_id,question,m1,m2,m3\n"
        "q1,Who wrote Emma?,1,0,yes\nq2,Who sang Aida?,NO,True,\nq3,Where is Oslo?,false,1.0,NA\n",
    )
    return load_panel(path)


def test_every_spelling_of_an_answer_is_read_and_blanks_stay_unread(panel):
    assert panel.answers.loc["q1"].tolist() == [1, 0, 1]
    assert panel.answers.loc["q2"].tolist()[:2] == [0, 1]
    assert panel.answers["m3"].isna().tolist() == [False, True, True]
    assert panel.respondents.loc["m1"].tolist() == ["org/Tiny-1B", "neutral", "tiny", "aa"]


def test_without_a_table_each_respondent_is_its_own_model(tmp_path):
    panel = load_panel(written(tmp_path / "p.csv", "question_id,m1,m2\nq1,1,0\n"))
    assert panel.respondents.to_dict("list") == {"model": ["m1", "m2"], "framing": ["", ""], "family": ["", ""]}
    assert panel.question_texts is None


def test_a_long_panel_has_second_names_for_four_columns(tmp_path):
    rows = "id,question,model,answer,correct\n1,Who?,a,1,1\n1,Who?,b,0,0\n2,Where?,a,0,1\n2,Where?,b,1,1\n"
    panel = load_panel(written(tmp_path / "panel.csv", rows))
    assert panel.answers.to_dict("list") == {"a": [1, 0], "b": [0, 1]}
    assert panel.responses["answered_correctly"].sum() == 3
    with pytest.raises(InputError, match="line 2, column 'answer' holds 'Paris'"):
        load_panel(written(tmp_path / "texts.csv", "id,model,answer\n1,a,Paris\n"))


def test_a_model_under_several_framings_is_several_respondents(tmp_path):
    rows = "question,model,framing,said_yes\nWho?,a,bold,1\nWho?,a,shy,0\nWho?,b,,1\n"
    panel = load_panel(written(tmp_path / "framed.csv", rows))
    assert panel.answers.iloc[0].to_dict() == {"a: bold": 1, "a: shy": 0, "b": 1}
    assert panel.respondents["model"].tolist() == ["a", "a", "b"]
    assert panel.respondents["framing"].tolist() == ["bold", "shy", ""]


def test_a_workbooks_first_sheet_is_read(tmp_path):
    """The first sheet of a workbook is read with its types and its rows keep their numbers."""
    path = tmp_path / "p.xlsx"
    columns = ["question_id", "question", "m1", "m2"]
    rows = pd.DataFrame([[7, "Who?", 1, "yes"], [None] * 4, [8, "What?", 0, None]], columns=columns, dtype=object)
    with pd.ExcelWriter(path) as book:
        rows.to_excel(book, sheet_name="answers", index=False)
        pd.DataFrame({"note": ["of no use"]}).to_excel(book, sheet_name="notes", index=False)
    with pytest.warns(Notice, match="of the sheets 'answers', 'notes' the first is read"):
        panel = load_panel(path)
    assert panel.answers["m1"].to_dict() == {"7": 1, "8": 0}
    assert panel.answers["m2"].isna().to_dict() == {"7": False, "8": True}
    rows.loc[2, "m1"] = "perhaps"
    rows.to_excel(path, index=False)
    with pytest.raises(InputError, match="row 4, column 'm1' holds 'perhaps'"):
        load_panel(path)


def test_a_parquet_panel_whose_ids_are_the_index_is_read(tmp_path):
    frame = pd.DataFrame({"m1": [1.0, 0.0]}, index=pd.Index(["q1", "q2"], name="question_id"))
    frame.to_parquet(tmp_path / "p.parquet")
    assert load_panel(tmp_path / "p.parquet").answers["m1"].to_dict() == {"q1": 1, "q2": 0}


def test_samples_become_what_most_say(tmp_path):
    """Several samples become what more than half say and a tie stays unread."""
    rows = [("q1", 1), ("q1", 1), ("q1", 0), ("q2", 1), ("q2", 0), ("q3", ""), ("q3", 0), ("q4", ""), ("q4", "")]
    text = "".join(f"{question},m1,{cell},{sample}\n" for sample, (question, cell) in enumerate(rows))
    panel = load_panel(written(tmp_path / "p.csv", "question_id,respondent,said_yes,sample\n" + text))
    np.testing.assert_array_equal(panel.answers["m1"], [1, NAN, 0, NAN])
    assert len(panel.responses) == len(rows)


def test_long_answers_keep_margins_texts_and_what_is_known_of_respondents(tmp_path):
    path = written(
        tmp_path / "p.jsonl",
        "".join(
            json.dumps(row) + "\n"
            for row in [
                {"question_id": 1, "question": "Who?", "respondent": "b", "said_yes": True, "margin": 1.5, "mass": 0.9},
                {"question_id": 1, "question": "Who?", "respondent": "a", "said_yes": False, "margin": -2, "mass": 1},
                {"question_id": 2, "question": "Why?", "respondent": "b", "said_yes": True, "margin": 3, "mass": 0.05},
            ]
        ),
    )
    panel = load_panel(path)
    assert list(panel.answers.columns) == ["b", "a"]
    assert panel.question_texts.to_dict() == {"1": "Who?", "2": "Why?"}
    assert panel.responses["margin"].tolist() == [1.5, -2, 3]
    np.testing.assert_array_equal(panel.answers, [[1, 0], [NAN, NAN]])  # mass .05 is unread; a was never asked q2


def test_the_long_table_of_a_run_gives_the_same_panel_back(panel, tmp_path):
    panel_long(panel).to_parquet(tmp_path / "run.parquet")
    (tmp_path / "respondents.csv").unlink()
    for back in (panel_from_long(panel_long(panel)), load_panel(tmp_path / "run.parquet")):
        pd.testing.assert_frame_equal(back.answers, panel.answers)
        assert back.respondents.equals(panel.respondents[["model", "framing", "family"]])


def test_the_samples_of_an_answer_are_counted(tmp_path):
    """The samples of an answer are counted in the long table and after it."""
    rows = [
        (f"q{q}", name, cell) for q in (1, 2) for name, cell in [("a", 1), ("a", 0), ("a", 1), ("b", None), ("b", 1)]
    ]
    panel = panel_from_long(pd.DataFrame(rows, columns=["question_id", "respondent", "said_yes"]))
    panel_long(panel).to_parquet(tmp_path / "run.parquet")
    for back in (
        panel,
        panel_from_long(panel_long(panel)),
        load_panel(tmp_path / "run.parquet"),
        panel.select(["q2", "q1"]),
    ):
        yes, read = counts_of_samples(back, back.answers.index)
        np.testing.assert_array_equal(yes, [[2, 1], [2, 1]])
        np.testing.assert_array_equal(read, [[3, 1], [3, 1]])
    assert counts_of_samples(panel.select(respondents=["b"]), panel.answers.index) is None
    assert "n_read" not in panel_long(panel.select(respondents=["b"]))


def test_selected_questions_and_respondents_come_in_the_order_asked_for(panel):
    part = panel.select(["q3", "q1"], ["m2"])
    assert part.answers["m2"].to_dict() == {"q3": 1, "q1": 0}
    assert part.question_texts.tolist() == ["Where is Oslo?", "Who wrote Emma?"]
    with pytest.raises(InputError, match="no respondent 'm9'; it holds 'm1', 'm2', 'm3'"):
        panel.select(respondents=["m9"])


LONG = (
    "question_id,respondent,said_yes,model,family,answered_correctly\n"
    "q1,a,1,old,one,1\nq1,b,0,b-model,two,0\nq2,a,0,old,one,0\nq2,b,1,b-model,two,1\n"
)


def test_the_table_of_respondents_goes_first(tmp_path):
    """The table of respondents goes before what a long panel says of them."""
    written(tmp_path / "respondents.csv", "respondent,model,family\na,new,\n")
    about = load_panel(written(tmp_path / "panel.csv", LONG)).respondents
    assert about["model"].tolist() == ["new", "b-model"]  # of b it says nothing
    assert about["family"].tolist() == ["one", "two"]


def test_respondents_who_are_not_in_the_panel_are_said(tmp_path):
    about = written(tmp_path / "about.csv", "respondent,model\na,one\nbb,two\n")
    with pytest.warns(Notice, match="describes 'bb', which the panel does not hold, and says nothing of 'b'; check"):
        load_panel(written(tmp_path / "other.csv", LONG), about)


def test_a_matrix_of_other_numbers_cannot_be_made():
    respondents = pd.DataFrame({"model": ["m"], "framing": "", "family": ""}, index=["m"])
    with pytest.raises(InputError, match=r"other numbers than 1 .yes., 0 .no. and nan"):
        ResponseMatrix(pd.DataFrame({"m": [0.5]}, index=["q"]), respondents)


def test_questions_meet_the_panel_by_id_and_else_by_text(panel):
    questions = [
        Question("q3", "where is oslo"),
        Question("other", "WHO WROTE EMMA"),
        Question("new", "Who wrote Persuasion?"),
    ]
    shared, joined, report = join_questions_and_panel(questions, panel)
    assert [question.id for question in shared] == list(joined.answers.index) == ["q3", "other"]
    assert joined.answers.loc["other"].tolist() == panel.answers.loc["q1"].tolist()
    assert (report.by_id, report.by_text, report.unmatched_questions, report.unmatched_panel) == (1, 1, 1, 1)
    assert str(report).startswith("2 questions are in the panel (1 by id, 1 by text)")


def test_an_id_that_stands_for_two_texts_is_no_match(panel):
    questions = [Question("q1", "Who sang Aida?"), Question("q2", "Who knows?"), Question("q3", "Where is Oslo?")]
    shared, joined, report = join_questions_and_panel(questions, panel)
    assert [question.id for question in shared] == ["q1", "q3"]
    assert joined.answers.loc["q1"].tolist()[:2] == panel.answers.loc["q2"].tolist()[:2]
    assert report.other_text == 2


def test_a_text_that_stands_twice_is_not_guessed_at(tmp_path):
    panel = load_panel(written(tmp_path / "p.csv", "question_id,question,m\n1,Who?,1\n2,who,0\n3,Why?,1\n"))
    shared, _, report = join_questions_and_panel([Question("a", "Who?"), Question("b", "Why?")], panel)
    assert [question.id for question in shared] == ["b"]
    assert report.unmatched_panel == 2
    shared, _, report = join_questions_and_panel(
        [Question("c", "Why?"), Question("d", "why"), Question("2", "who")], panel
    )
    assert [question.id for question in shared] == ["2"]
    assert report.unmatched_questions == 2


def test_a_long_panel_keeps_its_rows_under_the_questions_ids(tmp_path):
    path = written(tmp_path / "p.csv", "question_id,question,respondent,said_yes\n1,Who?,m,1\n2,Why?,m,0\n")
    _, joined, _ = join_questions_and_panel([Question("a", "Why?")], load_panel(path))
    assert joined.responses[["question_id", "said_yes"]].to_numpy().tolist() == [["a", 0]]


def test_hashed_ids_meet_the_ids_of_a_panel_made_from_the_same_texts(tmp_path):
    panel = load_panel(written(tmp_path / "p.csv", f"question_id,m\n{question_id('Who?')},1\n"))
    questions = load_questions(written(tmp_path / "q.csv", "question\nWHO\n"))
    assert join_questions_and_panel(questions, panel)[2].by_id == 1


def test_nothing_shared_is_refused_with_both_sides(panel, tmp_path):
    bare = load_panel(written(tmp_path / "bare.csv", "question_id,m\n7,1\n"))
    with pytest.raises(InputError, match=r"none of the 1 questions: they are 'x', its rows are '7'.*gives no texts"):
        join_questions_and_panel([Question("x", "Who?")], bare)
    with pytest.raises(InputError, match="no text is the same either"):
        join_questions_and_panel([Question("x", "Who?")], panel)
    with pytest.raises(InputError, match="1 ids are the same, but stand for different texts"):
        join_questions_and_panel([Question("q1", "Who?")], panel)


def test_the_subjects_own_model_is_left_out_under_every_framing(panel):
    others, left_out = drop_own(panel, "hub/tiny-1b")
    assert left_out == ("m1", "m2")
    assert list(others.answers.columns) == ["m3"]


def test_the_subjects_own_weights_are_known_by_their_hash(panel):
    assert drop_own(panel, "renamed", ["zz", "bb"])[1] == ("m3",)
    assert drop_own(panel, "renamed")[1] == ()


def test_a_panel_of_the_subject_alone_is_refused(panel):
    with pytest.raises(InputError, match="every respondent of the panel is tiny-1b, the subject itself"):
        drop_own(panel.select(respondents=["m1", "m2"]), "tiny-1b")


@pytest.mark.parametrize(
    "name",
    [
        "tiny-1b-instruct",
        "/models/Tiny-1B-Instruct/",
        "C:\\models\\Tiny-1B-Instruct",
        "Org/Tiny-1B-Instruct@main",
        "x/Tiny-1B-Instruct.Q4_1.gguf",
        "x/tiny-1b-instruct-q4_k_m.gguf",
        "/cache/models--Org--Tiny-1B-Instruct/snapshots/0123abcd",
    ],
)
def test_one_model_is_recognised_under_its_names(name):
    assert same_model(name, "Org/Tiny-1B-Instruct")


@pytest.mark.parametrize("name", ["Org/Tiny-1B", "Org/Tiny-3B-Instruct", "Tiny-1B-Instruct-v2", "Tiny-1B-Instruct/x"])
def test_other_models_are_told_apart(name):
    assert not same_model(name, "Org/Tiny-1B-Instruct")
