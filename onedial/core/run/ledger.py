"""What was attempted and what came of it: the one account of everything in a run that costs or counts.

    ledger = Ledger(run.file(LEDGER))
    name = ledger.begin(question_id="q1", most_out=256)      # on the disk before the attempt is made
    ledger.end(name, outcome="answered", tokens_out=3)       # on the disk before anything is made of the answer
    read_ledger(run.path / LEDGER)                           # one entry for each attempt

An attempt without an end was made by a process that was killed, or is under way: whatever it may have cost, it may have
cost. The file is one of records (`onedial.core.run.records`), so a copy of it at any moment is an earlier ledger, and
one is taken over by appending it. What its entries mean is not known here.
"""

import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from onedial.core.run.records import Record, Records, read_records

LEDGER = "ledger.log"


class Ledger:
    """The writing end; several threads may use it.

    Args:
        file: is made with the first entry.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._records = Records(file)
        self._session, self._number = secrets.token_hex(6), count()

    def begin(self, **what: Any) -> str:
        """Note an attempt that is about to be made; the name under which its end is noted.

        Raises:
            OSError: it could not be written, so the attempt must not be made.
        """
        name = f"{self._session}-{next(self._number)}"
        self._records.append({"attempt": name, "begun": _now(), **what})
        return name

    def end(self, name: str, **what: Any) -> None:
        """Note what came of it."""
        self._records.append({"attempt": name, "ended": _now(), **what})

    def add(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Take over entries of another ledger (`read_ledger`) that this one has not; how many these were."""
        known = {entry["attempt"] for entry in read_ledger(self.file)}
        new = [entry for entry in entries if entry["attempt"] not in known]
        if new:
            self._records.append(*new)
        return len(new)


def read_ledger(file: Path) -> list[Record]:
    """One entry for each attempt, in the order of their beginnings; one without the key `ended` has no end.

    Raises:
        InputError: a line of the file is damaged.
    """
    attempts: dict[str, Record] = {}
    for record in read_records(file):
        attempts.setdefault(record["attempt"], {}).update(record)
    return list(attempts.values())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
