"""Who is asked, and how: a YAML file of models and framings, every model under every framing.

models:
  - model: smollm2-135m-instruct            # built-in name, hub id, folder or GGUF file
    family: SmolLM2                         # optional; models of one family are kin
    closed_book: examples                   # optional: the questions themselves after worked examples; false: not
    dtype: float32                          # optional, as revision; the default is that of load_model
  - model: mistralai/Mistral-7B-Instruct-v0.3
    framings: [neutral]                     # optional: other framings for this model
  - model: gpt-5-mini
    provider: openai                        # as inspect_ai names it: openai, anthropic, google, mistral, ...
    instrument: reasoned                    # direct (default), reasoned, closed book
    samples: 3
    temperature: 1
    reasoning_effort: low
    price: {input: 0.25, output: 2.0}       # money for a million tokens
  - model: my-model
    server: http://127.0.0.1:8000/v1        # any server that speaks OpenAI's protocol
    extra: {enable_thinking: false}         # further fields of each request, as this server knows them
    top_logprobs: 5                         # likeliest tokens that are asked for (default 20); or logprobs: false
    key: MY_SERVER_KEY                      # name of the environment variable that holds the key
framings: [neutral, cautious, my_prompt.yaml]    # names of onedial.asking.FRAMINGS, or prompt files beside this one
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Len
from pydantic import Strict

from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK_PROMPTS, REASONED, Instrument
from onedial.asking.prompts import PromptTemplate, load_prompt
from onedial.asking.providers.costs import Price
from onedial.asking.providers.provider_settings import Count, Number, ProviderModel, Text
from onedial.core.borders import CLOSED, Write, checked, read_yaml
from onedial.core.errors import InputError

_CLOSED_BOOK = {
    True: CLOSED_BOOK_PROMPTS["closed book"],
    "examples": CLOSED_BOOK_PROMPTS["closed book, examples"],
    False: None,
}
_ELSEWHERE = {"base_url": "server", "api_base": "server", "url": "server", "api_key": "key", "extra_body": "extra"}
"""How other tools call a key."""


@dataclass(frozen=True)
class RespondentModel:
    """One model and the framings under which it is asked.

    Attributes:
        model: as `load_model` takes it, or its name at its provider.
        framings: at least one; their names differ.
        family: models of one family are kin; "" where not said.
        dtype, revision: as `load_model` takes them.
        n_questions: how many of the questions it is asked (the rest is missing in the panel); None for all.
        closed_book: how it is asked the questions themselves too; None for not at all.
        name: what its respondents are called, where one model is asked with several settings; "" for `short_name`.
        instrument: how it is asked for yes or no (direct, reasoned), or "closed book": the questions themselves alone.
        samples: how often it is asked for yes or no.
        temperature: None for the likeliest token here, and for the provider's own there.
        provider: where it is asked; None for a model on this machine.
        price: what its tokens cost; None where it is not said.
    """

    model: str
    framings: tuple[PromptTemplate, ...]
    family: str = ""
    dtype: str = "auto"
    revision: str | None = None
    n_questions: int | None = None
    closed_book: PromptTemplate | None = CLOSED_BOOK_PROMPTS["closed book"]
    name: str = ""
    instrument: str = "direct"
    samples: int = 1
    temperature: float | None = None
    provider: ProviderModel | None = None
    price: Price | None = None

    @property
    def short_name(self) -> str:
        """The last part of a hub id or path: the base model."""
        return Path(self.model).name

    @property
    def label(self) -> str:
        """What its respondents' names begin with."""
        return self.name or self.short_name

    def respondent(self, framing: PromptTemplate) -> str:
        """The respondent's name: the model's and the framing's."""
        return f"{self.label}: {framing.name}" + (", reasoned" if self.instrument == "reasoned" else "")

    def respondent_for(self, instrument: Instrument) -> str:
        """The name under which the answers to an instrument stand."""
        if instrument.name in (CAN_YOU_ANSWER.name, REASONED.name):
            return self.respondent(instrument.template)
        return f"{self.label}: {instrument.name}"


def load_respondents(path: str | Path) -> list[RespondentModel]:
    """Read the models and framings of a file.

    Raises:
        InputError: no such file, no YAML, an unknown or missing key, an unknown framing, the same respondent twice, a
            value that its key cannot have.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "who.yaml"
    >>> _ = path.write_text("{models: [smollm2-135m-instruct], framings: [neutral, cautious]}")
    >>> [framing.name for framing in load_respondents(path)[0].framings]
    ['neutral', 'cautious']
    """
    content = _content(Path(path))
    models = [_model(entry, content.framings, Path(path)) for entry in content.models]
    _refuse_repeats([(model.label, model.instrument) for model in models], "model", Path(path))
    return models


