"""Whether a panel has one shared scale: all checks of it, merged into a verdict, a page, tables and figures."""

import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd

from onedial.core.calls import says_how
from onedial.scale.study.check_list import CHECKS
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import verdict
from onedial.show.figure_style import Drawing

_WIDTH = 100


@dataclass(frozen=True)
class PanelAnalysis:
    """What all checks say of a panel.

    Attributes:
        fit: the panel, the choices, and what was computed. findings: of each check, by its name in `CHECKS`. verdict:
            the judgement in one or two sentences, and what speaks against it.
    """

    fit: PanelFit
    findings: dict[str, Finding]
    verdict: str

    def __repr__(self) -> str:
        return f"PanelAnalysis({self.verdict})"

    @property
    def sections(self) -> dict[str, list[str]]:
        """The sentences below the verdict by the question that they answer."""
        sections: dict[str, list[str]] = {}
        for name, finding in self.findings.items():
            sections.setdefault(CHECKS[name].title, []).extend(finding.sentences)
        return {title: sentences for title, sentences in sections.items() if sentences}

    @property
    def page(self) -> str:
        """The verdict and the sections as text of about a page."""
        lines = _wrapped(self.verdict, "")
        for title, sentences in self.sections.items():
            lines += ["", title, *(line for sentence in sentences for line in _wrapped(sentence, "- "))]
        return "\n".join(lines)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by the name of its file."""
        return {name: table for finding in self.findings.values() for name, table in finding.tables.items()}

    @property
    def figures(self) -> dict[str, Callable[[], Drawing]]:
        """What draws each figure."""
        return {name: draw for finding in self.findings.values() for name, draw in finding.figures.items()}

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers and sentences, for JSON."""
        numbers = {name: value for finding in self.findings.values() for name, value in finding.numbers.items()}
        return {"page": self.page.split("\n"), "verdict": self.verdict, "sections": self.sections} | numbers


@says_how
def analyse_panel(
    matrix: Any,
    respondents: pd.DataFrame | None = None,
    questions: pd.DataFrame | None = None,
    *,
    n_factors: int = 1,
    n_replicates: int = 499,
    seed: int = 0,
) -> PanelAnalysis:
    """Ask every check of one panel.

    Formula: see the functions that the checks call.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary and hang together.
        respondents: what is known of them, index respondent: `model` or `family` make kin, every column with groups is
            tested for invariance. questions: what is known of the questions, index question: topic, level, length;
            numbers are cut into thirds.
        n_factors: whose loadings are listed. n_replicates: of each null and bootstrap; 0 = none. seed: of all draws.

    Returns:
        PanelAnalysis. Sign: as in the parts.

    Raises:
        InputError: the matrix or an option cannot be used, or parts of the panel share no questions.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> analysis = analyse_panel(answers, n_replicates=0)
    >>> print(analysis.page.split(";")[0])
    One factor would explain 54% of the variance
    """
    with each_notice_once():
        fit = PanelFit.of(matrix, respondents, questions, n_factors, n_replicates, seed)
        findings = {name: check.ask(fit) for name, check in CHECKS.items()}
        return PanelAnalysis(fit, findings, _verdict(findings))


def _verdict(findings: dict[str, Finding]) -> str:
    known = {name: value for finding in findings.values() for name, value in finding.evidence.items()}
    against = [words for finding in findings.values() for words in finding.against]
    return verdict(known, against, [words for finding in findings.values() for words in finding.missed])


@contextmanager
def each_notice_once() -> Iterator[None]:
    """Many parts name the same respondents for the same reason; say each sentence once, at the end."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        for one in {(one.category, str(one.message)): one for one in caught}.values():
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _wrapped(text: str, bullet: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet))
