"""Attempts of models behind providers, each in the ledger before it is made, and within a budget.

A collection keeps its answers in parts of its own. Programs that ask one test after another ask through a `Bill`:

    bill = Bill({"openai:gpt-4.1-mini": Price(0.4, 1.6)}, limit=5.0)
    bill.opens(run.file(LEDGER))                                  # what earlier starts have spent and were answered
    with bill.occasion("pressure"):
        bill.respondent(name, settings).answer(prompts, instrument)

Their answers stand in the ledger itself, so that a test which a kill cut short is asked for the rest alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking import (
    Asking,
    Attempt,
    Identity,
    Instrument,
    Prompt,
    ProviderModel,
    ProviderRespondent,
    Response,
    answers_side_by_side,
    prompt_key,
)
from onedial.core import InputError, Ledger, Parts, notice, plain, read_ledger, sha256_of_text
from onedial.panels.collecting.costs import Budget, Price, actual_costs, believed, most_tokens_of

_WHAT = ["respondent", "occasion", "asked", "sample"]
"""What tells one answer of a bill from another, but for how often the same is asked on one occasion."""
_OF_AN_ATTEMPT = ["respondent", "instrument", "outcome", "tokens_in", "tokens_out", "most_in", "most_out"]


class LedgerAccount:
    """Notes each attempt in the ledger and sets money aside for it (`onedial.asking.Account`).

    Args:
        work: what is asked. prices: of each of it.
        about: place in `work` and of the prompt -> what the ledger says of the attempt.
        keep: is given whatever was answered, before its attempt counts as ended: a kill between the two loses nothing.
            What it returns stands in the ledger beside the outcome.
        budget: nothing that would pass it is asked, where there is a price.
    """

    def __init__(
        self,
        work: Sequence[Asking],
        prices: Sequence[Price | None],
        about: Callable[[int, int], Mapping[str, Any]],
        keep: Callable[[int, Response], Mapping[str, Any]],
        ledger: Ledger,
        budget: Budget | None,
    ) -> None:
        self._work, self._prices, self._about, self._keep = work, prices, about, keep
        self._ledger, self._budget = ledger, budget
        self._names: dict[tuple[int, int], str] = {}

    def _most(self, place: int, at: int) -> tuple[int, int]:
        asking = self._work[place]
        return most_tokens_of(asking.prompts[at]), asking.respondent.room(asking.instrument)

    def permits(self, place: int, at: int) -> bool | None:
        price = self._prices[place]
        if self._budget is None or price is None:
            return True
        return self._budget.permits((place, at), price.of(*self._most(place, at)))

    def begins(self, place: int, at: int) -> None:
        most_in, most_out = self._most(place, at)
        price = self._prices[place]
        paid = {} if price is None else {"price": asdict(price)}
        self._names[place, at] = self._ledger.begin(
            **self._about(place, at), most_in=most_in, most_out=most_out, **paid
        )

    def ended(self, place: int, attempt: Attempt) -> None:
        response = attempt.response
        at = response.place
        tokens: tuple[float | None, float | None] = (response.tokens_in, response.tokens_out)
        if not believed(*tokens, *self._most(place, at)):
            tokens = (None, None)
            response = replace(response, tokens_in=None, tokens_out=None)
        if attempt.refused:
            tokens = (0, 0)
        more = {} if response.error else self._keep(place, response)
        failed = "refused" if attempt.refused else "failed"
        self._ledger.end(
            self._names.pop((place, at)),
            outcome=failed if response.error else "answered",
            answered_at=response.answered_at,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            error=response.error,
            **more,
        )
        price = self._prices[place]
        if self._budget is not None and price is not None:
            cost = None if tokens[0] is None or tokens[1] is None else price.of(tokens[0], tokens[1])
            self._budget.settle((place, at), cost)


class BudgetSpent(InputError):
    """What is still to be asked could pass the budget."""


class Bill:
    """The account of a run whose models are asked one test after another.

    Args:
        prices: by the name under which a respondent is asked for.
        limit: money of all starts of the run together; None sets none.
    """

    def __init__(self, prices: Mapping[str, Price], limit: float | None = None) -> None:
        self.prices, self.limit = dict(prices), limit
        self._occasion = ""
        self._file: Path | None = None
        self._ledger: Ledger | None = None
        self._budget: Budget | None = None
        self._kept: dict[tuple[Any, ...], list[Response]] = {}

    def opens(self, file: Path) -> None:
        """From now on attempts stand in this ledger, which may hold those of earlier starts."""
        self._file, self._ledger = file, Ledger(file)
        for entry in read_ledger(file):
            if "response" in entry:
                key = tuple(entry[name] for name in _WHAT)
                self._kept.setdefault(key, []).append(_restored(entry["response"]))
        costs = self.costs()
        if self.limit is not None:
            self._budget = Budget(self.limit, 0.0 if costs is None else float(costs["money"].iloc[-1]))

    @contextmanager
    def occasion(self, name: str) -> Iterator[None]:
        """While it lasts, what is asked belongs to this test; the same prompt on another occasion is asked anew."""
        before, self._occasion = self._occasion, name
        try:
            yield
        finally:
            self._occasion = before

    def respondent(self, name: str, settings: ProviderModel, sample: int = 0) -> "BilledRespondent":
        """A provider's model; see `ProviderRespondent`."""
        return BilledRespondent(self, name, ProviderRespondent(settings), sample)

    def costs(self) -> pd.DataFrame | None:
        """What was asked so far and what it cost (`actual_costs`), all starts included; None where nothing was."""
        assert self._file is not None
        entries = read_ledger(self._file)
        if not entries:
            return None
        table = pd.DataFrame(entries).reindex(columns=_OF_AN_ATTEMPT)
        table["outcome"] = table["outcome"].astype(object).fillna("unknown")
        numbers = _OF_AN_ATTEMPT[3:]
        return actual_costs(table.astype(dict.fromkeys(numbers, float)), self.prices)

    def failed(self, name: str, occasion: str | None = None) -> Counter[str]:
        """Why requests of a respondent on one occasion (the present one by default) have no answer: reason -> number.

        Each is counted once, by its last attempt, however often it was made again.
        """
        if self._file is None:
            return Counter()
        occasion = self._occasion if occasion is None else occasion
        last: dict[tuple[Any, ...], str] = {}
        for entry in read_ledger(self._file):
            if entry.get("respondent") == name and entry.get("occasion") == occasion:
                key = tuple(entry[part] for part in _WHAT)
                answered = "response" in entry or last.get(key) == ""
                last[key] = "" if answered else entry.get("error") or "nobody knows: it was interrupted"
        return Counter(error for error in last.values() if error)

    def keep(self, parts: Parts, rows: pd.DataFrame, name: str) -> None:
        """Append what a respondent's answers of this occasion have come to; where requests failed, hold it for this
        start alone, with their blanks, and say so.
        """
        if self.tell_failed(name):
            parts.hold(rows)
        else:
            parts.append(rows)

    def tell_failed(self, name: str) -> int:
        """Say how many of a respondent's requests on this occasion failed, and why; how many these are."""
        found = self.failed(name)
        if n := found.total():
            reasons = "; ".join(f"{count}: {reason}" for reason, count in found.most_common())
            notice(
                f"{name}, {self._occasion}: {n} requests failed ({reasons}); they are blank, and --resume asks again"
            )
        return n

    def _answers(
        self, name: str, respondent: ProviderRespondent, sample: int, prompts: Sequence[Prompt], instrument: Instrument
    ) -> Iterator[Response]:
        assert self._ledger is not None
        whom = respondent.settings.what_is_asked
        asked = [sha256_of_text(f"{prompt_key(prompt, instrument)}\x1f{whom}") for prompt in prompts]
        keys = [(name, self._occasion, each, sample) for each in asked]
        left = []
        for place, key in enumerate(keys):
            if kept := self._kept.get(key):
                yield replace(kept.pop(0), place=place)
            else:
                left.append(place)
        work = [Asking(respondent, [prompts[place] for place in left], instrument)]
        account = LedgerAccount(
            work,
            [self.prices.get(name)],
            lambda _, at: dict(zip(_WHAT, keys[left[at]], strict=True)) | {"instrument": instrument.name},
            lambda _, response: {"response": plain(asdict(response))},
            self._ledger,
            self._budget,
        )
        for _, response in answers_side_by_side(work, account):
            yield replace(response, place=left[response.place])
        if self._budget is not None and self._budget.exhausted:
            raise BudgetSpent(
                f"the budget of {self._budget.limit:g} would have been passed: {self._budget.spent:.4g} is spent, and "
                "what was answered is kept; a larger --budget with --resume goes on"
            )


class BilledRespondent:
    """Fulfils `onedial.asking.Respondent` with a provider's model whose attempts stand in a bill."""

    def __init__(self, bill: Bill, name: str, respondent: ProviderRespondent, sample: int) -> None:
        self._bill, self._name, self._respondent, self._sample = bill, name, respondent, sample

    @property
    def identity(self) -> Identity:
        return self._respondent.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """What earlier starts were answered on this occasion, then the rest, as it comes.

        Raises:
            BudgetSpent: not all could be asked.
            InputError: see `ProviderRespondent.answer`.
        """
        return self._bill._answers(self._name, self._respondent, self._sample, prompts, instrument)


def _restored(stored: Mapping[str, Any]) -> Response:
    """A response as it was; JSON has no nan."""
    floats = {name: math.nan for name in ("margin", "mass", "stated", "seconds") if stored[name] is None}
    return Response(**{**stored, **floats, "probabilities": tuple(stored["probabilities"])})
