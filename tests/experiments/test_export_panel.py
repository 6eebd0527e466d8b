"""experiments/export_panel.py: names are checked, files are not overwritten, what is left out is counted."""

from pathlib import Path

import pytest
from tiny_experiment import call

__all__ = ["call"]

PROGRAM = Path(__file__).parents[2] / "experiments" / "export_panel.py"


def test_a_panel_is_written_and_what_is_left_out_is_said(tmp_path, call):
    done = call(PROGRAM, "embedded", "--to", "py-irt", "--out", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert "12514 answers of 25 respondents" in done.out
    assert "left out: 811 answers whose said_yes is not known" in done.out
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 25


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["embedded", "--to", "pyirt", "--out", "o"], "no format called 'pyirt'; did you mean 'py-irt'"),
        (["embedded", "--to", "py-irt", "--out", "o", "--value", "saidyes"], "did you mean 'said_yes'"),
        (["embedded", "--to", "inspect-scores", "--out", "o"], "holds 25; choose one with --respondent"),
        (["embedded", "--to", "py-irt", "--out", "o", "--respondent", "gpt"], "no respondent 'gpt'"),
        (["embeded", "--to", "py-irt", "--out", "o"], "did you mean 'embedded'"),
        (["embedded", "--to", "py-irt", "--out", "taken"], "taken is taken; choose another name"),
    ],
)
def test_what_cannot_be_written_ends_in_one_sentence(tmp_path, monkeypatch, arguments, complaint, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("years")
    done = call(PROGRAM, *arguments)
    assert done.code == 2
    assert complaint in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
