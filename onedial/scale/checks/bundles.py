"""Is the scale the same for everyone, everywhere? One test for any bundle of questions and any group of respondents.

A topic, a level or the long questions are a bundle; a family, a framing or a respondent alone is a group.

For a group of respondents and a bundle of questions (a topic), with p_q(z) where the question lies by the answers of
everybody else and S_q(z) = sum of P_i(yes | z) over the group's members that answered q,

    D = sum over q of (yes_q - E_q),    E_q = sum_z p_q(z) S_q(z),    V = sum over q of the variance of yes_q,
    z = (D - v D_all) / sqrt(f V (1 - v)),    v = V / V_all,    f = max(1, sum over all q of (yes_q - E_q)^2 / V_all)
    difference = (D - v D_all) / ((1 - v) n),    n = answers of the group to the bundle

D_all and V_all are those of all questions: what counts is a bundle beside the others, and the curves have taken up the
rest. The difference is that of the yes rate at equal ability, here of a bundle at the place that the others give it;
`logits` is the same in log odds. Curves let everybody answer some questions at random. Each bundle has a place and a
spread of its own by everybody else's answers, so that hard bundles are no violation; the variance counts what is not
known of that place. What a family shares beside the scale moves single questions for all of its members, and so makes
its counts more variable than f = 1 says.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.fits import Fits
from onedial.scale.likelihood import Model
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.groups import labels_of
from onedial.stats.level import LEVEL, POWER, least_z
from onedial.stats.multiple_tests import adjusted

FLOOR = 0.05
"""Difference of the yes rate by which a bundle must lie elsewhere to be called so, however certain it is: below it the
differential functioning of a question is called negligible (Dorans and Kulick, 1986)."""
DIFFERENCE_OF_INTEREST = 0.1
"""Difference of the yes rate that a claim of sameness must have been able to find."""
_LEAST_VARIANCE = 4.0  # of a count, for a normal tail
_FOR_CURVES = 0.05  # of power, lost because the answers that differ were also fitted
_EM_STEPS, _EM_STEPS_AFTER_ONE = 25, 5


@dataclass(frozen=True)
class BundleInvariance:
    """Bundles of questions for groups of respondents.

    Attributes:
        table: index (bundle, group); `n_questions, n_answers, yes, expected` (given all others), `difference` of the
            yes rate (> 0 = easier for the group than for the others) and its `se`, the same in `logits`, `p`
            (two-sided), `q` (adjusted), `least`, the difference found with a power of 80%, inf where none is. nan where
            the group's answers there are too few or too much alike.
    """

    table: pd.DataFrame

    __repr__ = one_line

    def violations(self) -> pd.DataFrame:
        """Bundles that lie elsewhere for some group by `FLOOR` or more, the largest difference first."""
        significant = self.table[(self.table["q"] <= LEVEL) & (self.table["difference"].abs() >= FLOOR)]
        return significant.reindex(significant["difference"].abs().sort_values(ascending=False).index)

    @property
    def spread(self) -> float:
        """Standard deviation of the differences, their errors taken out; nan where none is known.

        Formula: tau >= 0 with sum of difference^2 / (se^2 + tau^2) = their number, over bundles and groups (Paule and
        Mandel, 1982, Journal of Research of the National Bureau of Standards 87, 377-385).
        """
        squared, error = self.table.loc[self.table["p"].notna(), ["difference", "se"]].to_numpy().T ** 2
        if not len(squared):
            return float("nan")

        def too_wide(variance: float) -> float:
            return float((squared / (error + variance)).mean()) - 1

        return float(np.sqrt(brentq(too_wide, 0, squared.max()))) if too_wide(0) > 0 else 0.0

    @property
    def least(self) -> float:
        """The difference found in 80% wherever it may be; inf where none is."""
        return least_on_average(self.table["least"], int(self.table["p"].notna().sum()))

    def power(self, difference: float) -> float:
        """How often this difference would be found, wherever it may be; 0 where nothing was tested."""
        return power_on_average(difference, self.table["least"], int(self.table["p"].notna().sum()))


def bundle_invariance(matrix: Any, bundles: Any, groups: Any = None) -> BundleInvariance:
    """Test every bundle of questions, for every group of respondents, for a place of its own.

    Formula: above; bundle differential functioning (Douglas, Roussos and Stout, 1996, Journal of Educational
    Measurement 33, 465-484) with the response model in place of a matching score. Any number of bundles.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. bundles: label of each
            question (a Series by question, or in the order of the rows). groups: label of each respondent; None = each
            by itself.

    Returns:
        BundleInvariance. Sign: difference > 0 = easier (more yes) for the group than the others' answers say.

    Raises:
        InputError: the labels do not fit, there are fewer than two bundles or groups, or fewer than three respondents.

    R: `mirt::SIBTEST(x, group, suspect_set)` for one bundle and two groups.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((900, 1)) + 0.6 * rng.standard_normal((900, 10))
    >>> topic = np.arange(900) % 3
    >>> hidden[topic == 2, 0] += 0.5  # easier for the first respondent
    >>> result = bundle_invariance(hidden > 0, topic)
    >>> result.violations().index.tolist()[0], bool(result.violations()["difference"].iloc[0] > 0)
    ((2, 0), True)
    """
    fits = Fits.of(matrix)
    answers, codes, everyone = fits.answers, fits.codes, fits.panel.respondents
    of_questions = labels_of(bundles, answers.questions, answers.questions, "bundles")
    of_respondents = labels_of(everyone if groups is None else groups, everyone, answers.respondents, "groups")
    bundle, bundle_names = pd.factorize(of_questions, sort=True)
    group, group_names = pd.factorize(of_respondents, sort=groups is not None)
    if len(bundle_names) < 2 or len(group_names) < 2:
        raise InputError(
            f"{len(bundle_names)} bundle(s) of questions and {len(group_names)} group(s) of respondents; comparing "
            "needs at least two of each"
        )
    fit = fits.fit(Model("histogram", "common"))
    shown = [(codes == category).astype(float) for category in range(2)]
    likelihood = fit.log_likelihoods(codes)
    in_bundle = np.equal.outer(np.arange(len(bundle_names)), bundle).astype(float)
    prior = _prior_of_bundles(likelihood, in_bundle, np.broadcast_to(fit.log_weight, likelihood.shape), _EM_STEPS)
    p, parts = np.exp(fit.log_p[1]), {}
    for number, name in enumerate(group_names):
        members: Booleans = group == number
        others = likelihood - shown[0][:, members] @ fit.log_p[0][members]
        others -= shown[1][:, members] @ fit.log_p[1][members]
        others += _prior_of_bundles(others, in_bundle, prior, _EM_STEPS_AFTER_ONE)
        where = np.exp(others - others.max(axis=1, keepdims=True))
        where /= where.sum(axis=1, keepdims=True)
        answered = answers.answered[:, members].astype(float)
        count = answered @ p[members]
        expected = (where * count).sum(axis=1)
        by_chance = (where * (answered @ (p * (1 - p))[members])).sum(axis=1)
        by_place = in_bundle @ ((where * count**2).sum(axis=1) - expected**2)
        yes = (answers.yes & answers.answered)[:, members].sum(axis=1)
        sums = {
            "n_questions": answered.any(axis=1).astype(int), "n_answers": answered.sum(axis=1), "yes": yes,
            "expected": expected, "variance": by_chance, "square": (yes - expected) ** 2,
        }  # fmt: skip
        parts[name] = pd.DataFrame({what: in_bundle @ values for what, values in sums.items()}, bundle_names)
        parts[name]["variance"] += by_place / _known(where @ fit.nodes, where @ fit.nodes**2, in_bundle)
    table = _tested(pd.concat(parts, names=["group", "bundle"]))
    return BundleInvariance(table.swaplevel().sort_index(level=0, sort_remaining=False))


def _known(mean: Floats, square: Floats, in_bundle: Floats) -> Floats:
    """(bundle,) share of the variance of its questions' places that is known; its mean is estimated as well."""
    n = np.maximum(in_bundle.sum(axis=1), 1)
    centre = in_bundle @ mean / n
    return np.maximum((in_bundle @ mean**2 / n - centre**2) / (in_bundle @ square / n - centre**2), 0.05)


