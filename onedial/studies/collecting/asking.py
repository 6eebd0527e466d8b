"""Ask for what is missing: models of providers and servers at once, then those of this machine one by one.

Nothing is loaded for what is there; a model on this machine is looked at before it is asked, and asked chunk by chunk.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from onedial.asking.asks import Ask
from onedial.asking.instruments import CAN_YOU_ANSWER, TextReader
from onedial.asking.prompt_checks import check_answer_tokens
from onedial.asking.providers.providers import ProviderRespondent
from onedial.asking.respondents import RESPONDENTS, Respondent
from onedial.asking.store import BudgetSpent, Store
from onedial.core.errors import InputError
from onedial.core.notices import leave_undone
from onedial.core.progress import progress_bar
from onedial.core.run.run import Run
from onedial.models.model import OpenModel, load_model
from onedial.models.respondent import LocalRespondent
from onedial.models.tokens import encode
from onedial.panels.collecting.collection import Collection, weights_in
from onedial.panels.collecting.respondent_files import RespondentModel
from onedial.studies.bill import tell_what_is_asked
from onedial.studies.options.collecting import SAMPLE_JUDGED, CollectOptions
from onedial.studies.start import engine_of

CHUNK, CHUNK_OF_ENGINE = 64, 512
"""Prompts whose answers are written at once, by transformers and by an engine: what a kill can cost."""
NO_WEIGHTS = {"source": "", "revision": "", "dtype": ""}


def check_who_is_asked(collection: Collection, options: CollectOptions) -> None:
    """Before anything is asked: the judge, and of providers their libraries and keys.

    Raises:
        InputError: one of them is missing.
    """
    models = [*collection.models]
    if options.judge is not None:
        if collection.judge is None:
            raise InputError(f"--judge needs a model under the key `judge` of {options.respondents}")
        models.append(collection.judge)
    for model in models:
        if model.provider is not None and not options.dry_run:
            ProviderRespondent(model.provider)


def keep_judge(collection: Collection, run: Run, options: CollectOptions) -> None:
    """Put the judge into the manifest: whoever has judged some of the answers judges the others.

    Raises:
        InputError: it is another one than before.
    """
    if options.judge is not None and collection.judge is not None and collection.judge.provider is not None:
        asked = collection.judge.provider.what_is_asked.replace("\x1f", " ").strip()
        run.record_once("judge", {"model": asked}, f"restore it, or choose another --out with --merge {run.path}")


def foretell(collection: Collection, options: CollectOptions) -> None:
    """Print what is still to be asked of whom; nothing is written."""
    asks = collection.missing()
    if options.judge is not None:
        asks.append(collection.still_judged(SAMPLE_JUDGED if options.judge == "sample" else None))
    tell_what_is_asked(asks, collection.store.prices)


def ask_missing(collection: Collection, options: CollectOptions) -> bool:
    """Ask everybody what has no answer yet; True where the budget ended it."""
    elsewhere = collection.missing([model for model in collection.models if model.provider is not None])
    is_spent = False
    try:
        if elsewhere:
            with progress_bar(sum(len(each.prompts) for each in elsewhere), "providers") as advance:
                collection.ask(elsewhere, advance)
    except BudgetSpent as spent:
        left = sum(len(each.prompts) for each in collection.missing())
        leave_undone(f"{left} questions are not asked: {spent}")
        is_spent = True
    for entry in collection.models:
        if entry.provider is None and (asks := collection.missing([entry])):
            _ask_here(entry, asks, collection, options)
    return is_spent


def _ask_here(entry: RespondentModel, asks: list[Ask], collection: Collection, options: CollectOptions) -> None:
    """Ask one model on this machine, or a respondent of one's own by its name."""
    store, engine = collection.store, engine_of(options)
    if entry.model in RESPONDENTS:
        for ask in asks:
            with progress_bar(len(ask.prompts), ask.who) as advance:
                _ask_in_chunks(ask, RESPONDENTS[entry.model](ask.sample), NO_WEIGHTS, store, CHUNK, advance)
        return
    model = load_model(
        entry.model, revision=entry.revision, dtype=entry.dtype, device=options.device, device_map=options.device_map
    )
    if weights_in(store).get(entry.short_name, set()) - {model.identity.fingerprint}:
        raise InputError(f"{store.file} holds answers of other weights of {entry.model}; choose another --out")
    check_framings(model, asks)
    weights = {
        "source": model.identity.source,
        "revision": model.identity.revision,
        "dtype": str(model.dtype).removeprefix("torch."),
    }
    writes = any(isinstance(ask.instrument.reader, TextReader) for ask in asks)
    with engine(model) if writes else nullcontext():
        chunk = CHUNK if model.writer is None else CHUNK_OF_ENGINE
        for ask in asks:
            with progress_bar(len(ask.prompts), ask.who) as advance:
                _ask_in_chunks(ask, LocalRespondent(model, progress=advance, seed=ask.sample), weights, store, chunk)


def _ask_in_chunks(
    ask: Ask,
    respondent: Respondent,
    weights: Mapping[str, str],
    store: Store,
    n: int,
    advance: Callable[[int], object] = lambda n: None,
) -> None:
    """Ask this respondent so many prompts at a time; each chunk is kept before the next is asked."""
    who = respondent.identity
    about = {**ask.about, "setting": who.setting, "model_sha256": who.fingerprint, **weights}
    for start in range(0, len(ask.prompts), n):
        some = ask.only(range(len(ask.prompts))[start : start + n])
        for _ in store.ask(replace(some, respondent=respondent, about=about)):
            pass
        advance(len(some.prompts))


def check_framings(model: OpenModel, asks: list[Ask]) -> None:
    """Print what keeps yes and no from being read off this model's tokens, before anything is asked.

    Raises:
        InputError: in one of the framings they cannot be told apart.
    """
    prompts = {ask.who: ask.prompts[0] for ask in asks if ask.instrument.name == CAN_YOU_ANSWER.name}
    encode_text, decode = partial(encode, model.tokenizer), model.tokenizer.decode
    for respondent, prompt in prompts.items():
        for fault in check_answer_tokens(model.render(prompt), encode_text, decode):
            print(f"{respondent}: {fault}", flush=True)
    for respondent, prompt in prompts.items():
        try:
            model.answer_tokens(prompt)
        except InputError as error:
            raise InputError(f"{respondent} cannot be asked: {error}") from error
