"""Who answers: models of this machine, of providers or behind servers, or a subject at each setting of its dial.

smollm2-135m-instruct, a folder, a hub id    a local model
openai:gpt-4.1-mini                          PROVIDER:MODEL, as inspect_ai names providers
my-model@http://127.0.0.1:8000/v1            MODEL@ADDRESS of a server that speaks OpenAI's protocol
recorded:runs/asked                          everybody who answered in a record (`recorded`)
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.respondents import RESPONDENTS, Outspoken, Respondent
from onedial.core.errors import InputError
from onedial.selfreport.frame import Make
from onedial.studies.battery.recorded import RECORDED, read_record

if TYPE_CHECKING:
    from onedial.asking.store import Store
    from onedial.models.model import OpenModel
    from steering.interventions import SteeringVector


Engine = Callable[["OpenModel"], AbstractContextManager[Any]]


def respondents_of(
    models: Sequence[str],
    bill: "Store",
    vector: Path | None = None,
    magnitudes: Sequence[float] = (),
    engine: Engine = nullcontext,
) -> Iterator[tuple[str, Make]]:
    """Name of each respondent, and what makes it; one model is in memory at a time.

    Args:
        bill: keeps every answer, and is asked first.
        vector: a file of one; the model is then asked at each of the magnitudes.
        engine: in which a local model writes, see `onedial.studies.start.engine_of`.

    Raises:
        InputError: a model that cannot be loaded or reached, a provider's model with a vector, or a name met twice.
    """
    met = set()
    for name, make in _each(models, bill, vector, magnitudes, engine):
        if name in met:
            raise InputError(f"{name} would answer twice; name each model once, and each in one record only")
        met.add(name)
        yield name, make if provider_model(name) else partial(stored, bill, name, make)


def _each(
    models: Sequence[str], bill: "Store", vector: Path | None, magnitudes: Sequence[float], engine: Engine
) -> Iterator[tuple[str, Make]]:
    from onedial.models.model import load_model
    from steering.interventions import SteeringVector

    for name in models:
        if name.startswith(RECORDED):
            if vector is not None:
                raise InputError(f"{name} is a record and cannot be steered; give a local model with --vector")
            yield from read_record(name.removeprefix(RECORDED), bill).items()
            continue
        if vector is None and name in RESPONDENTS:
            yield name, RESPONDENTS[name]
            continue
        if (settings := provider_model(name)) is not None:
            if vector is not None:
                raise InputError(f"{name} runs elsewhere and cannot be steered; give a local model with --vector")
            make = partial(of_provider, bill, name, settings)
            make(0)  # for what is missing: the library, the key
            yield name, make
            continue
        model = load_model(name)
        with engine(model):
            if vector is None:
                yield name, partial(unsteered, model)
            else:
                direction = SteeringVector.load(vector)
                for magnitude in magnitudes:
                    yield f"{name} at {magnitude:+.3g}", partial(at_setting, model, direction, magnitude)


def provider_model(name: str) -> ProviderModel | None:
    """Where a model that somebody else runs is found; None for a local one, or a record."""
    if name.startswith(RECORDED):
        return None
    model, at, address = name.partition("@")
    if at and address.startswith(("http://", "https://")):
        return ProviderModel(model, server=address)
    provider, colon, model = name.partition(":")
    return ProviderModel(model, provider) if colon and provider.isalnum() and not Path(name).exists() else None


def models_elsewhere(models: Sequence[str]) -> list[str]:
    """Those that a provider or a server runs."""
    return [name for name in models if name not in RESPONDENTS and provider_model(name) is not None]


def stored(bill: "Store", name: str, make: Make, seed: int) -> Respondent:
    """One whose answers are kept under its seed, where the store has a file."""
    return bill.respondent(name, make(seed), seed) if bill.is_open else make(seed)


def of_provider(bill: "Store", name: str, settings: ProviderModel, seed: int) -> Respondent:
    """What it says counts whole where it shows no logits; another seed is another sample. Its own temperature stays."""
    return Outspoken(bill.respondent(name, settings, sample=seed))


def unsteered(model: "OpenModel", seed: int) -> Respondent:
    """The model as it is."""
    from onedial.models.respondent import LocalRespondent

    return LocalRespondent(model, seed=seed)


def at_setting(model: "OpenModel", vector: "SteeringVector", magnitude: float, seed: int) -> Respondent:
    """The model under a push."""
    from steering.respondent import SteeredRespondent

    return SteeredRespondent(model, vector, magnitude, seed=seed)
