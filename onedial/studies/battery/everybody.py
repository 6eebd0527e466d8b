"""Ask every respondent in turn, as every program does that asks models about themselves: run, store, ending."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from onedial.asking.asks import Ask
from onedial.asking.instruments import Instrument, TextReader
from onedial.asking.prompts import Prompt
from onedial.asking.respondents import Identity, Response, response_from_logits, response_from_text
from onedial.asking.store import ANSWERS, Store
from onedial.core.files import sha256_of_text
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.selfreport.frame import Make
from onedial.studies.battery.respondents import models_elsewhere, provider_model, respondents_of
from onedial.studies.bill import bill_of, tell_costs, tell_what_is_asked
from onedial.studies.options.asked import AskedOptions
from onedial.studies.start import Start, engine_of

Round = Callable[[Run, Store, str, Make], None]
"""Puts to one respondent, by name and what makes it, whatever the store does not hold yet."""
SETTINGS = ("vector", "magnitudes")


def ask_everybody(
    program: str,
    label: str,
    options: AskedOptions,
    notes: Notes,
    rounds: Sequence[Round],
    finish: Callable[[Run, Store], None],
) -> None:
    """Ask every respondent in each round, and finish; or, with `--dry-run`, say what would be asked.

    Args:
        program, label: of the run. options: whose `SETTINGS`, where there are any, steer the model.
    """
    start, elsewhere = Start(program, options, label), models_elsewhere(options.model)
    store = bill_of(options, elsewhere)
    steered = {name: getattr(options, name) for name in SETTINGS if hasattr(options, name)}
    asked = partial(respondents_of, options.model, store, **steered, engine=engine_of(options), replies=options.replies)
    if options.dry_run:
        n_settings = max(1, len(steered.get("magnitudes", ())))
        tell_what_is_asked(asked_in(rounds, options, n_settings), store.prices)
        return
    start.set_threads()
    subjects = asked()
    first = next(subjects)  # at once, so that a wrong name leaves no folder behind
    with start.begin(notes) as run:
        store.opens(run.file(ANSWERS))
        for number, ask in enumerate(rounds):
            for name, make in asked() if number else chain([first], subjects):
                with run.stage(f"{name}, round {number + 1}" if number else name):
                    ask(run, store, name, make)
        finish(run, store)
        tell_costs(store.costs(), run)


# ---- what would be asked ---------------------------------------------------------------------------------------------


class Counting:
    """A respondent that answers by a hash, whatever can be read, and remembers what it was asked."""

    identity = Identity("nobody")

    def __init__(self) -> None:
        self.asked: dict[str, tuple[Instrument, list[Prompt]]] = {}

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        self.asked.setdefault(instrument.name, (instrument, []))[1].extend(prompts)
        for place, prompt in enumerate(prompts):
            drawn = sha256_of_text(f"{prompt}")
            if isinstance(instrument.reader, TextReader):
                text = f"Which of them, {drawn}, may it be?\nIt may be so.\nIt may not."
                yield response_from_text(instrument.scale, instrument.reader, text, place=place)
            else:
                logits = [int(digit, 16) / 4 for digit in drawn[: len(instrument.reader.spellings)]]
                margin = logits[0] - logits[1]
                yield response_from_logits(instrument.scale, logits, 1.0, margin, place=place)


def asked_in(rounds: Sequence[Round], options: AskedOptions, n_settings: int) -> list[Ask]:
    """What each model is asked in all rounds; what hangs on answers (a second look, a question's own words) is counted
    of somebody who answers all.
    """
    counting = Counting()
    with TemporaryDirectory() as folder, Run.begin("dry_run", {}, Path(folder) / "run") as run:
        store = Store(Path(folder) / ANSWERS)
        for ask in rounds:
            ask(run, store, counting.identity.model, lambda seed: counting)
    return [
        Ask(name, provider_model(name, options.replies), prompts * n_settings, instrument)
        for name in options.model
        for instrument, prompts in counting.asked.values()
    ]
