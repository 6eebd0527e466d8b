"""One writer at a time: a lock in the run's folder that dies with the process that holds it.

The operating system keeps it (flock), so a kill -9 releases it and nothing has to be cleaned up. Of several processes
that share one run each holds a lock of its own: a process that outlived the others is noticed before the run goes on.
"""

import os
from pathlib import Path

from filelock import FileLock, Timeout

from onedial.core.errors import InputError

LOCKS = ".lock*"


class RunLock:
    """The right of one process to write a run; it goes with `release`, or with the process.

    Raises:
        InputError: another process holds it; or, for process 0, any process still writes here.
    """

    def __init__(self, folder: Path, process: int = 0) -> None:
        self._file = folder / (f".lock-p{process}" if process else ".lock")
        for other in [] if process else [file for file in folder.glob(LOCKS) if file != self._file]:
            _acquired(other, folder).release()
        self._lock = _acquired(self._file, folder)

    def release(self) -> None:
        """Remove the lock and its file."""
        self._file.unlink(missing_ok=True)
        self._lock.release()


def _acquired(file: Path, folder: Path) -> FileLock:
    while True:
        lock = FileLock(file)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"another process is writing {folder}; wait until it has ended, stop it, or choose another --out"
            ) from None
        if _is_still(file, lock):
            return lock
        lock.release()  # its last holder removed the file between our opening and our locking it


def _is_still(file: Path, lock: FileLock) -> bool:
    descriptor = lock._context.lock_file_fd
    try:
        return descriptor is not None and os.path.samestat(os.stat(file), os.fstat(descriptor))
    except FileNotFoundError:
        return False
