"""What is done to the residual stream: a direction that knows where it came from, an intervention, and how much of it.

    vector * 0.3                                            0.3 residual norms towards yes, at every position
    Intervention.of(vector)                                 the vector added at the answer position, to be swept
    Intervention.of(vector, positions="all", operator="ablate")
    Intervention.of(vector, positions="last") * 0.3         one setting of it
    model.generate("Who sang this?", with_=vector * 0.3)    what is written under it

Positive magnitude means towards yes; at 0 the model is as it was. In units of `residual_norm` a magnitude of 1 adds a
vector as long as the median residual stream at the positions where the vector was read, so that magnitudes compare
across layers and models; in `raw` units a magnitude of 1 adds the difference of means as it was extracted. A push is
one setting, and a sweep turns through many: it takes the vector, and its magnitudes beside it.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import VECTOR
from onedial.core.cards import html_card, one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.forward.residual import Edits
from onedial.models.identity import ModelIdentity
from onedial.models.model import OpenModel
from onedial.models.tensor_files import read_tensors, write_tensors
from steering.apply import SteeringCount, steering
from steering.operators import OPERATORS, Operator

UNITS = ("residual_norm", "raw")
FORMAT, KIND = "onedial-steering-vector-2", "steering vector"
FAR = 3.0
"""Pushes over so many times what was seen when a vector was made are said to be far outside it."""

POSITIONS = {
    "last": "the answer position only: the last token of the prompt",
    "prompt": "every position of the prompt",
    "all": "every position, generated ones included; reading one answer, this is the same as prompt",
    "generated": "generated positions only: it changes what is written, and no answer that is read at the prompt's end",
}

ROLES = {
    VECTOR: "the intervention that a run is about",
    "random": "a control: a direction drawn uniformly from the sphere",
    "covariance": "a control: drawn with the covariance of the residual streams",
    "shuffled": "a control: the same recipe with the labels shuffled",
    "orthogonal": "a control: drawn at right angles to the vector",
    "unembedding": "a control: Yes minus No in the unembedding",
    "length": "a control: long questions minus short ones",
}


class Scalable:
    """What can be scaled and reversed: vectors, interventions and pushes; the result is a `Push`."""

    __array_ufunc__ = None  # so that a number of NumPy's leaves the product to us

    def __mul__(self, magnitude: float) -> "Push":
        if isinstance(magnitude, bool) or not isinstance(magnitude, Real) or not math.isfinite(magnitude):
            raise InputError(f"a push was asked for by {magnitude!r}; multiply by one finite number, such as 0.3")
        push = as_push(self)
        return replace(push, magnitude=push.magnitude * float(magnitude))

    __rmul__ = __mul__

    def __neg__(self) -> "Push":
        return self * -1.0


@dataclass(frozen=True, eq=False)
class SteeringVector(Scalable):
    """One direction after one layer; `vector * 0.3` is so much of it (`steering.Push`).

    Attributes:
        direction: unit length, float32, on the CPU.
        layer: it is added to the output of this decoder layer (0-based).
        raw_norm: length of the vector as extracted.
        residual_norm: median length of the residual stream at the read positions, position 0 left out.
        model: the model it was read from; no other takes it.
        method, contrast: how it was made; contrast is "none" for a random direction.
        n_yes, n_no: questions on either side of the contrast.
        n_unread: questions left out since their answer could not be read.
        prompt_hash: of the rendered template, see `PromptSet`. template: that itself; None where it is not known.
        seed: of a random direction; None where no chance was involved.
        seen: the greatest distance of an activation that it was made from, along it, from their mean, in residual
            norms; None where it is not known.
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
    template: PromptTemplate | None = None
    seed: int | None = None
    seen: float | None = None
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
        drawn = "" if self.seed is None else f"-{self.seed}"
        made = f"{self.method}{drawn}" if self.contrast == "none" else f"{self.contrast}-{self.method}"
        return f"L{self.layer}-{made}"

    def __repr__(self) -> str:
        made = "" if self.contrast == "none" else f", {self.n_yes} yes and {self.n_no} no"
        return (
            f"SteeringVector({self.vector_id} of {self.model.name}, layer {self.layer}, d_model {len(self.direction)}, "
            f"raw norm {self.raw_norm:.4g}, residual norm {self.residual_norm:.4g}{made})"
        )

    def _repr_html_(self) -> str:
        """In Jupyter: what it is, and what it was made of."""
        made = self.contrast != "none"
        sides = f"{self.n_yes} on the side of yes, {self.n_no} on that of no, {self.n_unread} unread"
        return html_card(
            f"steering vector {self.vector_id}",
            {
                "model": f"{self.model.name} ({self.model.n_layers} layers)",
                "added": f"after layer {self.layer}; positive is towards yes" if made else f"after layer {self.layer}",
                "questions": sides if made else None,
                "length as extracted": f"{self.raw_norm / self.residual_norm:.3g} residual norms",
                "a residual norm": f"{self.residual_norm:.4g}",
                "prompt": None if self.template is None else self.template.name,
            },
        )

    def length(self, unit: str) -> float:
        """What a magnitude of 1 is worth in the stream's own units; `unit` is one of `UNITS`."""
        return self.residual_norm if unit == "residual_norm" else self.raw_norm

    def check_model(self, model: OpenModel) -> None:
        """Raise InputError if the vector was made for another model."""
        if self.model.fingerprint not in model.identity.fingerprints:
            raise InputError(
                f"the vector was read from {self.model.name} ({self.model.architecture}, {self.model.n_layers} layers, "
                f"weights {self.model.fingerprint[:8]}), but the model is {model.identity.name} "
                f"(weights {model.identity.fingerprint[:8]}); extract a vector from this model"
            )

    def save(self, path: Path | str) -> None:
        """Write a safetensors file: the direction, and everything else as metadata."""
        write_tensors(path, {"direction": self.direction}, self.facts(), FORMAT)

    @classmethod
    def load(cls, path: Path | str) -> "SteeringVector":
        """Read a file that `save` wrote.

        Raises:
            InputError: no such file, or not a steering vector.
        """
        remedy = "give a vector that a run of this version has saved; of a run, delete it and pass --resume"

        def made(held: dict[str, Tensor], facts: dict[str, Any]) -> "SteeringVector":
            if (kind := held["direction"].dtype) != torch.float32:
                kept = str(kind).removeprefix("torch.")
                raise InputError(f"{path} holds its direction in {kept}, and vectors are kept in float32; {remedy}")
            return cls.of_facts(held["direction"], facts)

        return read_tensors(path, FORMAT, made, what=KIND, remedy=remedy)

    def facts(self) -> dict[str, Any]:
        """All but the direction, as JSON can hold it."""
        return {name: value for name, value in vars(self).items() if name != "direction"} | {
            "template": self.template and asdict(self.template),
            "model": asdict(self.model),
        }

    @classmethod
    def of_facts(cls, direction: Tensor, facts: Mapping[str, Any]) -> "SteeringVector":
        """The way back from `facts`."""
        if direction.ndim != 1 or not direction.is_floating_point() or not isinstance(facts["layer"], int):
            raise TypeError("its direction is no vector of numbers, or its layer no number")
        template = None if facts.get("template") is None else template_from(facts["template"])
        return cls(direction, **{**facts, "model": ModelIdentity(**facts["model"]), "template": template})

    def of_no_answers(self, direction: Tensor, method: str, seed: int | None = None) -> "SteeringVector":
        """Another direction (of length 1) of the same norms, layer, model and prompt, that was made of no answers."""
        return replace(
            self,
            direction=direction,
            method=method,
            contrast="none",
            n_yes=0,
            n_no=0,
            n_unread=0,
            seed=seed,
            seen=None,
        )


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
        if self.positions == "generated":
            raise InputError(
                "--positions generated changes nothing at the end of the prompt, where a yes or no is read; "
                "use last, prompt or all, or let the subject write its answer (`ask_along` with a reasoned "
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


@dataclass(frozen=True, eq=False)
class Push(Scalable):
    """An intervention at one magnitude.

    Attributes:
        of: what is done. magnitude: how much of it, in its unit; positive is towards yes, 0 changes nothing.
    """

    of: "Intervention"
    magnitude: float

    def __repr__(self) -> str:
        unit = {"residual_norm": "residual norms", "raw": "times the vector as extracted"}[self.of.unit]
        return f"Push({self.magnitude:+.4g} {unit} along {self.of.intervention_id}, at {self.of.positions} positions)"

    def steering(self, model: OpenModel) -> AbstractContextManager[Any]:
        """A context in which the model is steered by it; far outside what was seen, this is noticed.

        Raises:
            InputError: it is of another model.
        """
        _ = self._said_if_far
        return steered(model, self.of, self.magnitude)

    @cached_property
    def _said_if_far(self) -> bool:
        """Said when this is first looked up, not for each batch."""
        say_if_far([self.of], [self.magnitude])
        return True


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


def steered(
    model: OpenModel, intervention: Intervention | SteeringVector, magnitude: float
) -> AbstractContextManager[SteeringCount]:
    """While the context lasts, every forward of `model.hf` is steered, `model.hf.generate` included.

    Each call of `generate` has its own prompt. Outside of `generate` a forward without a cache, or with an empty one,
    reads a whole prompt, and forwards that continue its cache read generated tokens.

    Args:
        intervention: a vector by itself is added at the prompt's last position, in residual norms.
        magnitude: in the intervention's unit, positive towards yes.

    Raises:
        InputError: the intervention is of another model, the magnitude is not finite, or the context ended without a
            forward that was edited.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> with steered(model, extract_vector(model, questions, layer=21), 0.2):
    ...     text = model.generate("Who wrote Emma?", max_new_tokens=4)
    >>> isinstance(text, str)
    True
    """
    given = as_intervention(intervention)
    given.check_model(model)
    return steering(model, given.edits(), given.positions, magnitude)


def as_push(given: "Scalable") -> Push:
    """A push as it is; an intervention at magnitude 1; a vector at magnitude 1, added at every position."""
    if isinstance(given, SteeringVector):
        return Push(replace(as_intervention(given), positions="all"), 1.0)
    if isinstance(given, Intervention):
        return Push(given, 1.0)
    assert isinstance(given, Push)
    return given


def say_if_far(
    interventions: Sequence[Intervention], magnitudes: Sequence[float] | Mapping[str, Sequence[float]]
) -> None:
    """Notice magnitudes over `FAR` times the distance from their mean at which any activation lay along the vector."""
    for each in interventions:
        grid = magnitudes.get(each.intervention_id, ()) if isinstance(magnitudes, Mapping) else magnitudes
        vector = min(each.vectors, key=lambda vector: vector.layer)
        furthest = max(map(abs, grid), default=0.0) / each.units_per_norm
        if vector.seen and math.inf > furthest > FAR * vector.seen:
            notice(
                f"pushes along {each.intervention_id} of up to {furthest:.3g} residual norms are far outside what was "
                f"seen: the activations that it was made from lie within {vector.seen:.2g} of their mean along it"
            )


def chosen_positions(
    positions: str, place: Int[Tensor, "row pos"], begins: Int[Tensor, " row"]
) -> Bool[Tensor, "row pos"]:
    """Which columns an intervention acts on where prompts and what follows them are read in one forward.

    Args:
        positions: a key of `POSITIONS`.
        place: of each column's token in its row, from 0; -1 at padding. begins: the place where the prompt has ended.

    """
    start = begins[:, None]
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


def template_from(fields: Mapping[str, Any]) -> PromptTemplate:
    """The way back from `dataclasses.asdict` and JSON."""
    earlier = tuple((str(user), str(assistant)) for user, assistant in fields["earlier"])
    return PromptTemplate(**{**fields, "slots": tuple(fields["slots"]), "earlier": earlier})
