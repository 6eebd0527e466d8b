"""The dial: where each answer turns as it is turned up, and in which order.

    crossings  the magnitudes at which the answer to a question changes; between two magnitudes of a grid the margin is
               taken for straight, so an answer turns where the line meets 0
    ease       share of the range at which the subject says yes; where its answer turns once, at m*, this is
               (high - m*) / (high - low), so that it orders questions as -m* does; always yes 1, always no 0

A question whose answer turns more than once has no one crossing; its ease, a share, still says how readily it is
answered yes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from onedial.core.cards import one_line

LOW_RATE, HIGH_RATE = 0.1, 0.9
"""The push of a dial is how far it is turned between these yes rates."""


@dataclass(frozen=True)
class Turns:
    """Where the answers of a subject turn.

    Attributes:
        questions: question ids (Q).
        crossings: ascending magnitudes at which each answer turns, Q lists; None for a question that was never read.
        yes_at_low: Q, the answer at the lower end; False where never read.
        low, high: the range, in the unit of the magnitudes.
    """

    questions: pd.Index
    crossings: Sequence[np.ndarray | None]
    yes_at_low: np.ndarray
    low: float
    high: float

    __repr__ = one_line

    @cached_property
    def ease(self) -> np.ndarray:
        """Q, 0 to 1, higher = turns earlier (along a dial that falls, later); nan where no answer was read, or one
        magnitude is all of the range."""
        if self.high == self.low:
            return np.full(len(self.questions), np.nan)
        return np.array(
            [
                np.nan if turns is None else self._spans(turns)[0 if yes else 1 :: 2].sum() / (self.high - self.low)
                for turns, yes in zip(self.crossings, self.yes_at_low, strict=True)
            ],
            dtype=float,
        )

    @property
    def falls(self) -> bool:
        """Whether fewer answers are yes at the high end than at the low one."""
        read = np.array([turns is not None for turns in self.crossings], dtype=bool)
        at_high = (self.yes_at_low + self.n_turns) % 2
        return bool(at_high[read].sum() < self.yes_at_low[read].sum())

    @property
    def n_turns(self) -> np.ndarray:
        """Q: how often the answer changes over the range; 0 also where none was read."""
        return np.array([0 if turns is None else len(turns) for turns in self.crossings])

    @property
    def turning(self) -> float:
        """Share of the questions whose answer turns more than once, of those that were read."""
        read = ~np.isnan(self.ease)
        return float((self.n_turns[read] > 1).mean()) if read.any() else float("nan")

    def answers_at(self, magnitudes: np.ndarray) -> np.ndarray:
        """Answer as question x magnitude: 1 yes, 0 no, nan never read."""
        turned = np.zeros((len(self.questions), len(magnitudes) + 1), dtype=int)
        order = np.argsort(magnitudes, kind="stable")
        read = np.array([turns is not None for turns in self.crossings], dtype=bool)
        known = [turns for turns in self.crossings if turns is not None]
        if known:  # a turn counts at every magnitude beyond it
            rows = np.repeat(np.flatnonzero(read), [len(turns) for turns in known])
            np.add.at(turned, (rows, np.searchsorted(magnitudes[order], np.concatenate(known), side="right")), 1)
        answers = np.full((len(self.questions), len(magnitudes)), np.nan)
        answers[:, order] = (turned.cumsum(axis=1)[:, :-1] + self.yes_at_low[:, None]) % 2
        answers[~read] = np.nan
        return answers

    def push(self, rows: np.ndarray) -> float:
        """The shortest way between a magnitude with a yes rate of at most .1 and one with .9 or more; inf if there is
        none.

        Args:
            rows: mask (Q) of the questions that the rates are of.
        """
        ends = self.push_ends(rows)
        return float("inf") if ends is None else abs(ends[1] - ends[0])

    def push_ends(self, rows: np.ndarray) -> tuple[float, float] | None:
        """Find the two magnitudes that `push` is between, that of few yes first; None where there is no such way."""
        turns = [turn for turn, taken in zip(self.crossings, rows, strict=True) if taken and turn is not None]
        points = np.unique(np.concatenate([[self.low], *turns, [self.high]]))
        middles = (points[:-1] + points[1:]) / 2
        rates = np.nanmean(self.answers_at(middles)[rows], axis=0) if len(middles) else np.array([])
        few, many = rates <= LOW_RATE, rates >= HIGH_RATE
        if not (few.any() and many.any()):
            return None
        # From the edge of a stretch with few yes to the next edge of one with many, whichever way round.
        ends_few = np.concatenate([points[:-1][few], points[1:][few]])
        nearest = np.sort(np.concatenate([points[:-1][many], points[1:][many]]))
        after = np.clip(np.searchsorted(nearest, ends_few), 0, len(nearest) - 1)
        before = np.clip(after - 1, 0, None)
        closer = np.abs(nearest[before] - ends_few) < np.abs(nearest[after] - ends_few)
        ends_many = np.where(closer, nearest[before], nearest[after])
        shortest = int(np.abs(ends_many - ends_few).argmin())
        return float(ends_few[shortest]), float(ends_many[shortest])

    def _spans(self, turns: np.ndarray) -> np.ndarray:
        return np.diff(np.concatenate([[self.low], turns, [self.high]]))


@dataclass(frozen=True)
class ControlDial:
    """One control as the judgement takes it.

    Attributes:
        role: which kind of control. drawn: whether it is one of many that chance has drawn, which the vector is ranked
            among; a contrast of its own is only compared.
        dial: over the questions of the sweep that it is a control for.
        norms_per_unit: residual norms that one unit of its magnitude is.
        cosine: with the vector under test; nan where it is not known.
        kl: on neutral text, at the ends of its push; nan where it was not measured.
    """

    role: str
    drawn: bool
    dial: Turns
    norms_per_unit: float = 1.0
    cosine: float = float("nan")
    kl: float = float("nan")


def dial_of_margins(questions: pd.Index, magnitudes: np.ndarray, margins: np.ndarray) -> Turns:
    """Make the dial of a grid: between two magnitudes at which it was read, a margin is taken for straight.

    Args:
        magnitudes: ascending (K). margins: Q x K, nan where unread.

    >>> margins = np.array([[-2.0, -1.0, 1.0]])
    >>> dial_of_margins(pd.Index(["a"]), np.array([-1.0, 0.0, 1.0]), margins).crossings[0].tolist()
    [0.5]
    """
    crossings: list[np.ndarray | None] = []
    for margin in margins:
        read = ~np.isnan(margin)
        crossings.append(_straight_crossings(magnitudes[read], margin[read]) if read.any() else None)
    first = np.array([bool((row[~np.isnan(row)][:1] > 0).any()) for row in margins], dtype=bool)
    return Turns(questions, crossings, first, float(magnitudes[0]), float(magnitudes[-1]))


def _straight_crossings(magnitudes: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Find where a margin that is straight between the magnitudes meets 0; a margin of exactly 0 is a no."""
    yes = margins > 0
    turns = np.flatnonzero(yes[1:] != yes[:-1])
    left, right = margins[turns], margins[turns + 1]
    share = left / (left - right)
    return magnitudes[turns] + share * (magnitudes[turns + 1] - magnitudes[turns])
