"""A steering vector: a direction of the residual stream that knows where it came from.

Positive magnitude means towards yes. In units of `residual_norm` a magnitude of 1 adds a vector as long as the median
residual stream at the positions where the vector was read, so that magnitudes compare across layers and models; in
`raw` units a magnitude of 1 adds the difference of means as it was extracted.
"""

import json
import math
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from common import InputError, atomic_path
from open_models import ModelIdentity, OpenModel

SITES = ("resid_post",)
POSITIONS = ("last", "prompt", "all")
UNITS = ("residual_norm", "raw")


@dataclass(frozen=True)
class SteeringSpec:
    """How a vector is applied.

    Attributes:
        positions: "last" adds it at the answer position only, "prompt" at every position of the prompt, "all" at
            every position, generated ones included. Reading one answer, the last two are the same.
        unit: of the magnitudes, "residual_norm" or "raw".
    """

    positions: str = "last"
    unit: str = "residual_norm"

    def __post_init__(self) -> None:
        for value, known, option in ((self.positions, POSITIONS, "--positions"), (self.unit, UNITS, "--unit")):
            if value not in known:
                raise InputError(f"{option} {value!r} is not known; choose one of {', '.join(known)}")


@dataclass(frozen=True, eq=False)
class SteeringVector:
    """One direction after one layer.

    Attributes:
        direction: unit length, float32, on the CPU.
        layer: it is added to the output of this decoder layer (0-based).
        raw_norm: length of the vector as extracted.
        residual_norm: median length of the residual stream at the read positions, position 0 left out.
        model: the model it was read from; no other takes it.
        method, contrast: how it was made; contrast is "none" for a random direction.
        n_yes, n_no: questions on either side of the contrast.
        n_unread: questions left out since their answer could not be read.
        prompt_hash: of the rendered template, see `PromptSet`.
        seed: of a random direction; None where no chance was involved.
    """

    direction: Float[Tensor, " d_model"]
    layer: int
    raw_norm: float
    residual_norm: float
    model: ModelIdentity
    method: str = "mean_difference"
    contrast: str = "response"
    site: str = "resid_post"
    positions_read: str = "last"
    n_yes: int = 0
    n_no: int = 0
    n_unread: int = 0
    prompt_hash: str = ""
    seed: int | None = None
    versions: dict[str, str] = field(
        default_factory=lambda: {name: version(name) for name in ("torch", "transformers")}
    )

    def __post_init__(self) -> None:
        norm = self.direction.norm().item()
        if not math.isclose(norm, 1.0, rel_tol=1e-4) or not self.residual_norm > 0 or not self.raw_norm > 0:
            raise InputError(
                f"a steering vector of length {norm:.3g} (raw {self.raw_norm:.3g}, residual {self.residual_norm:.3g}) "
                "has no direction; the two sides of its contrast have the same mean"
            )

    @property
    def vector_id(self) -> str:
        """Names it within a run, for example `L14-response-mean_difference` or `L14-random-3`."""
        tail = f"random-{self.seed}" if self.method == "random" else f"{self.contrast}-{self.method}"
        return f"L{self.layer}-{tail}"

    def addition(self, magnitude: Float[Tensor, "*row"], spec: SteeringSpec) -> Float[Tensor, "*row d_model"]:
        """What is added to the residual stream at each magnitude, float32, on the magnitude's device."""
        scale = self.residual_norm if spec.unit == "residual_norm" else self.raw_norm
        return (magnitude.float() * scale)[..., None] * self.direction.to(magnitude.device)

    def check_model(self, model: OpenModel) -> None:
        """Raise InputError if the vector was made for another model."""
        if self.model.fingerprint != model.identity.fingerprint:
            raise InputError(
                f"the vector was read from {self.model.name} ({self.model.architecture}, {self.model.n_layers} layers, "
                f"weights {self.model.fingerprint[:8]}), but the model is {model.identity.name} "
                f"(weights {model.identity.fingerprint[:8]}); extract a vector from this model"
            )

    def save(self, path: Path | str) -> None:
        """Write a safetensors file: the direction, and everything else as metadata."""
        facts = {name: value for name, value in self.__dict__.items() if name not in ("direction", "model")}
        metadata = {"format": "onedial-steering-vector-1", **{name: json.dumps(value) for name, value in facts.items()}}
        metadata["model"] = json.dumps(asdict(self.model))
        with atomic_path(path) as temporary:
            save_file({"direction": self.direction.contiguous()}, temporary, metadata=metadata)

    @classmethod
    def load(cls, path: Path | str) -> "SteeringVector":
        """Read a file that `save` wrote.

        Raises:
            InputError: no such file, or not a steering vector.
        """
        if not Path(path).is_file():
            raise InputError(f"no vector file at {path}; give the path of a .safetensors file that a run has saved")
        try:
            with safe_open(path, framework="pt") as file:
                metadata: dict[str, Any] = file.metadata() or {}
                facts = {name: json.loads(value) for name, value in metadata.items() if name != "format"}
                direction = file.get_tensor("direction")
            return cls(direction=direction, model=ModelIdentity(**facts.pop("model")), **facts)
        except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise InputError(f"{path} is no steering vector of this project ({error}); save one with a run") from error


def random_vector(like: SteeringVector, seed: int) -> SteeringVector:
    """A control: a direction drawn evenly from the sphere, of the same norms, layer and model."""
    generator = torch.Generator().manual_seed(seed % 2**63)  # numpy's seeds may be longer
    drawn = torch.randn(like.direction.shape[0], generator=generator)
    return SteeringVector(
        direction=drawn / drawn.norm(),
        layer=like.layer,
        raw_norm=like.raw_norm,
        residual_norm=like.residual_norm,
        model=like.model,
        method="random",
        contrast="none",
        prompt_hash=like.prompt_hash,
        seed=seed,
    )
