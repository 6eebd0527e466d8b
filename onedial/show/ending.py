"""How a run ends: what came out is written, a page made of that, and the terminal told."""

from collections.abc import Mapping
from typing import Any

from onedial.core.run.run import Run
from onedial.show.columns import headline as as_headline
from onedial.show.results import Result, Stored, Words, finish, write_page
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
