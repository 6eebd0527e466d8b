"""One writer at a time: a lock on the run's folder that dies with the process that holds it.

The operating system keeps it (flock), so a kill -9 releases it and nothing has to be cleaned up. It lies on the folder
itself, which whoever writes there cannot lose: with its lock file deleted a run is still held. The first process takes
the folder alone and then shares it with those of the same work (`Run.join`); of these each holds a lock file of its own
besides. Where a file system does not lock folders, the files alone hold.
"""

import errno
import os
from pathlib import Path

from filelock import FileLock, Timeout

from onedial.core.errors import InputError
from onedial.core.processes import held

LOCKS = ".lock*"
_NO_LOCKS_ON_FOLDERS = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


class RunLock:
    """The right of one process to write a run; it goes with `release`, or with the process.

    Raises:
        InputError: another process holds it; or, for process 0, any process still writes here.
    """

    def __init__(self, folder: Path, process: int = 0) -> None:
        self._folder: int | None = None
        self._folder = _locked_folder(folder, alone=process == 0)
        self._file = folder / (f".lock-p{process}" if process else ".lock")
        try:
            for other in [] if process else [file for file in folder.glob(LOCKS) if file != self._file]:
                _acquired(other, folder).release()
            self._lock = _acquired(self._file, folder)
        except BaseException:
            self._unlock()
            raise
        held.append(folder)

    def release(self) -> None:
        """Remove the lock and its file."""
        held.remove(self._file.parent)
        self._file.unlink(missing_ok=True)
        self._lock.release()
        self._unlock()

    def __del__(self) -> None:
        self._unlock()

    def _unlock(self) -> None:
        descriptor, self._folder = self._folder, None
        if descriptor is not None:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked process may hold the descriptor too
            os.close(descriptor)


def is_held(folder: Path) -> bool:
    """Whether a process is writing in the folder, for whoever only looks.

    Where a lock file lies without its process, as a kill leaves it, it is shared for the moment that this takes.
    """
    return any(_is_held(file) for file in folder.glob(LOCKS))


def _is_held(file: Path) -> bool:
    if os.name != "posix":
        return True
    import fcntl

    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # released meanwhile, or no lock file
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _locked_folder(folder: Path, alone: bool) -> int | None:
    """A descriptor of the folder that holds the lock: taken alone by the first process, and shared from then on."""
    if os.name != "posix":
        return None
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        for kind in [fcntl.LOCK_EX, fcntl.LOCK_SH] if alone else [fcntl.LOCK_SH]:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _NO_LOCKS_ON_FOLDERS:
            return None
        if error.errno == errno.EWOULDBLOCK:
            raise _held(folder) from None
        raise
    return descriptor


def _acquired(file: Path, folder: Path) -> FileLock:
    while True:
        lock = FileLock(file)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise _held(folder) from None
        if _is_still(file, lock):
            return lock
        lock.release()  # its last holder removed the file between our opening and our locking it


def _held(folder: Path) -> InputError:
    return InputError(f"another process is writing {folder}; wait until it has ended, stop it, or choose another --out")


def _is_still(file: Path, lock: FileLock) -> bool:
    descriptor = lock._context.lock_file_fd
    try:
        return descriptor is not None and os.path.samestat(os.stat(file), os.fstat(descriptor))
    except FileNotFoundError:
        return False