def _tested(table: pd.DataFrame) -> pd.DataFrame:
    """Sums with the difference of the yes rate, its error, p, q and the least difference."""
    everywhere = table.groupby(level="group", sort=False)[["yes", "expected", "variance", "square"]].transform("sum")
    spread = np.maximum(1, everywhere["square"] / everywhere["variance"])
    share = table["variance"] / everywhere["variance"]
    surplus = table["yes"] - table["expected"] - share * (everywhere["yes"] - everywhere["expected"])
    error = np.sqrt(spread * table["variance"] * (1 - share))
    enough = table["variance"] * (1 - share) >= _LEAST_VARIANCE
    n = ((1 - share) * table["n_answers"]).where(enough)
    half, rate = 0.5 / table["n_answers"].where(enough), table["expected"] / table["n_answers"].where(enough)
    tested = table[["n_questions", "n_answers", "yes", "expected"]].astype(
        {"n_questions": int, "n_answers": int, "yes": int}
    )
    tested["difference"], tested["se"] = surplus / n, error / n
    here, there = (value.clip(half, 1 - half) for value in (rate, rate + tested["difference"]))
    tested["logits"] = np.log(there / (1 - there)) - np.log(here / (1 - here))
    tested["p"] = (2 * ndtr(-(surplus / error).abs())).where(enough)
    tested["q"] = adjusted(tested["p"].to_numpy())
    least = least_z(int(enough.sum()), power=POWER + _FOR_CURVES) * tested["se"]
    least = least.clip(lower=FLOOR + ndtri(POWER) * tested["se"])
    tested["least"] = least.mask(least > np.maximum(rate, 1 - rate), np.inf)
    return tested


