"""Interventions: what is done to the residual stream, as one thing that can be named, swept, saved and applied.

    Intervention.of(vector)                                        the vector added at the answer position
    Intervention.of(vector, positions="all", operator="add")       ... at every position
    Intervention.of(control, role="random")                        a control direction

How much of it is done is the magnitude; at 0 the model is as it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from onedial.asking import VECTOR
from onedial.core import InputError, one_line
from onedial.models import Edits, OpenModel
from steering.operators import OPERATORS, Operator
from steering.pushes import Push, Scalable
from steering.vectors import UNITS, SteeringVector

POSITIONS = {
    "last": "the answer position only: the last token of the prompt",
    "prompt": "every position of the prompt",
    "all": "every position, generated ones included; reading one answer, this is the same as prompt",
    "generated": "generated positions only: it changes what is written, and no answer that is read at the prompt's end",
    "uncertain": "those generated positions whose token was drawn in doubt: at an entropy above its row's mean so far",
}
WRITTEN_ONLY = frozenset({"generated", "uncertain"})
"""Those that leave the prompt as it is, and with it every answer that is read at its end."""

ROLES = {
    VECTOR: "the intervention that a run is about",
    "random": "a control: a direction drawn uniformly from the sphere",
    "covariance": "a control: drawn with the covariance of the residual streams",
    "shuffled": "a control: the same recipe with the labels shuffled",
    "orthogonal": "a control: drawn at right angles to the vector",
    "unembedding": "a control: Yes minus No in the unembedding",
    "length": "a control: long questions minus short ones",
    "topics": "a control: one topic minus another",
    "agreement": "a control: agreeing minus disagreeing",
    "politeness": "a control: polite minus curt",
}


@dataclass(frozen=True, eq=False)
class Intervention(Scalable):
    """One intervention; `intervention * 0.3` is so much of it (`steering.Push`).

    Attributes:
        intervention_id: names it within a run.
        vectors: one direction per layer that is edited.
        role: a key of `ROLES`: the one under test, or which kind of control.
        operator: a key of `OPERATORS`. positions: a key of `POSITIONS`. unit: of the magnitudes, one of `UNITS`.

    Raises:
        InputError: an unknown role, operator, position or unit; no vector, or two at one layer, or of two models.
    """

    intervention_id: str
    vectors: tuple[SteeringVector, ...]
    role: str = VECTOR
    operator: str = "add"
    positions: str = "last"
    unit: str = "residual_norm"

    __repr__ = one_line

    def __post_init__(self) -> None:
        choices: tuple[tuple[str, str, Any], ...] = (
            ("role", self.role, ROLES),
            ("--operator", self.operator, OPERATORS),
            ("--positions", self.positions, POSITIONS),
            ("--unit", self.unit, UNITS),
        )
        for option, value, known in choices:
            if value not in known:
                raise InputError(f"{option} {value!r} is not known; choose one of {', '.join(known)}")
        if not self.vectors:
            raise InputError("an intervention was given no steering vector; extract one first")
        if len(set(self.layers)) < len(self.vectors):
            raise InputError(f"an intervention has two vectors at one layer ({self.layers}); give one for each layer")
        if len({vector.model.fingerprint for vector in self.vectors}) > 1:
            raise InputError("an intervention has vectors of two models; take all of them from one")

    @classmethod
    def of(
        cls,
        *vectors: SteeringVector,
        role: str = VECTOR,
        operator: str = "add",
        positions: str = "last",
        unit: str = "residual_norm",
        intervention_id: str | None = None,
    ) -> "Intervention":
        """An intervention named after its vectors, and after its operator where that is not `add`."""
        name = "+".join(vector.vector_id for vector in vectors) + ("" if operator == "add" else f"-{operator}")
        return cls(intervention_id or name, vectors, role, operator, positions, unit)

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that are edited, in the order of the vectors."""
        return tuple(vector.layer for vector in self.vectors)

    @property
    def at(self) -> str:
        """Where it acts while one answer is read: "last" or "all" positions.

        Raises:
            InputError: nowhere.
        """
        if self.positions in WRITTEN_ONLY:
            raise InputError(
                f"--positions {self.positions} changes nothing at the end of the prompt, where a yes or no is read; "
                "use last, prompt or all, or let the subject write its answer (`steering.ask_along` with a reasoned "
                "instrument)"
            )
        return "last" if self.positions == "last" else "all"

    @property
    def units_per_norm(self) -> float:
        """How many units of magnitude one residual norm is, at the lowest layer."""
        lowest = min(self.vectors, key=lambda vector: vector.layer)
        return lowest.residual_norm / lowest.length(self.unit)

    def edits(self) -> Edits:
        """What is done at each layer, for `onedial.models`."""
        operator = OPERATORS[self.operator]
        return {vector.layer: partial(_apply, operator, vector, vector.length(self.unit)) for vector in self.vectors}

    def check_model(self, model: OpenModel) -> None:
        """Raise InputError if it was made for another model."""
        for vector in self.vectors:
            vector.check_model(model)
        model.check_layers(self.layers)

    def as_dict(self, magnitudes: Sequence[float], cosine: float = float("nan")) -> dict[str, Any]:
        """The entry of interventions.json; see `onedial.asking.sweep_tables`.

        Args:
            cosine: with the intervention under test.
        """
        ordered = sorted(self.vectors, key=lambda vector: vector.layer)
        return {
            "intervention_id": self.intervention_id,
            "role": self.role,
            "operator": self.operator,
            "positions": self.positions,
            "unit": self.unit,
            "layers": [vector.layer for vector in ordered],
            "vectors": [vector.vector_id for vector in ordered],
            "magnitudes": [float(magnitude) for magnitude in magnitudes],
            "norms_per_unit": 1 / self.units_per_norm,
            "cosine": cosine,
        }

    @classmethod
    def from_dict(cls, entry: Mapping[Any, Any], vectors: Mapping[str, SteeringVector]) -> "Intervention":
        """The way back from `as_dict`; `vectors` holds those that it names."""
        return cls(
            str(entry["intervention_id"]),
            tuple(vectors[name] for name in entry["vectors"]),
            *(str(entry[name]) for name in ("role", "operator", "positions", "unit")),
        )


