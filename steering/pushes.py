"""How much of a vector: `vector * 0.3`, `-vector`, `vector + other`, as one thing that a model can be written with.

    vector * 0.3                                            0.3 residual norms towards yes, at every position
    Intervention.of(vector, positions="last") * 0.3         ... at the answer position alone, as a sweep does it
    0.3 * vector - 0.1 * other                              one push along the sum of both additions
    model.generate("Who sang this?", with_=vector * 0.3)    what is written under it

A push is one setting, and a sweep turns through many: it takes the vector, and its magnitudes beside it.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from onedial.core import InputError, notice
from onedial.models import OpenModel

if TYPE_CHECKING:
    from steering.interventions import Intervention
    from steering.vectors import SteeringVector

FAR = 3.0
"""Pushes over so many times what was seen when a vector was made are said to be far outside it."""


class Scalable:
    """What can be scaled, reversed and added: vectors, interventions and pushes; the result is a `Push`."""

    __array_ufunc__ = None  # so that a number of NumPy's leaves the product to us

    def __mul__(self, magnitude: float) -> "Push":
        if isinstance(magnitude, bool) or not isinstance(magnitude, Real) or not math.isfinite(magnitude):
            raise InputError(f"a push was asked for by {magnitude!r}; multiply by one finite number, such as 0.3")
        push = as_push(self)
        return replace(push, magnitude=push.magnitude * float(magnitude))

    __rmul__ = __mul__

    def __neg__(self) -> "Push":
        return self * -1.0

    def __add__(self, other: "Scalable") -> "Push":
        return _sum(as_push(self), as_push(other))

    def __sub__(self, other: "Scalable") -> "Push":
        return _sum(as_push(self), -as_push(other))


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
        from steering.apply import steered

        say_if_far([self.of], [self.magnitude])
        return steered(model, self.of, self.magnitude)


def as_push(given: object) -> Push:
    """A push as it is; an intervention at magnitude 1; a vector at magnitude 1, added at every position.

    Raises:
        InputError: it is none of them.
    """
    from steering.interventions import Intervention, as_intervention
    from steering.vectors import SteeringVector

    if isinstance(given, SteeringVector):
        return Push(replace(as_intervention(given), positions="all"), 1.0)
    if isinstance(given, Intervention):
        return Push(given, 1.0)
    if not isinstance(given, Push):
        raise InputError(f"a {type(given).__name__} can't be added to a push; give a vector, an intervention or a push")
    return given


def say_if_far(
    interventions: "Sequence[Intervention]", magnitudes: "Sequence[float] | Mapping[str, Sequence[float]]"
) -> None:
    """Notice magnitudes over `FAR` times the distance from their mean at which any activation lay along the vector."""
    for each in interventions:
        own = magnitudes.get(each.intervention_id, ()) if isinstance(magnitudes, Mapping) else magnitudes
        vector = min(each.vectors, key=lambda vector: vector.layer)
        furthest = max(map(abs, own), default=0.0) / each.units_per_norm
        if vector.seen and math.inf > furthest > FAR * vector.seen:
            notice(
                f"pushes along {each.intervention_id} of up to {furthest:.3g} residual norms are far outside what was "
                f"seen: the activations that it was made from lie within {vector.seen:.2g} of their mean along it"
            )


def _sum(one: Push, other: Push) -> Push:
    """The push whose addition is the sum of both, along a vector of its own."""
    from steering.interventions import Intervention

    for each in (one, other):
        if len(each.of.vectors) > 1 or each.of.operator != "add":
            raise InputError(
                f"{each.of.intervention_id} has {len(each.of.vectors)} vectors and the operator {each.of.operator}; "
                "sums are of single vectors that are added"
            )
    (first,), (second,) = one.of.vectors, other.of.vectors
    if first.model.fingerprint != second.model.fingerprint:
        raise InputError(
            f"{first.vector_id} is of {first.model.name} and {second.vector_id} of {second.model.name}; add vectors of "
            "one model"
        )
    if first.layer != second.layer:
        raise InputError(
            f"{first.vector_id} acts after layer {first.layer} and {second.vector_id} after layer {second.layer}; add "
            "vectors of one layer, or do both at once by Intervention.of(vector, other)"
        )
    if one.of.positions != other.of.positions:
        raise InputError(
            f"one push acts at {one.of.positions} positions and the other at {other.of.positions}; add pushes that act "
            "at the same ones"
        )
    if first is second and one.of.unit == other.of.unit:
        return replace(one, magnitude=one.magnitude + other.magnitude)
    added = _addition(one, first) + _addition(other, second)
    length = float(added.norm())
    if not length > 1e-6 * first.residual_norm:
        return replace(one, magnitude=0.0)
    same_prompt = first.prompt_hash == second.prompt_hash
    vector = replace(
        first.of_no_answers(added / length, "sum"),
        raw_norm=length,
        prompt_hash=first.prompt_hash if same_prompt else "",
        template=first.template if same_prompt else None,
    )
    return Push(Intervention.of(vector, positions=one.of.positions), length / first.residual_norm)


def _addition(push: Push, vector: "SteeringVector") -> Any:
    """What is added to the stream, in its own units."""
    return push.magnitude * vector.length(push.of.unit) * vector.direction