def _prior_of_bundles(likelihood: Floats, in_bundle: Floats, start: Floats, steps: int) -> Floats:
    """(question, node) logs of the distribution of the question's bundle, by EM steps from that of `start`."""
    prior = np.empty_like(likelihood)
    for rows in in_bundle > 0:
        of_rows, weight = likelihood[rows], start[rows][0]
        for _ in range(steps):
            joint = of_rows + weight
            joint = np.exp(joint - joint.max(axis=1, keepdims=True))
            mass = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
            weight = np.log(np.maximum(mass, 1e-30))
        prior[rows] = weight
    return prior


def least_on_average(least: Any, n_tests: int = 1) -> float:
    """The effect that is found with a power of 80% if it may be anywhere, where each place has a least effect of its
    own; inf where none is, nan where no place was tested.

    Formula: the root s of mean over places of Phi(z s / least - z + Phi^-1(.8)) = .8, z = least_z(n_tests).

    >>> round(least_on_average([0.2, 0.4], 10), 2)
    0.34
    """
    tested: Floats = np.asarray(least, dtype=float)
    tested = tested[~np.isnan(tested)]
    if not len(tested):
        return float("nan")
    effects = np.geomspace(tested.min(), max(tested.min(), tested[np.isfinite(tested)].max(initial=0)), 201)
    power = [power_on_average(effect, tested, n_tests) for effect in effects]
    return float(np.interp(POWER - 1e-9, power, effects, right=np.inf))


def power_on_average(effect: float, least: Any, n_tests: int = 1) -> float:
    """Compute how often this effect is found if it may be anywhere; 0 where no place was tested.

    Formula: mean over places of Phi(z effect / least - z + Phi^-1(.8)), z = least_z(n_tests).

    >>> round(power_on_average(0.2, [0.2, 0.2, np.nan]), 2)
    0.8
    """
    tested: Floats = np.asarray(least, dtype=float)
    tested = tested[~np.isnan(tested)]
    needed = least_z(n_tests)
    return float(ndtr(needed * effect / tested - needed + ndtri(POWER)).mean()) if len(tested) else 0.0
