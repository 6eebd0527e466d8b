"""Records that are on the disk when `append` returns, in one file that only grows.

A line each: CRC-32 of the JSON text, its length in bytes, the text (ASCII, so that no character of an answer can end a
line). Whatever a kill or a loss of power leaves behind the last whole record was never promised to anybody, and the
next writer cuts it off. Any beginning of the file is a file of records too, so that a copy taken while it is written is
a valid, earlier one: a database with a second file for what is new would be torn. Threads that append at the same
moment share one fsync.
"""

import contextlib
import json
import os
import re
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onedial.core.files import make_folder, sync_folder

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FRAME = re.compile(rb"([0-9a-f]{8}) (\d{1,10}) ")
Record = dict[str, Any]


class Records:
    """The writing end of a file of records; `read_records` reads it.

    Args:
        file: is made with the first record.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None
        self._writing, self._syncing = threading.Lock(), threading.Lock()
        self._size = self._synced = 0
        self._failed: OSError | None = None

    def append(self, *records: Mapping[str, Any]) -> None:
        """Write records, and return once they are on the disk.

        Raises:
            OSError: no room, or the file cannot be written; nothing of these records stays in it. Or the disk has
                failed, now or before: what a failed sync has lost, a later one does not tell of.
        """
        data = b"".join(_framed(record) for record in records)
        with self._writing:
            descriptor = self._opened()
            try:
                written = 0
                while written < len(data):
                    written += os.write(descriptor, data[written:])
            except OSError as error:
                with self._ending_if_it_fails():
                    os.ftruncate(descriptor, self._size)
                raise OSError(error.errno, error.strerror, str(self.file)) from error
            self._size += len(data)
            mine = self._size
        with self._syncing, self._ending_if_it_fails():
            if self._synced < mine:
                size = self._size
                os.fsync(descriptor)
                self._synced = size

    @contextlib.contextmanager
    def _ending_if_it_fails(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._failed = OSError(error.errno, error.strerror, str(self.file))
            raise self._failed from error

    def remove(self) -> None:
        """Remove the file, whose records are not needed any more."""
        with self._writing, self._syncing:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            self.file.unlink(missing_ok=True)

    def _opened(self) -> int:
        if self._failed is not None:
            raise self._failed
        if self._descriptor is None:
            make_folder(self.file.parent)
            whole = _scan(self.file)[2] if self.file.exists() else 0
            self._descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK, 0o666)
            os.ftruncate(self._descriptor, whole)
            self._size = self._synced = whole
            sync_folder(self.file.parent)
        return self._descriptor

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def read_records(file: Path) -> tuple[list[Record], int]:
    """Every whole record, and how many places before the last of them are damaged; nothing where there is no file."""
    if not file.exists():
        return [], 0
    records, n_damaged, _ = _scan(file)
    return records, n_damaged


def _framed(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, allow_nan=False).encode("ascii")
    return b"%08x %d %s\n" % (zlib.crc32(text), len(text), text)


def _scan(file: Path) -> tuple[list[Record], int, int]:
    """Records, damaged places before the last of them, and where that ends."""
    data, at, whole = file.read_bytes(), 0, 0
    records: list[Record] = []
    n_damaged = n_passed = 0
    while at < len(data):
        frame = _FRAME.match(data, at)
        text = data[frame.end() : frame.end() + int(frame[2])] if frame else b""
        end = frame.end() + len(text) + 1 if frame else 0
        if (
            frame
            and len(text) == int(frame[2])
            and data[end - 1 : end] == b"\n"
            and zlib.crc32(text) == int(frame[1], 16)
        ):
            records.append(json.loads(text))
            at = whole = end
            n_damaged += n_passed
            n_passed = 0
        else:
            newline = data.find(b"\n", at)
            at = len(data) if newline < 0 else newline + 1
            n_passed += 1
    return records, n_damaged, whole
