"""What is to be asked of whom, what of it stands already, and the asking of what is missing behind providers.

An answer is known by respondent, question, a hash of what was asked of whom, and sample. Whatever changes the question,
the wording, the model or its settings changes the hash, so that a collection may go on with more or other questions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from onedial.asking import (
    CAN_YOU_ANSWER,
    CLOSED_BOOK,
    MEASUREMENT_COLUMNS,
    NUMBERS,
    Asking,
    Instrument,
    ProviderRespondent,
    Question,
    Response,
    answers_side_by_side,
    measurement_row,
    prompt_key,
    reasoned,
)
from onedial.core import Ledger, notice, one_line, sha256_of_text
from onedial.panels.collecting.accounts import LedgerAccount
from onedial.panels.collecting.costs import Budget
from onedial.panels.collecting.model_changes import PROBE, PROBES
from onedial.panels.collecting.respondent_files import RespondentModel

ABOUT = ["source", "revision", "dtype", "asked"]
"""Columns beside those of a measurement: where the weights came from, and a hash of what was asked of whom."""
COLLECTED = [*MEASUREMENT_COLUMNS, *ABOUT]
COLLECTED_NUMBERS = tuple(NUMBERS)
ANSWER = ["respondent", "question_id", "asked", "sample"]
"""What tells one answer from another."""
ROW = [*ANSWER, "answered_at"]
"""What tells one row from another: a request that failed is made again, and both stand."""
_EARLY = 50
_MANY_UNREAD_EARLY = 0.5

Key = tuple[str, str, str, int]


def instruments_of(entry: RespondentModel, closed_book: bool) -> list[Instrument]:
    """What one entry is asked with: yes or no in each of its framings, and the question itself last."""
    framed = {
        "direct": lambda template: CAN_YOU_ANSWER.framed(template),
        "reasoned": reasoned,
    }.get(entry.instrument)
    asked = [framed(template) for template in entry.framings] if framed else []
    if entry.instrument == "closed book" or (closed_book and entry.closed_book is not None):
        asked.append(CLOSED_BOOK if entry.closed_book is None else CLOSED_BOOK.framed(entry.closed_book))
    return asked


def samples_of(entry: RespondentModel, instrument: Instrument) -> range:
    """The numbers of the samples: the question itself is asked once."""
    return range(1 if instrument.name in (CLOSED_BOOK.name, PROBE.name) else entry.samples)


def key_of(entry: RespondentModel, instrument: Instrument, question: Question, sample: int = 0) -> Key:
    """What an answer is saved under.

    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from onedial.panels import RespondentModel, load_questions
    >>> entry = RespondentModel("gpt-x", (CAN_YOU_ANSWER.template,))
    >>> key_of(entry, CAN_YOU_ANSWER, load_questions(["Who wrote Emma?"])[0])[0]
    'gpt-x: neutral'
    """
    what = prompt_key(instrument.prompt(question.text), instrument)
    if entry.provider is None:
        whom = [entry.model, entry.revision, entry.dtype]
        if entry.temperature is not None:
            whom.append(str(entry.temperature))
    else:
        whom = [entry.provider.what_is_asked]
    asked = sha256_of_text("\x1f".join(each or "" for each in [what, *whom]))
    return entry.respondent_for(instrument), question.id, asked, sample


def answered(tables: Iterable[pd.DataFrame]) -> set[Key]:
    """The keys of what was answered; a request that failed is not.

    Args:
        tables: columns `ANSWER` and error.
    """
    found: set[Key] = set()
    for table in tables:
        table = table[table["error"].fillna("") == ""]
        found.update(
            (name, question, asked, int(sample))
            for name, question, asked, sample in table[ANSWER].itertuples(index=False, name=None)
        )
    return found


def latest(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each answer: of several the last that did not fail, else the last."""
    order = rows.assign(fine=rows["error"].fillna("") == "", at=rows["answered_at"].fillna(""))
    order = order.sort_values(["fine", "at"], kind="stable")
    return order.drop_duplicates(ANSWER, keep="last").drop(columns=["fine", "at"]).sort_index()


@dataclass(frozen=True)
class Pending:
    """What one entry is still to be asked with one instrument, the same repeat."""

    entry: RespondentModel
    instrument: Instrument
    sample: int
    questions: list[Question]

    __repr__ = one_line

    @property
    def respondent(self) -> str:
        return self.entry.respondent_for(self.instrument)


