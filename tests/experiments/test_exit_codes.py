"""One rule of exit codes for all programs, as a table: 0 done, 1 not in order, 2 unusable or left undone."""

import pytest

from onedial.core.command_line import run_command
from onedial.core.errors import InputError, ProcessLostError
from onedial.core.notices import leave_undone


def raising(error):
    def main():
        raise error

    return main


def leaving():
    leave_undone("a budget ended it")


@pytest.mark.parametrize(
    ("main", "code"),
    [
        (lambda: None, 0),
        (lambda: 1, 1),
        (raising(ProcessLostError("process 1 is lost")), 1),
        (raising(InputError("no such file")), 2),
        (raising(FileNotFoundError(2, "No such file")), 2),
        (leaving, 2),
        (raising(KeyboardInterrupt()), 130),
        (raising(BrokenPipeError()), 141),
    ],
)
@pytest.mark.filterwarnings("ignore:a budget ended it")
def test_how_a_program_ends_is_told_by_its_exit_code(main, code, capfd):
    assert run_command(main) == code
    assert run_command(lambda: None) == 0  # what one left undone is no other's
