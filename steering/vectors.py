"""A steering vector: a direction of the residual stream that knows where it came from.

Positive magnitude means towards yes. In units of `residual_norm` a magnitude of 1 adds a vector as long as the median
residual stream at the positions where the vector was read, so that magnitudes compare across layers and models; in
`raw` units a magnitude of 1 adds the difference of means as it was extracted.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from einops import einsum
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from onedial.asking import METACOGNITIVE, POLES, PromptTemplate
from onedial.core import InputError, atomic_path, html_card, json_value
from onedial.models import AtHand, ModelIdentity, OpenModel, PromptSet, margin_gradients
from steering.contrasts import CONTRASTS, MINIMUM_PER_SIDE, Contrast, Progress
from steering.directions import DIRECTIONS, NEED_GRADIENTS, READ_NO_SIDES, random_unit
from steering.pushes import Scalable

UNITS = ("residual_norm", "raw")
FORMAT = "onedial-steering-vector-2"
OLDER_FORMATS = ("onedial-steering-vector-1",)
"""Are read as well; what they do not hold is not known."""


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
        facts = {name: value for name, value in self.__dict__.items() if name not in ("direction", "model", "template")}
        metadata = {"format": FORMAT, **{name: json.dumps(value) for name, value in facts.items()}}
        metadata["template"] = json.dumps(self.template and asdict(self.template))
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
                if metadata.get("format") not in (FORMAT, *OLDER_FORMATS):
                    raise InputError(
                        f"{path} says it is of format {metadata.get('format')!r}, and this version reads {FORMAT!r}; "
                        "give a vector that a run of this version has saved"
                    )
                facts = {name: json_value(value) for name, value in metadata.items() if name != "format"}
                direction = file.get_tensor(
                    "direction"
                ).clone()  # else the file stays mapped as long as the vector lives
            if direction.ndim != 1 or not direction.is_floating_point() or not isinstance(facts["layer"], int):
                raise TypeError("its direction is no vector of numbers, or its layer no number")
            template = _template_from(facts.pop("template", None))
            return cls(direction=direction, model=ModelIdentity(**facts.pop("model")), template=template, **facts)
        except (SafetensorError, KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise InputError(
                f"{path} is no steering vector of this project ({error}); restore it from a copy, "
                "or, where a run holds it, delete it and pass --resume"
            ) from error

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


def random_vector(like: SteeringVector, seed: int) -> SteeringVector:
    """A control: a direction drawn uniformly from the sphere, of the same norms, layer and model.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> vector = extract_vector(load_model("smollm2-135m-instruct"), load_questions("embedded", n=20), layer=21)
    >>> random_vector(vector, seed=1).direction.shape == vector.direction.shape
    True
    """
    return like.of_no_answers(random_unit(like.direction.shape[0], seed), "random", seed)


def vectors_of(
    model: ModelIdentity,
    contrast: Contrast,
    method: str = "mean_difference",
    prompt_hash: str = "",
    template: PromptTemplate | None = None,
) -> list[SteeringVector]:
    """One vector for each layer of a contrast.

    Args:
        prompt_hash, template: of the `PromptSet` that the contrast was read under.

    Raises:
        InputError: an unknown method, or a direction without length.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import contrast_of
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> [vector.layer for vector in vectors_of(model.identity, contrast_of(model, prompts, [1, 2]))]
    [1, 2]
    """
    if method not in DIRECTIONS:
        raise InputError(f"--method {method!r} is not known; choose one of {', '.join(DIRECTIONS)}")
    directions, lengths = DIRECTIONS[method](contrast)
    drawn = method == "random"
    streams = contrast.activations.residuals.float()
    lines = torch.stack(list(directions)).to(streams)
    along = einsum(streams - streams.mean(dim=0), lines, "question layer d_model, layer d_model -> question layer")
    seen = (along.abs().amax(dim=0) / contrast.residual_norms).tolist()
    return [
        SteeringVector(
            direction=direction,
            layer=layer,
            raw_norm=length,
            residual_norm=norm,
            model=model,
            method=method,
            contrast="none" if drawn else contrast.name,
            n_yes=0 if drawn else len(contrast.yes),
            n_no=0 if drawn else len(contrast.no),
            n_unread=0 if drawn else contrast.n_unread,
            prompt_hash=prompt_hash,
            template=template,
            seed=contrast.seed if drawn else None,
            seen=furthest,
        )
        for layer, direction, length, norm, furthest in zip(
            contrast.layers, directions, lengths.tolist(), contrast.residual_norms.tolist(), seen, strict=True
        )
    ]


def contrast_of(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    contrast: str = "response",
    progress: Progress | None = None,
    *,
    method: str = "mean_difference",
    seed: int = 0,
) -> Contrast:
    """The activations on either side, at each of `layers`.

    Args:
        contrast: a key of `CONTRASTS`. method: a key of `DIRECTIONS`, of what it will be made into.

    Raises:
        InputError: as `check_making`; an unknown layer, or too few answers on one side.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> contrast = contrast_of(model, prompts, [1, 2])
    >>> contrast.yes.shape[1]  # layers
    2
    """
    check_making(contrast, method, len(prompts))
    found = CONTRASTS[contrast](model, prompts, layers, seed, progress)
    if method in NEED_GRADIENTS:
        found = found.with_gradients(margin_gradients(model, prompts, layers))
    return found


def check_making(contrast: str, method: str, n_questions: int | None = None) -> None:
    """Refuse what no vector can be made of.

    Args:
        n_questions: of the extraction split, where they are known.

    Raises:
        InputError: unknown contrast or method; a contrast by framing for a method that reads no sides; or fewer
            questions than two sides take.

    >>> check_making("response", "mean_difference")
    """
    for given, known, option in ((contrast, CONTRASTS, "--contrast"), (method, DIRECTIONS, "--method")):
        if given not in known:
            raise InputError(f"{option} {given!r} is not known; choose one of {', '.join(known)}")
    if contrast in POLES and method in READ_NO_SIDES:
        raise InputError(
            f"--method {method} is made of the margins of the plain questions, so --contrast {contrast} would say "
            "nothing to it; choose another method or --contrast response"
        )
    if contrast == "response" and n_questions is not None and n_questions < 2 * MINIMUM_PER_SIDE:
        raise InputError(
            f"a vector would be made of {n_questions} questions, and it takes {MINIMUM_PER_SIDE} that are answered yes "
            f"and {MINIMUM_PER_SIDE} that are answered no: ask more questions, or use --contrast answer"
        )


def extract_vectors(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    contrast: str = "response",
    progress: Progress | None = None,
    *,
    method: str = "mean_difference",
    seed: int = 0,
) -> list[SteeringVector]:
    """One vector for each of `layers`, from the same questions; see `contrast_of`.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> len(extract_vectors(model, prompts, [1, 2]))
    2
    """
    found = contrast_of(model, prompts, layers, contrast, progress, method=method, seed=seed)
    return vectors_of(model.identity, found, method, prompts.prompt_hash, prompts.template)


def extract_vector(
    model: OpenModel,
    questions: AtHand,
    layer: int,
    *,
    contrast: str = "response",
    method: str = "mean_difference",
    template: PromptTemplate | str = METACOGNITIVE,
    seed: int = 0,
) -> SteeringVector:
    """Read one steering vector from a model: the short way in, for notebooks.

    Args:
        questions: as `sweep` takes them: texts, a data frame, a file, or `Question`s.
        template: the prompt: a framing's name, a user turn with one {question}, or a `PromptTemplate`.

    Raises:
        InputError: as `extract_vectors`.

    >>> from onedial import load_model, load_questions
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> round(float(vector.direction.norm()), 3)
    1.0
    """
    prompts = PromptSet.build(model, questions, template)
    return extract_vectors(model, prompts, [layer], contrast, method=method, seed=seed)[0]


def _template_from(fields: dict[str, Any] | None) -> PromptTemplate | None:
    """The way back from what `SteeringVector.save` writes."""
    if fields is None:
        return None
    earlier = tuple((str(user), str(assistant)) for user, assistant in fields.pop("earlier"))
    return PromptTemplate(slots=tuple(fields.pop("slots")), earlier=earlier, **fields)
