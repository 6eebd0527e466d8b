"""Interventions for other people's programs, and other people's vectors as ours.

    export_gguf      control vector of llama.cpp and repeng: direction.N is added to the output of block N (0-based)
    export_lm_eval   `steered` model of lm-evaluation-harness (steer_path=FILE.pt): add or clamp after layers.N
    export_tensors   safetensors, layer.N: what is added to the output of block N; for anything else

Each file holds one setting: the magnitude is multiplied in. None of these formats can say where in the prompt to act,
and all act everywhere, so that only positions `all` can be exported; what a format cannot say is refused.

Layers are counted in three ways, and no file says which. `import_vectors` asks:

    output      number L: the output of block L, 0-based (ours, repeng, llama.cpp, steering-vectors, resid_post)
    input       number L: the input of block L, 0-based (resid_pre), which is the output of block L - 1
    one-based   number L: the output of the L-th block, counted from 1 (hidden_states)
"""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from onedial.core import InputError, atomic_path
from onedial.models import OpenModel, PromptSet, read_activations
from steering.interventions import Intervention, as_intervention
from steering.vectors import SteeringVector

CONVENTIONS = {"output": 0, "input": -1, "one-based": -1}
"""What is added to a layer's number to make it ours."""
TENSORS_FORMAT = "onedial-additions-1"


