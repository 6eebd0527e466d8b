"""What is served: one model, and one dial of it that any request may set.

A setting is a magnitude in the dial's unit; 0 is the unsteered model. By its name a setting is `NAME@0.2`, and `NAME`
is magnitude 0, so that one server answers at every setting; settings of one model are one base model.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.errors import InputError
from onedial.models.model import OpenModel, load_model
from onedial.panels.splits import FITTING
from onedial.verdict.sweep_run import SweepRun
from steering.interventions import Intervention, SteeringVector
from steering.pushes import Push

FARTHEST = 1e6
"""Magnitude: far beyond any text, and short of where numbers overflow."""


@dataclass(frozen=True, eq=False)
class Dial:
    """A model and what may be done to it.

    Attributes:
        model: answers. name: by which requests call it. intervention: what a magnitude turns; None: nothing can be.
    """

    model: OpenModel
    name: str
    intervention: Intervention | None = None

    def push(self, magnitude: float) -> Push | None:
        """Return what steers the model at a setting; None at 0, where nothing does.

        Raises:
            InputError: the magnitude is not finite, or there is nothing to turn.
        """
        if not abs(magnitude) <= FARTHEST:
            raise InputError(f"the magnitude is {magnitude:g}; give a finite number, {FARTHEST:g} at most")
        if not magnitude:
            return None
        if self.intervention is None:
            raise InputError(f"{self.name} is served without a vector, so only magnitude 0 can be asked for")
        return self.intervention * magnitude

    def magnitude_in(self, name: str) -> float:
        """Read the setting that a request's model name asks for.

        >>> Dial(None, "smol").magnitude_in("smol@-0.25"), Dial(None, "smol").magnitude_in("smol")
        (-0.25, 0.0)

        Raises:
            InputError: another model, or what follows @ is no number; whether it is finite is for `push` to say.
        """
        base, _, setting = name.removeprefix(self.name).partition("@")
        if not name.startswith(self.name) or base:
            raise InputError(f"the model {name!r} is not served here; ask for {self.name!r} or {self.name + '@0.2'!r}")
        if not setting and "@" not in name:
            return 0.0
        try:
            return float(setting)
        except ValueError:
            raise InputError(f"{name!r}: what follows @ must be a number, as in {self.name + '@0.2'!r}") from None

    @property
    def scores_given_texts(self) -> bool:
        """Whether a given text reads the same steered token by token as when the model writes it."""
        return self.intervention is None or self.intervention.positions == "all"

    @cached_property
    def description(self) -> dict[str, Any]:
        """Model, weights and vector, for a log."""
        facts: dict[str, Any] = {"model": self.model.identity.name, "weights": self.model.identity.fingerprint}
        if self.intervention is not None:
            vectors = [vector.vector_id for vector in self.intervention.vectors]
            facts |= {"vector": self.intervention.intervention_id, "vectors": vectors}
            facts |= {"positions": self.intervention.positions, "unit": self.intervention.unit}
        return facts


def load_dial(
    model: str | None,
    *,
    vector: Path | str | None = None,
    run: Path | str | None = None,
    positions: str | None = None,
    dtype: str = "auto",
    device: str | None = None,
) -> Dial:
    """Load a model and the dial of a vector's file, or of a finished sweep.

    Args:
        model: a name, a folder or a hub id; with `run` by default the sweep's.
        vector: a steering vector's file. run: a finished sweep's folder, whose vector, positions and unit are kept.
        positions: where it acts instead.

    Raises:
        InputError: both or no model; a file that is not there; or a vector of another model.
    """
    if vector is not None and run is not None:
        raise InputError("a vector and a run were given; leave one of them out")
    swept = None if run is None else SweepRun.open(run)
    name = model or (swept.config["model"] if swept else None)
    if name is None:
        raise InputError("no model was given; name one, or give the run of a sweep")
    intervention = None
    if swept is not None:
        intervention = intervention_of(swept)
    elif vector is not None:
        intervention = Intervention.of(SteeringVector.load(Path(vector)))
    if intervention is not None and positions is not None:
        intervention = replace(intervention, positions=positions)
    revision = swept.config.get("revision") if swept and model is None else None
    loaded = load_model(name, revision=revision, dtype=dtype, device=device)
    if intervention is not None:
        intervention.check_model(loaded)
    return Dial(loaded, Path(name).name if Path(name).exists() else name, intervention)


def fitting_answers(swept: SweepRun, intervention_id: str) -> pd.DataFrame:
    """Read the fitting questions' answers to one intervention, of which yes rates are placed.

    Raises:
        InputError: they were not asked.
    """
    table, splits = swept.sweep(), swept.splits()
    fitting = table[(table["intervention_id"] == intervention_id) & (table["question_id"].map(splits) == FITTING)]
    if fitting.empty:
        raise InputError(f"{swept.path} holds no sweep of its fitting questions; finish it with --resume")
    return fitting


def intervention_of(swept: SweepRun) -> Intervention:
    """Load the dial that a sweep has put to the test, with its vectors.

    Raises:
        InputError: a vector's file is missing or broken.
    """
    entry = swept.interventions().set_index("intervention_id", drop=False).loc[swept.under_test()]
    vectors = {name: SteeringVector.load(swept.path / swept.vector_file(name)) for name in entry["vectors"]}
    return Intervention.from_dict(entry.to_dict(), vectors)
