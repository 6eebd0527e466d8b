"""What the model writes about a question at three settings, where somebody asks for it: one question at a time, beside
the pages that are answered meanwhile. Texts are kept as long as the viewer runs; the run's folder is only read.

It is asked for by POST and with the token of this viewer, which only its own pages hold: a page elsewhere can make a
browser send either, but cannot read the token, and must not be able to keep this machine busy.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from onedial.core import InputError

KEPT = 200
"""Questions whose texts are kept."""
LONGEST_WAIT = 60.0
"""Seconds for a model to be loaded that nobody waits for any more."""


@dataclass(frozen=True)
class Wanted:
    """What is to be written: after which question of which run, as the run asks it or the question `alone`."""

    run: Path
    question: str
    alone: bool


class Write(Protocol):
    """Writes at one magnitude after the other; `tell` is told what is going on, at every word where that is known."""

    def __call__(self, wanted: Wanted, magnitudes: Sequence[float], tell: Callable[[str], None]) -> Iterator[str]:
        """The texts, in the magnitudes' order. May raise InputError."""


@dataclass
class Sheet:
    """One piece of work: what is written so far.

    Attributes:
        said: what is going on, or why it ended without its texts. is_done: whether nothing more will come.
    """

    magnitudes: list[float]
    texts: list[str] = field(default_factory=list)
    said: str = ""
    is_done: bool = False
    since: float = field(default_factory=time.monotonic)


class Desk:
    """Has one question written about at a time.

    >>> def echo(wanted, magnitudes, tell):
    ...     yield from (f"{wanted.question} at {magnitude:+g}" for magnitude in magnitudes)
    >>> desk, wanted = Desk(echo), Wanted(Path("run"), "q1", alone=False)
    >>> desk.begin(wanted, [-1.0, 0.0], desk.token).join()
    >>> desk.sheet(wanted).texts
    ['q1 at -1', 'q1 at +0']
    """

    def __init__(self, write: Write) -> None:
        self.token = secrets.token_urlsafe()
        self._write = write
        self._sheets: dict[Wanted, Sheet] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def sheet(self, wanted: Wanted) -> Sheet | None:
        """What has been written there so far; None where nothing was asked for."""
        return self._sheets.get(wanted)

    def at_work(self) -> Wanted | None:
        """What is being written right now."""
        return next((wanted for wanted, sheet in self._sheets.items() if not sheet.is_done), None)

    def begin(self, wanted: Wanted, magnitudes: Sequence[float], token: str) -> threading.Thread:
        """Begin to write; the thread that does.

        Raises:
            InputError: the token is another one, or something else is being written.
        """
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise InputError("the request does not come from a page of this viewer; open the question's page again")
        with self._lock:
            if (other := self.at_work()) is not None:
                raise InputError(f"question {other.question} of {other.run.name} is being written about; wait for it")
            sheet = Sheet(list(magnitudes), said="beginning")
            self._sheets.pop(wanted, None)
            self._sheets[wanted] = sheet
            while len(self._sheets) > KEPT:
                self._sheets.pop(next(iter(self._sheets)))
            self._thread = thread = threading.Thread(target=self._work, args=(wanted, sheet), daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Have what is being written end at the next word: an interpreter that ends while a model works ends badly."""
        self._is_closed = True
        if self._thread is not None:
            self._thread.join(LONGEST_WAIT)

    def _work(self, wanted: Wanted, sheet: Sheet) -> None:
        def tell(words: str) -> None:
            if self._is_closed:
                raise InputError("the viewer was ended")
            sheet.said = words

        try:
            for text in self._write(wanted, sheet.magnitudes, tell):
                sheet.texts.append(text)
            sheet.said = ""
        except InputError as error:
            sheet.said = str(error)
        except Exception as error:  # as a page that fails: it must not end the viewer
            sheet.said = f"the model could not write ({type(error).__name__}: {error})"
        finally:
            sheet.is_done = True
