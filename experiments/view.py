"""Look at every run of a folder in a browser, finished or going on: overview, progress, report, tables, files.

    python experiments/view.py                      # the runs below runs/, at http://127.0.0.1:7575/
    python experiments/view.py runs/mine --port 8000

Reads and shows, and changes nothing. Only this machine can see it, unless --host says otherwise.
"""

import argparse
import sys
from pathlib import Path

from onedial.core import InputError, program_parser, run_command, say


def main() -> None:
    options = parse_options()
    from onedial.view import serve

    serve(options.folder, options.host, options.port, say)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path("runs"), help="(%(default)s)")
    parser.add_argument("--port", type=int, help="by default the first free one from 7575 on")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; another lets others read the runs")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        raise InputError(f"{options.folder} is no folder; give one that holds runs, or make a run first: onedial sweep")
    if options.port is not None and not 0 < options.port < 65536:
        raise InputError(f"--port {options.port} is no port; give a number from 1 to 65535")
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))
