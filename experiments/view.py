"""List every run of a folder on one page, with its headline and a link to its report, and serve it to a browser.

    onedial view  # the runs below runs/, at http://127.0.0.1:7575/
    onedial view runs/mine --port 8000

Writes FOLDER/index.html, which can be opened as a file too. Only this machine can reach the server.
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
    """What is shown, and where."""

    folder: Path = option(Path("runs"), "that holds runs", positional=True)
    port: int = option(7575, "to listen on", at_least=1, at_most=65535)

    def check(self) -> None:
        """The default folder need not be there either."""
        if not self.folder.is_dir():
            raise InputError(
                f"{self.folder} is no folder; give one that holds runs, or make a run first: onedial sweep"
            )


def view(options: ViewOptions, _: Notes) -> None:
    from onedial.view.index import server_of, write_index

    index = write_index(options.folder)
    with server_of(options.folder, options.port) as server:
        say(f"{index} at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends)")
        server.serve_forever()


main = program(ViewOptions, view, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
