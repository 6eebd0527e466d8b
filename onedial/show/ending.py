"""How a run ends: what came out is written, a page made of that, and the terminal told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from rich.console import Console

from onedial.core.pulse import say
from onedial.show.columns import headline as as_headline
from onedial.show.figure_style import Drawing
from onedial.show.page import Section
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, finish, results_of, write_page
from onedial.show.terminal import print_results


@dataclass(frozen=True)
class Opening:
    """What stands first on a run's page.

    Attributes:
        question: what was asked. headline: what came out. lead: a paragraph below.
        title: of the browser's window. overview: makes what is seen first, of the sections that the page has.
        subtitle: below the headline in the terminal.
    """

    question: str
    headline: str
    lead: str = ""
    title: str = ""
    overview: Callable[[Sequence[Section]], Markup] | None = None
    subtitle: str = ""


def end(stored: Stored, opening: Opening | Callable[[Stored], Opening], case: Any = None) -> Path:
    """End a run: compute and write its results, draw them, write report.html, and print what the terminal shows.

    Args:
        opening: what stands first, or what makes it of what is stored.
        case: what the results are computed of; None where all of them are written.

    Returns:
        The page's path.
    """
    with stored.run.stage("report"):
        if case is not None:
            finish(stored.run, stored.results, case)
        first = opening(stored) if callable(opening) else opening
        page = write_page(stored, first.question, as_headline(first.headline), first.lead, first.title, first.overview)
    say_results(stored, first)
    say(f"report: {page}")
    return page


def say_results(stored: Stored, opening: Opening, console: Console | None = None) -> None:
    """Print what the results of a run have for the terminal, the headline last."""
    print_results(stored, as_headline(opening.headline), opening.subtitle, console)


def of_tables(
    findings: Sequence[str],
    tables: Mapping[str, pd.DataFrame],
    drawings: Mapping[str, Drawing] | None = None,
    further: Mapping[str, Result] | None = None,
) -> dict[str, Result]:
    """Make the results of a run that declares none: its findings as a list, every table, and then what is further.

    Args:
        findings: sentences besides the headline. tables, drawings: as in `results_of`.
    """
    rest = list(map(as_headline, findings))
    opening_result = Result("What was found", items=lambda *_: rest, folded=False, terminal=True)
    return {**WARNINGS, "found": opening_result, **results_of(tables, drawings), **(further or {}), **SURROUNDINGS}
