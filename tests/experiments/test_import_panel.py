"""experiments/panel.py import from a folder of logs to a panel that the other programs take."""

from pathlib import Path

import pandas as pd
from forks import run_program

from onedial.panels.joining import join_questions_and_panel
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "reference" / "imports"


def run(*arguments):
    return run_program(ROOT / "experiments" / "panel.py", "import", *arguments)


def test_logs_become_a_panel_with_questions_respondents_and_a_report(tmp_path):
    asked = ("--asked", "can_you=yes-no,can_you_reasoned=yes-no,closed_book=question")
    asked += ("--confidence-scale", "1", "--shared-lines", "cut")
    done = run(LOGS / "inspect", *asked, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    written = {file.name for file in (tmp_path / "out").iterdir()}
    about_the_run = {"config.yaml", "manifest.json", "log.txt"}
    assert written - about_the_run == {
        *("panel.csv", "questions.jsonl", "respondents.csv", "import_report.json", "elicitation.yaml")
    }
    assert "asked whether it can answer; first " in done.stdout
    assert "asked the questions themselves" in done.stdout
    assert "left out: 4 x copy of an answer that another log holds" in done.stdout
    assert "cannot be read; some of them:" in done.stdout
    assert "'Ireland to New York would be'" in done.stdout
    panel, questions = load_panel(tmp_path / "out" / "panel.csv"), load_questions(tmp_path / "out" / "questions.jsonl")
    assert join_questions_and_panel(questions, panel)[2].by_id == 4
    assert panel.responses["answered_correctly"].notna().sum() == 8
    again = run(LOGS / "inspect", *asked, "--out", tmp_path / "out")
    assert again.returncode == 2
    assert "delete it, or choose another --out" in again.stderr  # there is no --resume


def test_a_table_with_columns_of_other_names_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("llm,q,verdict\nx,Who?,yes\nx,Why?,no\nx,How?,hm\n")
    out = tmp_path / "out"
    done = run(
        tmp_path / "t.csv", "--columns", "respondent=llm,question=q,raw_text=verdict", "--asked", "yes-no", "--out", out
    )
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(out / "panel.csv")["missing"].fillna("").tolist() == ["", "", "unread"]
