"""Models on this machine, loaded one by one and looked at before they are asked, and respondents of one's own: asked
chunk by chunk."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from onedial.asking.instruments import CAN_YOU_ANSWER, TextReader
from onedial.asking.prompt_checks import check_answer_tokens, findings_table
from onedial.asking.questions import Question
from onedial.asking.respondents import RESPONDENTS, Respondent
from onedial.asking.store import Store
from onedial.core.errors import InputError
from onedial.models.model import OpenModel, load_model
from onedial.models.respondent import LocalRespondent
from onedial.models.tokens import encode
from onedial.panels.collecting.collection import Collection, Pending, ask_of, weights_in
from onedial.panels.collecting.respondent_files import RespondentModel
from onedial.show.progress import progress_bar
from onedial.studies.options.collecting import CollectOptions
from onedial.studies.start import engine_of

CHUNK, CHUNK_OF_ENGINE = 64, 512
"""Prompts whose answers are written at once, by transformers and by an engine: what a kill can cost."""
NO_WEIGHTS = {"source": "", "revision": "", "dtype": ""}


def ask(entry: RespondentModel, collection: Collection, options: CollectOptions) -> None:
    """Ask one model on this machine whatever it has not answered yet; it is loaded only if there is something."""
    pending = [] if entry.provider is not None else collection.missing([entry])
    if not pending:
        return
    store, engine = collection.store, engine_of(options) or nullcontext
    if entry.model in RESPONDENTS:
        for each in pending:
            with progress_bar(len(each.questions), each.respondent) as advance:
                ask_with(each, RESPONDENTS[entry.model](each.sample), store, NO_WEIGHTS, advance)
        return
    model = load_model(
        entry.model, revision=entry.revision, dtype=entry.dtype, device=options.device, device_map=options.device_map
    )
    if weights_in(store).get(entry.short_name, set()) - {model.identity.fingerprint}:
        raise InputError(f"{store.file} holds answers of other weights of {entry.model}; choose another --out")
    direct = {each.instrument.template.name: each for each in pending if each.instrument.name == CAN_YOU_ANSWER.name}
    check_framings(entry, model, {name: each.questions for name, each in direct.items()})
    weights = {
        "source": model.identity.source,
        "revision": model.identity.revision,
        "dtype": str(model.dtype).removeprefix("torch."),
    }
    writes = any(isinstance(each.instrument.reader, TextReader) for each in pending)
    with engine(model) if writes else nullcontext():
        for each in pending:
            with progress_bar(len(each.questions), each.respondent) as advance:
                respondent = LocalRespondent(model, progress=advance, seed=each.sample)
                ask_with(each, respondent, store, weights, chunk=CHUNK if model.writer is None else CHUNK_OF_ENGINE)


def check_framings(entry: RespondentModel, model: OpenModel, pending: dict[str, list[Question]]) -> None:
    """Print what keeps yes and no from being read off this model's tokens, before anything is asked.

    Raises:
        InputError: in one of the framings they cannot be told apart.
    """
    prompts = {
        entry.respondent(template): template.fill(pending[template.name][0].text)
        for template in entry.framings
        if pending.get(template.name)
    }
    encode_text, decode = partial(encode, model.tokenizer), model.tokenizer.decode
    findings = [
        finding
        for respondent, prompt in prompts.items()
        for finding in check_answer_tokens(respondent, model.render(prompt), encode_text, decode)
    ]
    if findings:
        print(findings_table(findings), flush=True)
    for respondent, prompt in prompts.items():
        try:
            model.answer_tokens(prompt)
        except InputError as error:
            raise InputError(f"{respondent} cannot be asked: {error}") from error


def ask_with(
    pending: Pending,
    respondent: Respondent,
    store: Store,
    weights: Mapping[str, str],
    advance: Callable[[int], object] = lambda n: None,
    chunk: int = CHUNK,
) -> None:
    """Ask the questions with one instrument, chunk by chunk; each is kept before the next is asked.

    Args:
        weights: their source, revision and dtype. advance: is told how many were asked, after each chunk.
    """
    instrument = pending.instrument
    if isinstance(instrument.reader, TextReader) and pending.entry.temperature is not None:
        instrument = replace(instrument, reader=replace(instrument.reader, temperature=pending.entry.temperature))
    for start in range(0, len(pending.questions), chunk):
        some = replace(pending, instrument=instrument, questions=pending.questions[start : start + chunk])
        for _ in store.ask(ask_of(some, respondent, weights)):
            pass
        advance(len(some.questions))
