"""What asking costs: calls and tokens beforehand, money where prices are known, a budget that is never passed.

Beforehand tokens are estimated, at four characters each and what a template adds; afterwards they are those that the
server counted, as far as its count can be. An attempt whose cost nobody knows (killed, timed out, failed at the server,
counted absurdly) may have been billed, and counts as what it may have cost at most; only what the server refused, or
never heard of, costs nothing. Money is in whatever currency the prices are given.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from onedial.asking.prompts import Prompt

CHARACTERS_PER_TOKEN = 4
AROUND_A_PROMPT = 8
AROUND_A_TURN = 64
"""Tokens that a chat template may put around a turn; of the text itself a token is at least a byte."""
BEYOND_BELIEF = (10, 10_000)
"""A server's count above so many times what was set aside, and so many more, is none: it is not billed, but wrong."""
WRITTEN = {"direct": 4, "closed book": 12, "reasoned": 120}
"""Tokens that an answer usually has, by instrument, and where one word is asked for; what a model thinks to itself
comes on top, and nobody knows how much it is."""
_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Money for a million tokens.

    Attributes:
        input, output: read and written; what a model thinks to itself counts as written.
    """

    input: float
    output: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Money for so many tokens."""
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


def tokens_of(prompt: Prompt) -> int:
    """About how many tokens a prompt has."""
    length = len(prompt.user) + sum(len(text) for turn in prompt.earlier for text in turn)
    return -(-length // CHARACTERS_PER_TOKEN) + AROUND_A_PROMPT


def most_tokens_of(prompt: Prompt) -> int:
    """How many tokens a prompt can have at most, whatever cuts it."""
    turns = [prompt.user, *(text for turn in prompt.earlier for text in turn)]
    return sum(len(text.encode("utf-8", errors="replace")) + AROUND_A_TURN for text in turns)


def believed(tokens_in: float | None, tokens_out: float | None, most_in: int, most_out: int) -> bool:
    """Whether a server's count can be: nothing negative, a prompt that was read, and not beyond all measure.

    >>> believed(20, 3, 100, 256), believed(20, -3, 100, 256), believed(20, 10**12, 100, 256)
    (True, False, False)
    """
    if tokens_in is None or tokens_out is None:
        return False
    times, more = BEYOND_BELIEF
    return 1 <= tokens_in <= times * most_in + more and 0 <= tokens_out <= times * most_out + more


def actual_costs(attempts: pd.DataFrame, prices: Mapping[str, Price | None]) -> pd.DataFrame:
    """What was asked and what it cost: one row per respondent and instrument, and the sum of all.

    Args:
        attempts: respondent, instrument, outcome (answered, failed, refused, unknown), tokens_in and tokens_out
            (nan where nobody knows), most_in and most_out; retries are attempts of their own.
        prices: by respondent.

    Returns:
        Columns calls, failed, unknown (of which nobody knows what they did cost), tokens_in, tokens_out (of the
        others), money (nan without a price; the unknown count as what they may have cost), money_unknown (how much of
        it is theirs).
    """
    nobody_knows = attempts["tokens_in"].isna()
    counted = attempts.assign(
        unknown=nobody_knows,
        failed=attempts["outcome"].isin(["failed", "refused"]),
        most_in=attempts["most_in"].where(nobody_knows, 0.0),
        most_out=attempts["most_out"].where(nobody_knows, 0.0),
    )
    groups = counted.groupby(["respondent", "instrument"], sort=False)
    table = groups.agg(calls=("failed", "size"), failed=("failed", "sum"), unknown=("unknown", "sum"))
    tokens = groups[["tokens_in", "tokens_out", "most_in", "most_out"]].sum()
    table[["tokens_in", "tokens_out"]] = tokens[["tokens_in", "tokens_out"]]
    known = [prices.get(str(name)) for name, _ in table.index]
    nan = float("nan")
    counts = list(zip(known, tokens.to_numpy(), strict=True))
    table["money"] = [nan if price is None else price.of(i + mi, o + mo) for price, (i, o, mi, mo) in counts]
    table["money_unknown"] = [nan if price is None else price.of(mi, mo) for price, (_, _, mi, mo) in counts]
    return with_sum(table)


def with_sum(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a last row of sums; nan counts as nothing, and a column of nan alone stays nan."""
    return pd.concat([table, pd.DataFrame([table.sum(min_count=1)], index=pd.MultiIndex.from_tuples([("all", "")]))])


class Budget:
    """Money that may be spent, and never more: what a request can cost at most is set aside before it is sent.

    Args:
        limit: of all sessions of a run together.
        spent: by the earlier ones.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit, self.spent = limit, spent
        self.exhausted = False
        self._aside: dict[Any, float] = {}
        self._lock = threading.Lock()

    def permits(self, request: Any, at_most: float) -> bool | None:
        """Set money aside for a request, or refuse it where it could pass the limit.

        Returns:
            None where it may still be permitted: what is set aside for others may turn out not to be needed.
        """
        with self._lock:
            if self.exhausted or self.spent + at_most > self.limit:
                self.exhausted = True
                return False
            if self.spent + sum(self._aside.values()) + at_most > self.limit:
                return None
            self._aside[request] = at_most
            return True

    def settle(self, request: Any, cost: float | None) -> None:
        """Count what it did cost; None, where the server did not say, counts what was set aside."""
        with self._lock:
            aside = self._aside.pop(request, 0.0)
            self.spent += aside if cost is None else cost
