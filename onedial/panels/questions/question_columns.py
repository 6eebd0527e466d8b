"""Which column of a table holds which part of its questions: canonical names, a mapping, or a preset.

    question, answer, options, ...                     these names are read as they stand (`CANONICAL`)
    --columns question=prompt,answers=target           a mapping, on the command line,
    load_questions(file, columns={"question": "prompt", "answers": "target"})                     in Python,
    columns: {question: prompt, answers: target}       or in the YAML beside a file (quiz.yaml beside quiz.csv)
    --as arc                                           the mapping of a public data set (`presets.yaml`)

Nothing else is read: what another name holds is suggested (`suggestions`), and somebody has to say so.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from onedial.asking.tables import Table, listed
from onedial.core.borders import CLOSED, checked, read_yaml
from onedial.core.errors import InputError
from onedial.core.files import packaged_yaml
from onedial.core.suggestions import did_you_mean

_MAPPED_ONLY = ("labels", "right", "wrong", "key", "key_is", "split", "final")
_SEVERAL = ("answers", "options", "wrong")


def _part(holds: str, default: Any = None) -> Any:
    return field(default=default, metadata={"holds": holds})


@dataclass(frozen=True)
class QuestionColumns:
    """The column of each part; None where the part stands under its canonical name, or is not there.

    "" leaves a column of the canonical name unread. A column is a name as it stands in the file, or a path into what it
    holds: `choices.text` is `text` of the objects in `choices`. `answers`, `options` and `wrong` may be several columns
    (on the command line with + between).
    """

    __pydantic_config__ = CLOSED

    question: str | None = _part("what is asked; {options} in it says where its options stand, else below it")
    id: str | None = _part("joins it to a panel (`question_id` does too); by default a hash of what is asked")
    answers: str | tuple[str, ...] | None = _part("accepted answers: a list, or one text that is one answer")
    answer: str | None = _part("the accepted answer, one text; with options the right one's letter or words")
    options: str | tuple[str, ...] | None = _part("the options: a list, an object by letter, or one column for each")
    labels: str | None = _part("the options' labels; the column of `options` where they stand before the words")
    key: str | None = _part("which option is right, as `key_is` says")
    key_is: Literal["label", "text", "from 0", "from 1", "flags", "truth"] | None = _part(
        "`label`, `text`, `from 0` or `from 1` (a place), `flags` (a truth for each option); `truth` without options: "
        "true is yes"
    )
    right: str | None = _part("the right option's words, beside `wrong`")
    wrong: str | tuple[str, ...] | None = _part("the other options: a list, or columns; the order is made by a hash")
    split: str | None = _part("the mark between texts that stand in one cell, such as `|`; by default none")
    final: Literal["", "####", "boxed", "whole"] = _part(
        "where a worked solution has its number: after `####` or `boxed`; `whole` where it is all of the cell", ""
    )
    topic: str | None = _part("splits and draws give each topic its share")
    level: str | None = _part("intended difficulty, a whole number")
    unknowable: str | None = _part("true where nobody can know the answer")
    exact_answers: str | None = _part("answers that count only where they are all that was written: a list")
    grading: str | None = _part("`number` for numbers and final answers; by default `text`")
    wording_of: str | None = _part("a name that the wordings of one question share")

    @classmethod
    def of(cls, given: "Given", place: str = "--columns") -> "QuestionColumns":
        """A mapping as it may be given: as such, as an object, as text; None is none.

        Raises:
            InputError: a part or value that there is not.

        >>> QuestionColumns.of("question=prompt,options=A+B,key=gold,key_is=from 0").options
        ('A', 'B')
        """
        if isinstance(given, cls):
            return given
        content = _parted(given) if isinstance(given, str) else given or {}
        return checked(cls, content, place)

    def mapped(self) -> dict[str, Any]:
        """What is said otherwise than by default."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) not in (None, "")}

    def held(self, table: Table) -> dict[str, tuple[str, ...]]:
        """Part -> its columns in a table, named or canonical; canonical answers only where nothing named tells them.

        Raises:
            InputError: a named column that is not there.
        """
        names = [str(name) for name in table.frame.columns]
        columns: dict[str, tuple[str, ...]] = {}
        for part, value in self.mapped().items():
            if part in ("key_is", "split", "final"):
                continue
            columns[part] = value if isinstance(value, tuple) else (value,)
            for column in columns[part]:
                if head_of(column, names) is None:
                    near = did_you_mean(column, names) or ";"
                    raise InputError(
                        f"{table.path} has no column {column!r}, named for {part}{near} it holds {listed(names)}"
                    )
        declared = {"answers", "answer"} if columns.keys() & {"answers", "answer", "key", "right"} else set()
        declared |= {each.name for each in fields(self) if getattr(self, each.name) == ""}
        canonical = {part: (name,) for name, part in CANONICAL.items() if name in names and part not in declared}
        return canonical | columns


