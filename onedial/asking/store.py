"""Every answer of a run, in one file that only grows: what was asked is there, and what is there is not asked again.

    store = Store(run.file(ANSWERS), prices={"gpt-x": Price(0.4, 1.6)}, limit=5.0)
    for place, response in store.ask(Ask("gpt-x: neutral", settings, prompts, instrument)): ...
    store.rows(), store.costs()

A line of JSON holds an answer with who gave it, to what, its tokens and its price, or a request that failed. Before a
request to a provider goes out, a line says so: one that is never followed by its outcome was under way when the process
was killed, and counts as what it may have cost at most. Half a line at the end, as a kill leaves it, is none. A table
made from answers is made again from the same answers, so to go on with a program is to run it again.
"""

import json
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.asks import Ask, Key
from onedial.asking.instruments import Instrument
from onedial.asking.prompts import Prompt
from onedial.asking.providers.attempts import Attempt
from onedial.asking.providers.costs import Budget, Price, actual_costs, believed, most_tokens_of
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.providers.providers import ProviderRespondent, Request, answers_side_by_side
from onedial.asking.respondents import Identity, Respondent, Response
from onedial.core.errors import InputError
from onedial.core.files import make_folder
from onedial.core.notices import notice
from onedial.core.plain_values import plain, whole_characters

ANSWERS = "answers.jsonl"
Line = dict[str, Any]
_KEY = ("respondent", "occasion", "item", "asked", "sample")
_DEFAULTS = {each.name: each.default for each in fields(Response) if each.name != "place"}
_SYNCED_EVERY = 1.0
"""Seconds: a kill loses nothing that was written, the loss of power what was not synced."""
_OF_AN_ATTEMPT = ["label", "instrument", "outcome", "tokens_in", "tokens_out", "most_in", "most_out"]


class BudgetSpent(InputError):
    """What is still to be asked could pass the budget."""


