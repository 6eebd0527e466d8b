"""Look at every run of a folder in a browser, finished or going on: overview, dial, questions, tables, comparison.

    python experiments/view.py                      # the runs below runs/, at http://127.0.0.1:7575/
    python experiments/view.py runs/mine --port 8000
    python experiments/view.py runs --export site   # the same pages as files, to publish

Reads and shows, and changes nothing; a model is loaded only where somebody lets it write about a question. Only this
machine can see it, unless --host says otherwise.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, Notes, Options, option, program, run_command, say

if TYPE_CHECKING:
    from onedial.view import Write


@dataclass(frozen=True, kw_only=True)
class ViewOptions(Options):
    """What is shown, and to whom."""

    folder: Path = option(Path("runs"), "that holds runs", positional=True)
    port: int | None = option(None, "by default the first free one from 7575 on", at_least=1, at_most=65535)
    host: str = option("127.0.0.1", "address to listen on; another lets others read the runs")
    export: Path | None = option(None, "write the pages as files there, and stop", metavar="DIR")

    def check(self) -> None:
        """The default folder need not be there either."""
        super().check()
        if not self.folder.is_dir():
            raise InputError(
                f"{self.folder} is no folder; give one that holds runs, or make a run first: onedial sweep"
            )


def view(options: ViewOptions, _: Notes) -> None:
    if options.export is not None:
        from onedial.view import RunFolder, export_to

        n = export_to(options.export, RunFolder(options.folder))
        say(f"{n} files; begin at {options.export / 'index.html'}")
        return
    from onedial.view import serve

    serve(options.folder, options.host, options.port, say, writer)


def writer() -> "Write":
    """What has a run's subject write; it loads no model before it is asked to."""
    from onedial.studies import WriteOnDemand

    return WriteOnDemand()


main = program(ViewOptions, view, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
