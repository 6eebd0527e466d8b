"""Panels as people have them: what is declared is read so, and what is not is refused with what to type."""

import json
import shlex
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from onedial.confidence.calibration import calibration_table
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.inputs import load_inputs
from onedial.panels.keying import keyed
from onedial.panels.panel_files import PanelSource, load_panel
from onedial.panels.panel_scores import base_model_means, correctness_of, stated_confidence
from onedial.panels.spellings import Spellings

pytestmark = pytest.mark.filterwarnings("ignore::onedial.core.notices.Notice")
DATA = Path(__file__).parent / "data"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def panel_of(tmp_path, text, cut="", **declared):
    return load_panel(f"{write(tmp_path / 'p.csv', text)}{cut}", declared=declared)


# --- numbers ---

WIDE = "question_id,a,b\nq1,{},{}\nq2,{},{}\nq3,{},{}\n"


@pytest.mark.parametrize(
    ("cells", "cut", "shares"),
    [
        ((20, 20, 90, 90, 100, 100), ":70/100", [[0.2, 0.2], [0.9, 0.9], [1, 1]]),
        (("20%", 0.2, "90 %", 0.9, "1%", 1), ":0.7/1", [[0.2, 0.2], [0.9, 0.9], [0.01, 1]]),
        ((3, 5, 4, 1, 5, 2), ":4/5", [[0.6, 1], [0.8, 0.2], [1, 0.4]]),
        ((0, 20, 0, 90, 0, "N/A"), ":70/100", [[0, 0.2], [0, 0.9], [0, np.nan]]),
        ((80.5, 20, 0.55, 90, 90, 55), ":70/100", [[0.805, 0.2], [0.0055, 0.9], [0.9, 0.55]]),
    ],
)
def test_numbers_are_shares_of_the_declared_scale(tmp_path, cells, cut, shares):
    panel = panel_of(tmp_path, WIDE.format(*cells), cut)
    np.testing.assert_allclose(stated_confidence(panel).values, shares)
    yes = np.where(np.isnan(shares), np.nan, np.array(shares) >= (0.8 if cut == ":4/5" else 0.7))
    np.testing.assert_array_equal(panel.answers, yes)


@pytest.mark.parametrize(
    ("cells", "cut", "reason"),
    [
        ((30, 50, 40, 100, 50, 20), ":70", r"scale .* not declared; name .*p\.csv:70/TOP"),
        ((3, 5, 4, 1, 5, 2), ":4", r"p\.csv:4/TOP"),
        ((0.2, 20, 0.9, 90, 1, 100), ":70/100", "'a' states '0.2' and nothing above 1 on a scale to 100; .*a,TOP"),
        ((80, 50, 0.55, 100, 90, 20), ":70/100", "'a' states '0.55' and nothing above 90 on a scale to 100"),
        ((1, 50, 0, 100, 1, 20), ":70/100", "'a' states '1' and nothing above 1 on a scale to 100"),
        (("0.9%", "50%", "0.5%", "90%", "1%", "20%"), ":70/100", "'a' states '0.5%' .* leave percent signs out"),
        ((30, 50, 40, 120, 50, 20), ":70/100", "line 3, column 'b' holds '120'; give a number from 0 to 100"),
        (("yes", 50, 40, 100, 50, 20), ":70/100", "line 2, column 'a' holds 'yes'; give a number from 0 to 100"),
        ((30, 50, 40, 100, 50, 20), "", r"line 2, column 'a' holds '30'; .*--yes 1 --no 2.*panel\.csv:CUT/TOP"),
        ((95, 9, 100, 10, 60, 7), ":90/100", "'b' states '7' and nothing above 10 on a scale to 100; .*b,TOP"),
        ((6, 6, 4, 2, 3, 1), ":8/10", "no number of the panel is at least 8 .the highest is 6."),
        ((9, 5, 8, 4, 10, 3), ":7/10", "'b' states '3' and nothing above 5 on a scale to 10; .*b,TOP"),
        (("9_0", 1, 4, 2, 3, 1), ":8/10", "holds '9_0'"),
        ((5, 1, 4, 2, 3, 1), ":95/100", "'a' states '3' and nothing above 5"),
        ((80, 8.5, 90, 9, 100, 10), ":90/100", "'b' states '8.5' and nothing above 10"),
        ((1, "95%", 0.5, "90%", 1, 0.2), ":median", "with a percent sign and without"),
    ],
)
def test_numbers_without_their_scale_are_refused(tmp_path, cells, cut, reason):
    with pytest.raises(InputError, match=reason):
        panel_of(tmp_path, WIDE.format(*cells), cut)