class Store:
    """The answers of one run; what is asked through it is kept, and what it holds is not asked.

    Args:
        file: where they are kept, made with the first of them; None until `opens`.
        prices: by label.
        limit: money that all starts of the run together may spend; None sets none.

    Attributes:
        present: the occasion on which is asked now; "" for none.
    """

    def __init__(
        self, file: Path | None = None, prices: Mapping[str, Price | None] | None = None, limit: float | None = None
    ) -> None:
        self.prices, self.limit = dict(prices or {}), limit
        self.budget: Budget | None = None
        self.present = ""
        self._advance: Callable[[int], object] = int
        self._lines: _Lines | None = None
        self._known: dict[Key, dict[int, Line]] = {}
        self._attempts: dict[str, Line] = {}
        self._times: Counter[Key] = Counter()
        self._elsewhere: dict[ProviderModel, ProviderRespondent] = {}
        if file is not None:
            self.opens(file)

    @property
    def is_open(self) -> bool:
        """Whether answers are kept in a file."""
        return self._lines is not None

    @property
    def file(self) -> Path:
        """Where the answers are kept."""
        assert self._lines is not None
        return self._lines.file

    def opens(self, file: Path) -> None:
        """From now on answers are kept in this file, which may hold those of earlier starts.

        Raises:
            InputError: a line of it is damaged.
        """
        self._lines = _Lines(file)
        for line in read_lines(file):
            self._take(line)
        if self.limit is not None:
            self.budget = Budget(self.limit, self.spent())

    def _take(self, line: Line) -> None:
        whole = self._attempts.setdefault(line["attempt"], {})
        whole.update(line)
        if "outcome" not in whole:
            return
        times = self._known.setdefault(_key(whole), {})
        known = times.get(whole["time"])
        if known is None or known.get("error") or not whole.get("error"):
            times[whole["time"]] = whole

    def _append(self, *lines: Line) -> None:
        assert self._lines is not None
        self._lines.append(*lines)
        for line in lines:
            self._take(line)

    # ---- asking ----------------------------------------------------------------------------------------------------

    def ask(self, *asks: Ask) -> Iterator[tuple[int, Response]]:
        """The answers to all of it, each with the place of what was asked; those of providers side by side.

        What is held comes first. Of a model on this machine, what is asked together is kept together, and asked again
        whole where a part of it is missing: its answers hang on what stands beside them, in the last bits.

        Raises:
            BudgetSpent: not all could be asked.
            InputError: see `ProviderRespondent.answer`.
        """
        elsewhere: list[_Kept] = []
        if self.budget is not None:
            self.budget.exhausted = False
        for place, each in enumerate(asks):
            keys = each.keys
            times = [self._counted(key) for key in keys]
            is_elsewhere = isinstance(each.respondent, ProviderModel)
            held = [self._held(key, n) for key, n in zip(keys, times, strict=True)]
            if not is_elsewhere and not all(held):
                held = [None] * len(keys)
            for at, line in enumerate(held):
                if line is not None:
                    yield place, restored(line, at)
            if not (left := [at for at, line in enumerate(held) if line is None]):
                continue
            heads = [_head(each, at, keys[at], times[at]) for at in left]
            if isinstance(each.respondent, ProviderModel):
                whose = self._of_provider(each.respondent)
                elsewhere += [
                    _Kept(whose, each.shown[at], each.instrument, at, place, self, head)
                    for at, head in zip(left, heads, strict=True)
                ]
            else:
                yield from ((place, response) for response in self._asked_here(each, heads))
        yield from ((request.ask, response) for request, response in answers_side_by_side(elsewhere))
        if self.budget is not None and self.budget.exhausted:
            raise BudgetSpent(
                f"the budget of {self.budget.limit:g} would have been passed: {self.budget.spent:.4g} is spent, and "
                "what was answered is kept; a larger --budget with --resume goes on"
            )

    def _counted(self, key: Key) -> int:
        self._times[key] += 1
        return self._times[key] - 1

    def _held(self, key: Key, time: int) -> Line | None:
        line = self._known.get(key, {}).get(time)
        return None if line is None or line.get("error") else line

    def _asked_here(self, each: Ask, heads: Sequence[Line]) -> Iterator[Response]:
        given = []
        assert each.respondent is not None
        assert not isinstance(each.respondent, ProviderModel)
        for response in each.respondent.answer(each.prompts, each.instrument):
            given.append(response)
            yield response
        lines = [heads[response.place] | _said(response) | {"attempt": self._name()} for response in given]
        self._append(*(line | {"outcome": "failed" if line.get("error") else "answered"} for line in lines))

    def _of_provider(self, settings: ProviderModel) -> ProviderRespondent:
        if settings not in self._elsewhere:
            self._elsewhere[settings] = ProviderRespondent(settings)
        return self._elsewhere[settings]

    def _name(self) -> str:
        assert self._lines is not None
        return self._lines.name()

    # ---- one respondent on one occasion ----------------------------------------------------------------------------

    @contextmanager
    def occasion(self, name: str, advance: Callable[[int], object] = int) -> Iterator[None]:
        """While it lasts, what is asked of `respondent` belongs to this test, and `advance` is told of each answer."""
        before = self.present, self._advance
        self.present, self._advance = name, advance
        try:
            yield
        finally:
            self.present, self._advance = before

    def respondent(self, name: str, respondent: ProviderModel | Respondent, sample: int = 0) -> "StoredRespondent":
        """A respondent whose answers are kept here, under the occasion on which it is asked.

        Of a model on this machine they are those of its weights at its setting, whatever it is called.

        Raises:
            InputError: see `ProviderRespondent`.
        """
        if isinstance(respondent, ProviderModel):
            self._of_provider(respondent)
            return StoredRespondent(self, name, respondent, sample, respondent.what_is_asked)
        who = respondent.identity
        return StoredRespondent(
            self, name, respondent, sample, "\x1f".join(filter(None, (who.fingerprint, who.setting)))
        )

    def failed(self, name: str) -> Counter[str]:
        """Why requests of a respondent on the present occasion have no answer: reason -> number.

        Each is counted once, by its last attempt, however often it was made again.
        """
        whose = (name, self.present)
        lines = [line for key, times in self._known.items() if key[:2] == whose for line in times.values()]
        counts = Counter(str(line["error"]) for line in lines if line.get("error"))
        known = {(*key, time) for key, times in self._known.items() for time in times}
        cut = [line for line in self._attempts.values() if "outcome" not in line]
        n_cut = sum(_key(line)[:2] == whose and (*_key(line), line["time"]) not in known for line in cut)
        return counts + Counter({"nobody knows: it was interrupted": n_cut})

    def tell_failed(self, name: str) -> int:
        """Say how many of a respondent's requests on this occasion failed, and why; how many these are."""
        counts = self.failed(name)
        if n := counts.total():
            reasons = "; ".join(f"{number}: {reason}" for reason, number in counts.most_common())
            notice(f"{name}, {self.present}: {n} requests failed ({reasons}); they are blank, and --resume asks again")
        return n

    # ---- what is held ----------------------------------------------------------------------------------------------

    def has(self, key: Key) -> bool:
        """Whether what is kept under this key was answered."""
        return self._held(key, 0) is not None

    def line(self, key: Key) -> Line | None:
        """What is kept under this key: the answer, or the last failure."""
        return self._known.get(key, {}).get(0)

    def lines(self) -> list[Line]:
        """Every answer, and the last failure of what has none."""
        return [line for times in self._known.values() for line in times.values()]

    def attempts(self) -> pd.DataFrame:
        """Every request to a provider, retries and what a kill cut short included.

        Returns:
            label, instrument, outcome (answered, failed, refused; unknown where it has not ended), tokens_in,
            tokens_out (nan where nobody knows), most_in, most_out.
        """
        paid = [line for line in self._attempts.values() if "begun" in line]
        table = pd.DataFrame(paid).reindex(columns=_OF_AN_ATTEMPT)
        table["outcome"] = table["outcome"].astype(object).fillna("unknown")
        return table.astype(dict.fromkeys(_OF_AN_ATTEMPT[3:], float))

    def costs(self) -> pd.DataFrame | None:
        """What was asked of providers and what it cost (`actual_costs`), all starts included; None where nothing was.

        A model without a price now has that of the time when it was asked.
        """
        attempts = self.attempts()
        if attempts.empty:
            return None
        prices: dict[str, Price | None] = {
            line["label"]: Price(*line["price"]) for line in self._attempts.values() if "price" in line
        }
        prices |= {label: price for label, price in self.prices.items() if price is not None}
        return actual_costs(attempts.rename(columns={"label": "respondent"}), prices)

    def spent(self) -> float:
        """Money that all requests so far have cost, or may have."""
        costs = self.costs()
        return 0.0 if costs is None else float(costs["money"].iloc[-1])

    def take_over(self, other: Path) -> int:
        """Take over the lines of another store's file that this one has not; how many answers these are."""
        new = [line for line in read_lines(other) if line["attempt"] not in self._attempts]
        n = sum("outcome" in line and not line.get("error") and not self.has(_key(line)) for line in new)
        if new:
            self._append(*new)
        return n


