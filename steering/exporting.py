"""Export pushes as others read them: a GGUF control vector, which is added to the stream at every position."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from onedial.core.errors import InputError
from onedial.core.files import atomic_path
from onedial.models.model import OpenModel

if TYPE_CHECKING:
    from steering.interventions import Intervention


def write_control_vector(terms: "Iterable[tuple[Intervention, float]]", path: Path | str, model: OpenModel) -> None:
    """Write pushes as `steering.Push.export_gguf` says.

    Args:
        terms: of a push: what is done, and how many times.
    """
    import gguf

    if not isinstance(path, str | Path) or Path(path).suffix != ".gguf":
        raise InputError(f"{path!r} does not end in .gguf, by which a control vector is known; name it so")
    additions: dict[int, Tensor] = {}
    for what, times in terms:
        what.check_model(model)
        _check_exportable(what)
        for vector in what.vectors:
            addition = times * vector.length(what.unit) * vector.direction
            additions[vector.layer] = additions.get(vector.layer, torch.zeros(())) + addition
    with atomic_path(Path(path)) as temporary:
        writer = gguf.GGUFWriter(temporary, "controlvector")
        writer.add_string("controlvector.model_hint", str(model.stack.config.model_type))
        writer.add_uint32("controlvector.layer_count", len(additions))
        for layer, addition in sorted(additions.items()):
            writer.add_tensor(f"direction.{layer}", addition.numpy().astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def _check_exportable(what: "Intervention") -> None:
    """Raise InputError where a control vector, which is added everywhere to the stream, cannot say it."""
    if what.positions != "all":
        raise InputError(
            "a control vector acts at every position, generated ones included, and this intervention at "
            f"{what.positions!r}: it would be another dial; find magnitudes for vector.at('all') and export it"
        )
    for vector in what.vectors:
        vector.check_stream("a control vector is added to")
    if what.operator != "add":
        raise InputError(f"a control vector can add, not {what.operator}; there is no way to say it")
    if 0 in what.layers:
        raise InputError("llama.cpp knows no control vector at layer 0; steer at layer 1 or above")