Given = QuestionColumns | Mapping[str, Any] | str | None
PARTS = {each.name: str(each.metadata["holds"]) for each in fields(QuestionColumns)}
CANONICAL = {part: part for part in PARTS if part not in _MAPPED_ONLY} | {"question_id": "id"}
"""Names that are read as they stand, to their part; of `id` and `question_id` the last, by which panels are read."""


def head_of(column: str, names: Sequence[str]) -> str | None:
    """The column in which a path begins: the longest name before a dot; None where there is none."""
    heads = [name for name in names if column == name or column.startswith(f"{name}.")]
    return max(heads, key=len, default=None)


def _parted(text: str) -> dict[str, Any]:
    """`part=column,part=column`: a comma or + may stand in a column's name where no part follows."""
    pieces = re.split(rf",\s*(?=(?:{'|'.join(PARTS)})\s*=)", text)
    pairs = [piece.partition("=")[::2] for piece in pieces]
    if not all(part.strip() and (value or "=" in piece) for piece, (part, value) in zip(pieces, pairs, strict=True)):
        raise InputError(f"--columns {text}: write PART=COLUMN,..., such as question=prompt,answers=target")
    content = {part.strip(): value if part == "split" else value.strip() for part, value in pairs}
    return {
        part: tuple(value.split("+")) if part in _SEVERAL and "+" in value else value for part, value in content.items()
    }


def written(mapping: Mapping[str, Any], in_python: bool = False) -> str:
    """A mapping as it is given: `--columns ...`, ready for a shell, `columns={...}`, or for the YAML beside a file.

    >>> written({"question": "Frage", "options": ("opt a", "opt b")})
    "--columns 'question=Frage,options=opt a+opt b'"
    """
    if in_python:
        return f"columns={dict(mapping)}"
    names = [name for value in mapping.values() for name in (value if isinstance(value, tuple) else (value,))]
    if any(mark in name for name in names for mark in ("=", "+") if name != mark):
        return f"to the YAML beside the file columns: {json.dumps(mapping, ensure_ascii=False)}"
    texts = [f"{part}={'+'.join(value) if isinstance(value, tuple) else value}" for part, value in mapping.items()]
    return f"--columns {shlex.quote(','.join(texts))}"


def beside_file(path: Path) -> QuestionColumns | None:
    """The mapping or preset that the YAML beside a file gives: `columns:` or `as:`; None where there is none.

    Raises:
        InputError: both, or what is no mapping.
    """
    path = path.with_suffix(".yaml")
    content = read_yaml(path) if path.is_file() else None
    given = {key: content[key] for key in ("columns", "as") if key in content} if isinstance(content, Mapping) else {}
    if len(given) > 1:
        raise InputError(f"{path} gives columns and as; keep one of them")
    if "as" in given:
        return preset_of(str(given["as"])).columns
    return QuestionColumns.of(given["columns"], str(path)) if given else None


# ---- public data sets ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Preset:
    """A public data set.

    Attributes:
        hub: its id there; "" for files that stand elsewhere.
        config: which of its parts are asked, one after the other. split: of each.
        columns: which holds what. source: where that is told.
    """

    hub: str
    config: tuple[str, ...]
    split: str
    columns: QuestionColumns
    source: str


@cache
def presets() -> dict[str, Preset]:
    """Short name -> data set, as `presets.yaml` has them."""
    made = {}
    for name, entry in packaged_yaml("onedial.panels.questions", "presets.yaml").items():
        config = entry.get("config", "default")
        config = tuple(config) if isinstance(config, list) else (config,)
        columns = QuestionColumns.of(entry["columns"], f"presets.yaml, {name}")
        made[name] = Preset(entry["hub"], config, entry.get("split", ""), columns, entry["source"])
    return made


def preset_of(name: str) -> Preset:
    """A data set by its short name or hub id.

    Raises:
        InputError: there is none of that name.
    """
    known = presets()
    by_hub = {each.hub: each for each in reversed(known.values()) if each.hub}
    if (preset := known.get(name) or by_hub.get(name)) is None:
        near = did_you_mean(name, [*known, *by_hub]) or ";"
        raise InputError(f"there is no preset {name!r}{near} known are {', '.join(known)}; or name columns (--columns)")
    return preset
