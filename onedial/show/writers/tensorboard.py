"""Events that TensorBoard reads, below RUN/tensorboard; neither TensorBoard nor TensorFlow is needed to write them.

A file of events is a row of records, each the length of its content, the length's checksum, the content and the
content's checksum (CRC-32C, masked as TFRecord has it). A record is a protocol buffer message `Event`: time, step, and
a summary of one value, which is a number, a PNG, or text.

Steps are tenths of a second since the run was begun, as in W&B; a metric that is shown along another one has that one
as its step, in thousandths where it is no whole number (a magnitude of -0.25 is step -250).
"""

import fnmatch
import json
import math
import os
import shutil
import struct
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from onedial.core import Run, flat
from onedial.show.results import captions_of
from onedial.show.writers.wandb_run import NO_RESULTS, STEPS_PER_SECOND

FOLDER = "tensorboard"
_NUMBER = count()


def _checksums() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _checksums()


class TensorBoardRun:
    """One process's events beside a run on disk; a run that goes on writes a further file into the same folder.

    Args:
        run: just begun, or resumed. process: every one but the first has a folder of its own.
    """

    def __init__(self, run: Run, process: int = 0) -> None:
        self._run, self._is_first = run, not process
        self._folder = run.path / FOLDER / (f"process-{process}" if process else "")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"events.out.tfevents.{int(time.time())}.{os.getpid()}.{next(_NUMBER)}"
        self._file = open(self._path, "wb")  # noqa: SIM115 - open as long as the run goes on
        self._along: dict[str, str] = {}
        self._began = datetime.fromisoformat(run.manifest.started.replace("Z", "+00:00"))
        self._event(0, _bytes(3, b"brain.Event:2"))
        self.configure(run.config)

    def where(self) -> str:
        """One line for the terminal."""
        return f"TensorBoard: tensorboard --logdir {self._run.path / FOLDER}"

    def log(self, values: Mapping[str, Any]) -> None:
        """Write the numbers among the values."""
        now = int(STEPS_PER_SECOND * (datetime.now(UTC) - self._began).total_seconds())
        for name, value in values.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                self._value(name, self._step(name, values, now), b"\x15" + struct.pack("<f", value))
        self._file.flush()

    def configure(self, values: Mapping[str, Any]) -> None:
        """Write the values as a text of lines."""
        lines = [f"    {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in flat(values)]
        self._text("configuration", "\n".join(lines))

    def measure_along(self, metrics: str, along: str) -> None:
        """Give the metrics of a pattern the value of another one as their step."""
        self._along[metrics] = along

    def log_folder(self) -> None:
        """Figures, and what the JSON files say; tables stand in the run's folder."""
        for name, words in captions_of(self._run).items():
            png = (self._run.path / "figures" / f"{name}.png").read_bytes()
            width, height = struct.unpack(">II", png[16:24])
            image = _number(1, height) + _number(2, width) + _number(3, 4) + _bytes(4, png)
            self._value(f"figures/{name}", 0, _bytes(4, image))
            self._text(f"figures/{name}/caption", words["caption"])
        for file in sorted(self._run.path.glob("*.json")):
            told = json.loads(file.read_text(encoding="utf-8"))
            if file.name not in NO_RESULTS and isinstance(told, Mapping):
                values = dict(flat(told, f"{file.stem}."))
                self.log({f"summary/{name}": value for name, value in values.items()})
                for name, value in values.items():
                    if isinstance(value, str):
                        self._text(f"summary/{name}", value)
        self._file.flush()

    def log_artifact(self, kind: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Nothing: the files lie beside the events."""

    def close(self, failed: bool = False) -> None:
        """Close the file; a second time does nothing."""
        self._file.close()

    def withdraw(self) -> None:
        """Take back the file, and its folder where nothing else is in it."""
        self.close()
        self._path.unlink()
        for folder in (self._folder, self._run.path / FOLDER):
            if folder.is_dir() and not any(folder.iterdir()):
                shutil.rmtree(folder)

    def _step(self, name: str, values: Mapping[str, Any], now: int) -> int:
        for pattern, along in self._along.items():
            if along in values and fnmatch.fnmatchcase(name, pattern):
                place = values[along]
                return place if isinstance(place, int) else round(1000 * place)
        return now

    def _text(self, name: str, words: str) -> None:
        plugin = _bytes(1, _bytes(1, b"text")) + _number(4, 2)
        shape = _bytes(2, _bytes(2, _number(1, 1)))
        tensor = _number(1, 7) + shape + _bytes(8, words.encode())  # 7: text
        self._value(name, 0, _bytes(9, plugin) + _bytes(8, tensor))

    def _value(self, name: str, step: int, content: bytes) -> None:
        self._event(step, _bytes(5, _bytes(1, _bytes(1, name.encode()) + content)))

    def _event(self, step: int, content: bytes) -> None:
        event = b"\x09" + struct.pack("<d", time.time()) + _number(2, step) + content
        length = struct.pack("<Q", len(event))
        self._file.write(length + checksum(length) + event + checksum(event))


def checksum(content: bytes) -> bytes:
    """The masked CRC-32C of TFRecord, four bytes.

    >>> checksum(b"123456789").hex()
    'e5b08ac7'
    """
    value = 0xFFFFFFFF
    for byte in content:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _bytes(field: int, content: bytes) -> bytes:
    """A field of a message that holds bytes, text or a message."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    """A field of a message that holds a whole number; a negative one in two's complement of 64 bits."""
    return _varint(field << 3) + _varint(value % 2**64)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
