"""One writer at a time: a lock on a file in the run's folder that dies with the process that holds it.

The operating system keeps it (flock), so a kill -9 releases it and nothing has to be cleaned up. Further processes of
the same work (`Run.join`) hold a file each; the first one begins when none of them is left.
"""

import os
from pathlib import Path

from filelock import FileLock, Timeout

from onedial.core.errors import InputError
from onedial.core.processes import held

LOCKS = ".lock*"


class RunLock:
    """The right of one process to write a run; it goes with `release`, or with the process.

    Raises:
        InputError: another process holds it; or, for process 0, any process still writes here.
    """

    def __init__(self, folder: Path, process: int = 0) -> None:
        self._folder, self._file = folder, folder / (f".lock-p{process}" if process else ".lock")
        self._lock = FileLock(self._file)
        try:
            self._lock.acquire(timeout=0)
            if not process and any(_is_held(file) for file in folder.glob(LOCKS) if file != self._file):
                self._lock.release()
                raise Timeout(str(self._file))
        except Timeout:
            raise InputError(
                f"another process is writing {folder}; wait until it has ended, stop it, or choose another --out"
            ) from None
        held.append(folder)

    def release(self) -> None:
        """Give it up, and remove its file; whoever has opened that one meanwhile makes another (`filelock`)."""
        held.remove(self._folder)
        self._file.unlink(missing_ok=True)
        self._lock.release()


def is_held(folder: Path) -> bool:
    """Whether a process is writing in the folder, for whoever only looks.

    Where a lock file lies without its process, as a kill leaves it, it is shared for the moment that this takes.
    """
    return any(_is_held(file) for file in folder.glob(LOCKS))


def _is_held(file: Path) -> bool:
    if os.name != "posix":
        return True
    import fcntl

    with open(file, "rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:  # of another kind on a file system without locks
            return isinstance(error, BlockingIOError)
    return False
