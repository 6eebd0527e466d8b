"""Hold what is done to the residual stream: a direction that knows where it came from, an intervention with it.

    vector * 0.3                                       so much of it: a push (`steering.pushes`)
    model.generate("Who sang this?", vector * 0.3)     what is written under it
    vector.at("all")                                   the same at every position, to be swept or scaled
    Intervention.of(vector, operator="ablate")         another operator

Positive magnitude means towards yes; at 0 the model is as it was. In units of `residual_norm` a magnitude of 1 adds a
vector as long as the median residual stream at the positions where the vector was read, so that magnitudes compare
across layers and models; in `raw` units a magnitude of 1 adds the difference of means as it was extracted. Without a
word about positions, all of this acts at the `answer`: the last token of the prompt, where a yes or no is read, and
everything that is generated (`steering.apply`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import ROLES, VECTOR
from onedial.core.cards import html_card, one_line
from onedial.core.errors import InputError
from onedial.models.forward.activations import Read
from onedial.models.forward.residual import SITES, Edits, Place, Site
from onedial.models.forward.sites import module_at
from onedial.models.identity import ModelIdentity
from onedial.models.model import OpenModel, check_is_model
from onedial.models.tensor_files import read_tensors, write_tensors
from steering.apply import POSITIONS
from steering.inspection import Inspected
from steering.operators import OPERATORS, Operator
from steering.pushes import Push, Scalable, check_is_placed

UNITS = ("residual_norm", "raw")
DEFAULT = "answer"
"""Positions where nothing is said of them."""
FORMAT, KIND = "onedial-steering-vector-2", "steering vector"


@dataclass(frozen=True, eq=False)
class SteeringVector(Scalable, Inspected):
    """One direction at one layer; `vector * 0.3` is so much of it (`steering.Push`).

    Attributes:
        direction: unit length, float32, on the CPU.
        layer: it is added to the output of this decoder layer (0-based), or within it (`site`).
        raw_norm: length of the vector as extracted.
        residual_norm: median length of the residual stream after the layer at the answer position, whatever was read.
        model: the model it was read from; no other takes it.
        method, contrast: how it was made; contrast is "none" for a random direction.
        n_yes, n_no: questions on either side of the contrast.
        n_unread: questions left out since their answer could not be read.
        prompt_hash: of the rendered template, see `PromptSet`. template: that itself; None where it is not known.
        seed: of a random direction; None where no chance was involved.
        site: what was read and is pushed, a key of `onedial.models.forward.residual.SITES`.
        positions_read: at which token of each prompt it was read (`extract_vector`).
        seen: the greatest distance of a stream at the answer, of the prompts that it was made from, along it, from
            their mean, in residual norms; None where it is not known.
    """

    direction: Float[Tensor, " d_model"]
    layer: int
    raw_norm: float
    residual_norm: float
    model: ModelIdentity
    method: str = "mean_difference"
    contrast: str = "response"
    site: str = "resid"
    positions_read: Read = "last"
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
        if self.site not in SITES:
            raise InputError(f"site {self.site!r} is not known; choose one of {', '.join(SITES)}")
        norm = self.direction.norm().item()
        if not math.isclose(norm, 1.0, rel_tol=1e-4) or not self.residual_norm > 0 or not self.raw_norm > 0:
            raise InputError(
                f"a steering vector of length {norm:.3g} (raw {self.raw_norm:.3g}, residual {self.residual_norm:.3g}) "
                "has no direction; the two sides of its contrast have the same mean"
            )

    @property
    def as_push(self) -> Push:
        return as_intervention(self).as_push

    @property
    def vector_id(self) -> str:
        """Names it within a run, for example `L14-response-mean_difference` or `L14-random-3`."""
        drawn = "" if self.seed is None else f"-{self.seed}"
        made = f"{self.method}{drawn}" if self.contrast == "none" else f"{self.contrast}-{self.method}"
        site = "" if self.site == "resid" else f"-{self.site}"
        read = "" if self.positions_read == "last" else f"-at-{self.positions_read}"
        return f"L{self.layer}{site}-{made}{read}"

    @property
    def place(self) -> Place:
        """Where in the decoder it acts."""
        return self.layer if self.site == "resid" else Site(self.site, self.layer)

    @property
    def _acts_on(self) -> str:
        """For people."""
        part = {"resid": "", "attn": "what the attention adds in ", "mlp": "what the MLP adds in "}[self.site]
        where = {"last": "last token"}.get(str(self.positions_read), f"token {self.positions_read!r}")
        return f"{part}layer {self.layer}, read at the {where}"

    def at(self, positions: str) -> "Intervention":
        """The same, added at other positions: "answer" (where it acts without a word), "last", "prompt", "all" or
        "generated"; see `steering.apply`.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> vector_from_texts(model, ["Lovely!", "Fine!"], ["Awful!", "Bad!"], layer=15).at("all").positions
        'all'
        """
        return Intervention.of(self, role=_role_of(self), positions=positions)

    def __repr__(self) -> str:
        made = "" if self.contrast == "none" else f", {self.n_yes} yes and {self.n_no} no"
        return (
            f"SteeringVector({self.vector_id} of {self.model.name}, {self._acts_on}, d_model {len(self.direction)}, "
            f"raw norm {self.raw_norm:.4g}, residual norm {self.residual_norm:.4g}{made}, at the answer)"
        )

    def _repr_html_(self) -> str:
        """In Jupyter: what it is, and what it was made of."""
        made = self.contrast != "none"
        sides = f"{self.n_yes} on the side of yes, {self.n_no} on that of no, {self.n_unread} unread"
        return html_card(
            f"steering vector {self.vector_id}",
            {
                "model": f"{self.model.name} ({self.model.n_layers} layers)",
                "added": f"{'after' if self.site == 'resid' else 'to'} {self._acts_on}, at the answer"
                + ("; positive is towards yes" if made else ""),
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
        check_is_model(model)
        if self.model.fingerprint not in model.identity.fingerprints:
            raise InputError(
                f"the vector was read from {self.model.name} ({self.model.architecture}, {self.model.n_layers} layers, "
                f"weights {self.model.fingerprint[:8]}), but the model is {model.identity.name} "
                f"(weights {model.identity.fingerprint[:8]}); extract a vector from this model"
            )

    def check_stream(self, what: str) -> None:
        """Raise InputError where it is no direction of the stream after a layer, which `what` needs."""
        if self.site != "resid":
            raise InputError(
                f"{what} the stream after a layer, and {self.vector_id} is of the site {self.site}; extract a vector "
                "with site='resid'"
            )

    def save(self, path: Path | str) -> None:
        """Write a safetensors file: the direction, and everything else as metadata.

        Raises:
            InputError: the file's name ends otherwise, or it cannot be written.
        """
        if Path(path).suffix != ".safetensors":
            raise InputError(f"{path}: a vector is saved as safetensors; give a name that ends in .safetensors")
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
        if facts.get("site") == "resid_post":  # as it was called
            facts = {**facts, "site": "resid"}
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
        role: one of `onedial.asking.sweep_tables.ROLES`: the one under test, or which kind of control.
        operator: a key of `OPERATORS`. positions: a key of `POSITIONS`. unit: of the magnitudes, one of `UNITS`.

    Raises:
        InputError: an unknown role, operator, position or unit; no vector, or two at one layer, or of two models.
    """

    intervention_id: str
    vectors: tuple[SteeringVector, ...]
    role: str = VECTOR
    operator: str = "add"
    positions: str = DEFAULT
    unit: str = "residual_norm"

    __repr__ = one_line

    def __post_init__(self) -> None:
        choices: tuple[tuple[str, str, Any], ...] = (
            ("role", self.role, ROLES),
            ("operator", self.operator, OPERATORS),
            ("positions", self.positions, POSITIONS),
            ("unit", self.unit, UNITS),
        )
        for option, value, known in choices:
            if value not in known:
                raise InputError(f"{option} {value!r} is not known; choose one of {', '.join(known)}")
        if not self.vectors:
            raise InputError("an intervention was given no steering vector; extract one first")
        if len({vector.place for vector in self.vectors}) < len(self.vectors):
            raise InputError(f"an intervention has two vectors at one layer ({self.layers}); give one for each layer")
        if len({vector.model.fingerprint for vector in self.vectors}) > 1:
            raise InputError("an intervention has vectors of two models; take all of them from one")

    @classmethod
    def of(
        cls,
        *vectors: SteeringVector,
        role: str = VECTOR,
        operator: str = "add",
        positions: str = DEFAULT,
        unit: str = "residual_norm",
        intervention_id: str | None = None,
    ) -> "Intervention":
        """An intervention named after its vectors, and after its operator where that is not `add`."""
        name = "+".join(vector.vector_id for vector in vectors) + ("" if operator == "add" else f"-{operator}")
        return cls(intervention_id or name, vectors, role, operator, positions, unit)

    @property
    def as_push(self) -> Push:
        return Push(((self, 1.0),))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that are edited, in the order of the vectors."""
        return tuple(vector.layer for vector in self.vectors)

    def at(self, positions: str) -> "Intervention":
        """The same at other positions; see `SteeringVector.at`."""
        return replace(self, positions=positions)

    @property
    def reads_at(self) -> str:
        """Where it acts while one answer is read: "last" or "all" positions.

        Raises:
            InputError: nowhere.
        """
        if self.positions == "generated":
            raise InputError(
                "the positions 'generated' change nothing at the end of the prompt, where a yes or no is read; use "
                "answer, last, prompt or all, or let the subject write its answer (`ask_along` with a reasoned "
                "instrument)"
            )
        return "last" if self.positions in ("answer", "last") else "all"

    @property
    def units_per_norm(self) -> float:
        """How many units of magnitude one residual norm is, at the lowest layer."""
        lowest = min(self.vectors, key=lambda vector: vector.layer)
        return lowest.residual_norm / lowest.length(self.unit)

    def edits(self) -> Edits:
        """What is done at each layer, for `onedial.models`."""
        operator = OPERATORS[self.operator]
        return {vector.place: partial(_apply, operator, vector, vector.length(self.unit)) for vector in self.vectors}

    def check_model(self, model: OpenModel) -> None:
        """Raise InputError if it was made for another model, or acts at a site whose step is not proven (`sites`)."""
        for vector in self.vectors:
            vector.check_model(model)
        model.check_layers(self.layers)
        for vector in self.vectors:
            module_at(model.stack, Site(vector.site, vector.layer))

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
    """An intervention as it is; a vector as one that is added at the answer.

    Raises:
        InputError: it is neither, but for example a tensor, or a push, which is one setting already.
    """
    if isinstance(given, Push):
        raise InputError(
            f"{given} is one setting of its dial; give the vector itself, or the sum as one (`push.vector()`), and "
            "magnitudes beside it"
        )
    check_is_placed(given)
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
    interventions = [as_intervention(each) for each in given]
    if not interventions:
        raise InputError("no intervention was given; extract a steering vector first")
    return interventions


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