def export_gguf(
    intervention: Intervention | SteeringVector, magnitude: float, path: Path | str, model: OpenModel
) -> None:
    """Write a control vector for llama.cpp (`--control-vector FILE`) and repeng; used at strength 1.

    Raises:
        InputError: positions other than all, an operator other than add, layer 0 (llama.cpp counts from 1), a
            magnitude that is not finite, a file that does not end in .gguf, or another model.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector, folder = extract_vector(model, questions, layer=21), tempfile.TemporaryDirectory()
    >>> export_gguf(Intervention.of(vector, positions="all"), 0.2, f"{folder.name}/vector.gguf", model)
    >>> Path(f"{folder.name}/vector.gguf").stat().st_size > 0
    True
    """
    import gguf

    intervention = as_intervention(intervention)
    target = _check(intervention, magnitude, path, ".gguf", ("add",), "a control vector")
    intervention.check_model(model)
    if 0 in intervention.layers:
        raise InputError("llama.cpp knows no control vector at layer 0; steer at layer 1 or above")
    with atomic_path(target) as temporary:
        writer = gguf.GGUFWriter(temporary, "controlvector")
        writer.add_string("controlvector.model_hint", str(model.stack.config.model_type))
        writer.add_uint32("controlvector.layer_count", len(intervention.layers))
        for layer, addition in sorted(_additions(intervention, magnitude).items()):
            writer.add_tensor(f"direction.{layer}", addition.numpy().astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def export_lm_eval(intervention: Intervention | SteeringVector, magnitude: float, path: Path | str) -> None:
    """Write a file for `lm_eval run --model steered --model_args pretrained=...,steer_path=FILE.pt`.

    It holds plain tensors and numbers; lm-eval itself reads it as a pickle.

    Raises:
        InputError: positions other than all, an operator other than add and clamp, a magnitude that is not finite, or
            0 for clamp, where it is off; a file that does not end in .pt.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from steering import Intervention, extract_vector
    >>> vector = extract_vector(load_model("smollm2-135m-instruct"), load_questions("embedded", n=20), layer=21)
    >>> folder = tempfile.TemporaryDirectory()
    >>> export_lm_eval(Intervention.of(vector, positions="all"), 0.2, f"{folder.name}/vector.pt")
    """
    intervention = as_intervention(intervention)
    target = _check(intervention, magnitude, path, ".pt", ("add", "clamp"), "lm-eval's steered model")
    if intervention.operator == "clamp" and magnitude == 0:
        raise InputError(
            "clamp at magnitude 0 is off, and lm-eval would set the projection to 0; export no file for it"
        )
    entries = {
        f"layers.{vector.layer}": {
            "steering_vector": vector.direction[None].clone(),
            "steering_coefficient": float(magnitude * vector.length(intervention.unit)),
            "action": intervention.operator,
            "bias": None,
            "head_index": None,
        }
        for vector in intervention.vectors
    }
    with atomic_path(target) as temporary:
        torch.save(entries, temporary)


def export_tensors(intervention: Intervention | SteeringVector, magnitude: float, path: Path | str) -> None:
    """Write what is added, layer by layer, as safetensors with its convention in the metadata.

    Raises:
        InputError: as `export_gguf`, layer 0 apart; the file ends in .safetensors.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from steering import Intervention, extract_vector
    >>> vector = extract_vector(load_model("smollm2-135m-instruct"), load_questions("embedded", n=20), layer=21)
    >>> folder = tempfile.TemporaryDirectory()
    >>> export_tensors(Intervention.of(vector, positions="all"), 0.2, f"{folder.name}/vector.safetensors")
    """
    intervention = as_intervention(intervention)
    target = _check(intervention, magnitude, path, ".safetensors", ("add",), "a file of additions")
    additions = {f"layer.{layer}": addition for layer, addition in _additions(intervention, magnitude).items()}
    model = intervention.vectors[0].model
    facts = {
        "format": TENSORS_FORMAT,
        "layers": "output of block N, 0-based, added at every position",
        "model": f"{model.name} {model.fingerprint}",
        "onedial": version("onedial"),
    }
    with atomic_path(target) as temporary:
        save_file(additions, temporary, metadata=facts)


def import_vectors(
    source: Path | str | Mapping[int, Float[Tensor, " _"]], model: OpenModel, convention: str, prompts: PromptSet
) -> list[SteeringVector]:
    """Other people's vectors: a GGUF control vector, safetensors with layer.N, or layer -> tensor, such as the
    `layer_activations` of steering-vectors or vectors read at TransformerLens' hooks.

    Args:
        convention: how the source counts layers, one of `CONVENTIONS`; asked for, since guessing wrong is silent.
        prompts: on which the residual norm, the unit of magnitudes, is measured.

    Returns:
        Vectors for `Intervention.of`; a magnitude of 1 in `raw` units is the vector as it came.

    Raises:
        InputError: an unknown convention, a pickle, a file without directions, a layer that the model has not, another
            width.

    >>> import torch
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=4), METACOGNITIVE)
    >>> found = import_vectors({21: torch.ones(model.d_model)}, model, "output", prompts)
    >>> len(found)
    1
    """
    if convention not in CONVENTIONS:
        raise InputError(
            f"the convention {convention!r} is not known; say how the source counts layers: {', '.join(CONVENTIONS)}"
        )
    given = source if isinstance(source, Mapping) else _read(Path(source))
    found = {int(number) + CONVENTIONS[convention]: tensor.detach().float().cpu() for number, tensor in given.items()}
    if not found or min(found) < 0:
        raise InputError(
            f"the source has the layers {', '.join(map(str, given)) or 'none'}, which by the convention {convention!r} "
            "begin before the first block; check how it counts"
        )
    layers = sorted(found)
    model.check_layers(layers)
    for layer in layers:
        if found[layer].shape != (model.d_model,) or not found[layer].norm() > 0:
            raise InputError(
                f"the vector of layer {layer} has shape {tuple(found[layer].shape)} and length "
                f"{found[layer].norm().item():.3g}, but the model is {model.d_model} wide; take vectors of this model"
            )
    norms = read_activations(model, prompts, layers).residuals.norm(dim=-1).median(dim=0).values.tolist()
    return [
        SteeringVector(
            direction=found[layer] / found[layer].norm(),
            layer=layer,
            raw_norm=float(found[layer].norm()),
            residual_norm=norm,
            model=model.identity,
            method="imported",
            contrast="none",
            prompt_hash=prompts.prompt_hash,
        )
        for layer, norm in zip(layers, norms, strict=True)
    ]


def _check(
    intervention: Intervention, magnitude: float, path: Path | str, ending: str, operators: tuple[str, ...], what: str
) -> Path:
    target = Path(path)
    if target.suffix != ending:
        raise InputError(f"{target} does not end in {ending}, by which {what} is known; name it so")
    if intervention.positions != "all":
        raise InputError(
            f"{what} acts at every position, generated ones included, and this intervention at "
            f"{intervention.positions!r}: it would be another dial; find magnitudes for --positions all and export that"
        )
    if intervention.operator not in operators:
        raise InputError(f"{what} can {' or '.join(operators)}, not {intervention.operator}; there is no way to say it")
    if not np.isfinite(magnitude):
        raise InputError(f"the magnitude is {magnitude}; give a finite number")
    return target


def _additions(intervention: Intervention, magnitude: float) -> dict[int, Float[Tensor, " d_model"]]:
    return {
        vector.layer: (magnitude * vector.length(intervention.unit) * vector.direction).contiguous()
        for vector in intervention.vectors
    }


def _read(path: Path) -> dict[int, Tensor]:
    if not path.is_file():
        raise InputError(f"there is no file {path}; check the path")
    if path.suffix == ".gguf":
        import gguf

        try:
            tensors = {each.name: torch.from_numpy(np.array(each.data)) for each in gguf.GGUFReader(path).tensors}
        except (ValueError, IndexError) as error:
            raise InputError(f"{path} cannot be read as GGUF ({error}); save it again") from error
        prefix = "direction."
    elif path.suffix == ".safetensors":
        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise InputError(f"{path} cannot be read as safetensors ({error}); save it again") from error
        prefix = "layer."
    else:
        raise InputError(
            f"{path} is neither .gguf nor .safetensors; pickles (.pt, .pkl) are code and are not read: load it where "
            "it was made and give its tensors, as layer -> tensor"
        )
    found = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    if not found or not all(name.isdecimal() for name in found):
        raise InputError(f"{path} holds no tensors named {prefix}N, but {', '.join(list(tensors)[:4])}; rename them")
    return {int(name): tensor for name, tensor in found.items()}