def test_each_respondent_may_have_its_own_scale(tmp_path):
    """A study in which two of six models state shares; the values are those of the raw file."""
    table = write(tmp_path / "p.csv", (DATA / "mixed_long.csv").read_text())
    write(tmp_path / "respondents.csv", "respondent,top\ngpt-x,1\nllama-q,1\n")
    panel = load_panel(f"{table}:70/100")
    stated, correct = stated_confidence(panel).values, correctness_of(panel)
    means = base_model_means(panel, correct, stated)
    assert stated["gpt-x"].mean() == pytest.approx(0.55, abs=0.005)
    assert calibration_table(stated, correct)["ece_mass"]["gpt-x"] == pytest.approx(0.14, abs=0.005)
    line = confidence_accuracy_regression(means["confidence"], means["accuracy"]).line
    assert line.slope == pytest.approx(1.38, abs=0.005)


def test_a_median_needs_no_scale_and_makes_no_shares(tmp_path):
    panel = panel_of(tmp_path, WIDE.format(3, 50, 4, 100, 10, 20), ":median")
    np.testing.assert_array_equal(panel.answers, [[0, 1], [1, 1], [1, 0]])
    assert stated_confidence(panel) is None


def test_confidence_beside_an_answer_needs_its_scale_too(tmp_path):
    text = "question_id,model,answer,confidence,correct\nq1,a,Y,80,1\nq2,a,N,20,0\n"
    with pytest.raises(InputError, match="scale of the numbers"):
        panel_of(tmp_path, text)
    for cut in (":50/100", ":median"):
        with pytest.raises(InputError, match=r"has answers .answer. .* leave the cut .* out, .* as top: in elic"):
            panel_of(tmp_path, text, cut)
    panel = panel_of(tmp_path, text, top=100)
    assert panel.answers["a"].tolist() == [1, 0]
    assert stated_confidence(panel).values["a"].tolist() == [0.8, 0.2]
    assert correctness_of(panel)["a"].tolist() == [1, 0]


def test_decimal_commas_of_a_spreadsheet_are_points(tmp_path):
    text = "\ufeffquestion_id;a;b\r\nq1;0,25;0,9\r\nq2;0,125;1\r\n"
    panel = panel_of(tmp_path, text, ":0.7/1")
    np.testing.assert_allclose(stated_confidence(panel).values, [[0.25, 0.9], [0.125, 1]])
    with pytest.raises(InputError, match="holds '1,000'"):
        panel_of(tmp_path, text.replace("0,25", "1,000"), ":0.7/1")


# --- columns and rows ---


def test_every_other_column_is_a_respondent_and_about_says_otherwise(tmp_path):
    rows = "".join(f"q{n},Who wrote {n}?,{'art' if n % 2 else 'sea'},{n % 2},{n // 2 % 2}\n" for n in range(4))
    text = f"question_id,question,topic,a,hard\n{rows}"
    with pytest.raises(InputError, match=r"has the columns 'hard', .* --about hard, or list"):
        panel_of(tmp_path, text)
    text = text.replace("hard", "tough")
    with pytest.warns(Notice, match=r"4 questions; 2 respondents .*'a', 'tough'; .*4 yes, 4 no, 0 blank; first 'q0'"):
        assert list(panel_of(tmp_path, text).answers.columns) == ["a", "tough"]
    panel = panel_of(tmp_path, text, about=["tough"])
    assert list(panel.answers.columns) == ["a"]
    assert panel.about_questions["topic"].tolist() == ["sea", "art"] * 2
    assert panel.about_questions["tough"].tolist() == ["0", "0", "1", "1"]
    source = PanelSource(str(tmp_path / "p.csv"), declared={"about": ["tough"]})
    assert load_inputs(source).panel.answers.shape == (4, 1)


