"""Critical magnitudes: where, on the dial, each question's answer flips.

A question says yes when its margin is positive. The magnitudes at which the margin crosses zero answer every target at
once: the yes rate and each answer at any magnitude follow from them by counting, without another forward.

Positions `last`: a few points on each side of 0 (0 itself is the unsteered prompt and costs nothing), then each
crossing is closed in on by interpolation (`steering.margin_curves`). Every (question, crossing) has its own magnitude;
what has converged is run no more.

Positions `prompt` and `all`: one magnitude for a whole batch lets all questions share the prompts' common beginning,
so the curve is laid through Chebyshev nodes first; then each crossing is checked, and moved if need be, at its own
magnitude by a plain forward.

A model in bfloat16 or float16 evaluates its own, slightly rough curve: additions below about 1/256 of the residual
stream are rounded away, so a tolerance finer than that means little there. With `recheck` the weights are widened to
float32 afterwards, and every crossing, and every point at which the answer was within the error, is found again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from common import InputError
from elicitation.questions import Question
from open_models import OpenModel
from open_models.batches import halving_on_out_of_memory
from steering.margin_curves import MarginCurve
from steering.margin_search import MarginSearch, widened
from steering.processes import gather, own_share
from steering.prompt_set import PromptSet
from steering.vectors import SteeringSpec, SteeringVector

CRITICAL_COLUMNS = ["question_id", "n_roots", "magnitude", "status", "yes_at_low", "evaluations"]
OK, ALWAYS_YES, ALWAYS_NO = "ok", "none in range: always yes", "none in range: always no"

SCAN_PER_SIDE = 2
NODES = 11
ROUGH_MARGIN = 0.05
"""Margins of a 16-bit model are this far from float32 ones, or nearer."""


@dataclass(frozen=True)
class CriticalMagnitudes:
    """Where the answers flip between `low` and `high`.

    Attributes:
        table: one row per question and crossing, ordered by question and magnitude; a question without one has one
            row with magnitude nan. Columns `question_id, n_roots, magnitude, status` ("ok", "none in range: always
            yes" or "... always no"), `yes_at_low` (the answer at `low`), `evaluations` (forward rows spent on it,
            beside the one prefill).
        low, high: the range.
        tolerance: to which the magnitudes were asked for.
    """

    table: pd.DataFrame
    low: float
    high: float
    tolerance: float

    @property
    def n_roots(self) -> pd.Series:
        """Crossings of each question, index question_id. Above 1 the answer does not follow the dial one way."""
        return self.table.groupby("question_id", sort=False)["n_roots"].first()

    def answers_at(self, magnitude: float) -> pd.Series:
        """Each question's answer at one magnitude: 1.0 for yes, 0.0 for no, index question_id.

        Raises:
            InputError: the magnitude lies outside the range.
        """
        if not self.low <= magnitude <= self.high:
            raise InputError(
                f"magnitude {magnitude} lies outside {self.low}..{self.high}, where the crossings were sought; "
                "give one inside, or look for them in a wider range"
            )
        passed = (self.table["magnitude"] < magnitude).groupby(self.table["question_id"], sort=False).sum()
        at_low = self.table.groupby("question_id", sort=False)["yes_at_low"].first()
        return (at_low ^ (passed % 2 == 1)).astype(float).rename(magnitude)

    def yes_rate(self, magnitudes: Sequence[float]) -> pd.Series:
        """The dose-response: the share of questions answered yes, index magnitude."""
        rates = [self.answers_at(magnitude).mean() for magnitude in magnitudes]
        return pd.Series(rates, index=pd.Index(magnitudes, name="magnitude"), name="yes_rate")


def critical_magnitudes(
    model: OpenModel,
    questions: PromptSet | Sequence[Question],
    vector: SteeringVector,
    spec: SteeringSpec | None = None,
    *,
    low: float,
    high: float,
    tolerance: float = 1e-4,
    scan: int | None = None,
    recheck: bool = True,
    progress: Callable[[int], None] | None = None,
    batch_size: int | None = None,
) -> CriticalMagnitudes:
    """Find every magnitude in a range at which a question's answer flips.

    Two crossings closer together than the first points are found only if the curve between them shows it; random
    directions, whose curves wind most, want a larger `scan`.

    Args:
        low, high: the range, in units of `spec.unit`.
        tolerance: of the magnitudes.
        scan: first points; for positions `last` those on each side of 0 (2 by default), else the number of Chebyshev
            nodes (11 by default).
        recheck: for a model in 16 bits, find the crossings again in float32 (needs memory for the widened weights).
        progress: is told how many questions were finished.

    Returns:
        With several processes, the crossings of all questions in each process.

    Raises:
        InputError: an empty range, a tolerance that is not positive, too few first points, a vector of another model.
    """
    spec = spec or SteeringSpec()
    first = _first_points(low, high, tolerance, spec, scan)
    vector.check_model(model)
    model.check_layers([vector.layer])
    prompts = PromptSet.of(model, questions)
    batches = own_share(prompts.batches(model, batch_size, len(first)))
    search = MarginSearch(model, prompts, vector, spec, low, high, tolerance)
    found: dict[int, MarginCurve] = {}
    rows: dict[int, int] = dict.fromkeys(range(len(prompts)), 0)

    def run(start: dict[int, list[float]], report: Callable[[int], None] | None) -> None:
        def work(batch: list[int]) -> list[tuple[int, MarginCurve, int]]:
            curves, spent = search.batch(batch, [start[index] for index in batch])
            return list(zip(batch, curves, spent, strict=True))

        for batch in batches:
            for part in halving_on_out_of_memory(work, batch):
                for index, curve, spent in part:
                    found[index] = curve
                    rows[index] += spent
                if report:
                    report(len(part))

    rough = recheck and model.dtype != torch.float32
    run(dict.fromkeys(range(len(prompts)), first), None if rough else progress)
    if rough:
        with widened(model):
            run({index: _again(curve) for index, curve in found.items()}, progress)
    share = [(index, curve.roots, curve.says_yes_at_low, rows[index]) for index, curve in found.items()]
    return CriticalMagnitudes(_table(prompts, gather(share)), low, high, tolerance)


def _first_points(low: float, high: float, tolerance: float, spec: SteeringSpec, scan: int | None) -> list[float]:
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"the range {low}..{high} is empty or endless; give a low below a high, both finite")
    if not 0 < tolerance < (high - low) / 4:
        raise InputError(f"the tolerance is {tolerance}; give one above 0 and far below the range of {high - low:.4g}")
    if spec.positions != "last":
        count = NODES if scan is None else scan
        if count < 4:
            raise InputError(f"{count} Chebyshev nodes requested; give 4 or more")
        nodes = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * np.arange(1, count - 1) / (count - 1))
        return [low, *nodes[np.abs(nodes) > tolerance].tolist(), high]
    side = SCAN_PER_SIDE if scan is None else scan
    if side < 2:
        raise InputError(f"{side} first points on each side of 0 requested; give 2 or more")
    if not low < 0 < high:
        return np.linspace(low, high, 2 * side + 1).tolist()
    # Squared steps: most answers flip near 0, where the unsteered margin is small.
    steps = (np.arange(1, side + 1) / side) ** 2
    return [*(low * steps[::-1]).tolist(), *(high * steps).tolist()]


def _again(curve: MarginCurve) -> list[float]:
    """Where to look anew in float32: the ends, beside each crossing, and wherever the answer was within the error."""
    reach = 16 * curve.tolerance
    beside = [root + side for root in curve.roots for side in (-reach, reach)]
    close = [magnitude for magnitude, margin in curve.points.items() if abs(margin) < ROUGH_MARGIN]
    apart = [m for m in close if all(abs(m - root) > 2 * reach for root in curve.roots)]
    inside = [m for m in (*beside, *apart) if curve.low < m < curve.high and m != 0]
    return sorted({curve.low, curve.high, *inside})


def _table(prompts: PromptSet, found: list[tuple[int, list[float], bool, int]]) -> pd.DataFrame:
    rows = []
    for index, roots, yes_at_low, evaluations in sorted(found, key=lambda entry: entry[0]):
        status = OK if roots else ALWAYS_YES if yes_at_low else ALWAYS_NO
        for root in sorted(roots) or [np.nan]:
            rows.append((prompts.question_ids[index], len(roots), root, status, yes_at_low, evaluations))
    return pd.DataFrame(rows, columns=CRITICAL_COLUMNS)
