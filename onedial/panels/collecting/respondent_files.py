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

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK_PROMPTS, REASONED, Instrument
from onedial.asking.prompts import PromptTemplate, load_prompt
from onedial.asking.providers.costs import Price
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.core.errors import InputError
from onedial.core.files import parsed_yaml
from onedial.core.suggestions import did_you_mean

_CLOSED_BOOK = {
    "True": CLOSED_BOOK_PROMPTS["closed book"],
    "examples": CLOSED_BOOK_PROMPTS["closed book, examples"],
    "False": None,
}
_ASKED_WITH = ("direct", "reasoned", "closed book")
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
        logprobs: ask the provider for the first tokens' probabilities.
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
    logprobs: bool = True

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
    models = [_model(entry, content.get("framings", ["neutral"]), Path(path)) for entry in content["models"]]
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
    entry = _content(Path(path)).get("judge")
    if entry is None:
        return None
    judge = _model(entry, ["neutral"], Path(path))
    if judge.provider is None:
        raise InputError(f"{path} names a judge on this machine; give it a provider or a server")
    return judge


def _content(path: Path) -> dict[str, Any]:
    import yaml

    if not path.is_file():
        raise InputError(f"there is no file of respondents {path}; check the path")
    try:
        content = parsed_yaml(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no YAML ({error.reason}); correct it") from error
    except yaml.YAMLError as error:  # its own text repeats the line, in which somebody may have written a key
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise InputError(f"{path} is no YAML ({where}{getattr(error, 'problem', 'broken')}); correct it") from None
    if isinstance(content, dict):
        _refuse_unknown(content, {"models", "framings", "judge"}, "", path)
    if not isinstance(content, dict) or not content.get("models"):
        raise InputError(
            f"{path} must hold the key `models` (a list), and if wanted `framings` (a list) and `judge` (a model)"
        )
    _list(content["models"], "models", path)
    return content


def _model(entry: Any, shared: Any, path: Path) -> RespondentModel:
    given = {"model": entry} if isinstance(entry, str) else entry
    if isinstance(given, dict):
        _refuse_unknown(given, {*_READERS, "framings"}, f"for {given.get('model', 'one of its models')} ", path)
    if not isinstance(given, dict) or not given.get("model"):
        came = f"with {', '.join(map(str, given))}" if isinstance(given, dict) else repr(entry)
        others = ", ".join(sorted({*_READERS, "framings"} - {"model"}))
        raise InputError(f"{path} lists the model {came}; give its name, or the key `model` and if wanted {others}")
    names = _list(given.get("framings", shared), "framings", path)
    framings = tuple(load_prompt(str(name), path.parent) for name in names)
    _refuse_repeats([framing.name for framing in framings], "framing", path)
    values: dict[str, Any] = {}
    for key, value in given.items():
        if value is None or key == "framings":
            continue
        read, wanted = _READERS[key]
        try:
            values[key] = read(value)
        except (ValueError, TypeError, KeyError) as error:
            shown = "" if key in _MAY_BE_SECRET else f" as {value!r}"
            raise InputError(f"{path} gives {key}{shown} for {given['model']}; {wanted}") from error
    elsewhere = {key: values.pop(key) for key in _OF_PROVIDERS if key in values}
    name = values["model"]
    if elsewhere.keys() & {"provider", "server"}:
        if local := sorted({"dtype", "revision"} & values.keys()):
            raise InputError(f"{path} gives {', '.join(local)} for {name}, which a provider runs; leave it out")
        values["provider"] = ProviderModel(name, temperature=values.get("temperature"), **elsewhere)
    elif elsewhere:
        raise InputError(
            f"{path} gives {', '.join(sorted(elsewhere))} for {name}, which is asked on this machine; leave that out, "
            "or give a provider or a server"
        )
    elif values.get("instrument", "direct") == "direct" and values.get("samples", 1) > 1:
        raise InputError(
            f"{path} asks for several samples of {name}, which is read by its logits: they would all be the same; "
            "leave `samples` out, or write `instrument: reasoned` with a temperature"
        )
    return RespondentModel(framings=framings, **values)


# ---- what a key may hold ---------------------------------------------------------------------------------------------


def _where(is_so: Callable[[Any], Any], *kinds: type) -> Callable[[Any], Any]:
    """Reads what is of one of these kinds, and as it should be; a bool is no number."""

    def read(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds) or not is_so(value):
            raise ValueError("something else")
        return value

    return read


def _is_bare(server: str) -> bool:
    """An address goes into logs: no password may stand in it, and nothing that looks like one."""
    parts = urlsplit(server)
    return not ("@" in parts.netloc or parts.query or parts.fragment)


def _price(value: Any) -> Price:
    number = _where(lambda each: each >= 0, int, float)
    return Price(**{name: float(number(each)) for name, each in dict(value).items()})


_COUNT = (_where(lambda value: value > 0, int), "write a whole number")
_TEXT = (str, "write text")
_READERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    **dict.fromkeys(("model", "name", "family", "dtype", "revision", "provider", "reasoning_effort"), _TEXT),
    **dict.fromkeys(("samples", "max_tokens", "connections", "timeout", "top_logprobs"), _COUNT),
    "n_questions": (_COUNT[0], "write a whole number, or leave it out for all"),
    "retries": (_where(lambda value: value >= 0, int), "write a whole number"),
    "logprobs": (_where(lambda value: True, bool), "write true or false"),
    "temperature": (_where(lambda value: value >= 0, int, float), "write a number from 0 on"),
    "price": (_price, "write {input: 0.25, output: 2.0}, for a million tokens, with numbers from 0 on"),
    "closed_book": (
        lambda value: _CLOSED_BOOK[str(value)],
        "write false, examples (after worked examples), or leave it out for true",
    ),
    "instrument": (_where(lambda value: value in _ASKED_WITH, str), f"write {', '.join(_ASKED_WITH)}"),
    "extra": (
        _where(lambda value: all(isinstance(name, str) for name in value), dict),
        "write fields, as {enable_thinking: false}",
    ),
    "server": (
        _where(_is_bare, str),
        "write the bare address, since logs would keep a name, a password or a query in it; give a secret as `key`, by "
        "the name of an environment variable",
    ),
    "key": (
        _where(lambda value: re.fullmatch(r"[A-Z][A-Z0-9_]*", value), str),
        "it is no name of an environment variable (capitals, digits, _): never write a key into a file, export it, and "
        "write the variable's name",
    ),
}
"""Each key of a model: what is made of its value, and what to write instead of one that cannot be."""
_OF_PROVIDERS = {each.name for each in fields(ProviderModel)} - {"model", "temperature"}
_MAY_BE_SECRET = ("key", "server")


def _refuse_unknown(given: Collection[Any], known: Collection[str], of_what: str, path: Path) -> None:
    """Values are not shown: what stands under a key that is not known may be a secret."""
    for key in (key for key in given if key not in known):
        meant = f"; did you mean {_ELSEWHERE[key]!r}?" if key in _ELSEWHERE else did_you_mean(str(key), sorted(known))
        raise InputError(f"{path} gives {of_what}the key {key!r}{meant or ';'} known are {', '.join(sorted(known))}")


def _list(value: Any, key: str, path: Path) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{path} gives {key} as {value!r}; write a list with at least one entry")
    return value


def _refuse_repeats(names: Sequence[Any], what: str, path: Path) -> None:
    for name in names:
        if names.count(name) > 1:
            told = name if isinstance(name, str) else name[0]
            remedy = "keep one" if what == "framing" else "keep one, or give each a `name`"
            raise InputError(f"{path} lists the {what} {told!r} more than once; {remedy}")
