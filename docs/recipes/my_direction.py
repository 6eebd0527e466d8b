r"""A direction: a function from a contrast to one unit vector per layer and its length.

Positive is towards yes. `--method` chooses it.

    python experiments/steer_sweep.py --plugin my_direction.py --method median_difference --layer 21 \
           --magnitudes=-0.3,0.3,0.6,0.9 --n-questions 120 --out runs/recipe
"""

from steering.contrasts import Contrast
from steering.directions import DIRECTIONS, Directions, unit_and_length


def median_difference(contrast: Contrast) -> Directions:
    """Coordinate-wise median of the side of yes minus that of no: a few outlying questions move it less."""
    return unit_and_length(contrast.yes.median(dim=0).values - contrast.no.median(dim=0).values)


DIRECTIONS["median_difference"] = median_difference
