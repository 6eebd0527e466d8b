"""How often the rules err, and how often they find what is there: panels of known truth, drawn and judged.

    python scripts/simulate.py structure                        # the figures of a page; up to half an hour, one core
    python scripts/simulate.py structure scale gaps --sets 20   # some of its studies, on other numbers of draws
    python scripts/simulate.py matching --table found.csv       # kept as it grows, and gone on with
    python scripts/simulate.py --list

A file of scripts/simulations says what is drawn and what is told of it (`SIMULATION`), with the seeds 0, 1, ... The
verdict's own are red_team.py and calibrate_verdict.py, those of the instruments zoo.py.
"""

import ast
import importlib
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from simulating import GrowingTable

from onedial.core import InputError, Options, option, parse_options, run_command

FOLDER = Path(__file__).with_name("simulations")
NO_SIMULATION = ("__init__", "frame", "probe_cases")
KNOWN = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem not in NO_SIMULATION)


def main() -> None:
    options = parse_options(ScriptOptions, __doc__)
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


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    name: str | None = option(None, "which; --list says what each is about", choices=KNOWN, positional=True)
    studies: tuple[str, ...] = option((), "of it (default: all)", positional=True)
    sets: int | None = option(None, "draws of each kind (default: as on the page)", at_least=1)
    table: Path | None = option(None, "also keep the rows there, as CSV; what it holds is not drawn anew")
    list: bool = option(False, "say what there is, and stop")

    def check(self) -> None:
        """Something is named, or the list is wanted."""
        super().check()
        if not self.list and self.name is None:
            raise InputError(f"nothing is named; give one of {', '.join(KNOWN)}")


if __name__ == "__main__":
    sys.exit(run_command(main))
