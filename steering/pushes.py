"""Add up and scale what a model is steered by at one setting: so much of an intervention, or of several.

    vector * 0.3                                       0.3 residual norms towards yes, where the answer begins and on
    0.2 * vector - 0.1 * other                         pushes add up, in float32, before the stream is touched
    with push.steer(model): ...                        any forward, or model.hf.generate
    vector.write(model, texts, [-0.3, 0, 0.3])         texts at several strengths side by side

A push is one setting, and a sweep turns through many: it takes the vector, and its magnitudes beside it.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.models.forward.batches import Progress
from onedial.models.model import OpenModel
from onedial.models.questions import Text, Texts, as_prompts
from steering.apply import Act, SteeringCount, steering
from steering.exporting import write_control_vector
from steering.written import WrittenTexts

if TYPE_CHECKING:
    from steering.interventions import Intervention, SteeringVector

FAR = 3.0
"""Pushes over so many times what was seen when a vector was made are said to be far outside it."""
Magnitudes = float | Sequence[float] | NDArray[np.floating[Any]] | Tensor
"""One number or several: a list, a range, an array."""


class Summable:
    """What can be multiplied, added and turned round: vectors, interventions and pushes; the result is a `Push`."""

    @property
    def as_push(self) -> "Push":
        """It at magnitude 1; a push as it is."""
        raise NotImplementedError

    __array_ufunc__ = None  # so that a number of NumPy's leaves the product to us

    def __mul__(self, magnitude: float) -> "Push":
        factor = _number(magnitude)
        if not math.isfinite(factor):
            raise InputError(f"a push was asked for by {magnitude!r}; multiply by one finite number, such as 0.3")
        return Push(tuple((what, times * factor) for what, times in self.as_push.terms))

    __rmul__ = __mul__

    def __neg__(self) -> "Push":
        return self * -1.0

    def __add__(self, other: "Summable") -> "Push":
        return Push(self.as_push.terms + _push_of(other).terms)

    def __radd__(self, nothing: Any) -> "Push":
        """So that `sum` can begin at 0."""
        return self.as_push if isinstance(nothing, int) and nothing == 0 else self + nothing

    def __sub__(self, other: "Summable") -> "Push":
        return self + -other

    def __truediv__(self, divisor: float) -> "Push":
        if not (number := _number(divisor)) or not math.isfinite(1 / number):
            raise InputError(f"a push was divided by {divisor!r}; divide by one finite number other than 0")
        return self * (1 / number)


def _number(given: Any) -> float:
    """Turn a number into a float; whatever is none into nan."""
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
        """Let the model write after each text at each magnitude, side by side.

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
            + ("at the answer" if what.positions == "answer" else f"at {what.positions} positions")
            for what, times in self.terms
        ]
        return f"Push({'; '.join(terms)})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What a vector can do and a push cannot is said; this is asked for what is not there alone."""
            if not name.startswith("_") and hasattr(self.terms[0][0].vectors[0], name):
                remedy = f"vector.{name}, or push.vector().{name} of a sum"
                raise AttributeError(f"a push is one setting and has no {name!r}; write {remedy}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def as_push(self) -> "Push":
        """Itself."""
        return self

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
        write_control_vector(self.terms, path, model)

    def vector(self) -> "SteeringVector":
        """Add up to one vector, of which 1 in `raw` units is the push, so that it can be swept.

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


def check_is_placed(given: Any) -> None:
    """Raise InputError for what is no vector, intervention or push, such as a tensor."""
    if not isinstance(given, Summable):
        raise InputError(
            f"{type(given).__name__} says neither its layer nor how long a push is; make a vector of it by "
            "steering.as_vector(tensor, model, layer)"
        )


def _push_of(given: Any) -> Push:
    check_is_placed(given)
    push: Push = given.as_push
    return push


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


def say_if_far(interventions: "Sequence[Intervention]", magnitudes: Magnitudes | Mapping[str, Magnitudes]) -> None:
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