def as_intervention(given: "Intervention | SteeringVector") -> Intervention:
    """An intervention as it is; a vector as one that is added at the answer position.

    Raises:
        InputError: it is neither, but for example a tensor, or a push, which is one setting already.
    """
    if isinstance(given, Push):
        raise InputError(
            f"{given} is one setting of its dial; give the vector itself, or what it is of (`push.of`), and magnitudes "
            f"such as {given.magnitude:.4g} beside it"
        )
    if not isinstance(given, Intervention | SteeringVector):
        raise InputError(
            f"a {type(given).__name__} says neither its layer nor how long a push is; make a vector of it by "
            "steering.import_vectors({layer: tensor}, model, convention, prompts)"
        )
    return given if isinstance(given, Intervention) else Intervention.of(given, role=_role_of(given))


def as_interventions(
    given: "Intervention | SteeringVector | Sequence[Intervention | SteeringVector]",
) -> list[Intervention]:
    """Each as `as_intervention` takes it; one by itself is a list of one.

    Raises:
        InputError: as that, or there is none.
    """
    if not isinstance(given, Sequence) or isinstance(given, str):
        return [as_intervention(given)]
    found = [as_intervention(each) for each in given]
    if not found:
        raise InputError("no intervention was given; extract a steering vector first")
    return found


def chosen_positions(
    positions: str, place: Int[Tensor, "row pos"], begins: Int[Tensor, " row"]
) -> Bool[Tensor, "row pos"]:
    """Which columns an intervention acts on where prompts and what follows them are read in one forward.

    Args:
        positions: a key of `POSITIONS`.
        place: of each column's token in its row, from 0; -1 at padding. begins: the place where the prompt has ended.

    Raises:
        InputError: positions that depend on what is drawn.
    """
    start = begins[:, None]
    if positions == "uncertain":
        raise InputError(
            "positions 'uncertain' depend on what is drawn, and here the text is given; measure with generated or all"
        )
    return {
        "last": place == start - 1,
        "prompt": (place >= 0) & (place < start),
        "all": place >= 0,
        "generated": place >= start,
    }[positions]


def _role_of(vector: SteeringVector) -> str:
    return vector.method if vector.method in ROLES else VECTOR


def _apply(
    operator: Operator,
    vector: SteeringVector,
    length: float,
    stream: Float[Tensor, "*lead d_model"],
    settings: Float[Tensor, "*settings"],
) -> Float[Tensor, "*rows d_model"]:
    return operator(stream, _direction_on(vector, stream.device), settings.to(stream.device), length)


@lru_cache(maxsize=1024)
def _direction_on(vector: SteeringVector, device: torch.device) -> Float[Tensor, " d_model"]:
    """Copied once, not at every layer of every forward."""
    return vector.direction.to(device)
