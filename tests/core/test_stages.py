"""A table of stages: what is wanted is done in its order and timed, and what is done once is not done again."""

import pytest

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.core.run.stages import Stage, go_through, loads_of


def refuse(study):
    raise InputError("not like this")


def test_wanted_stages_are_done_in_order(tmp_path):
    """Wanted stages are done in order and those done once are left alone."""
    done, first = [], Stage(lambda study: study.append("first"), once=True)
    always = Stage(lambda study: study.append("always"))
    with Run.begin("study", {"seed": 0}, tmp_path / "run") as run:
        fails = Stage(lambda study: study.append(1 / 0), once=True)
        with pytest.raises(ZeroDivisionError):
            go_through(run, done, {"first": first, "second": fails}, None)
        left_out = Stage(lambda study: study.append("left out"), wanted=lambda options: options != "short")
        second = Stage(lambda study: study.append("second"), once=True)
        go_through(
            run, done, {"first": first, "left out": left_out, "second": second, "always": always}, options="short"
        )
        go_through(run, done, {"always": always}, None)
    assert done == ["first", "second", "always", "always"]
    stages_done = [(entry["stage"], entry["completed"]) for entry in run.manifest.stages]
    assert stages_done == [("first", True), ("second", False), ("second", True), ("always", True), ("always", True)]


def test_what_settles_a_run_withdraws_it_where_an_input_is_refused(tmp_path):
    for settles in (False, True):
        with (
            pytest.raises(InputError, match="not like this"),
            Run.begin("study", {"seed": 0}, tmp_path / str(settles)) as run,
        ):
            go_through(run, None, {"plan": Stage(refuse, settles=settles)}, None)
        assert (tmp_path / str(settles)).exists() != settles


def test_a_forecast_has_the_loads_of_the_stages_that_are_wanted():
    stages = {
        "one": Stage(print, lambda ahead: [ahead]),
        "two": Stage(print, lambda ahead: [ahead], wanted=lambda options: options),
        "asks nothing": Stage(print),
    }
    assert loads_of(stages, False, 3) == {"one": [3]}
    assert loads_of(stages, True, 3) == {"one": [3], "two": [3]}
