"""A collection of answers: who is asked which questions, what its store holds already, and the asking of the rest.

    collection = Collection(models, questions, Store(run.file(ANSWERS)), seed=0, closed_book=True)
    collection.missing()      # to be asked; nothing more after the last answer has come
    collection.ask(pending)   # of providers and servers, side by side
    collection.rows()         # what was asked of whom, and what they said

An answer is known by respondent, question, a hash of what was asked of whom, and sample. Whatever changes the question,
the wording, the model or its settings changes the hash, so that a collection may go on with more or other questions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK, Instrument, reasoned
from onedial.asking.measuring import MEASUREMENT_COLUMNS, NUMBERS, measurement_row
from onedial.asking.prompts import Prompt
from onedial.asking.providers.costs import CHARACTERS_PER_TOKEN, WRITTEN
from onedial.asking.providers.providers import ProviderRespondent
from onedial.asking.questions import Question, stratified_sample
from onedial.asking.respondents import Identity, Respondent, Response
from onedial.asking.store import ANSWERS, Ask, Key, Line, Store, asked_of, restored
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.run.run import Run
from onedial.panels.collecting.judging import JUDGE, judge_prompt
from onedial.panels.collecting.respondent_files import RespondentModel

ABOUT = ["source", "revision", "dtype", "asked"]
"""Columns beside those of a measurement: where the weights came from, and a hash of what was asked of whom."""
_CALLED = {"served_model": "the server calls it", "served_fingerprint": "the server's fingerprint is"}
_EARLY = 50
_MANY_UNREAD_EARLY = 0.5


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
    return range(1 if instrument.name == CLOSED_BOOK.name else entry.samples)


def key_of(entry: RespondentModel, instrument: Instrument, question: Question, sample: int = 0) -> Key:
    """What an answer is kept under.

    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from onedial.panels import RespondentModel, load_questions
    >>> entry = RespondentModel("gpt-x", (CAN_YOU_ANSWER.template,))
    >>> key_of(entry, CAN_YOU_ANSWER, load_questions(["Who wrote Emma?"])[0])[0]
    'gpt-x: neutral'
    """
    asked = asked_of(instrument.prompt(question.rendered), instrument, whom(entry))
    return entry.respondent_for(instrument), "", question.id, asked, sample


def whom(entry: RespondentModel) -> str:
    """What tells the answers of one entry from those of another model or setting."""
    if entry.provider is not None:
        return entry.provider.what_is_asked
    heat = [] if entry.temperature is None else [str(entry.temperature)]
    return "\x1f".join([entry.model, entry.revision or "", entry.dtype, *heat])


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
    entries: Iterable[tuple[RespondentModel, Sequence[Question]]], closed_book: bool, has: Callable[[Key], bool]
) -> list[Pending]:
    """Whatever is missing; what two entries would ask alike is asked once."""
    planned: set[Key] = set()
    found = []
    for entry, questions in entries:
        for instrument in instruments_of(entry, closed_book):
            for sample in samples_of(entry, instrument):
                keys = {key_of(entry, instrument, question, sample): question for question in questions}
                own = [question for key, question in keys.items() if key not in planned and not has(key)]
                planned |= keys.keys()
                if own:
                    found.append(Pending(entry, instrument, sample, own))
    return found


def ask_of(pending: Pending, respondent: Respondent, about: Mapping[str, Any]) -> Ask:
    """What a store is asked for.

    Args:
        about: source, revision and dtype of the weights.
    """
    entry, instrument = pending.entry, pending.instrument
    identity = respondent.identity
    whose = {"model": entry.short_name, "setting": identity.setting, "model_sha256": identity.fingerprint}
    return Ask(
        pending.respondent,
        respondent,
        [instrument.prompt(question.rendered) for question in pending.questions],
        instrument,
        sample=pending.sample,
        items=[question.id for question in pending.questions],
        whom=whom(entry),
        label=entry.label,
        about={**whose, **about},
    )


@dataclass(frozen=True)
class Collection:
    """What is asked of whom, beside the answers that have come.

    Attributes:
        models: as `load_respondents` gives them.
        questions: of the collection; a model with `n_questions` is asked a draw of them.
        store: the answers.
        seed: of these draws.
        closed_book: whether each question itself is asked too.
        judge: of the answers to these.
    """

    models: Sequence[RespondentModel]
    questions: list[Question]
    store: Store
    seed: int
    closed_book: bool
    judge: RespondentModel | None = None

    __repr__ = one_line

    def questions_of(self, entry: RespondentModel) -> list[Question]:
        """The questions that one model is asked."""
        if entry.n_questions is None:
            return self.questions
        return stratified_sample(self.questions, entry.n_questions, self.seed)

    def missing(self, models: Sequence[RespondentModel] | None = None) -> list[Pending]:
        """What is to be asked and has no answer yet, of all models or of these."""
        entries = [(entry, self.questions_of(entry)) for entry in (self.models if models is None else models)]
        return pending_of(entries, self.closed_book, self.store.has)

    def ask(self, pending: Sequence[Pending], advance: Callable[[int], object] = lambda n: None) -> None:
        """Ask models of providers and servers all of it, side by side; `advance` is told of each answer.

        Raises:
            BudgetSpent: not all could be asked.
            InputError: see `ProviderRespondent`.
        """
        watch, asks = _Watch(), []
        for each in pending:
            assert each.entry.provider is not None
            respondent = ProviderRespondent(each.entry.provider, logprobs=each.entry.logprobs)
            asks.append(ask_of(each, respondent, {"source": each.entry.provider.inspect_name}))
        for place, response in self.store.ask(*asks):
            watch.see(pending[place], response)
            advance(1)

    def rows(self, *, may_lack: bool = False) -> pd.DataFrame:
        """What is asked now, in its order, with the entry's `label`; what was asked in another wording is left out.

        Args:
            may_lack: some may not have been answered yet; they are left out.

        Raises:
            InputError: some were not answered yet.
        """
        wanted = [
            (entry.label, self.store.line(key_of(entry, instrument, question, sample)))
            for entry in self.models
            for instrument in instruments_of(entry, self.closed_book)
            for sample in samples_of(entry, instrument)
            for question in self.questions_of(entry)
        ]
        found = {id(line): (label, line) for label, line in wanted if line is not None}
        if not may_lack and (lacking := sum(line is None for _, line in wanted)):
            raise InputError(f"{self.store.file} lacks {lacking} of {len(wanted)} answers; pass --resume")
        table = table_of([line for _, line in found.values()])
        return table.assign(label=[label for label, _ in found.values()])

    def judge_prompts(self, n: int | None = None) -> list[Prompt]:
        """About what a judge of closed-book answers is still to be asked, before these are there.

        Args:
            n: of so many answers; None judges all.
        """
        given = "x" * CHARACTERS_PER_TOKEN * WRITTEN["closed book"]
        prompts = [
            judge_prompt(question, given)
            for entry in self.models
            if CLOSED_BOOK.name in {each.name for each in instruments_of(entry, self.closed_book)}
            for question in self.questions_of(entry)
            if question.answers
        ][:n]
        judged = [line for line in self.store.lines() if line["instrument"] == JUDGE.name and not line.get("error")]
        return prompts[len(judged) :]

    def changed_models(self) -> list[str]:
        """A sentence for each model of a provider whose server has called it otherwise on the way."""
        names = {model.short_name for model in self.models if model.provider is not None}
        lines = [line for line in self.store.lines() if line.get("model") in names and not line.get("error")]
        sentences = []
        for model, own in table_of(lines).groupby("model", sort=False):
            for column, what in _CALLED.items():
                since = (
                    own[own[column].fillna("") != ""].groupby(column, sort=False)["answered_at"].agg(["min", "size"])
                )
                if len(since) > 1:
                    named = since.sort_values("min").itertuples()
                    told = ", then ".join(f"{name} ({n} answers from {first})" for name, first, n in named)
                    sentences.append(f"{model} may have changed: {what} {told}")
        return sentences

    def take_over(self, other: Path) -> int:
        """Take over the answers of another collection that this one has not; how many these were.

        Its attempts come with them: whoever put them together paid for both.

        Raises:
            InputError: it is no collection, or holds answers of other weights under the same name.
        """
        Run.open(other)  # refuses what is no run, or of a later version
        ours, theirs = weights_in(self.store), weights_in(Store(other / ANSWERS))
        for model in ours.keys() & theirs:
            if ours[model] != theirs[model]:
                raise InputError(
                    f"{other} holds answers of other weights of {model} than {self.store.file.parent}; keep them apart"
                )
        return self.store.take_over(other / ANSWERS)


def weights_in(store: Store) -> dict[str, set[str]]:
    """Model -> fingerprints of the weights that answered under its name, where they are known."""
    found: dict[str, set[str]] = {}
    for line in store.lines():
        if line.get("model_sha256"):
            found.setdefault(line["model"], set()).add(line["model_sha256"])
    return found


def table_of(lines: Iterable[Line]) -> pd.DataFrame:
    """A store's lines as measurements, with the columns of `ABOUT`."""
    rows = []
    for line in lines:
        identity = Identity(line["model"], line["model_sha256"], line["setting"])
        names = (line["instrument"], line["framing"], line["item"])
        row = measurement_row(line["respondent"], identity, *names, restored(line), line["sample"])
        rows.append(row | {name: line.get(name, "") for name in ABOUT})
    columns = [*MEASUREMENT_COLUMNS, *ABOUT]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(NUMBERS, "float64"))


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