LONG = "question_id,respondent,said_yes"
REFUSED = {
    "unnamed": (",a\nq1,1\n", "column without a name .*pandas: index=False"),
    "row numbers": ("Unnamed: 0,question_id,a\n0,q1,1\n", "--about 'Unnamed: 0'"),
    "summary": ("question_id,question,a\nq1,Who?,1\nMean,,1\n", "line 3 is called 'Mean', .* delete it"),
    "seed": ("question_id,a,b\nseed,0,1\nq1,1,1\n", "line 2 is called 'seed', .*another id"),
    "key": ("question_id,a,b\nq1,1,1\nAnswer key,0,1\n", "line 3 is called 'Answer key'"),
    "correct beside": ("question_id,a,a_correct\nq1,1,0\n", "columns 'a_correct', .* --about a_correct"),
    "label beside answer": ("model,question,answer,label\na,Is it?,yes,no\n", "'label' beside answer, .*said_yes if"),
    "names alike": ("question_id,GPT-4,gpt-4\nq1,1,0\n", "holds the respondents 'GPT-4', 'gpt-4'"),
    "ids alike": (f"{LONG}\nq01,a,1\nQ1,b,1\n", "holds the ids 'q01', 'Q1'"),
    "a cut of two scales": ("question_id,a\nq1,1\n", "no cut that can be read"),
    "header twice": (f"{LONG}\nq1,a,1\n{LONG}\nq1,b,1\n", "line 3 names the columns again"),
    "codes": ("question_id,a\nq1,1\nq2,2\nq3,9\n", "line 3, column 'a' holds '2'; .*--yes 1 --no 2 --blank 9"),
    "remark": ("Survey of May,,\nquestion_id,a,b\nq1,1,0\n", "the first line .'Survey of May'. names 1 of 3 columns"),
    "remark in a line": ("Survey\nquestion_id,a\nq1,1\n", "line 2 has 2 fields, but line 1 names 1 .'Survey'"),
    "two separators": ("question_id,a;b\nq1,1;0\n", "a table by ',', ';' alike; .* sep=,"),
    "an id per answer": (f"{LONG},question\n1,a,1,Who?\n2,b,0,Who?\n3,a,1,Why?\n4,b,1,Why?\n", "an id of its own"),
    "an id per sample": (f"{LONG},question\n1,a,1,Who?\n2,a,0,Who?\n3,a,1,Why?\n4,a,1,Why?\n", "an id of its own"),
    "no answers": ("question_id,respondent,verdict\nq1,a,1\n", r"columns: {said_yes: COLUMN} .*--columns said_yes"),
    "ids of floats": ("question_id,a\n1.0,1\n1,0\n", "holds the ids '1.0', '1'"),
    "texts alike": ("question,a\nWhat is 5-3?,1\nWhat is 5+3?,0\n", "line 3.* is 'What is 5-3.' but .*question_id"),
    "text twice": ("question,a\nWho?,1\nWho? ,0\n", "line 3 repeats the question 'Who.'"),
    "standard errors": (f"{LONG},error\nq1,a,1,0.02\n", "column 'error' holds '0.02'; .* rename it"),
    "prompts": (
        f"{LONG},prompt_id\nq1,a,1,x\nq1,a,0,y\n",
        "line 2: 'a' answers 'q1' more .*{sample: prompt_id} .*--columns sample=prompt_id",
    ),
    "steps": ("id,model,step,said_yes\nq1,a,1,1\nq1,a,2,0\n", "other values of 'step'; "),
    "total": ("question_id,a,b\nq1,1,0\nTotal:,1,0\n", "line 3 is called 'Total:'"),
    "total as text": ("question,a,b\nWho?,1,0\nMittelwert,1,0\n", "line 3 is called 'Mittelwert'"),
    "mean in long": (f"{LONG}\nq1,a,1\nq1,mean,1\nq1,Gold,1\n", "respondents 'mean', 'Gold'.*delete their rows"),
    "majority": ("id,a,majority,Has Image\nq1,1,0,1\n", "--about 'majority,Has Image', or list"),
    "1_0": ("question_id,a\nq1,0_1\n", "holds '0_1'"),
    "turned": ("model,family,q1,q2\na,Meta,1,0\n", "--turned model --about family$"),
    "no id": (",q1,q2\na,1,0\n", "give each a name, and that column by --turned COLUMN"),
    "two keys": ("question_id,reversed,keyed,a\nq1,0,1,1\n", "both say which questions are reversed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_panel_is_refused_with_a_remedy(tmp_path, name):
    text, reason = REFUSED[name]
    with pytest.raises(InputError, match=reason):
        panel_of(tmp_path, text, ":4/5,10" if name == "a cut of two scales" else "")


def declared_by(refusal: str) -> dict:
    """What the end of a refusal says is to be declared."""
    if "beside it: " in refusal:
        return json.loads(refusal.partition("beside it: ")[2])
    words = shlex.split(refusal[refusal.index("--turned") :])
    return {"turned": words[1]} | ({"about": words[3].split(",")} if len(words) > 2 else {})


@pytest.mark.parametrize("first", ["model", "Model", "Unnamed: 0"])
def test_a_table_with_its_models_in_the_rows_says_how_to_turn(tmp_path, first):
    """What the refusal says is declared, and the table is a panel."""
    text = f"{first},q1,q2,q3\ngpt,1,0,1\nclaude,0,0,\n"
    with pytest.raises(InputError) as refusal:
        panel_of(tmp_path, text)
    panel = load_panel(tmp_path / "p.csv", declared=declared_by(str(refusal.value)))
    expected = pd.DataFrame({"gpt": [1.0, 0, 1], "claude": [0, 0, np.nan]}, index=["q1", "q2", "q3"])
    pd.testing.assert_frame_equal(panel.answers, expected, check_names=False)
    assert panel.question_texts is None


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl"])
def test_people_in_rows_keep_their_names_when_turned(tmp_path, name):
    """Also names that are like blanks or numbers."""
    frame = pd.DataFrame({"id": ["NA", "007", "7"], "q1": [1, 0, 1], "Q_2": [0, 0, 1], "item 3": ["", 1, 1]}, dtype=str)
    if name == "p.jsonl":
        frame.to_json(tmp_path / name, orient="records", lines=True)
    else:
        frame.to_csv(tmp_path / name, sep=";" if name == "p.csv" else "\t", index=False)
    with pytest.raises(InputError, match="columns called like questions") as refusal:
        load_panel(tmp_path / name)
    answers = load_panel(tmp_path / name, declared=declared_by(str(refusal.value))).answers
    assert list(answers.index) == ["q1", "Q_2", "item 3"]
    assert answers.fillna(-1).to_dict("list") == {"NA": [1, 0, -1], "007": [0, 0, 1], "7": [1, 1, 1]}


SURVEYS = {
    "Qualtrics": (
        'StartDate,Finished,ResponseId,Q1,Q2\nStart Date,Finished,Response ID,Can you sing?,"Can you run, fast?"\n'
        + ",".join(f'"{{""ImportId"":""{name}""}}"' for name in ("startDate", "finished", "_recordId", "QID1", "QID2"))
        + "\n2024-05-01,True,R_1,Yes,No\n2024-05-02,True,R_2,No,\n"
    ),
    "SurveyMonkey": (
        'Respondent ID,Collector ID,Start Date,Can you,,\n,,,sing?,"run, fast?",Open-Ended Response\n'
        "R_1,44,05/01,Yes,No,\nR_2,44,05/02,No,,\n"
    ),
    "Google Forms": 'Timestamp,Can you sing?,"Can you run, fast?","Town, if any"\nR_1,Yes,No,Rome\nR_2,No,,Rome\n',
    "LimeSurvey": 'id,submitdate,Can you sing?,"Can you run, fast?"\nR_1,1980-01-01,Yes,No\nR_2,1980-01-01,No,\n',
}


@pytest.mark.parametrize("program", SURVEYS)
def test_exports_of_surveys_are_read_by_the_first_remedy(tmp_path, program):
    """Of two programs the header itself says what its columns are; for the others the refusal names what to declare."""
    text, declared = SURVEYS[program], {}
    if program in ("Google Forms", "LimeSurvey"):
        with pytest.raises(InputError) as refusal:
            panel_of(tmp_path, text)
        declared = declared_by(str(refusal.value))
    panel = panel_of(tmp_path, text, **declared)
    asked = ["Can you sing?", "Can you run, fast?"]
    assert list(panel.question_texts)[:2] == asked
    assert panel.answers.loc[asked].fillna(-1).to_dict("list") == {"R_1": [1, 0], "R_2": [0, -1]}


def test_a_question_of_qualtrics_is_left_out_by_its_name(tmp_path):
    """As the refusal names it, though its text has a comma."""
    text = SURVEYS["Qualtrics"].replace("R_1,Yes,No", "R_1,Yes,Not today")
    with pytest.raises(InputError, match="line 4, column 'Q2' holds 'Not today'"):
        panel_of(tmp_path, text)
    assert list(panel_of(tmp_path, text, about=["Q2"]).answers.index) == ["Can you sing?"]
    with pytest.raises(InputError, match="leave columns out"):
        panel_of(tmp_path, text, columns={"question_id": "Q2"})


@pytest.mark.parametrize("name", ["row", "column", "rounded"])
def test_means_are_told_by_their_numbers(tmp_path, name):
    """Of a row or column with any name; listed in respondents.csv, the column is a respondent."""
    cells = np.array([[90, 20, 70], [80, 40, 90], [100, 60, 50], [30, 50, 61]])
    frame = pd.DataFrame(cells, columns=list("abc"), index=["q1", "q2", "q3", "q4"])
    if name == "column":
        frame["alle"] = frame.mean(axis=1).round(2)
    else:
        frame.loc["Schnitt"] = frame.mean().round(0 if name == "rounded" else 2)
    text = frame.to_csv(index_label="question_id")
    with pytest.raises(InputError, match="column 'alle' is the mean" if name == "column" else "line 6 is the mean"):
        panel_of(tmp_path, text, ":70/100")
    if name == "column":
        write(tmp_path / "respondents.csv", "respondent\nalle\n")
        assert panel_of(tmp_path, text, ":70/100").answers.shape == (4, 4)


def test_percent_cells_of_a_workbook_are_read_as_shown(tmp_path):
    book = openpyxl.Workbook()
    for row in (("question_id", "a", "b"), ("q1", 0.71, 0.2), ("q2", 0.05, 1)):
        book.active.append(row)
    for row in book.active.iter_rows(min_row=2, min_col=2):
        for cell in row:
            cell.number_format = "0%"
    book.save(tmp_path / "p.xlsx")
    panel = load_panel(f"{tmp_path / 'p.xlsx'}:70/100")
    assert stated_confidence(panel).values.to_numpy().tolist() == [[0.71, 0.2], [0.05, 1]]


def test_who_is_listed_is_a_respondent_whatever_the_name(tmp_path):
    write(tmp_path / "respondents.csv", "respondent\nhuman\nq1\n")
    assert list(panel_of(tmp_path, "question_id,human,q1\n1,1,0\n").answers.columns) == ["human", "q1"]
    assert list(panel_of(tmp_path, f"{LONG}\n1,human,1\n1,q1,0\n").answers.columns) == ["human", "q1"]


def test_a_formula_without_its_value_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in (("question_id", "a"), ("q1", 1), ("q2", "=B2")):
        book.active.append(row)
    book.save(tmp_path / "p.xlsx")
    with pytest.raises(InputError, match="cell B3 is a formula without a stored value"):
        load_panel(tmp_path / "p.xlsx")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("p.csv", b"sep=;\nquestion_id;a, b\nq1;1\nq2;0\n"),
        ("p.tsv", "question_id\ta, b\nq1\t1\nq2\t0\n".encode("utf-16")),
        ("p.csv", b'question_id,"a, b",,\nq1,1,,\nq2,0,,\n'),
        ("p.json", b'[{"question_id": "q1", "a, b": "Y"}, {"question_id": "q2", "a, b": false}]'),
        ("p.jsonl", b'{"id": "q1", "a, b": true}\n\n{"id": "q2", "a, b": "n"}\n'),
    ],
)
def test_the_same_table_is_read_in_every_form(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert load_panel(tmp_path / name).answers["a, b"].to_dict() == {"q1": 1, "q2": 0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"id": 1, "a": 1, "id": 2}]', "gives the key 'id' twice in one object"),
        ('{"q1": {"a": 1}, "q2": {"a": 0}}', r"holds one object .'q1', 'q2'., no rows; write an array"),
        ('{\n"data": [{"id": 1, "a": 1}]\n}', "holds one object .'data'., no rows"),
        ('[{"id": 1}, 2]', "no whole array of rows"),
    ],
)
def test_json_is_an_array_or_lines_of_objects(tmp_path, text, reason):
    with pytest.raises(InputError, match=reason):
        load_panel(write(tmp_path / "p.json", text))


