"""What a test of the battery is: what it asks, how that is scored, and the number that is read first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from onedial.asking import Question, Respondent

Tables = dict[str, pd.DataFrame]
Topics = Mapping[str, str]


@dataclass(frozen=True)
class Headline:
    """Where a number stands.

    Attributes:
        table, value: its table and column. says: what the number is. low, high: columns of its ends, if it has any.
            n, unread: columns of counts.
        share: of n, so that its ends are Wilson's. only: rows to keep, by the second index level; none keeps all.
        nothing: the value of somebody who knows nothing of what is asked.
    """

    table: str
    value: str
    says: str
    low: str = ""
    high: str = ""
    n: str = "n"
    unread: str = "n_unread"
    share: bool = False
    only: tuple[str, ...] = ()
    nothing: float = float("nan")


def area(table: str, says: str, unread: str = "n_unread", only: tuple[str, ...] = ()) -> Headline:
    """The line of an AUROC."""
    return Headline(table, "auroc", f"AUROC of {says}", "low", "high", unread=unread, only=only, nothing=0.5)


@dataclass(frozen=True)
class BatteryTest:
    """A test that stands in one file.

    Attributes:
        ask: puts it to a respondent; one row for each answer.
        score: one respondent's answers, topics by question, resamples and their seed -> its table of scores.
        line: its first number, of the table that bears the test's name.
        said: column of the reply itself, by which `screen_replies` sees who always says the same.
    """

    ask: Callable[[Respondent, Sequence[Question]], pd.DataFrame]
    score: Callable[[pd.DataFrame, Topics, int, int], pd.DataFrame]
    line: Headline
    said: str

    def tables(self, answers: pd.DataFrame, topics: Topics, n_bootstrap: int, seed: int) -> Tables:
        """The scores of every respondent."""
        by = answers.groupby("respondent", sort=False)
        scores = {name: self.score(own, topics, n_bootstrap, seed) for name, own in by}
        return {self.line.table: pd.concat(scores, names=["respondent"])}
