"""Two panels on one scale, by the questions or the respondents that they have in common.

A panel's scale has mean 0 and spread 1 over its own questions. On another panel's scale the same place is

    z_base = A z_other + B.

*By common questions.* Of a panel's questions some are in the other panel and some are not, and the two kinds may lie
elsewhere: the curves are those of a smoothly bent scale, or of one with two components where that fits better. What
the answers then tell of a question is nearly normal: with a standard normal prior, place x = EAP / (1 - se^2) and
information I = 1 / se^2 - 1, the prior taken out of the posterior. With z ~ N(mu, s^2) over the common questions,

    x_base ~ N(z, 1 / I_base),    x_other ~ N((z - B) / A, 1 / I_other),

and A, B, mu and s are those of greatest likelihood: errors on both sides are known, and nothing is attenuated. The unit
of either scale hangs on how steep its curves are, whose common error adds to that of A and B.

*By common respondents.* A curve Phi(a z + d) of the other panel is Phi((a / A) z + d - a B / A) on the base scale. A
and B bring the sum of the common respondents' curves as near as can be to their sum on the base scale, in the mean
square over a standard normal scale (Stocking and Lord, 1983, Applied Psychological Measurement 7, 201-210).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtr

from onedial.core import InputError, one_line
from onedial.scale.factor.usable import usable_answers
from onedial.scale.irt.expectation import mean_and_spread
from onedial.scale.irt.irt import at_bound, curve_covariance, marginal_model
from onedial.scale.irt.marginal_fit import MarginalFit, fit_marginal
from onedial.scale.irt.nodes import quadrature
from onedial.scale.irt.scale_distribution import EXTRA_PARAMETERS
from onedial.stats import Z_95, Floats, as_answers

By = Literal["questions", "respondents"]
FEWEST: dict[str, int] = {"questions": 20, "respondents": 3}
_LEAST_INFORMATION = 1e-3
_STEP = 1e-4
_NODES = 61


@dataclass(frozen=True)
class ScaleBank:
    """A panel's scale as two tables, which can be kept and linked to.

    Attributes:
        questions: index question; `difficulty` (-EAP), `se`, `information` (1 / se^2 - 1, of the answers alone),
            `unit_se` (of the logarithm of the scale's unit, the same in each row).
        respondents: index respondent; `slope, intercept` of the curve Phi(slope z + intercept).
        covariance: (all slopes, then all intercepts; the same) of these.
    """

    questions: pd.DataFrame
    respondents: pd.DataFrame
    covariance: Floats

    __repr__ = one_line

    @classmethod
    def of(cls, panel: Any) -> "ScaleBank":
        """The bank of a panel, question x respondent, 1 / 0 / nan.

        Formula: marginal maximum likelihood (`two_parameter_irt`) on a smoothly bent scale; for the questions, on one
        of two components where Akaike's criterion prefers it. EAP and se with a standard normal prior. Respondents
        whose slope sits at its bound are left out.

        Raises:
            InputError: fewer than three respondents vary or share questions.
        """
        answers = usable_answers(as_answers(panel))
        fit, linked = marginal_model(answers, "smooth")
        easiness, se = _with_normal_prior(_of_questions(fit))
        questions = pd.DataFrame({"difficulty": -easiness, "se": se}, answers.questions)
        questions["information"] = np.maximum(1 / se**2 - 1, 0)
        questions = questions[pd.Series(answers.answered[:, linked].any(axis=1), answers.questions)]
        curves = {"slope": fit.curves.slope, "intercept": fit.curves.cuts[0]}
        known = np.tile(~at_bound(fit), 2)
        respondents = pd.DataFrame(curves, answers.respondents[linked])
        respondents = respondents[pd.Series(~at_bound(fit), respondents.index)]
        covariance = curve_covariance(fit)[np.ix_(known, known)]
        return cls(
            questions.assign(unit_se=_unit_error(respondents, covariance, len(questions))), respondents, covariance
        )

    @classmethod
    def kept(cls, questions: pd.DataFrame) -> "ScaleBank":
        """The bank of a stored table of questions, such as a run's bank.csv: it links by questions alone.

        Raises:
            InputError: columns are missing, or names come twice.
        """
        missing = [name for name in ("difficulty", "se", "information", "unit_se") if name not in questions]
        if missing or questions.index.has_duplicates:
            what = f"no {', '.join(missing)}" if missing else "the same question twice"
            raise InputError(f"the stored bank has {what}; give the bank.csv that onedial factor wrote")
        return cls(questions, pd.DataFrame({"slope": [], "intercept": []}, dtype=float), np.empty((0, 0)))


@dataclass(frozen=True)
class Link:
    """How a panel's scale stands to another's: z_base = slope x z_other + shift, z = easiness.

    Attributes:
        slope, slope_se, shift, shift_se: A and B with standard errors. by, n: what links them, and how many.
        covariance: (2, 2) of slope and shift.
    """

    slope: float
    slope_se: float
    shift: float
    shift_se: float
    covariance: Floats
    by: By
    n: int

    __repr__ = one_line

    def sentence(self) -> str:
        """Where the other panel's questions lie, and how widely they are spread."""
        low, high = self.shift - Z_95 * self.shift_se, self.shift + Z_95 * self.shift_se
        return (
            f"By {self.n} common {self.by} the other panel's questions are easier by {self.shift:.2f} ({low:.2f} to "
            f"{high:.2f}) of this scale's spread, and {self.slope:.2f} (standard error {self.slope_se:.2f}) times as "
            "widely spread."
        )

    def moved(self, other: ScaleBank) -> pd.DataFrame:
        """The other panel's questions on the base scale: `difficulty`, `se`, and `link_se`, the link's part of it.

        Formula: difficulty_base = A difficulty_other - B; se^2 = A^2 se_other^2 + link_se^2.
        """
        difficulty = other.questions["difficulty"]
        by = np.column_stack([difficulty, -np.ones(len(difficulty))])
        link_se = np.sqrt(np.einsum("qi,ij,qj->q", by, self.covariance, by))
        se = np.sqrt((self.slope * other.questions["se"]) ** 2 + link_se**2)
        columns = {"difficulty": self.slope * difficulty - self.shift, "se": se, "link_se": link_se}
        return pd.DataFrame(columns, index=other.questions.index)


def link_panels(base: Any, other: Any, by: By | None = None) -> Link:
    """Put a panel on another one's scale.

    Formula: see `onedial.scale.place.linking`; standard errors from the observed information (questions: for these
    questions), by the delta method from the curves' covariance (respondents: over questions like these).

    Args:
        base, other: `ScaleBank`, or a panel, question x respondent, 1 / 0 / nan. by: what is the same in both; default:
            questions where there are twenty, else respondents where there are three.

    Returns:
        Link. Sign: shift > 0 = the other panel's questions are easier; slope > 0.

    Raises:
        InputError: the two have too little in common, or `by` does not exist.

    R: `plink::plink(method = "SL")`, `equateIRT::direc(method = "Stocking-Lord")` for common respondents (as items).

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> ease = np.concatenate([rng.standard_normal(600), 1 + rng.standard_normal(600)])[:, None]
    >>> answers = pd.DataFrame(0.8 * ease + 0.6 * rng.standard_normal((1200, 20)) > 0)
    >>> round(link_panels(answers.iloc[:600], answers.iloc[600:]).shift)  # the last 600 are easier by 1
    1
    """
    if by is not None and by not in FEWEST:
        raise InputError(f"by={by!r}; choose one of {', '.join(FEWEST)}, or leave it out")
    first, second = (panel if isinstance(panel, ScaleBank) else ScaleBank.of(panel) for panel in (base, other))
    questions = first.questions.join(second.questions.add_suffix("_other"), how="inner")
    questions = questions[questions[["information", "information_other"]].min(axis=1) > _LEAST_INFORMATION]
    respondents = first.respondents.index.intersection(second.respondents.index)
    shared: dict[By, int] = {"questions": len(questions), "respondents": len(respondents)}
    for kind in (by,) if by is not None else shared:
        if shared[kind] >= FEWEST[kind]:
            link = _by_questions(questions) if kind == "questions" else _by_respondents(first, second, respondents)
            values, covariance = link
            errors = np.sqrt(np.diag(covariance))
            slope, slope_se, shift, shift_se = (float(x) for pair in zip(values, errors, strict=True) for x in pair)
            return Link(slope, slope_se, shift, shift_se, covariance, kind, shared[kind])
    n = ", ".join(f"{size} {kind} (at least {FEWEST[kind]})" for kind, size in shared.items())
    raise InputError(
        f"the two panels have too little in common to be on one scale: {n}; give panels that share identifiers of "
        "questions or respondents"
    )


def _of_questions(smooth: MarginalFit) -> MarginalFit:
    """The same model, or one with two components, by Akaike's criterion."""
    two = fit_marginal(smooth.codes, "two_component")
    gain = two.log_likelihood - smooth.log_likelihood
    return two if gain > EXTRA_PARAMETERS["two_component"] - EXTRA_PARAMETERS["smooth"] else smooth


def _with_normal_prior(fit: MarginalFit) -> tuple[Floats, Floats]:
    """(question,), (question,): EAP easiness and posterior standard deviation with N(0, 1) for a prior."""
    log_prior = -(fit.nodes**2) / 2
    return mean_and_spread(fit.codes, fit.log_p, log_prior - np.log(np.exp(log_prior).sum()), fit.nodes)


def _by_questions(common: pd.DataFrame) -> tuple[Floats, Floats]:
    """(A, B) and their covariance."""
    sides = []
    for suffix in ("", "_other"):
        information = common["information" + suffix].to_numpy()
        sides.append((-common["difficulty" + suffix].to_numpy() * (1 + information) / information, 1 / information))
    (x, v), (y, w) = sides

    def loss(at: Floats) -> float:
        """Of log A, B, mu, log s."""
        a, b, mean, variance = np.exp(at[0]), at[1], at[2], np.exp(2 * at[3])
        of_x, of_y, both = variance + v, variance / a**2 + w, variance / a
        determinant = of_x * of_y - both**2
        dx, dy = x - mean, y - (mean - b) / a
        square = (of_y * dx**2 - 2 * both * dx * dy + of_x * dy**2) / determinant
        return float(0.5 * (square + np.log(determinant)).sum())

    start = np.array([0.0, float(np.median(x) - np.median(y)), float(np.median(x)), 0.0])
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-6 * len(x)})
    covariance = np.linalg.pinv(_curvature(loss, found.x))[:2, :2]
    slope, shift = np.exp(found.x[0]), found.x[1]
    by, unit, unit_other = np.diag([slope, 1.0]), np.array([slope, shift]), np.array([slope, 0.0])
    units = (
        common[f"unit_se{suffix}"].iloc[0] ** 2 * np.outer(u, u) for suffix, u in (("", unit), ("_other", unit_other))
    )
    return np.array([slope, shift]), by @ covariance @ by + sum(units)


