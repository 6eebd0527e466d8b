"""How much of the difference between difficulty scores is difference between questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onedial.scale.irt.graded_response import GradedModel
from onedial.scale.irt.irt import IrtModel, two_parameter_irt
from onedial.scale.irt.scales import ScaleKind


@dataclass(frozen=True)
class Reliability:
    """Reliability of the EAP scores.

    Attributes:
        empirical: variance of the scores / (that + mean squared standard error): the squared correlation with the true
            place that the answers at hand allow, over the questions at hand.
        expected: 1 - mean squared standard error (the scale's variance is 1): the same if the distribution holds.
        mean_se: root of the mean squared standard error, in units of the scale's spread.
        n: questions with a score.
    """

    empirical: float
    expected: float
    mean_se: float
    n: int

    def sentence(self) -> str:
        """How well the scores are known."""
        error = f"error {self.mean_se:.2f} of the scale's spread"
        return f"Difficulty scores have a reliability of {self.empirical:.2f} ({error})."


def difficulty_reliability(matrix: Any, scale: ScaleKind = "normal") -> Reliability:
    """Reliability of the questions' difficulty scores under the two-parameter model.

    Formula: s^2 / (s^2 + mean(se^2)) with s^2 the variance of the EAP scores (Bock and Mislevy, 1982, Applied
    Psychological Measurement 6, 431-444).

    Args:
        matrix: question x respondent, 1 / 0 / nan, with at least three respondents that vary; or an `IrtModel` or
            `GradedModel`, whose scores are taken. scale: as in `two_parameter_irt`.

    Returns:
        Reliability. Sign: higher is better, 1 = no error.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `mirt::empirical_rxx(mirt::fscores(fit, full.scores.SE = TRUE))`, `mirt::marginal_rxx(fit)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> round(difficulty_reliability(answers).empirical, 1)
    0.7
    """
    model = matrix if isinstance(matrix, IrtModel | GradedModel) else two_parameter_irt(matrix, scale=scale)
    known = model.difficulty.notna().to_numpy()
    score, error = model.difficulty.to_numpy()[known], model.difficulty_se.to_numpy()[known]
    if known.sum() < 2:
        return Reliability(float("nan"), float("nan"), float("nan"), int(known.sum()))
    variance, noise = score.var(ddof=1), float((error**2).mean())
    return Reliability(float(variance / (variance + noise)), 1 - noise, float(np.sqrt(noise)), int(known.sum()))
