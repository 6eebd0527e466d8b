"""What will be swept: the vector, its layer and its magnitudes, each chosen without a look at any target."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from open_models import OpenModel
from steering.extraction import extract_vectors
from steering.layers import LayerScan, candidate_layers, scan_layers
from steering.magnitudes import choose_magnitudes, doubling, unit_scale
from steering.prompt_set import PromptSet
from steering.vectors import SteeringSpec, SteeringVector, random_vector

Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]
"""`with bar(total, description) as advance:`, as `reporting.terminal.progress_bar` is."""

METHODS = ("mean_difference", "random")
CONTROL_STEP = 3
"""Controls are swept at every third magnitude of the vector's grid, and at the doubled ones beyond it."""


@dataclass(frozen=True)
class SweepPlan:
    """Vectors to sweep and the magnitudes of each.

    Attributes:
        vector: the one that the run is about.
        controls: random directions of its length at its layer.
        magnitudes: by vector_id, in the spec's unit; 0 is always among them.
        scan: what the choice of layer rests on; None where both layer and magnitudes were given.
    """

    vector: SteeringVector
    controls: tuple[SteeringVector, ...]
    magnitudes: dict[str, list[float]]
    scan: LayerScan | None

    @property
    def vectors(self) -> list[SteeringVector]:
        """The vector and its controls."""
        return [self.vector, *self.controls]


def make_plan(
    model: OpenModel,
    extraction: PromptSet,
    fitting: PromptSet,
    spec: SteeringSpec,
    bar: Bar,
    *,
    layer: str = "auto",
    contrast: str = "response",
    method: str = "mean_difference",
    magnitudes: Sequence[float] | None = None,
    n_controls: int = 0,
    seed: int = 0,
) -> SweepPlan:
    """Extract on one split, choose layer and magnitudes on another.

    Args:
        layer: as in `candidate_layers`; with several candidates the scan chooses.
        magnitudes: None chooses them.

    Raises:
        InputError: see the parts.
    """
    layers = candidate_layers(layer, model.n_layers)
    with bar(len(extraction), f"reading yes and no after {len(layers)} layer(s)") as advance:
        vectors = extract_vectors(model, extraction, layers, contrast, advance)
    if method == "random":
        vectors = [random_vector(vector, seed) for vector in vectors]
    scan = None
    if len(layers) > 1 or magnitudes is None:
        with bar(len(fitting), f"scanning {len(layers)} layer(s)") as advance:
            scan = scan_layers(model, fitting, vectors, spec, advance)
        vectors = [vector for vector in vectors if vector.layer == scan.layer]
    vector = vectors[0]
    if magnitudes is not None or scan is None:
        grid = sorted({0.0, *(magnitudes or ())})
    else:
        with bar(len(fitting), "placing the magnitudes") as advance:
            grid, _ = choose_magnitudes(model, fitting, vector, spec, scan.rates(), advance)
    controls = tuple(random_vector(vector, seed + 1 + number) for number in range(n_controls))
    grids = {vector.vector_id: grid}
    grids.update({control.vector_id: control_grid(grid, vector, spec) for control in controls})
    return SweepPlan(vector, controls, grids, scan)


def control_grid(grid: Sequence[float], vector: SteeringVector, spec: SteeringSpec) -> list[float]:
    """A thinner grid that reaches further: a random direction may need a longer push for the same yes rate."""
    beyond = [magnitude for magnitude in doubling(unit_scale(vector, spec)) if not grid[0] <= magnitude <= grid[-1]]
    return sorted({0.0, grid[0], grid[-1], *grid[::CONTROL_STEP], *beyond})
