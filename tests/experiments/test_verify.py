"""`onedial doctor RUN` says which files of a run are not as the run wrote them."""

import shutil

from tiny_experiment import ROOT, call

from onedial.core import Run
from onedial.core.run.hashes import FILE

__all__ = ["call"]

VERIFY = ROOT / "experiments" / "doctor.py"


def test_whoever_asks_learns_by_line_and_exit_code_what_became_of_each_run(call, tmp_path):
    with Run.create(tmp_path / "run", "test", {}) as run:
        run.write_text("report.html", "<html>")
    shutil.copytree(run.path, tmp_path / "copy")
    ended = call(VERIFY, run.path, tmp_path / "copy")
    assert ended.code == 0, ended.err
    (tmp_path / "copy" / "report.html").write_text("<html!")
    ended = call(VERIFY, run.path, tmp_path / "copy")
    assert ended.code == 1
    assert [line.split() for line in ended.out.splitlines() if line.startswith("other")] == [["other", "report.html"]]
    (run.path / FILE).unlink()
    ended = call(VERIFY, run.path)
    assert ended.code == 1
    assert "no sha256.txt" in ended.out
    ended = call(VERIFY, tmp_path)
    assert ended.code == 2
    assert "holds no run" in ended.err
