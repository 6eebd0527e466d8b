"""Import other people's vectors.

Layers are counted in three ways, and few files say which. `import_vectors` asks:

    output      number L: the output of block L, 0-based (ours, repeng, llama.cpp, steering-vectors, resid_post)
    input       number L: the input of block L, 0-based (resid_pre), which is the output of block L - 1
    one-based   number L: the output of the L-th block, counted from 1 (hidden_states)
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.models.forward.activations import read_streams
from onedial.models.model import OpenModel, check_is_model
from onedial.models.prompt_set import PromptSet
from onedial.panels.questions.facts import load_passages
from steering.interventions import SteeringVector
from steering.texts import AS_IT_IS

CONVENTIONS = {"output": 0, "input": -1, "one-based": -1}
"""What is added to a layer's number to make it ours."""
NAMES = {
    **{"blocks.{}.hook_resid_post": "output", "blocks.{}.hook_out": "output", "direction.{}": "output"},
    **{"blocks.{}.hook_resid_pre": "input", "blocks.{}.hook_in": "input", "hidden_states.{}": "one-based"},
}
"""Names that say how they count: TransformerLens' hooks at the stream, the tensors of a control vector, and
transformers' hidden states, of which the first is the embedding."""


@says_how
def import_vectors(
    source: Any,
    model: OpenModel,
    convention: str,
    prompts: PromptSet | None = None,
    progress: bool = True,
    *,
    names: str | None = None,
) -> list[SteeringVector]:
    """Import other people's vectors: GGUF, safetensors, a vector of repeng or steering-vectors, or layer -> vector,
    such as `{14: sae.W_dec[1234]}`.

    Args:
        source: a key is the number of a layer, or a name of the form of `NAMES` (`blocks.2.hook_resid_post`) or of
            `names`; a vector is a tensor, an array or a list of numbers, of shape (d_model,), (1, d_model) or
            (d_model, 1).
        convention: how the source counts layers, one of `CONVENTIONS`; asked for, since guessing wrong is silent.
        prompts: on which the residual norm, the unit of magnitudes, is measured; by default the built-in neutral
            passages, each as a user's turn.
        progress: whether it is shown how far that is, where it takes over two seconds.
        names: the form of the source's own names, with {} for the number: `layer_{}`, `model.layers.{}`.

    Returns:
        Vectors for `Intervention.of`; a magnitude of 1 in `raw` units is the vector as it came.

    Raises:
        InputError: an unknown convention, a pickle, a key that names no layer or the same as another, a layer that the
            model has not, what is no single vector of finite numbers of the model's width.

    >>> import torch
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=4), METACOGNITIVE)
    >>> result = import_vectors({2: torch.ones(model.d_model)}, model, "output", prompts)
    >>> len(result)
    1
    """
    check_is_model(model)
    if convention not in CONVENTIONS:
        raise InputError(
            f"the convention {convention!r} is not known; say how the source counts layers: {', '.join(CONVENTIONS)}"
        )
    for held in ("layer_activations", "directions"):  # of steering-vectors, and of repeng
        if hasattr(source, held) and convention != "output":
            raise InputError(f"{held} are of outputs of blocks, and the convention was given as {convention!r}")
        source = getattr(source, held, source)
    given = source if isinstance(source, Mapping) else _read(source, str(model.stack.config.model_type))
    if not given:
        raise InputError("the source holds no vectors; give layer -> vector")
    directions: dict[int, Tensor] = {}
    for key, values in given.items():
        layer = _layer_named(key, convention, names) + CONVENTIONS[convention]
        if not 0 <= layer < model.n_layers:
            raise InputError(
                f"{key!r} is layer {layer} by the convention {convention!r}, counted from 0, but this model has layers "
                f"0-{model.n_layers - 1}; check how the source counts"
            )
        if layer in directions:
            raise InputError(f"two keys of the source name layer {layer}, {key!r} the second; give one vector for each")
        directions[layer] = _vector_of(values, key, model.d_model)
    layers = sorted(directions)
    sequences = model.token_ids(load_passages()) if prompts is None else prompts.sequences
    with shown(progress, len(sequences), "passages read") as advance:
        streams = read_streams(model, sequences, layers, advance)
    norms = streams.norm(dim=-1).median(dim=0).values.tolist()
    return [
        SteeringVector(
            direction=directions[layer] / directions[layer].norm(),
            layer=layer,
            raw_norm=float(directions[layer].norm()),
            residual_norm=norm,
            model=model.identity,
            method="imported",
            contrast="none",
            prompt_hash="" if prompts is None else prompts.prompt_hash,
            template=AS_IT_IS if prompts is None else prompts.template,
        )
        for layer, norm in zip(layers, norms, strict=True)
    ]


