"""Every single answer of a run that asks models about themselves: kept in the run's store, told as it comes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from onedial.asking.instruments import Instrument
from onedial.asking.prompts import Prompt
from onedial.asking.respondents import Identity, Respondent, Response
from onedial.asking.store import Store
from onedial.core.run.run import Run
from onedial.selfreport.frame import Make
from onedial.studies.battery.recorded import MISSING, Recorded
from onedial.studies.battery.respondents import provider_model


@dataclass(frozen=True)
class _Told:
    respondent: Respondent
    advance: Callable[[int], object]

    @property
    def identity(self) -> Identity:
        return self.respondent.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        for response in self.respondent.answer(prompts, instrument):
            self.advance(1)
            yield response


def kept(
    make: Make,
    run: Run,
    store: Store,
    test: str | None,
    respondent: str,
    advance: Callable[[int], object] = lambda n: None,
) -> Make:
    """The same respondents, whose answers are kept in the store, and told as they come; what is there is not asked.

    Args:
        test, respondent: under which they are kept; None for the store's occasion. advance: is told of each answer.
    """
    own = make.of(test or "", run.path / MISSING) if isinstance(make, Recorded) else make
    if provider_model(respondent) is not None:  # whose attempts stand in the store already
        return lambda seed: _Told(own(seed), advance)
    return lambda seed: _Told(store.respondent(respondent, own(seed), seed, test), advance)
