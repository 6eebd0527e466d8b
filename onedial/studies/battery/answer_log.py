"""Every single answer of a run that asks models about themselves, with what was asked, in asked/TEST/.

A call is a list of prompts that are put to a respondent at once. It is kept whole, or not at all where a request has
failed: what is asked after a break is then batched as it would have been, and the answers are the same bit for bit.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from onedial.asking import Identity, Instrument, Prompt, Respondent, Response
from onedial.core import Parts, Run
from onedial.selfreport import Make
from onedial.studies.battery.recorded import KINDS, MISSING, RESPONSE, Recorded, call_of, restored, shown
from onedial.studies.battery.respondents import provider_model

ASKED = "asked"
_KEY = ["respondent", "seed", "call", "time", "place"]
ASKED_COLUMNS = [*_KEY, "instrument", "prompt", *RESPONSE]
"""seed: of the respondent's draws. call: hash of the prompts that were put at once, time: how often they had been
before. place, value, said_yes ...: as in `onedial.asking.Response`; nan where that has None, probabilities as JSON."""


@dataclass
class _Log:
    parts: Parts
    respondent: str
    advance: Callable[[int], None]
    has_ledger: bool
    """Whether the respondent itself remembers what it was asked, and what for: a provider's model does."""
    known: dict[tuple[int, str, int], list[Response]] = field(default_factory=lambda: defaultdict(list))
    times: Counter[tuple[int, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.parts.done("respondent")  # refuses what another version began
        table = self.parts.read()
        for row in table[table["respondent"] == self.respondent].to_dict("records"):
            self.known[int(row["seed"]), row["call"], int(row["time"])].append(restored(row))


@dataclass(frozen=True)
class _Kept:
    respondent: Respondent
    seed: int
    log: _Log

    @property
    def identity(self) -> Identity:
        return self.respondent.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        log, call = self.log, call_of(prompts, instrument)
        time = log.times[self.seed, call]
        log.times[self.seed, call] += 1
        known = log.known.get((self.seed, call, time), [])
        given: list[Response] = []
        for response in known if known and not log.has_ledger else self.respondent.answer(prompts, instrument):
            log.advance(1)
            given.append(response)
            yield response
        if given and not known and not any(each.error for each in given):
            rows = [
                [log.respondent, self.seed, call, time, each.place, instrument.name, shown(prompts[each.place])]
                + [getattr(each, name) for name in RESPONSE]
                for each in given
            ]
            table = pd.DataFrame(rows, columns=ASKED_COLUMNS).astype(dict.fromkeys(KINDS, float))
            log.parts.append(table.assign(probabilities=table["probabilities"].map(json.dumps)))


def kept(make: Make, run: Run, test: str, respondent: str, advance: Callable[[int], None]) -> Make:
    """The same respondents, whose answers are kept in the run, and told as they come; what is there is not asked again.

    Args:
        test, respondent: under which they are kept. advance: is told of each answer.
    """
    parts, has_ledger = run.parts(f"{ASKED}/{test}", ASKED_COLUMNS, _KEY), provider_model(respondent) is not None
    log = _Log(parts, respondent, advance, has_ledger)
    if isinstance(make, Recorded):
        make = make.of(test, run.path / MISSING)
    return lambda seed: _Kept(make(seed), seed, log)
