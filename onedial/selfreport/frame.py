"""What a test of the battery is: what it asks, how that is scored, the number that is read first, and its source."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.confidence.signals import signal_table
from onedial.selfreport.ask.self_reports import SelfReport
from onedial.selfreport.per_respondent import per_respondent
from onedial.stats.level import MOST_UNREAD

Make = Callable[[int], Respondent]
"""From a seed of its draws to a respondent."""


@dataclass(frozen=True)
class Material:
    """What is asked about.

    Attributes:
        questions: with accepted answers. items: questions with options, as many, drawn of those that get options.
        topics: by question.
        seed, samples: of the draws. n_each: comparisons of each question.
        authors: respondent -> its answers to the test that another one comes after (`BatteryTest.after`).
    """

    questions: list[Question]
    items: list[Question]
    topics: dict[str, str]
    seed: int
    samples: int
    n_each: int
    authors: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Draws:
    """Of what intervals are drawn.

    Attributes:
        topics: by question; whole ones are resampled. n: resamples. seed: of them.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    n: int = 1999
    seed: int = 0

    def of(self, question_ids: Iterable[object]) -> list[str]:
        """Read the topics of these questions."""
        return [self.topics[str(each)] for each in question_ids]


@dataclass(frozen=True)
class Headline:
    """Where the number stands that is read first.

    Attributes:
        table, value: its table and column. says: what the number is. low, high: columns of its ends, if it has any.
            n, unread: columns of counts.
        share: of n, so that its ends are Wilson's. only: rows to keep, by the second index level; none keeps all.
        chance: the value of somebody who knows nothing of what is asked.
    """

    table: str
    value: str
    says: str
    low: str = "low"
    high: str = "high"
    n: str = "n"
    unread: str = "n_unread"
    share: bool = False
    only: tuple[str, ...] = ()
    chance: float = float("nan")


def area(table: str, says: str, unread: str = "n_unread", only: tuple[str, ...] = ()) -> Headline:
    """Make the headline of an AUROC."""
    return Headline(table, "auroc", f"AUROC of {says}", unread=unread, only=only, chance=0.5)


Score = Callable[[pd.DataFrame, Draws], Mapping[str, object] | pd.DataFrame]
"""From one respondent's answers to its row of a table, or its rows."""


@dataclass(frozen=True)
class BatteryTest:
    """One test of the battery.

    Attributes:
        ask: puts it to a respondent; one row for each answer.
        scores: table -> a respondent's part of it. What is mostly unread has counts and no numbers.
        headline: its first number.
        measures, formula, caveat: its row on the page of instruments. source: of the test, such as an arXiv number.
        reply: column of the reply itself, by which `screen_replies` sees who always says the same.
        comparisons: table -> the same from all respondents' answers, which stand beside each other there.
        reports: the test item by item, on which a dial can be tried.
        figure: a function of `onedial.selfreport.show.figures` that draws the headline's table.
        after: a test that all respondents must have answered before this one is asked (`Material.authors`).
    """

    ask: Callable[[Make, Material], pd.DataFrame]
    scores: Mapping[str, Score]
    headline: Headline
    measures: str
    formula: str
    caveat: str
    source: str = ""
    reply: str = ""
    comparisons: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = field(default_factory=dict)
    reports: Sequence[SelfReport] = ()
    figure: str = ""
    after: str = ""

    def tables(self, answers: pd.DataFrame, draws: Draws) -> dict[str, pd.DataFrame]:
        """Score every respondent; tables without a row are left out.

        Args:
            answers: of `ask`, with a column respondent.
        """
        scored = {
            name: per_respondent(answers, lambda of_one, score=score: score(of_one, draws))  # type: ignore[misc]
            for name, score in self.scores.items()
        }
        scored |= {name: compare(answers) for name, compare in self.comparisons.items()}
        return {name: table for name, table in scored.items() if len(table)}


def counts_of(values: pd.Series) -> dict[str, object]:
    """Count how many were read, and how many not."""
    return {"n": int(values.notna().sum()), "n_unread": int(values.isna().sum())}


def mostly_unread(values: pd.Series) -> bool:
    """Whether too little was read for a number."""
    return not values.notna().any() or bool(values.isna().mean() > MOST_UNREAD)


def signal_of(values: pd.Series, right: pd.Series, question_ids: Iterable[object], draws: Draws) -> pd.Series:
    """Measure how well one score tells right answers from wrong ones: its row of `signal_table`."""
    signal, right = values.rename("signal").reset_index(drop=True).to_frame(), right.reset_index(drop=True)
    return signal_table(signal, right, draws.of(question_ids), None, draws.n, draws.seed).iloc[0]
