"""Tell one model from another by its weights: a vector is refused by any model but its own."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import torch

SAMPLED_VALUES = 64
KIND = "2:"
"""What a fingerprint of this kind begins with."""
MODULUS = 65521
PIECE = MODULUS // 2 + 1
"""Numbers at a time: so few stay in a core's cache, and are not worth a second thread."""
ROWS_IN_INT32 = 1 << 15
"""So many 16-bit integers have a sum of 32 bits."""


@dataclass(frozen=True)
class ModelIdentity:
    """What tells one model from another.

    Attributes:
        name: as the user gave it.
        source: hub id, folder, file or package that the weights came from.
        revision: commit or checksum of that source, where known.
        architecture: for example LlamaForCausalLM.
        n_layers, d_model: of the text decoder.
        fingerprint: of every weight, see `fingerprint`.
        sampled_fingerprint: SHA-256 over every parameter's name, shape and first 64 values in bfloat16, by which
            earlier versions of this project told models apart: for their vectors and panels.
    """

    name: str
    source: str
    revision: str
    architecture: str
    n_layers: int
    d_model: int
    fingerprint: str
    sampled_fingerprint: str = ""

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """All that these weights are known by."""
        return tuple(each for each in (self.fingerprint, self.sampled_fingerprint) if each)

    def as_dict(self) -> dict[str, Any]:
        """For manifests and file metadata."""
        return asdict(self)


def fingerprint(module: torch.nn.Module) -> str:
    """SHA-256 over every parameter's name, shape and two sums over all of its values, rounded to bfloat16.

    The sums are sum(b) and sum(b * (1 + place mod 65521)) over the values' bits b as 16-bit integers, modulo 2^64:
    exact, the same in any order, and quick where the weights lie. The same weights in another folder, on another
    device, or loaded in a wider dtype have the same fingerprint; an edit of any value that is seen in bfloat16 changes
    it. What it misses: edits below bfloat16's resolution (2^-9 of a value), and parameters that were offloaded to disk,
    which count by name and shape only.
    """
    digest = hashlib.sha256()
    for name, parameter in sorted(module.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        if parameter.device.type != "meta":
            digest.update(repr(_sums(_whole(parameter).flatten())).encode())
    return KIND + digest.hexdigest()


def sampled_fingerprint(module: torch.nn.Module) -> str:
    """See `ModelIdentity.sampled_fingerprint`."""
    digest = hashlib.sha256()
    for name, parameter in sorted(module.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        if parameter.device.type != "meta":
            values = _whole(parameter).flatten()[:SAMPLED_VALUES].to(device="cpu", dtype=torch.bfloat16)
            digest.update(values.view(torch.int16).numpy().tobytes())
    return digest.hexdigest()


def _whole(parameter: Any) -> torch.Tensor:
    """A weight, put together for the moment where it is split over processes."""
    whole: torch.Tensor = parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter
    return whole.detach()


def _sums(values: torch.Tensor) -> tuple[int, int]:
    """Both sums in one pass: places that have the same weight are added up first, and multiplied at the end."""
    n = min(len(values), MODULUS)
    columns = torch.zeros(n, dtype=torch.long, device=values.device)
    recent = torch.zeros(n, dtype=torch.int32, device=values.device)
    for number, row in enumerate(values.split(MODULUS)):
        for first in range(0, len(row), PIECE):
            bits = row[first : first + PIECE].to(torch.bfloat16).view(torch.int16)
            recent[first : first + len(bits)] += bits
        if number % ROWS_IN_INT32 == ROWS_IN_INT32 - 1:
            columns += recent
            recent.zero_()
    columns += recent
    weighted = columns * torch.arange(1, n + 1, device=values.device)
    return int(columns.sum()) % 2**64, int(weighted.sum()) % 2**64