def _unit_error(respondents: pd.DataFrame, covariance: Floats, n_questions: int) -> float:
    """Of the logarithm of the scale's unit for these questions: the error that all slopes have in common, each weighted
    by how well it is known, less what comes of drawing the questions, 1 / 2n."""
    slope = respondents["slope"].to_numpy()
    of_slopes = covariance[: len(slope), : len(slope)]
    weight = slope / np.diag(of_slopes)
    weight = weight / (weight @ slope)
    variance = weight @ of_slopes @ weight
    return float(np.sqrt(max(0.0, variance - 1 / (2 * n_questions))))


def _curvature(loss: Callable[[Floats], float], at: Floats) -> Floats:
    """Second derivatives, by differences."""
    k, step = len(at), 1e-3
    found = np.empty((k, k))
    for i in range(k):
        for j in range(i, k):
            ei, ej = step * np.eye(k)[i], step * np.eye(k)[j]
            corners = loss(at + ei + ej) - loss(at + ei - ej) - loss(at - ei + ej) + loss(at - ei - ej)
            found[i, j] = found[j, i] = corners / (4 * step**2)
    return found


def _by_respondents(base: ScaleBank, other: ScaleBank, common: pd.Index) -> tuple[Floats, Floats]:
    """(A, B) and their covariance."""
    rows = [bank.respondents.index.get_indexer(common) for bank in (base, other)]
    values = np.concatenate([bank.respondents.loc[common].to_numpy().T for bank in (base, other)])
    start = _matched(values, np.zeros(2))
    moved = np.empty((2, *values.shape))  # how A and B move with each parameter
    for place in np.ndindex(values.shape):
        ends = []
        for step in (_STEP, -_STEP):
            changed = values.copy()
            changed[place] += step
            ends.append(_natural(_matched(changed, start)))
        moved[:, *place] = (ends[0] - ends[1]) / (2 * _STEP)
    covariance = np.zeros((2, 2))
    for side, (bank, row) in enumerate(zip((base, other), rows, strict=True)):
        which = np.concatenate([row, len(bank.respondents) + row])
        by = moved[:, 2 * side : 2 * side + 2].reshape(2, -1)
        covariance += by @ bank.covariance[np.ix_(which, which)] @ by.T
    return _natural(start), covariance


