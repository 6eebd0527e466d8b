"""A collection of answers: who is asked which questions, what its store holds already, and the asking of the rest.

    collection = Collection(models, questions, Store(run.file(ANSWERS)), seed=0, closed_book=True)
    collection.missing()      # to be asked; nothing more after the last answer has come
    collection.ask(asks)      # models of providers and servers side by side
    collection.rows()         # what was asked of whom, and what they said

An answer is known by respondent, question, a hash of what was asked of whom, and sample. Whatever changes the question,
the wording, the model or its settings changes the hash, so that a collection may go on with more or other questions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from onedial.asking.asks import Ask, Key
from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK, Instrument, TextReader, reasoned
from onedial.asking.measuring import MEASUREMENT_COLUMNS, NUMBERS, measurement_row
from onedial.asking.providers.costs import CHARACTERS_PER_TOKEN, WRITTEN
from onedial.asking.questions import Question, stratified_sample
from onedial.asking.respondents import Identity
from onedial.asking.store import ANSWERS, Line, Store, restored
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.panels.collecting.judging import JUDGE, judging
from onedial.panels.collecting.respondent_files import RespondentModel

ABOUT = ["source", "revision", "dtype", "asked"]
"""Columns beside those of a measurement: where the weights came from, and a hash of what was asked of whom."""
_CALLED = {"served_model": "the server calls it", "served_fingerprint": "the server's fingerprint is"}


def instruments_of(entry: RespondentModel, closed_book: bool) -> list[Instrument]:
    """What one entry is asked with: yes or no in each of its framings, and the question itself last."""
    framed = {
        "direct": lambda template: CAN_YOU_ANSWER.framed(template),
        "reasoned": reasoned,
    }.get(entry.instrument)
    asked = [framed(template) for template in entry.framings] if framed else []
    if entry.instrument == "closed book" or (closed_book and entry.closed_book is not None):
        asked.append(CLOSED_BOOK if entry.closed_book is None else CLOSED_BOOK.framed(entry.closed_book))
    return [_at(each, entry.temperature) for each in asked]


def _at(instrument: Instrument, temperature: float | None) -> Instrument:
    """The same where logits are read; a text is drawn at the temperature that the entry gives."""
    if temperature is None or not isinstance(instrument.reader, TextReader):
        return instrument
    return replace(instrument, reader=replace(instrument.reader, temperature=temperature))


def whom(entry: RespondentModel) -> str:
    """What tells the answers of one entry from those of another model or setting."""
    if entry.provider is not None:
        return entry.provider.what_is_asked
    heat = [] if entry.temperature is None else [str(entry.temperature)]
    return "\x1f".join([entry.model, entry.revision or "", entry.dtype, *heat])


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

    def asks_of(self, entry: RespondentModel) -> list[Ask]:
        """All that one model is asked: each instrument as often as it has samples, the question itself once."""
        questions = self.questions_of(entry)
        about = {"model": entry.short_name, "setting": "", "model_sha256": ""}
        if entry.provider is not None:
            about |= {"setting": entry.provider.identity.setting, "source": entry.provider.inspect_name}
        return [
            Ask(
                entry.respondent_for(instrument),
                entry.provider,
                [instrument.prompt(question.rendered) for question in questions],
                instrument,
                sample=sample,
                items=[question.id for question in questions],
                whom=whom(entry),
                label=entry.label,
                about=about,
            )
            for instrument in instruments_of(entry, self.closed_book)
            for sample in range(1 if instrument.name == CLOSED_BOOK.name else entry.samples)
        ]

    def missing(self, models: Sequence[RespondentModel] | None = None) -> list[Ask]:
        """What is to be asked and has no answer yet, of all models or of these; what two would ask alike, once."""
        planned: set[Key] = set()
        left = []
        for ask in (ask for entry in (self.models if models is None else models) for ask in self.asks_of(entry)):
            keys = ask.keys
            places = [n for n, key in enumerate(keys) if key not in planned and not self.store.has(key)]
            planned.update(keys)
            left += [ask.only(places)] if places else []
        return left

    def ask(self, asks: Sequence[Ask], advance: Callable[[int], object] = lambda n: None) -> None:
        """Ask all of it, models of providers and servers side by side; `advance` is told of each answer.

        Raises:
            BudgetSpent: not all could be asked.
            InputError: see `ProviderRespondent`.
        """
        for _ in self.store.ask(*asks):
            advance(1)

    def rows(self, *, may_lack: bool = False) -> pd.DataFrame:
        """What is asked now, in its order, with the entry's `label`; what was asked in another wording is left out.

        Args:
            may_lack: some may not have been answered yet; they are left out.

        Raises:
            InputError: some were not answered yet.
        """
        wanted = [
            (entry.label, self.store.line(key))
            for entry in self.models
            for ask in self.asks_of(entry)
            for key in ask.keys
        ]
        by_line = {id(line): (label, line) for label, line in wanted if line is not None}
        if not may_lack and (lacking := sum(line is None for _, line in wanted)):
            raise InputError(f"{self.store.file} lacks {lacking} of {len(wanted)} answers; pass --resume")
        table = table_of([line for _, line in by_line.values()])
        return table.assign(label=[label for label, _ in by_line.values()])

    def still_judged(self, n: int | None = None) -> Ask:
        """About what the judge of closed-book answers is still to be asked, before these are there.

        Args:
            n: of so many answers; None judges all.
        """
        given = "x" * CHARACTERS_PER_TOKEN * WRITTEN["closed book"]
        about = [
            (question, given)
            for entry in self.models
            if CLOSED_BOOK.name in {each.name for each in instruments_of(entry, self.closed_book)}
            for question in self.questions_of(entry)
            if question.answers
        ][:n]
        judged = [line for line in self.store.lines() if line["instrument"] == JUDGE.name and not line.get("error")]
        assert self.judge is not None
        return judging(self.judge, about[len(judged) :])

    def changed_models(self) -> list[str]:
        """A sentence for each model of a provider whose server has called it otherwise on the way."""
        names = {model.short_name for model in self.models if model.provider is not None}
        lines = [line for line in self.store.lines() if line.get("model") in names and not line.get("error")]
        sentences = []
        for model, part in table_of(lines).groupby("model", sort=False):
            for column, what in _CALLED.items():
                since = (
                    part[part[column].fillna("") != ""].groupby(column, sort=False)["answered_at"].agg(["min", "size"])
                )
                if len(since) > 1:
                    named = since.sort_values("min").itertuples()
                    calls = ", then ".join(f"{name} ({n} answers from {first})" for name, first, n in named)
                    sentences.append(f"{model} may have changed: {what} {calls}")
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
    weights: dict[str, set[str]] = {}
    for line in store.lines():
        if line.get("model_sha256"):
            weights.setdefault(line["model"], set()).add(line["model_sha256"])
    return weights


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