@overload
def as_vector(directions: Any, model: OpenModel, layer: int) -> SteeringVector: ...
@overload
def as_vector(directions: Any, model: OpenModel, layer: Sequence[int]) -> list[SteeringVector]: ...
@says_how
def as_vector(directions: Any, model: OpenModel, layer: int | Sequence[int]) -> SteeringVector | list[SteeringVector]:
    """Make a steering vector of a direction of your own, after one layer; or one for each of several layers.

    Args:
        directions: a tensor, an array or a list of numbers: `d_model` for one layer, `layer d_model` for several.
        layer: 0-based, after which each is added.

    Returns:
        A magnitude of 1 is a median residual norm, measured on neutral passages; in `raw` units it is the direction as
        it came.

    Raises:
        InputError: as `import_vectors`, or as many directions as layers were not given.

    >>> import torch
    >>> from onedial import load_model
    >>> model = load_model("smollm2-135m-instruct")
    >>> as_vector(torch.ones(model.d_model), model, 3).layer
    3
    >>> [vector.layer for vector in as_vector(torch.ones(2, model.d_model), model, range(2, 4))]
    [2, 3]
    """
    check_is_model(model)
    layers, rows = ([layer], [directions]) if isinstance(layer, int) else (list(layer), list(directions))
    if len(layers) != len(rows):
        raise InputError(f"{len(rows)} directions were given for {len(layers)} layers; give one for each")
    vectors = import_vectors(dict(zip(layers, rows, strict=True)), model, "output")
    return vectors[0] if isinstance(layer, int) else [{each.layer: each for each in vectors}[place] for place in layers]


def _layer_named(key: Any, convention: str, names: str | None) -> int:
    """The number that a key of a source is, or that stands where its form says."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return int(key)
    for form, counted in {"{}": convention, **NAMES, **({names: convention} if names else {})}.items():
        pattern = re.escape(form).replace(r"\{\}", r"(\d+)")
        if not isinstance(key, str) or not (number := re.fullmatch(pattern, key)):
            continue
        if counted != convention:
            raise InputError(
                f"the key {key!r} counts layers by the convention {counted!r}, which was given as {convention!r}; give "
                f"{counted!r}, or another name"
            )
        return int(number[1])
    form = re.sub(r"\d+", "{}", key, count=1) if isinstance(key, str) else ""
    remedy = f"names={form!r} reads {key!r}" if "{}" in form else "names='layer_{}' reads 'layer_2'"
    raise InputError(
        f"the key {key!r} is no layer's number; give numbers, or, if it is of the stream at a layer, the form of the "
        f"names: {remedy}"
    )


def _vector_of(values: Any, key: Any, d_model: int) -> Float[Tensor, " d_model"]:
    """One vector of a source, as it came."""
    try:
        array = values if isinstance(values, Tensor) else torch.as_tensor(np.ascontiguousarray(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"the vector of {key!r} is no array of numbers ({type(values).__name__}: {error})") from error
    if array.is_complex() or array.dtype == torch.bool:
        raise InputError(f"the vector of {key!r} is of {str(array.dtype).removeprefix('torch.')}; give real numbers")
    shape = tuple(array.shape)
    if array.numel() != d_model or max(shape, default=0) != d_model:
        raise InputError(
            f"the vector of {key!r} has shape {shape}, and this model takes one of {d_model} numbers after each layer; "
            + ("give each of its rows its layer" if d_model in shape else "take vectors of this model")
        )
    vector = array.detach().to_dense().float().cpu().reshape(d_model)
    if not vector.isfinite().all():
        raise InputError(
            f"the vector of {key!r} holds {int((~vector.isfinite()).sum())} numbers that are not finite; make it anew, "
            "in float32"
        )
    if not 0 < vector.norm() < torch.inf:
        raise InputError(f"the vector of {key!r} has length {float(vector.norm()):.3g}, so that it has no direction")
    return vector


def _read(source: Any, model_type: str) -> dict[str, Tensor]:
    if not isinstance(source, str | Path):
        raise InputError(
            f"the vectors were given as {type(source).__name__}, which does not say which layer each is for; give "
            "layer -> vector, such as {14: vector}, or dict(enumerate(rows)) for one of each layer"
        )
    path = Path(source)
    if not path.is_file():
        raise InputError(f"there is no file {path}; check the path")
    if path.suffix == ".gguf":
        import gguf

        try:
            reader = gguf.GGUFReader(path)
            _say_whose_it_is(path, reader.get_field("controlvector.model_hint"), model_type)
            return {each.name: torch.from_numpy(np.array(each.data)) for each in reader.tensors}
        except (ValueError, IndexError) as error:
            raise InputError(f"{path} cannot be read as GGUF ({error}); save it again") from error
    if path.suffix != ".safetensors":
        raise InputError(
            f"{path} is neither .gguf nor .safetensors; pickles (.pt, .pkl) are code and are not read: load it where "
            "it was made and give its tensors, as layer -> tensor"
        )
    try:
        with safe_open(path, framework="pt") as file:
            if "steering-vector" in str((file.metadata() or {}).get("format")):
                raise InputError(f"{path} is a vector of this project; read it by SteeringVector.load")
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"{path} cannot be read as safetensors ({error}); save it again") from error


def _say_whose_it_is(path: Path, hint: Any, model_type: str) -> None:
    """llama.cpp calls several types of models llama, so that another type is no proof of another model."""
    if hint is not None and (type_in_file := str(hint.contents())) != model_type:
        notice(f"{path} says that it is of a model of type {type_in_file!r}, and this one is of type {model_type!r}")
