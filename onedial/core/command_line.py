"""How every program here ends: a bad input gives one sentence and exit code 2."""

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from onedial.core.errors import InputError, ProcessLostError
from onedial.core.notices import counting_undone
from onedial.core.processes import held, is_first_process

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder with --out",
    errno.EDQUOT: "your quota there is used up: free some space or choose another folder with --out",
    errno.EFBIG: "no file may grow so large there (ulimit -f): raise the limit or choose another folder with --out",
    errno.EACCES: "choose a folder that you may write, or change the permissions",
    errno.EPERM: "choose a folder that you may write, or change the permissions",
    errno.EROFS: "choose a folder on a disk that is not read-only",
    errno.EIO: "the disk has failed: look at it, then go on from a copy, or choose another folder with --out",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: one of its parts is a file",
    errno.EISDIR: "give a file, not a folder",
    errno.EEXIST: "choose another path: this one is taken",
    errno.ENAMETOOLONG: "choose a shorter path",
}


EXIT_CODES = (
    "exit codes: 0 all is done; 1 what was checked is not in order, or another process is lost; 2 an input cannot be "
    "used,\nor something was left undone (a budget ended it, a respondent answered nothing): what is there is kept; "
    "130, 143 broken off"
)
"""One rule for all programs; docs/reliability.md has it as a table."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM, as a scheduler sends it before it takes the machine away."""


def run_command(main: Callable[[], int | None], *, resumes: bool = False) -> int:
    """Run `main` and turn an unusable input into one sentence on stderr.

    Args:
        resumes: whether the program knows --resume, as is said after Ctrl-C or SIGTERM once a run had begun.

    Returns:
        main's exit code (None counts as 0); 2 for an `InputError`, for a file-system error that the user can mend, or
        where something was left undone (`leave_undone`); 1 where another process is lost; 130 after Ctrl-C; 143 after
        SIGTERM; 141 when nobody reads what is printed. Any other exception passes through, with its traceback: it is
        a bug. `EXIT_CODES` says it in every help.
    """
    try:
        with _sigterm_ends_like_ctrl_c(), counting_undone() as undone:
            return main() or (2 if undone else 0)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ProcessLostError as error:
        way = ["the same command with --resume goes on from there"] if resumes else []
        print("; ".join([f"error: {error}", *getattr(error, "__notes__", []), *way]), file=sys.stderr, flush=True)
        return 1
    except BrokenPipeError:  # the reader of the output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt as interrupt:
        terminated = isinstance(interrupt, _Terminated)
        if is_first_process():  # a launcher ends the others by SIGTERM, after the first has said why
            # A run that had begun says where its work lies, where it was heard of already.
            saved = getattr(interrupt, "__notes__", [f"what was finished is saved in {folder}" for folder in held[-1:]])
            way = ["the same command with --resume goes on from there"] if saved and resumes else []
            print("; ".join(["terminated" if terminated else "interrupted", *saved, *way]), file=sys.stderr)
        return 143 if terminated else 130
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror}{where}; {_REMEDIES[error.errno]}", file=sys.stderr)
        return 2


@contextlib.contextmanager
def _sigterm_ends_like_ctrl_c() -> Iterator[None]:
    def terminate(number: int, frame: object) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # only the main one may say what a signal does
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