def pending_of(
    entries: Iterable[tuple[RespondentModel, Sequence[Question]]], closed_book: bool, done: set[Key]
) -> list[Pending]:
    """Whatever is missing; what two entries would ask alike is asked once."""
    planned = set(done)
    found = []
    for entry, questions in entries:
        for instrument in instruments_of(entry, closed_book):
            for sample in samples_of(entry, instrument):
                keys = {key_of(entry, instrument, question, sample): question for question in questions}
                own = [question for key, question in keys.items() if key not in planned]
                planned |= keys.keys()
                if own:
                    found.append(Pending(entry, instrument, sample, own))
    return found


def probes_for(entries: Iterable[RespondentModel], start: int) -> list[Pending]:
    """The probe questions, for each entry behind a provider that is asked anything now.

    Args:
        start: how often the collection was started before.

    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from onedial.panels import RespondentModel
    >>> probes_for([RespondentModel("smollm2-135m-instruct", (CAN_YOU_ANSWER.template,))], start=0)
    []
    """
    own = {entry.label: entry for entry in entries if entry.provider is not None}
    return [Pending(entry, PROBE, start, list(PROBES)) for entry in own.values()]


def ask_providers(
    pending: Sequence[Pending],
    keep: Callable[[dict[str, Any]], None],
    ledger: Ledger,
    *,
    budget: Budget | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> None:
    """Ask all entries at once; each answer is given to `keep` as soon as it has come.

    Args:
        keep: gets the row of each answer (`COLLECTED`), by another thread; the answer's attempt ends after it.
        ledger: gets every attempt before it is made, and its outcome.
        budget: nothing that would pass it is asked.
        advance: is told how many answers have come.

    Raises:
        InputError: see `ProviderRespondent`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> kept = []
    >>> ask_providers([], kept.append, Ledger(Path(folder.name) / "ledger.log"))
    >>> kept
    []
    """
    watch = _Watch()
    for place, response in _asked_at_once(pending, keep, ledger, budget):
        if response.error:
            keep(_row(pending[place], response))
        watch.see(pending[place], response)
        advance(1)


def _asked_at_once(
    chunks: Sequence[Pending], keep: Callable[[dict[str, Any]], None], ledger: Ledger, budget: Budget | None
) -> Iterator[tuple[int, Response]]:
    work = []
    for chunk in chunks:
        assert chunk.entry.provider is not None
        respondent = ProviderRespondent(chunk.entry.provider, logprobs=chunk.entry.logprobs)
        prompts = [chunk.instrument.prompt(question.text) for question in chunk.questions]
        work.append(Asking(respondent, prompts, chunk.instrument))

    def about(place: int, at: int) -> dict[str, Any]:
        chunk, question = chunks[place], chunks[place].questions[at]
        key = (chunk.respondent, question.id, *_asked(chunk, question))
        return dict(zip(ANSWER, key, strict=True)) | {"instrument": chunk.instrument.name}

    def kept(place: int, response: Response) -> dict[str, Any]:
        keep(_row(chunks[place], response))
        return {}

    prices = [chunk.entry.price for chunk in chunks]
    return answers_side_by_side(work, LedgerAccount(work, prices, about, kept, ledger, budget))


def _asked(chunk: Pending, question: Question) -> tuple[str, int]:
    return key_of(chunk.entry, chunk.instrument, question)[2], chunk.sample


def _row(chunk: Pending, response: Response) -> dict[str, Any]:
    question = chunk.questions[response.place]
    assert chunk.entry.provider is not None
    identity = ProviderRespondent.identity_of(chunk.entry.provider, chunk.entry.short_name)
    names = (chunk.instrument.name, chunk.instrument.template.name)
    row = measurement_row(chunk.respondent, identity, *names, question.id, response, chunk.sample)
    about = {"source": chunk.entry.provider.inspect_name, "revision": "", "dtype": ""}
    about["asked"] = _asked(chunk, question)[0]
    return row | about


class _Watch:
    """Says early that a respondent's answers cannot be read, while little is spent."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._unread: dict[str, int] = {}

    def see(self, chunk: Pending, response: Response) -> None:
        if chunk.instrument.scale.kind != "yes/no" or response.error:
            return
        name = chunk.respondent
        self._seen[name] = self._seen.get(name, 0) + 1
        self._unread[name] = self._unread.get(name, 0) + (response.said_yes is None)
        if self._seen[name] == _EARLY and self._unread[name] > _MANY_UNREAD_EARLY * _EARLY:
            notice(
                f"{name}: {self._unread[name]} of the first {_EARLY} answers cannot be read, such as "
                f"{response.raw_text[:80]!r}; break off and give more max_tokens or other words, unless that is meant"
            )
