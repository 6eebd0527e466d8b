"""Find who answers: models of this machine, of providers or behind servers, or a subject at each of its settings.

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
from onedial.asking.reply_forms import Replies
from onedial.asking.respondents import RESPONDENTS, Outspoken, Respondent
from onedial.core.errors import InputError
from onedial.selfreport.frame import Make
from onedial.studies.battery.recorded import RECORDED, read_record

if TYPE_CHECKING:
    from onedial.asking.store import Store
    from onedial.models.model import OpenModel


Engine = Callable[["OpenModel"], AbstractContextManager[Any]]


def respondents_of(
    models: Sequence[str],
    store: "Store",
    vector: Path | None = None,
    magnitudes: Sequence[float] = (),
    engine: Engine = nullcontext,
    replies: Replies = "line",
) -> Iterator[tuple[str, Make]]:
    """Name of each respondent, and what makes it; one model is in memory at a time.

    Args:
        store: keeps every answer, and is asked first.
        vector: a file of one; the model is then asked at each of the magnitudes.
        engine: in which a local model writes, see `onedial.studies.start.engine_of`.
        replies: how models of providers and servers are asked for texts.

    Raises:
        InputError: a model that cannot be loaded or reached, a provider's model with a vector, or a name met twice.
    """
    paths = [name.removeprefix(RECORDED) for name in models if name.startswith(RECORDED)]
    names = [name for name in models if not name.startswith(RECORDED)]
    names += [name for path in paths for name in read_record(path, store)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{twice[0]} would answer twice; name each model once, and each in one record only")
    for name, make in _each(models, store, vector, magnitudes, engine, replies):
        yield name, make if provider_model(name) else partial(_stored, store, name, make)


def _stored(store: "Store", name: str, make: Make, seed: int) -> Respondent:
    """One whose answers are kept under its seed, where the store has a file."""
    return store.respondent(name, make(seed), seed) if store.is_open else make(seed)


def _each(
    models: Sequence[str],
    store: "Store",
    vector: Path | None,
    magnitudes: Sequence[float],
    engine: Engine,
    replies: Replies,
) -> Iterator[tuple[str, Make]]:
    from onedial.models.model import load_model
    from onedial.models.respondent import LocalRespondent
    from steering.interventions import SteeringVector
    from steering.respondent import SteeredRespondent

    for name in models:
        settings = provider_model(name, replies)
        if vector is not None and (settings is not None or name.startswith(RECORDED)):
            raise InputError(f"{name} is no model of this machine and cannot be steered; give a local one")
        if name.startswith(RECORDED):
            yield from read_record(name.removeprefix(RECORDED), store).items()
        elif settings is not None:
            # What it says counts whole where it shows no logits; another seed is another sample.
            make: Make = partial(_of_provider, store, name, settings)
            make(0)  # for what is missing: the library, the key
            yield name, make
        elif vector is None and name in RESPONDENTS:
            yield name, RESPONDENTS[name]
        else:
            model = load_model(name)
            with engine(model):
                if vector is None:
                    yield name, _seeded(partial(LocalRespondent, model))
                    continue
                direction = SteeringVector.load(vector)
                for magnitude in magnitudes:
                    yield (
                        f"{name} at {magnitude:+.3g}",
                        _seeded(partial(SteeredRespondent, model, direction, magnitude)),
                    )


def _seeded(respondent: Callable[..., Respondent]) -> Make:
    return lambda seed: respondent(seed=seed)


def _of_provider(store: "Store", name: str, settings: ProviderModel, seed: int) -> Respondent:
    return Outspoken(store.respondent(name, settings, sample=seed))


def provider_model(name: str, replies: Replies = "line") -> ProviderModel | None:
    """Where a model that somebody else runs is found; None for a local one, or a record."""
    if name.startswith(RECORDED):
        return None
    model, at, address = name.partition("@")
    if at and address.startswith(("http://", "https://")):
        return ProviderModel(model, server=address, replies=replies)
    provider, colon, model = name.partition(":")
    is_one = colon and provider.isalnum() and not Path(name).exists()
    return ProviderModel(model, provider, replies=replies) if is_one else None


def models_elsewhere(models: Sequence[str]) -> list[str]:
    """Those that a provider or a server runs."""
    return [name for name in models if name not in RESPONDENTS and provider_model(name) is not None]
