"""Which model is this? A vector says for which model it was made, and is refused by any other."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import torch

SAMPLED_VALUES = 64


@dataclass(frozen=True)
class ModelIdentity:
    """What tells one model from another.

    Attributes:
        name: as the user gave it.
        source: hub id, folder, file or package that the weights came from.
        revision: commit or checksum of that source, where known.
        architecture: for example LlamaForCausalLM.
        n_layers, d_model: of the text decoder.
        fingerprint: SHA-256 over every parameter's name, shape and first values in bfloat16: the same weights in
            another folder, or loaded in another dtype, have the same fingerprint; fine-tuned ones do not.
    """

    name: str
    source: str
    revision: str
    architecture: str
    n_layers: int
    d_model: int
    fingerprint: str

    def as_dict(self) -> dict[str, Any]:
        """For manifests and file metadata."""
        return asdict(self)


def fingerprint(module: torch.nn.Module) -> str:
    """See `ModelIdentity.fingerprint`; parameters that were offloaded to disk count by name and shape only."""
    digest = hashlib.sha256()
    for name, parameter in sorted(module.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        if parameter.device.type != "meta":
            values = parameter.detach().flatten()[:SAMPLED_VALUES].to(device="cpu", dtype=torch.bfloat16)
            digest.update(values.view(torch.int16).numpy().tobytes())
    return digest.hexdigest()
