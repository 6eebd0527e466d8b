"""Records that are on the disk when `append` returns: lines of JSON in one file that only grows.

The text of a record is ASCII, so that no character of an answer can end a line. A kill leaves at most half a line at
the end, which was never promised to anybody: it is no record, and the next writer cuts it off. Any beginning of the
file is therefore an earlier file of records.
"""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.files import make_folder, sync_folder

Record = dict[str, Any]


class Records:
    """The writing end of a file of records; `read_records` reads it. Several threads may append.

    Args:
        file: is made with the first record.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None
        self._writing = threading.Lock()

    def append(self, *records: Mapping[str, Any]) -> None:
        """Write records, and return once they are on the disk.

        Raises:
            OSError: no room, or the file cannot be written; nothing of these records stays in it.
        """
        data = b"".join(json.dumps(record, allow_nan=False).encode("ascii") + b"\n" for record in records)
        with self._writing:
            descriptor = self._opened()
            size = os.fstat(descriptor).st_size
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
                os.fsync(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, size)
                raise OSError(error.errno, error.strerror, str(self.file)) from error

    def remove(self) -> None:
        """Remove the file, whose records are not needed any more."""
        with self._writing:
            self._close()
            self.file.unlink(missing_ok=True)

    def _opened(self) -> int:
        if self._descriptor is None:
            make_folder(self.file.parent)
            self._descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.ftruncate(self._descriptor, self.file.read_bytes().rfind(b"\n") + 1)
            sync_folder(self.file.parent)
        return self._descriptor

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        self._close()


def read_records(file: Path) -> list[Record]:
    """Every record; nothing where there is no file.

    Raises:
        InputError: a line is damaged.
    """
    if not file.exists():
        return []
    records = []
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise InputError(
                f"{file} is damaged in line {number}; restore it from a copy, or take the line out"
            ) from error
    return records
