"""What is done to the residual stream: a direction that knows where it came from, an intervention, and how much of it.

    vector * 0.3                                       0.3 residual norms towards yes, where the answer begins and on
    0.2 * vector - 0.1 * other                         pushes add up, in float32, before the stream is touched
    model.generate("Who sang this?", vector * 0.3)     what is written under it
    with vector.steer(model, 0.3): ...                 any forward, or model.hf.generate
    vector.at("all").export_gguf("v.gguf", model, 0.3) a control vector for repeng and llama.cpp
    vector.write(model, texts, [-0.3, 0, 0.3])         texts at several strengths side by side
    vector.at("all")                                   the same at every position, to be swept or scaled
    Intervention.of(vector, operator="ablate")         another operator

Positive magnitude means towards yes; at 0 the model is as it was. In units of `residual_norm` a magnitude of 1 adds a
vector as long as the median residual stream at the positions where the vector was read, so that magnitudes compare
across layers and models; in `raw` units a magnitude of 1 adds the difference of means as it was extracted. Without a
word about positions, all of this acts at the `answer`: the last token of the prompt, where a yes or no is read, and
everything that is generated (`steering.apply`). A push is one setting, and a sweep turns through many: it takes the
vector, and its magnitudes beside it.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import ROLES, VECTOR
from onedial.core.calls import says_how
from onedial.core.cards import html_card, one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.models.forward.activations import Read
from onedial.models.forward.batches import Progress
from onedial.models.forward.residual import SITES, Edits, Place, Site
from onedial.models.forward.sites import module_at
from onedial.models.identity import ModelIdentity
from onedial.models.model import OpenModel, check_is_model
from onedial.models.questions import Text, Texts, as_prompts
from onedial.models.tensor_files import read_tensors, write_tensors
from steering.apply import POSITIONS, Act, SteeringCount, steering
from steering.looking import Looked
from steering.operators import OPERATORS, Operator
from steering.written import WrittenTexts

UNITS = ("residual_norm", "raw")
DEFAULT = "answer"
"""Positions where nothing is said of them."""
FORMAT, KIND = "onedial-steering-vector-2", "steering vector"
FAR = 3.0
"""Pushes over so many times what was seen when a vector was made are said to be far outside it."""

Magnitudes = float | Sequence[float] | NDArray[np.floating[Any]] | Tensor
"""One number or several: a list, a range, an array."""


class Summable:
    """What can be multiplied, added and turned round: vectors, interventions and pushes; the result is a `Push`."""

    __array_ufunc__ = None  # so that a number of NumPy's leaves the product to us

    def __mul__(self, magnitude: float) -> "Push":
        factor = _number(magnitude)
        if not math.isfinite(factor):
            raise InputError(f"a push was asked for by {magnitude!r}; multiply by one finite number, such as 0.3")
        return Push(tuple((what, times * factor) for what, times in as_push(self).terms))

    __rmul__ = __mul__

    def __neg__(self) -> "Push":
        return self * -1.0

    def __add__(self, other: "Summable") -> "Push":
        return Push(as_push(self).terms + as_push(other).terms)

    def __radd__(self, nothing: Any) -> "Push":
        """So that `sum` can begin at 0."""
        return as_push(self) if isinstance(nothing, int) and nothing == 0 else self + nothing

    def __sub__(self, other: "Summable") -> "Push":
        return self + -other

    def __truediv__(self, divisor: float) -> "Push":
        if not (number := _number(divisor)) or not math.isfinite(1 / number):
            raise InputError(f"a push was divided by {divisor!r}; divide by one finite number other than 0")
        return self * (1 / number)


def _number(given: Any) -> float:
    """As a float; nan for whatever is no number."""
    if isinstance(given, Tensor) and given.numel() == 1:
        given = given.item()
    return float(given) if isinstance(given, Real) and not isinstance(given, bool) else math.nan


class Scalable(Summable):
    """What acts at any magnitude: vectors and interventions."""

    @says_how
    def steer(self, model: OpenModel, magnitude: float) -> AbstractContextManager[SteeringCount]:
        """A context in which every forward of `model.hf`, `model.hf.generate` included, is steered by so much of it.

        Args:
            magnitude: in its unit, positive towards yes; at 0 nothing changes, bit for bit.

        Raises:
            InputError: as `Push.steer`.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> joy = vector_from_texts(model, ["How lovely!", "I love it."], ["How awful!", "I hate it."], layer=15)
        >>> ids = model.tokenizer("My weekend was", return_tensors="pt")
        >>> with joy.steer(model, 0.3):
        ...     written = model.hf.generate(**ids, max_new_tokens=4, do_sample=False)
        >>> written.shape[1] - ids.input_ids.shape[1]
        4
        """
        return (self * magnitude).steer(model)

    @says_how
    def export_gguf(self, path: Path | str, model: OpenModel, magnitude: float) -> None:
        """Write so much of it as a control vector for repeng and llama.cpp; as `Push.export_gguf`.

            vector.at("all").export_gguf("vector.gguf", model, 0.3)

        >>> import tempfile
        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model, folder = load_model("smollm2-135m-instruct"), tempfile.TemporaryDirectory()
        >>> joy = vector_from_texts(model, ["How lovely!", "I love it."], ["How awful!", "I hate it."], layer=15)
        >>> joy.at("all").export_gguf(f"{folder.name}/joy.gguf", model, 0.3)
        >>> Path(f"{folder.name}/joy.gguf").stat().st_size > 0
        True
        """
        (self * magnitude).export_gguf(path, model)

    @says_how
    def write(
        self,
        model: OpenModel,
        texts: Text | Texts,
        magnitudes: Magnitudes,
        *,
        max_new_tokens: int = 24,
        progress: Progress | bool = True,
        **hf: Any,
    ) -> WrittenTexts:
        """What the model writes after each text at each magnitude, side by side.

        Args:
            texts: one or several, as `OpenModel.generate` takes them.
            magnitudes: in its unit. progress: as in `sweep`. hf: arguments of Hugging Face's `generate`.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> joy = vector_from_texts(model, ["How lovely!", "I love it."], ["How awful!", "I hate it."], layer=15)
        >>> joy.write(model, "How was it?", [-0.2, 0.2], max_new_tokens=3).to_frame().shape
        (1, 2)
        """
        asked = as_prompts(texts)
        settings = numbers_of(magnitudes)
        with shown(progress, len(asked) * len(settings), "texts written") as advance:
            columns = {
                magnitude: model.generate(
                    asked, self * magnitude, max_new_tokens=max_new_tokens, progress=advance or False, **hf
                )
                for magnitude in settings
            }
        return WrittenTexts(tuple(prompt.user for prompt in asked), {m: tuple(column) for m, column in columns.items()})


@dataclass(frozen=True, eq=False)
class SteeringVector(Scalable, Looked):
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


@dataclass(frozen=True, eq=False)
class Push(Summable):
    """So much of an intervention, or of several: what a model is steered by at one setting.

    Attributes:
        terms: interventions with the magnitude of each, in its unit; positive is towards yes, 0 changes nothing.

    Raises:
        InputError: several, one of which does not add, or of two models.
    """

    terms: tuple[tuple["Intervention", float], ...]

    def __post_init__(self) -> None:
        if len(self.terms) == 1:
            return
        if others := [what.operator for what, _ in self.terms if what.operator != "add"]:
            raise InputError(
                f"{others[0]!r} does not add, so that it has no sum; put one context into the other instead"
            )
        if len({what.vectors[0].model.fingerprint for what, _ in self.terms}) > 1:
            raise InputError("pushes of two models were added up; take vectors of one")

    def __repr__(self) -> str:
        units = {"residual_norm": "residual norms", "raw": "times the vector as extracted"}
        terms = [
            f"{times:+.4g} {units[what.unit]} along {what.intervention_id}, "
            + ("at the answer" if what.positions == DEFAULT else f"at {what.positions} positions")
            for what, times in self.terms
        ]
        return f"Push({'; '.join(terms)})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What a vector can do and a push cannot is said; this is asked for what is not there alone."""
            known = hasattr(SteeringVector, name) or name in SteeringVector.__dataclass_fields__
            if known and not name.startswith("_"):
                remedy = f"vector.{name}, or push.vector().{name} of a sum"
                raise AttributeError(f"a push is one setting and has no {name!r}; write {remedy}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def intervention(self) -> "Intervention":
        """What is done; raises InputError for a sum."""
        return self._only[0]

    @property
    def magnitude(self) -> float:
        """How much of it; raises InputError for a sum."""
        return self._only[1]

    @property
    def _only(self) -> tuple["Intervention", float]:
        if len(self.terms) > 1:
            raise InputError(
                f"{self} is a sum, and one intervention at one magnitude is needed; push.vector() adds it up"
            )
        return self.terms[0]

    @says_how
    def steer(self, model: OpenModel) -> AbstractContextManager[SteeringCount]:
        """A context in which every forward of `model.hf`, `model.hf.generate` included, is steered by it.

        Each call of `generate` has its own prompt. Outside of `generate` a forward without a cache, or with an empty
        one, reads a whole prompt, and forwards that continue its cache read generated tokens. Contexts within each
        other add up. Far outside what was seen when the vector was made, this is noticed.

        Raises:
            InputError: it is of another model; or the context ended without a forward that was edited.

        >>> from onedial import load_model
        >>> from steering import vector_from_texts
        >>> model = load_model("smollm2-135m-instruct")
        >>> push = 0.3 * vector_from_texts(model, ["Lovely!", "Fine!"], ["Awful!", "Bad!"], layer=15)
        >>> with push.steer(model):
        ...     text = model.generate("How was it?", max_new_tokens=2)
        """
        for what, _ in self.terms:
            what.check_model(model)
        _ = self._warn_if_far
        return steering(model, [Act(what.edits(), what.positions, times) for what, times in self.terms])

    @says_how
    def export_gguf(self, path: Path | str, model: OpenModel) -> None:
        """Write it as a control vector, for repeng (`ControlVector.import_gguf`) and llama.cpp (`--control-vector`),
        at strength 1: tensor direction.N is added to the output of block N, counted from 0, at every position.

        Raises:
            InputError: positions other than all, a site other than the stream, an operator other than add, layer 0
                (llama.cpp counts from 1), a path that does not end in .gguf, or another model.
        """
        from steering.exporting import write_control_vector

        write_control_vector(self.terms, path, model)

    def vector(self) -> SteeringVector:
        """The sum as one vector, of which 1 in `raw` units is the push, so that it can be swept.

        Raises:
            InputError: it acts at several layers, or adds up to nothing.
        """
        parts = [(each, times * each.length(what.unit)) for what, times in self.terms for each in what.vectors]
        if len(at := {f"layer {each.layer} ({each.site})" for each, _ in parts}) > 1:
            raise InputError(f"{self} acts at {' and '.join(sorted(at))}, and a vector acts at one place")
        total = torch.stack([length * each.direction for each, length in parts]).sum(dim=0)
        if not (norm := float(total.norm())):
            raise InputError(f"{self} adds up to nothing, which has no direction")
        return replace(parts[0][0].of_no_answers(total / norm, "sum"), raw_norm=norm)

    @cached_property
    def _warn_if_far(self) -> None:
        """Said of one vector when this is first looked up, not for each batch; a sum may be shorter than its terms."""
        if len(self.terms) == 1:
            say_if_far([self.intervention], [self.magnitude])


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
    if not isinstance(given, Intervention | SteeringVector):
        raise InputError(
            f"{type(given).__name__} says neither its layer nor how long a push is; make a vector of it by "
            "steering.as_vector(tensor, model, layer)"
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
    interventions = [as_intervention(each) for each in given]
    if not interventions:
        raise InputError("no intervention was given; extract a steering vector first")
    return interventions


def as_push(given: Any) -> Push:
    """A push as it is; an intervention or a vector at magnitude 1; InputError for anything else."""
    if isinstance(given, Push):
        return given
    return Push(((as_intervention(given), 1.0),))


def numbers_of(magnitudes: Magnitudes) -> list[float]:
    """Magnitudes as a list, whether one, a range or an array was given.

    Raises:
        InputError: they are no numbers.

    >>> numbers_of(0.3), numbers_of(range(2)), numbers_of(np.array([0.5, 1.0]))
    ([0.3], [0.0, 1.0], [0.5, 1.0])
    """
    try:
        array = np.asarray(magnitudes.cpu() if isinstance(magnitudes, Tensor) else magnitudes, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.ndim > 1 or isinstance(magnitudes, str):
        raise InputError(f"the magnitudes are {magnitudes!r}; give a number or several, such as [-0.2, 0, 0.2]")
    return [float(each) for each in array.reshape(-1)]


def say_if_far(interventions: Sequence[Intervention], magnitudes: Magnitudes | Mapping[str, Magnitudes]) -> None:
    """Notice magnitudes over `FAR` times the distance from their mean at which any stream lay along the vector."""
    for each in interventions:
        grid = magnitudes.get(each.intervention_id, ()) if isinstance(magnitudes, Mapping) else magnitudes
        vector = min(each.vectors, key=lambda vector: vector.layer)
        furthest = max(map(abs, numbers_of(grid)), default=0.0) / each.units_per_norm
        if vector.seen and math.inf > furthest > FAR * vector.seen:
            notice(
                f"pushes along {each.intervention_id} of up to {furthest:.3g} residual norms are far outside what was "
                f"seen: the streams that it was made from lie within {vector.seen:.2g} of their mean along it"
            )


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
