"""What the libraries say on the way, printed at once and kept with the run as soon as there is one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onedial.core.notices import noticed
from onedial.core.options import Options, parse_options
from onedial.core.pulse import say

if TYPE_CHECKING:
    from onedial.core.run.run import Run  # with pandas, for which no --help waits


class Notes:
    """The notes of a program, from its first line on.

    notes = Notes()
    with notes.collected():
        inputs = load_inputs(...)          # may notice(...) that something was left out
        run = Run.begin(...)
        notes.keep_in(run)                 # what was said before, and whatever is said from here on
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._run: Run | None = None

    def tell(self, text: str) -> None:
        """Print a note, and keep it; one that was said already is not said again."""
        if text in self._texts:
            return
        say(text)
        self._texts.append(text)
        if self._run is not None:
            self._run.note(text)

    def keep_in(self, run: "Run") -> None:
        """Write all notes so far into the run's manifest, and the later ones as they come."""
        self._run = run
        run.note(*self._texts)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """While the context lasts, every `onedial.core.notice` of any library is told here."""
        with noticed(self.tell):
            yield


def program(
    options: type[Options], work: Callable[[Any, Notes], int | None], documentation: str | None
) -> Callable[[], int | None]:
    """What a program's file starts: its options are read, then its work is done while notes are collected.

    Args:
        options: what it understands. work: takes them and the notes; begins, if it comes so far, a run; its exit code.
        documentation: stands above the options in the help, as it is.
    """

    def main() -> int | None:
        given, notes = parse_options(options, documentation), Notes()
        with notes.collected():
            return work(given, notes)

    main.__module__ = work.__module__
    main.options, main.documentation = options, documentation  # type: ignore[attr-defined]
    return main
