"""Write tensors and facts about them into one safetensors file: vectors, gates, adapters, probes, activations.

    write_tensors(path, {"direction": direction}, {"layer": 14}, "onedial-steering-vector-2")

The facts stand in the header, each as JSON beside the file's format. A file is complete or absent, and nothing in it is
code.
"""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from onedial.core.errors import InputError
from onedial.core.files import atomic_path, json_value

T = TypeVar("T")


def write_tensors(path: Path | str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], form: str) -> None:
    """Write a file, all or nothing.

    Args:
        facts: what JSON can hold. form: names what the file is, and the version of its format.
    """
    header = {"format": form} | {name: json.dumps(value) for name, value in facts.items()}
    with atomic_path(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, metadata=header)


def read_tensors(
    path: Path | str,
    form: str,
    make: Callable[[dict[str, Tensor], dict[str, Any]], T],
    *,
    what: str,
    remedy: str,
    names: Collection[str] | None = None,
) -> T:
    """Read a file and give what `make` makes of its tensors and facts; whatever fails in it is the file's fault.

    Args:
        what, remedy: for people: what the file should be, and what to do where it is none.
        names: of the tensors that are read; by default all of them.

    Raises:
        InputError: no such file, another format, or a damaged file.

    >>> import tempfile, torch
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_tensors(f"{folder.name}/a.safetensors", {"x": torch.ones(2)}, {"layer": 3}, "example-1")
    >>> how = dict(what="example", remedy="write it again")
    >>> read_tensors(f"{folder.name}/a.safetensors", "example-1", lambda tensors, facts: facts["layer"], **how)
    3
    """
    if not Path(path).is_file():
        raise InputError(f"there is no {what} at {path}; {remedy}")
    try:
        with safe_open(path, framework="pt") as file:
            header: dict[str, Any] = file.metadata() or {}
            if header.get("format") != form:
                raise InputError(
                    f"{path} says it is of format {header.get('format')!r}, and this version reads {form!r}; {remedy}"
                )
            facts = {name: json_value(value) for name, value in header.items() if name != "format"}
            # A copy, since else the file stays mapped for as long as a tensor lives.
            tensors = {name: file.get_tensor(name).clone() for name in (file.keys() if names is None else names)}
        return make(tensors, facts)
    except InputError:
        raise
    except (SafetensorError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"{path} is damaged, or no {what} of this project ({error}); {remedy}") from error
