"""How a run ends: what came out is written, a page made of that, and the terminal told."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from onedial.core.run.run import Run
from onedial.show.columns import headline as as_headline
from onedial.show.figure_style import Drawing
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, Words, finish, results_of, write_page
from onedial.show.terminal import print_results


def end(
    run: Run,
    results: Mapping[str, Result],
    words: Words,
    case: Any,
    question: str,
    headline: str,
    lead: str = "",
) -> Stored:
    """Compute and write every result, draw and write report.html, and print what the terminal shows; what is stored.

    Args:
        case: what the results are computed of. question: what was asked. headline: what came out. lead: a paragraph
            below.
    """
    with run.stage("report"):
        finish(run, results, case)
        stored = Stored(run, results, words)
        page = write_page(stored, question, as_headline(headline), lead)
    print_results(stored, as_headline(headline), f"report: {page}")
    return stored


def end_with_tables(
    run: Run,
    question: str,
    sentences: Sequence[str],
    tables: Mapping[str, pd.DataFrame],
    drawings: Mapping[str, Drawing] | None = None,
    further: Mapping[str, Result] | None = None,
    lead: str = "",
) -> None:
    """End a run whose results are tables: on the page stand its sentences, every table, and then what is further.

    Args:
        sentences: what was found, the first one as the headline, the others as a list. tables, drawings: as in
            `results_of`. question, lead: as in `end`.
    """
    first, *rest = map(as_headline, sentences)
    found = Result("What was found", items=lambda *_: rest, folded=False, terminal=True)
    results = {**WARNINGS, "found": found, **results_of(tables, drawings), **(further or {}), **SURROUNDINGS}
    end(run, results, {}, None, question, first, lead)
