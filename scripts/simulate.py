"""How often the rules err, and how often they find what is there: panels of known truth, drawn and judged.

    python scripts/simulate.py structure                        # the figures of a page; up to half an hour, one core
    python scripts/simulate.py structure scale gaps --sets 20   # some of its studies, on other numbers of draws
    python scripts/simulate.py matching --table found.csv       # kept as it grows, and gone on with
    python scripts/simulate.py --list

A file of scripts/simulations says what is drawn and what is told of it (`SIMULATION`), with the seeds 0, 1, ... The
verdict's own are red_team.py and calibrate_verdict.py, those of the instruments zoo.py.
"""

import argparse
import ast
import importlib
import sys
import warnings
from pathlib import Path

from simulating import GrowingTable

from onedial.core import InputError, positive, program_parser, run_command

FOLDER = Path(__file__).with_name("simulations")
NO_SIMULATION = ("__init__", "frame", "probe_cases")
KNOWN = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem not in NO_SIMULATION)


def main() -> None:
    options = parse_options()
    if options.list:
        for name in KNOWN:
            said = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
            print(f"{name:15}{said.splitlines()[0]}")
        return
    import pandas as pd

    from onedial.stats import PsychometricsWarning

    warnings.simplefilter("ignore", PsychometricsWarning)
    studies, columns, told = importlib.import_module(f"simulations.{options.name}").SIMULATION
    if unknown := set(options.studies) - set(studies):
        raise InputError(f"no study is called {', '.join(sorted(unknown))}; choose of {', '.join(studies)}")
    table = GrowingTable(options.table, columns)
    for study in options.studies or studies:
        for cell in studies[study]:
            sets = options.sets or cell.sets
            key = (study, cell.name, sets)[-len(columns) :]
            if key in table:
                continue
            drawn = [found if isinstance(found, list) else [found] for found in map(cell.draw, range(sets))]
            found = pd.DataFrame([one for several in drawn for one in several], dtype=float)
            rows = [dict(zip(columns, key, strict=True)) | row for row in told(found)]
            table.add(rows)
            for row in rows:
                values = (f"{each:.3f}" if isinstance(each, float) else str(each) for each in row.values())
                print(" | ".join(values), flush=True)


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("name", nargs="?", choices=KNOWN, help="which; --list says what each is about")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="of it (default: all)")
    parser.add_argument("--sets", type=positive, help="draws of each kind (default: as on the page)")
    parser.add_argument("--table", type=Path, help="also keep the rows there, as CSV; what it holds is not drawn anew")
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    options = parser.parse_args()
    if not options.list and options.name is None:
        raise InputError(f"nothing is named; give one of {', '.join(KNOWN)}")
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))