# --- words ---


@pytest.mark.parametrize("word", ["NA", "N/A", "n/a", "null", "None", "-", "–", "NaN", "#N/A", "<NA>", " "])
@pytest.mark.parametrize("cut", ["", ":70/100"])
def test_blanks_are_one_set_in_every_kind_of_panel(tmp_path, word, cut):
    yes, no = (90, 20) if cut else ("Y", "False")
    wide = panel_of(tmp_path, f"question_id,a,b\nq1,{yes},{word}\nq2,{no},{yes}\n", cut)
    column = "confidence" if cut else "said_yes"
    rows = f"q1,a,{yes}\nq1,b,{word}\nq2,a,{no}\nq2,b,{yes}\n"
    long = panel_of(tmp_path, f"question_id,respondent,{column}\n{rows}", cut)
    for panel in (wide, long):
        np.testing.assert_array_equal(panel.answers, [[1, np.nan], [0, 1]])


@pytest.mark.parametrize(
    ("cells", "declared"),
    [
        (("Ja", "refused", "nein", "JA"), {"yes": ["ja"], "no": ["nein"], "blank": ["refused"]}),
        ((1, 9, 2, "1.0"), {"yes": ["1"], "no": ["2"], "blank": ["9"]}),
        ((0, "", 1, 0), {"yes": ["0"], "no": ["1"]}),
    ],
)
def test_other_words_and_codes_are_declared(tmp_path, cells, declared):
    text = "question_id,a,b\nq1,{},{}\nq2,{},{}\n".format(*cells)
    np.testing.assert_array_equal(panel_of(tmp_path, text, **declared).answers, [[1, np.nan], [0, 1]])