class StoredRespondent:
    """Fulfils `onedial.asking.respondents.Respondent`: what a store holds, and the rest from whoever answers."""

    def __init__(
        self, store: Store, name: str, respondent: Respondent | ProviderModel, sample: int, whom: str = ""
    ) -> None:
        self.respondent = respondent
        self._store, self._name, self._sample, self._whom = store, name, sample, whom

    @property
    def identity(self) -> Identity:
        return self.respondent.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """What earlier starts were answered on this occasion, then the rest, as it comes; raises as `Store.ask`."""
        occasion, advance = self._store.present, self._store._advance
        asked = Ask(self._name, self.respondent, prompts, instrument, occasion, self._sample, whom=self._whom)
        for _, response in self._store.ask(asked):
            advance(1)
            yield response


@dataclass(eq=False)
class _Kept(Request):
    """A request each of whose attempts is written down before it goes out, with money set aside for it.

    Attributes:
        ask: the place of what it belongs to. head: what each of its lines says of what is asked.
    """

    ask: int
    store: Store
    head: Line

    def __post_init__(self) -> None:
        self._price = self.store.prices.get(self.head["label"])
        self._most = most_tokens_of(self.prompt), self.respondent.settings.room_for(self.instrument)

    def permits(self) -> bool | None:
        if self.store.budget is None or self._price is None:
            return True
        return self.store.budget.permits(self, self._price.of(*self._most))

    def begins(self) -> None:
        self._attempt = self.store._name()
        line = self.head | {"attempt": self._attempt, "begun": _now()}
        line |= dict(zip(("most_in", "most_out"), self._most, strict=True))
        self.store._append(line if self._price is None else line | {"price": list(asdict(self._price).values())})

    def ended(self, attempt: Attempt) -> None:
        response = attempt.response
        tokens: tuple[float | None, float | None] = (response.tokens_in, response.tokens_out)
        if not believed(*tokens, *self._most):
            tokens = (None, None)
        if attempt.refused:
            tokens = (0, 0)
        values = _said(response) | dict(zip(("tokens_in", "tokens_out"), tokens, strict=True))
        failed = "refused" if attempt.refused else "failed"
        outcome = {"attempt": self._attempt, "outcome": failed if response.error else "answered"}
        self.store._append(outcome | {name: value for name, value in values.items() if value is not None})
        if self.store.budget is not None and self._price is not None:
            cost = None if tokens[0] is None or tokens[1] is None else self._price.of(tokens[0], tokens[1])
            self.store.budget.settle(self, cost)


