"""A second copy of a run at an address (s3://bucket/run, gs://, sftp://, a folder), for a machine that may be lost.

The run itself needs a file system that renames and locks; the copy needs neither. Every file that the run has finished
is sent under a temporary name and renamed there, so that the copy too holds whole files only. `fetch` brings it back.
"""

import fnmatch
import threading
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from onedial.core.errors import InputError
from onedial.core.files import path_inside
from onedial.core.pulse import say
from onedial.core.run.configuration import FILE as CONFIGURATION
from onedial.core.run.files import TEMPORARY, finished_files
from onedial.core.run.lock import LOCKS

EVERY = 20.0
"""Seconds between two looks at the run's folder."""
Stamp = tuple[int, int]


class Mirror:
    """The copy of one folder at one address, kept up to date by a thread between `start` and `stop`.

    A copy that fails (no network, no space) is tried again at the next look and never ends the run; `stop` tries once
    more and says what is missing.

    Args:
        folder: of the run. address: what fsspec understands; credentials come from the environment, as its file
            systems take them. every: seconds between two looks.

    Raises:
        InputError: no such kind of address, its library is missing, or a password stands in it.
    """

    def __init__(self, folder: Path | str, address: str, every: float = EVERY) -> None:
        self.folder, self.address, self._every = Path(folder), address.rstrip("/"), every
        self._files, self._root = _file_system(self.address)
        self._sent: dict[str, Stamp] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def holds_a_run(self) -> bool:
        """Whether a run has been copied there.

        Raises:
            InputError: the address cannot be read.
        """
        try:
            return bool(self._files.exists(f"{self._root}/{CONFIGURATION}"))
        except Exception as error:  # each file system has errors of its own
            raise InputError(
                f"--mirror {self.address} cannot be read ({_words(error)}); check address and login"
            ) from error

    def fetch(self) -> int:
        """Bring every file of the copy into the folder, which holds none of them; how many there are.

        Raises:
            InputError: a name leads out of the folder (nothing is brought then), or one could not be brought.
        """
        names = sorted(self._names_there(), key=lambda each: (each == CONFIGURATION, each))
        targets = {name: path_inside(self.folder, name) for name in names}
        try:
            for name, target in targets.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                self._files.get_file(f"{self._root}/{name}", str(target))
        except Exception as error:
            raise InputError(
                f"{self.address} could not be brought to {self.folder} ({_words(error)}); empty the folder, try again"
            ) from error
        self._sent = self._stamps()
        return len(names)

    def start(self) -> None:
        """Copy what is there, and from now on what is new, in a thread that ends with the process."""
        self._thread = threading.Thread(target=self._watch, name="mirror", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Copy what is new for the last time, and print what could not be copied."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        try:
            self.update()
        except Exception as error:
            missing = sum(self._sent.get(name) != stamp for name, stamp in self._stamps().items())
            say(f"warning: the copy at {self.address} lacks {missing} files ({_words(error)}); copy them yourself")

    def update(self) -> int:
        """Copy files that are new or have changed since they were copied, and take back those that are gone.

        Files at the address that this run has not put there are left alone.

        Returns:
            How many were copied.
        """
        here = self._stamps()
        new = [name for name, stamp in here.items() if self._sent.get(name) != stamp]
        # in the order in which they were written, but what makes the folder a run comes last
        for name in sorted(new, key=lambda each: (each == CONFIGURATION, here[each], each)):
            if self._put(name):
                self._sent[name] = here[name]
        for name in self._sent.keys() - here.keys():
            self._files.rm_file(f"{self._root}/{name}")
            del self._sent[name]
        return len(new)

    def _watch(self) -> None:
        failed = False
        while not self._ended.is_set():
            try:
                self.update()
                failed = False
            except Exception as error:
                if not failed:
                    say(f"warning: the copy at {self.address} cannot be written ({_words(error)}); trying again")
                failed = True
            self._ended.wait(self._every)

    def _put(self, name: str) -> bool:
        """Send one file; False where it is gone by now."""
        target = PurePosixPath(self._root, name)
        temporary = str(target.with_name(f".{target.name}.part"))
        self._files.makedirs(str(target.parent), exist_ok=True)
        try:
            self._files.put_file(str(self.folder / name), temporary)
        except FileNotFoundError:
            if (self.folder / name).exists():
                raise
            return False
        self._files.mv(temporary, str(target))
        return True

    def _stamps(self) -> dict[str, Stamp]:
        """Name -> (time of change, size) of every finished file."""
        found = {}
        for file in finished_files(self.folder):
            try:
                stat = file.stat()
                found[file.relative_to(self.folder).as_posix()] = (stat.st_mtime_ns, stat.st_size)
            except FileNotFoundError:
                continue  # renamed or removed since it was listed
        return found

    def _names_there(self) -> list[str]:
        root = PurePosixPath(self._root)
        names = [PurePosixPath(file).relative_to(root) for file in self._files.find(self._root)]
        patterns = (TEMPORARY, LOCKS)
        return [str(name) for name in names if not any(fnmatch.fnmatch(name.name, each) for each in patterns)]


def _file_system(address: str) -> tuple[Any, str]:
    import fsspec

    if urlsplit(address).password:
        raise InputError("--mirror has a password in its address, which would be kept; give it by the environment")
    try:
        files, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"--mirror {address} cannot be used ({_words(error)}); give an address that fsspec knows (s3://..., "
            "gs://..., sftp://..., a folder) and install its library"
        ) from error
    return files, root.rstrip("/")


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