def _natural(at: Floats) -> Floats:
    return np.array([np.exp(at[0]), at[1]])


def _matched(values: Floats, start: Floats) -> Floats:
    """(log A, B) that bring the sums of the curves together, by Gauss-Newton steps on what is left at every node.

    Args:
        values: (4, respondent) slopes and intercepts on the base scale, then on the other. start: to begin with.
    """
    nodes, log_weight = quadrature(_NODES)
    root = np.exp(log_weight / 2)
    wanted = ndtr(np.outer(values[0], nodes) + values[1][:, None]).sum(axis=0)
    at = start.copy()
    for _ in range(50):
        size, shift = np.exp(at[0]), at[1]
        slope = values[2] / size
        line = np.outer(slope, nodes) + (values[3] - slope * shift)[:, None]
        density = np.exp(-(line**2) / 2) / np.sqrt(2 * np.pi)
        left = root * (wanted - ndtr(line).sum(axis=0))
        by_size = -(density * slope[:, None] * (nodes - shift)).sum(axis=0)  # by log A
        by_shift = -(density * slope[:, None]).sum(axis=0)
        step = np.linalg.lstsq(root[:, None] * np.column_stack([by_size, by_shift]), left, rcond=None)[0]
        at = at + np.clip(step, -0.5, 0.5)
        if np.abs(step).max() < 1e-12:
            break
    return at
