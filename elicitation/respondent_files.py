"""Who is asked, and how: a YAML file of models and framings, every model under every framing.

models:
  - model: smollm2-135m-instruct            # built-in name, hub id, folder or GGUF file
    family: SmolLM2                         # optional; models of one family are kin
    dtype: float32                          # optional, as revision; the default is that of load_model
  - model: mistralai/Mistral-7B-Instruct-v0.3
    framings: [neutral]                     # optional: other framings for this model
framings: [neutral, cautious, my_prompt.yaml]    # names of elicitation.FRAMINGS, or prompt files beside this one
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import InputError
from elicitation.prompts import PromptTemplate, load_prompt

_MODEL_KEYS = {"model", "family", "dtype", "revision", "framings", "n_questions", "closed_book"}


@dataclass(frozen=True)
class RespondentModel:
    """One model and the framings under which it is asked.

    Attributes:
        model: as `load_model` takes it.
        framings: at least one; their names differ.
        family: models of one family are kin; "" where not said.
        dtype, revision: as `load_model` takes them.
        n_questions: how many of the questions it is asked (the rest is missing in the panel); None for all.
        closed_book: whether it is asked the questions themselves too.
    """

    model: str
    framings: tuple[PromptTemplate, ...]
    family: str = ""
    dtype: str = "auto"
    revision: str | None = None
    n_questions: int | None = None
    closed_book: bool = True

    @property
    def short_name(self) -> str:
        """The last part of a hub id or path."""
        return Path(self.model).name

    def respondent(self, framing: PromptTemplate) -> str:
        """The respondent's name: the model's and the framing's."""
        return f"{self.short_name}: {framing.name}"


def load_respondents(path: str | Path) -> list[RespondentModel]:
    """Read the models and framings of a file.

    Raises:
        InputError: no such file, no YAML, an unknown or missing key, an unknown framing, the same model or framing
            twice.
    """
    import yaml

    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file of respondents {path}; check the path")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no YAML ({' '.join(str(error).split())}); correct it") from error
    if not isinstance(content, dict) or not content.keys() <= {"models", "framings"} or not content.get("models"):
        raise InputError(f"{path} must hold the key `models` (a list), and if wanted `framings` (a list)")
    shared = content.get("framings", ["neutral"])
    models = [_model(entry, shared, path) for entry in _list(content["models"], "models", path)]
    _refuse_repeats([model.short_name for model in models], "model", path)
    return models


def _model(entry: Any, shared: Any, path: Path) -> RespondentModel:
    fields = {"model": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict) or not fields.get("model") or not fields.keys() <= _MODEL_KEYS:
        raise InputError(
            f"{path} lists the model {entry!r}; give its name, or the key `model` and if wanted "
            f"{', '.join(sorted(_MODEL_KEYS - {'model'}))}"
        )
    framings = tuple(
        load_prompt(str(name), path.parent) for name in _list(fields.get("framings", shared), "framings", path)
    )
    _refuse_repeats([framing.name for framing in framings], "framing", path)
    n_questions = fields.get("n_questions")
    if n_questions is not None and (not isinstance(n_questions, int) or isinstance(n_questions, bool)):
        raise InputError(f"{path} gives n_questions as {n_questions!r}; write a whole number, or leave it out for all")
    closed_book = fields.get("closed_book", True)
    if not isinstance(closed_book, bool):
        raise InputError(f"{path} gives closed_book as {closed_book!r}; write true or false, or leave it out for true")
    texts = {
        name: str(fields[name]) for name in ("model", "family", "dtype", "revision") if fields.get(name) is not None
    }
    return RespondentModel(framings=framings, n_questions=n_questions, closed_book=closed_book, **texts)


def _list(value: Any, key: str, path: Path) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{path} gives {key} as {value!r}; write a list with at least one entry")
    return value


def _refuse_repeats(names: list[str], what: str, path: Path) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path} lists the {what} {name!r} more than once; keep one")