def _head(each: Ask, at: int, key: Key, time: int) -> Line:
    """What a line says of what is asked."""
    asked = dict(zip(_KEY, key, strict=True)) | {"time": time, "label": each.label or each.who}
    named = {"instrument": each.instrument.name, "framing": each.instrument.template.name}
    return asked | named | {"prompt": shown(each.shown[at])} | dict(each.about)


def shown(prompt: Prompt) -> str:
    """What is said before the answer, turn by turn, as one text."""
    turns = [text for turn in prompt.earlier for text in turn]
    return "\n\n".join([*turns, prompt.user, *([prompt.assistant_prefix] if prompt.assistant_prefix else [])])


def _said(response: Response) -> Line:
    """What a line says of a response: whatever is not as by default."""
    values = {name: plain(getattr(response, name)) for name in _DEFAULTS}
    return {
        name: whole_characters(value)
        for name, value in values.items()
        if value is not None and value != _DEFAULTS[name] and value != []
    }


def restored(line: Mapping[str, Any], place: int = 0) -> Response:
    """A response as it was."""
    values = {name: line[name] for name in _DEFAULTS if line.get(name) is not None}
    return Response(place=place, **values | {"probabilities": tuple(values.get("probabilities", ()))})


def _key(line: Line) -> Key:
    respondent, occasion, item, asked, sample = (line[name] for name in _KEY)
    return respondent, occasion, item, asked, sample


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class _Lines:
    """The writing end of the file; two threads may append.

    The text of a line is ASCII, so that no character of an answer can end it.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None
        self._writing, self._synced = threading.Lock(), 0.0
        self._session, self._number = secrets.token_hex(6), count()

    def name(self) -> str:
        """Of an attempt: no other has it."""
        return f"{self._session}-{next(self._number)}"

    def append(self, *lines: Line) -> None:
        """Write lines; a process that is killed afterwards has kept them.

        Raises:
            OSError: no room, or the file cannot be written; nothing of these lines stays in it.
        """
        data = b"".join(json.dumps(line, allow_nan=False).encode("ascii") + b"\n" for line in lines)
        with self._writing:
            if self._descriptor is None:
                make_folder(self.file.parent)
                self._descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                os.ftruncate(self._descriptor, self.file.read_bytes().rfind(b"\n") + 1)
            size = os.fstat(self._descriptor).st_size
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
                if (now := time.monotonic()) - self._synced > _SYNCED_EVERY:
                    os.fsync(self._descriptor)
                    self._synced = now
            except OSError as error:
                os.ftruncate(self._descriptor, size)
                raise OSError(error.errno, error.strerror, str(self.file)) from error

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def read_lines(file: Path) -> list[Line]:
    """Every line of a store's file, in the order of writing; nothing where there is no file.

    Raises:
        InputError: a line is damaged.
    """
    if not file.exists():
        return []
    lines = []
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            raise InputError(
                f"{file} is damaged in line {number}; restore it from a copy, or take the line out"
            ) from error
    return lines
