"""Look at every run of a folder in a browser, finished or going on: overview, progress, report, tables, files.

    python experiments/view.py                      # the runs below runs/, at http://127.0.0.1:7575/
    python experiments/view.py runs/mine --port 8000

Reads and shows, and changes nothing. Only this machine can see it, unless --host says otherwise.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, option
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program


@dataclass(frozen=True, kw_only=True)
class ViewOptions(Options):
    """What is shown, and to whom."""

    folder: Path = option(Path("runs"), "that holds runs", positional=True)
    port: int | None = option(None, "by default the first free one from 7575 on", at_least=1, at_most=65535)
    host: str = option("127.0.0.1", "address to listen on; another lets others read the runs")

    def check(self) -> None:
        """The default folder need not be there either."""
        super().check()
        if not self.folder.is_dir():
            raise InputError(
                f"{self.folder} is no folder; give one that holds runs, or make a run first: onedial sweep"
            )


def view(options: ViewOptions, _: Notes) -> None:
    from onedial.view.server import serve

    serve(options.folder, options.host, options.port, say)


main = program(ViewOptions, view, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
