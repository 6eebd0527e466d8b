"""Answer from a record: nobody is asked, and today's readers read what was written.

    recorded:runs/asked         a run that asked models, each of them by its name
    recorded:answers.jsonl      a line per answer: {"prompt": ..., "text": ...}, and where there are several respondent,
                                instrument, test, seed; in the order in which they were given
    recorded:log.eval           an Inspect log: input and completion of each sample

A request is found by its words: every turn before the answer, a blank line between them. A drawn answer is used once;
any other as often as its request is made. What was read from probabilities stays as recorded; what was written is read
again.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onedial.asking.instruments import Instrument, TextReader
from onedial.asking.prompts import Prompt
from onedial.asking.providers.provider_reading import response_of
from onedial.asking.respondents import Identity, Response, as_read, counted_whole
from onedial.asking.store import ANSWERS, Store, restored, shown
from onedial.core.errors import InputError
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.records import read_json_rows

RECORDED = "recorded:"
MISSING = "missing.jsonl"
_TEXTS = ("respondent", "test", "instrument")


class NotRecorded(InputError):
    """Something is asked that the record holds no answer to."""


@dataclass
class Recorded:
    """The answers of one respondent; makes the respondents that give them, as a model's name does.

    Attributes:
        name: of whoever answered. path: of the record. store: of the run that asks now, and knows for which test.
        answers: by instrument ("" where none is named) and what was shown: test, seed and response of each.
    """

    name: str
    path: str
    store: Store
    answers: dict[tuple[str, str], list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    used: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def __call__(self, seed: int) -> "_Answering":
        return _Answering(self, seed)

    def find(self, seed: int, prompt: Prompt, instrument: Instrument) -> Response | None:
        """The next answer to a request; None where there is no more."""
        text, test = shown(prompt), self.store.present
        known = [
            each
            for name in (instrument.name, "")
            for each in self.answers.get((name, text), ())
            if each["seed"] in (seed, None) and each["test"] in (test, "")
        ]
        seeded, of_tests = any(each["seed"] is not None for each in known), any(each["test"] for each in known)
        key = (test if of_tests else "", seed if seeded else None, instrument.name, text)
        number = self.used[key]
        self.used[key] += 1
        drawn = isinstance(instrument.reader, TextReader) and instrument.reader.temperature > 0
        if not known or (drawn and number >= len(known)):
            return None
        return known[min(number, len(known) - 1)]["response"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Answering:
    of: Recorded
    seed: int

    @property
    def identity(self) -> Identity:
        return Identity(self.of.name)

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """Give what is recorded.

        Raises:
            NotRecorded: before anything is answered, where an answer is missing.
        """
        records = [self.of.find(self.seed, prompt, instrument) for prompt in prompts]
        if lacking := [prompt for prompt, each in zip(prompts, records, strict=True) if each is None]:
            raise NotRecorded(self._refusal(lacking, len(prompts), instrument))
        for place, each in enumerate(records):
            if each is not None:
                yield replace(_read_again(each, instrument), place=place)

    def _refusal(self, lacking: Sequence[Prompt], n: int, instrument: Instrument) -> str:
        of, test, missing = self.of, self.of.store.present, self.of.store.file.with_name(MISSING)
        about = {"respondent": of.name, "test": test, "instrument": instrument.name, "seed": self.seed}
        rows = [about | {"prompt": shown(each), "text": ""} for each in lacking]
        missing.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        asked = f"{test}, {instrument.name}" if test else instrument.name
        return (
            f"{of.path} holds no answer of {of.name} to {len(lacking)} of {n} requests of {asked} (all in {missing}), "
            f"first {shown(lacking[0])!r}; add them to the record, or choose other --instruments"
        )


def _read_again(response: Response, instrument: Instrument) -> Response:
    """Read a text again by today's reader; one that was cut off before its end stays unread."""
    reader = instrument.reader
    if isinstance(reader, TextReader):
        cut_off = reader.must_finish and response.value is None and bool(response.prompt_hash)
        value = None if cut_off else reader.parse(instrument.said(response.raw_text))
        return replace(response, **as_read(instrument.scale, value), raw_text=reader.trim(response.raw_text))
    if not response.raw_text or any(0 < each < 1 for each in response.probabilities):
        return response
    kept = {name: getattr(response, name) for name in ("prompt_hash", "tokens_in", "tokens_out", "error")}
    return counted_whole(response_of(instrument, response.raw_text, True, (), **kept), instrument.scale)


def read_record(path: str, store: Store) -> dict[str, Recorded]:
    """Everybody who answered in a record, by name; see the module's text.

    Args:
        store: of the run that asks now.

    Raises:
        InputError: there is no such record, or a line of it cannot be used.
    """
    recorded: dict[str, Recorded] = {}
    for row in _rows(Path(path)):
        one = recorded.setdefault(row["respondent"], Recorded(row["respondent"], path, store))
        one.answers[row["instrument"], row["prompt"]].append(row)
    if not recorded:
        raise InputError(f"{path} holds no answers; give a run that asked models about themselves, JSONL or a log")
    return recorded


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_dir():
        for answer in sorted(Store(file / ANSWERS).lines(), key=lambda answer: answer["time"]):
            if not answer.get("error"):
                asked = {"test": answer["occasion"], "seed": answer["sample"], "response": restored(answer)}
                yield {name: answer[name] for name in ("respondent", "instrument", "prompt")} | asked
    elif not file.is_file():
        raise InputError(f"there is no record {file}; give a run's folder, a .jsonl file or an Inspect log")
    elif file.suffix == ".jsonl":
        for number, row in enumerate(read_json_rows(file), start=1):
            yield _row(row, f"{file}, answer {number}")
    else:
        for run in read_logs(file):
            for record in run.records:
                if record.text is not None and record.failed is None:
                    named = record.asked_as or {"respondent": run.model}
                    both = {"prompt": "\n\n".join(record.turns) or record.prompt, "text": record.text}
                    yield _row({**named, **both}, f"{file}, sample {record.item}")


def _row(row: dict[str, Any], where: str) -> dict[str, Any]:
    if not all(isinstance(row.get(name), str) for name in ("prompt", "text")):
        raise InputError(f'{where} has no "prompt" and "text", both of them texts; give them, and leave out the rest')
    if any(not isinstance(row.get(name, ""), str) for name in _TEXTS) or type(row.get("seed", 0)) is not int:
        raise InputError(f"{where}: respondent, test and instrument are texts and seed a whole number; correct it")
    known = {"respondent": "recorded", "test": "", "instrument": "", "seed": None}
    return {**known, **row, "response": Response(raw_text=row["text"])}