def test_a_code_leaves_1_and_0_without_a_meaning(tmp_path):
    with pytest.raises(InputError, match="holds '0'"):
        panel_of(tmp_path, "question_id,a\nq1,1\nq2,0\n", yes=["1"], no=["2"])
    with pytest.raises(InputError, match="'ja' is given as a spelling of two"):
        Spellings(("Ja",), ("ja",))


def test_a_column_that_parts_answers_is_declared(tmp_path):
    text = "question_id,respondent,prompt_id,said_yes\nq1,a,x,1\nq1,a,y,0\nq1,a,z,1\n"
    assert panel_of(tmp_path, text, columns={"sample": "prompt_id"}).answers.to_dict() == {"a": {"q1": 1}}
    framed = panel_of(tmp_path, text, columns={"framing": "prompt_id"})
    assert framed.answers.loc["q1"].to_dict() == {"a: x": 1, "a: y": 0, "a: z": 1}
    text = "question_id,respondent,framing,said_yes\nq1,g,bold,1\nq1,g,shy,0\nq1,h,shy,1\n"
    assert panel_of(tmp_path, text).answers.loc["q1"].to_dict() == {"g: bold": 1, "g: shy": 0, "h: shy": 1}


def test_an_answer_with_an_error_is_unread(tmp_path):
    text = f"{LONG},error\nq1,a,1,\nq2,a,0,none\nq1,b,0,timeout\nq2,b,1,0\n"
    with pytest.warns(Notice, match="1 blank .1 with an error"):
        panel = panel_of(tmp_path, text)
    np.testing.assert_array_equal(panel.answers, [[1, np.nan], [0, 1]])


# --- questions that are keyed the other way round

KEYS = {"reversed": ["", "true", "0"], "keyed": ["+", "-", "+1"]}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("shape", ["wide", "long", "beside"])
def test_reversed_answers_are_turned_for_the_scale_alone(tmp_path, name, shape):
    frame = pd.DataFrame({"question_id": ["q1", "q2", "q3"], name: KEYS[name], "a": [1, 0, 1], "b": [0, 1, np.nan]})
    if shape == "long":
        frame = frame.melt(["question_id", name], ["a", "b"], "respondent", "said_yes").assign(margin=0.5)
    if shape == "beside":
        write(tmp_path / "elicitation.yaml", "questions: about.csv\n")
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


@pytest.mark.parametrize(("name", "cells"), [("reversed", ("maybe", "no")), ("keyed", (0, -1)), ("reversed", (1, -1))])
def test_a_keying_that_is_not_understood_is_named(tmp_path, name, cells):
    text = f"question_id,{name},a,b\nq1,{cells[0]},1,0\nq2,{cells[1]},0,1\nq3,1,0,1\n"
    with pytest.raises(InputError, match=f"the column '{name}' says .* of the question 'q[12]'"):
        panel_of(tmp_path, text)
