"""Who answers the battery: each model or respondent of one's own, or one subject at each setting of its dial."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from onedial.asking import RESPONDENTS, Respondent

if TYPE_CHECKING:
    from onedial.models import OpenModel
    from steering import SteeringVector

Make = Callable[[int], Respondent]
"""From a seed of its draws to a respondent."""


def respondents_of(
    models: Sequence[str], vector: str | None = None, magnitudes: Sequence[float] = ()
) -> Iterator[tuple[str, Make]]:
    """Name of each respondent, and what makes it; one model is in memory at a time.

    Args:
        vector: a file of one; the model is then asked at each of the magnitudes.
    """
    from onedial.models import load_model
    from steering import SteeringVector

    for name in models:
        if vector is None and name in RESPONDENTS:
            yield name, RESPONDENTS[name]
            continue
        model = load_model(name)
        if vector is None:
            yield name, partial(unsteered, model)
        else:
            direction = SteeringVector.load(vector)
            for magnitude in magnitudes:
                yield f"{name} at {magnitude:+.3g}", partial(at_setting, model, direction, magnitude)


def unsteered(model: "OpenModel", seed: int) -> Respondent:
    """The model as it is."""
    from onedial.models import LocalRespondent

    return LocalRespondent(model, seed=seed)


def at_setting(model: "OpenModel", vector: "SteeringVector", magnitude: float, seed: int) -> Respondent:
    """The model under a push."""
    from steering import SteeredRespondent

    return SteeredRespondent(model, vector, magnitude, seed=seed)
