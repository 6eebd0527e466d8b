"""What the libraries say on the way, printed at once and kept with the run as soon as there is one."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core.command_line import EXIT_CODES
from onedial.core.errors import InputError
from onedial.core.notices import noticed
from onedial.core.options import Options, parse_options
from onedial.core.pulse import say
from onedial.core.suggestions import did_you_mean

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
        """Tell every `onedial.core.notices.notice` of any library here while the context lasts."""
        with noticed(self.tell):
            yield


def program(
    options: type[Options], work: Callable[[Any, Notes], int | None], documentation: str | None = None
) -> Callable[[], int | None]:
    """Make what a program's file starts: it reads the options, then works while notes are collected.

    Args:
        options: what it understands. work: takes them and the notes; begins, if it comes so far, a run; its exit code.
        documentation: stands above the options in the help, as it is; by default what `work` says of itself.
    """
    documentation = documentation or inspect.getdoc(work)

    def main() -> int | None:
        given, notes = parse_options(options, documentation), Notes()
        with notes.collected():
            return work(given, notes)

    main.__module__ = work.__module__
    main.options, main.documentation = options, documentation  # type: ignore[attr-defined]
    return main


def programs(parts: Mapping[str, Callable[[], int | None]], documentation: str | None) -> Callable[[], int | None]:
    """Make what the file of several programs starts: the one that the first word names.

    Args:
        parts: word -> what `program` made. documentation: stands above the words in the help.
    """

    def main() -> int | None:
        name, *given = sys.argv
        word = given[0] if given else ""
        if word in parts:
            sys.argv = [name if name.startswith("onedial ") else f"{name} {word}", *given[1:]]
            return parts[word]()
        if word in ("-h", "--help"):
            print(f"{(documentation or '').strip()}\n\nUsage: {Path(name).name} {{{','.join(parts)}}} [OPTIONS]\n")
            print(EXIT_CODES)
            return 0
        if word == "--version":
            parse_options(Options)
        raise InputError(f"{Path(name).name} takes one of the words {', '.join(parts)}{did_you_mean(word, parts)}")

    main.parts, main.documentation = parts, documentation  # type: ignore[attr-defined]
    return main
