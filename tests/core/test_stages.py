"""A table of stages: what is wanted is done in its order and timed, and what is done once is not done again."""

import pytest

from onedial.core.run.run import Run
from onedial.core.run.stages import Stage, go_through


def test_wanted_stages_are_done_in_order_and_those_done_once_are_left_alone(tmp_path):
    done = []
    with Run.begin("study", {"seed": 0}, tmp_path / "run") as run:
        fails = Stage("second", lambda study: study.append(1 / 0), once=True)
        with pytest.raises(ZeroDivisionError):
            go_through(run, done, Stage("first", lambda study: study.append("first"), once=True), fails)
        go_through(
            run,
            done,
            Stage("first", lambda study: study.append("first"), once=True),
            Stage("left out", lambda study: study.append("left out"), wanted=False),
            Stage("second", lambda study: study.append("second"), once=True),
            Stage("always", lambda study: study.append("always")),
        )
        go_through(run, done, Stage("always", lambda study: study.append("always")))
    assert done == ["first", "second", "always", "always"]
    told = [(entry["stage"], entry["completed"]) for entry in run.manifest.stages]
    assert told == [("first", True), ("second", False), ("second", True), ("always", True), ("always", True)]
