"""Count how often the rules err and how often they find what is there: panels of known truth, drawn and judged.

    python scripts/simulate.py structure                        # the figures of a page; up to half an hour, one core
    python scripts/simulate.py structure scale gaps --sets 20   # some of its studies, on other numbers of draws
    python scripts/simulate.py verdicts --draws drawn.csv       # every draw is kept, and gone on from
    python scripts/simulate.py --list

A file of scripts/simulations says what is drawn and what is told of it (`SIMULATION`), with the seeds 0, 1, ... With
--table what is told is written as CSV.
"""

import ast
import importlib
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from simulations.frame import Draws

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options
from onedial.stats.answers import PsychometricsWarning

FOLDER = Path(__file__).with_name("simulations")
KNOWN = sorted(file.stem for file in FOLDER.glob("*.py") if "\nSIMULATION = " in file.read_text(encoding="utf-8"))
SECONDS = 10
"""At most so much work is lost at a kill, and one draw."""


def main() -> None:
    options = parse_options(ScriptOptions, __doc__)
    if options.list:
        for name in KNOWN:
            docstring = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
            print(f"{name:15}{docstring.splitlines()[0]}")
        return

    warnings.simplefilter("ignore", PsychometricsWarning)
    studies, summarise, settings = importlib.import_module(f"simulations.{options.name}").SIMULATION
    if unknown := set(options.studies) - set(studies):
        raise InputError(f"no study is called {', '.join(sorted(unknown))}; choose of {', '.join(studies)}")
    draws, kept, keys = Draws(options.draws, settings()), time.monotonic(), []
    for study in options.studies or studies:
        for cell in studies[study]:
            for seed in range(options.sets or cell.sets):
                keys.append((study, cell.name, seed))
                if keys[-1] not in draws:
                    draws.add(keys[-1], cell.draw(seed))
                if time.monotonic() - kept > SECONDS:
                    draws.write()
                    kept = time.monotonic()
            print(f"{study}: {cell.name}", file=sys.stderr)
    draws.write()
    table = summarise(draws.frame(keys))
    print(table.to_string(index=False, float_format="{:.3f}".format))
    if options.table is not None:
        with atomic_path(options.table) as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    name: str | None = option(None, "which; --list says what each is about", choices=KNOWN, positional=True)
    studies: tuple[str, ...] = option((), "of it (default: all)", positional=True)
    sets: int | None = option(None, "draws of each kind (default: as on the page)", at_least=1)
    draws: Path | None = option(None, "also keep every draw there, as CSV; what it holds is not drawn anew")
    table: Path | None = option(None, "also write what is told there, as CSV")
    list: bool = option(False, "say what there is, and stop")

    def check(self) -> None:
        """Refuse a start that names nothing and does not want the list."""
        super().check()
        if not self.list and self.name is None:
            raise InputError(f"nothing is named; give one of {', '.join(KNOWN)}")


if __name__ == "__main__":
    sys.exit(run_command(main))
