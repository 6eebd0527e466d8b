"""experiments/panel.py export: names are checked, files are not overwritten, what is left out is counted."""

from pathlib import Path

from tiny_experiment import call

__all__ = ["call"]

PROGRAM = (Path(__file__).parents[2] / "experiments" / "panel.py", "export")


def test_a_panel_is_written_and_what_is_left_out_is_said(tmp_path, call):
    done = call(*PROGRAM, "embedded", "--to", "py-irt", "--out", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert "12514 answers of 25 respondents" in done.out
    assert "left out: 811 answers whose said_yes is not known" in done.out
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 25