def load_judge(path: str | Path) -> RespondentModel | None:
    """The model under the key `judge` of the same file; None where there is none.

    Raises:
        InputError: as `load_respondents`; or it is a model on this machine.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "who.yaml"
    >>> _ = path.write_text("models: [smollm2-135m-instruct]")
    >>> load_judge(path) is None
    True
    """
    entry = _content(Path(path)).judge
    if entry is None:
        return None
    judge = _model(entry, ["neutral"], Path(path))
    if judge.provider is None:
        raise InputError(f"{path} names a judge on this machine; give it a provider or a server")
    return judge


# ---- what the file may hold ------------------------------------------------------------------------------------------


_List = Annotated[list[Any], Len(1), Write("write a list with at least one entry")]


@dataclass(frozen=True)
class _Entry(ProviderModel):
    """The keys of one model."""

    name: Text = ""
    family: Text = ""
    dtype: Text = "auto"
    revision: Text = ""
    framings: _List = field(default_factory=list)
    n_questions: Annotated[Count | None, Write("write a whole number, or leave it out for all")] = None
    closed_book: Annotated[
        Annotated[bool, Strict()] | Literal["examples"],
        Write("write false, examples (after worked examples), or leave it out for true"),
    ] = True
    instrument: Annotated[
        Literal["direct", "reasoned", "closed book"], Write("write direct, reasoned, closed book")
    ] = "direct"
    samples: Annotated[Count, Write("write a whole number")] = 1
    price: Annotated[
        Annotated[dict[Literal["input", "output"], Number], Len(2)] | None,
        Write("write {input: 0.25, output: 2.0}, for a million tokens, with numbers from 0 on"),
    ] = None


@dataclass(frozen=True)
class _File:
    """The keys of the file."""

    __pydantic_config__ = CLOSED

    models: _List
    framings: _List = field(default_factory=lambda: ["neutral"])
    judge: Any = None


_OF_PROVIDERS = {each.name for each in fields(ProviderModel)} - {"model", "temperature"}


def _content(path: Path) -> _File:
    content = read_yaml(path, "file of respondents")
    if not isinstance(content, Mapping) or (not content.get("models") and content.keys() <= {"models", "judge"}):
        raise InputError(
            f"{path} must hold the key `models` (a list), and if wanted `framings` (a list) and `judge` (a model)"
        )
    return checked(_File, content, str(path))


def _model(entry: Any, shared: list[Any], path: Path) -> RespondentModel:
    given, of = {"model": entry} if isinstance(entry, str) else entry, "for one of its models"
    if isinstance(given, Mapping):
        given = {key: value for key, value in given.items() if value is not None}
        of = f"for {given['model']}" if "model" in given else of
    keys = checked(_Entry, given, str(path), of, _ELSEWHERE)
    framings = tuple(load_prompt(str(name), path.parent) for name in keys.framings or shared)
    _refuse_repeats([framing.name for framing in framings], "framing", path)
    provider, elsewhere = None, sorted(_OF_PROVIDERS & given.keys())
    if keys.provider or keys.server:
        if local := sorted({"dtype", "revision"} & given.keys()):
            raise InputError(f"{path} gives {', '.join(local)} for {keys.model}, which a provider runs; leave it out")
        provider = ProviderModel(**{each.name: getattr(keys, each.name) for each in fields(ProviderModel)})
    elif elsewhere:
        raise InputError(
            f"{path} gives {', '.join(elsewhere)} for {keys.model}, which is asked on this machine; leave that out, "
            "or give a provider or a server"
        )
    elif keys.instrument == "direct" and keys.samples > 1:
        raise InputError(
            f"{path} asks for several samples of {keys.model}, which is read by its logits: they would all be "
            "the same; leave `samples` out, or write `instrument: reasoned` with a temperature"
        )
    made = {
        **{"framings": framings, "revision": keys.revision or None, "closed_book": _CLOSED_BOOK[keys.closed_book]},
        **{"provider": provider, "price": None if keys.price is None else Price(**keys.price)},
    }
    return RespondentModel(**{each.name: getattr(keys, each.name) for each in fields(RespondentModel)} | made)


def _refuse_repeats(names: Sequence[Any], what: str, path: Path) -> None:
    for name in names:
        if names.count(name) > 1:
            shown = name if isinstance(name, str) else name[0]
            remedy = "keep one" if what == "framing" else "keep one, or give each a `name`"
            raise InputError(f"{path} lists the {what} {shown!r} more than once; {remedy}")
