"""Which respondent does not belong on the scale?

Every answer is predicted from everybody else's answers to the question, and the surprise is added up:

    P_qi = sum_z p(z | answers to q, i's left out) P_i(yes | z),    W = P (1 - P)
    infit = sum (x - P)^2 / sum W,    outfit = mean of (x - P)^2 / W        1 = as surprising as it should be
    l_z = (sum log P(x) - its mean) / its standard deviation                below 0 = more surprising

A respondent is judged by a curve as steep as that of all (Rasch): with one of its own, whoever answers by dice fits
perfectly. Answers at random that are as frequent for all are in every curve: where all guess, one that nearly always
says yes would else be called a stranger. l_z judges it; infit hardly sees a respondent that nearly always says the
same, and outfit sees nothing but its rare answers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, xlogy

from onedial.core.cards import one_line
from onedial.scale.expectation import MISSING, Codes
from onedial.scale.fits import Fits
from onedial.scale.likelihood import MarginalFit, Model
from onedial.scale.response_curves import SALIENT, Chances, Curves, answers_other_way
from onedial.scale.standard_errors import loading_errors
from onedial.stats.answers import names
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, Z_95
from onedial.stats.multiple_tests import adjusted

OTHER_LOADING = 0.1
"""By how much a loading must differ from that of all for the difference to be called one, however certain it is."""
FEWEST_TO_NAME = 50
"""Answers below which nobody is said not to belong, or to answer the other way round: with 33 answers each, guesses,
skew, families and gaps together make strangers of some who follow the scale (`scripts/simulate.py structure page`)."""
FITS, LOOSER, CLOSER = "as the others", "less closely than the others", "more closely than the others"
_SHOWN = 4


@dataclass(frozen=True)
class AnswerFit:
    """How surprising the answers are.

    Attributes:
        respondents: index respondent; `n` answers, `infit, outfit, l_z, p` (two-sided), `q` (adjusted), `follows` (how
            closely: q <= .05, and a loading that differs by `OTHER_LOADING` from that of all), `loading` and `place`
            of its own curve (the difficulty to which it says yes half of the time; nan for a loading below `SALIENT`),
            `loading_low`, `loading_high` (its 95% interval), `belongs` (not shown to load below `SALIENT`: one-sided p,
            adjusted, above .025), `reversed` (`answers_other_way`); of fewer than `FEWEST_TO_NAME` answers it is said
            of nobody that it does not belong or is reversed.
        information: `difficulty, information`, of all respondents' own curves together.
        loading: of the curve that is as steep as that of all, but for its sign.
    """

    respondents: pd.DataFrame
    information: pd.DataFrame
    loading: float

    __repr__ = one_line

    def sentences(self) -> list[str]:
        """Who does not follow the scale as the others do."""
        table = self.respondents
        loose = table[(table["follows"] == LOOSER) & ~table["reversed"]].sort_values("l_z")
        sentences = [
            f"None of {len(table)} respondents was found to follow the scale less or more closely than the others."
        ]
        if len(loose):
            each = names((f"{name} {loading:.2f}" for name, loading in loose["loading"].items()), _SHOWN)
            sentences = [
                f"{len(loose)} of {len(table)} respondents follow{'s' * (len(loose) == 1)} the scale less closely than "
                f"the others (loadings, {self.loading:.2f} for all: {each})."
            ]
        elif (table["follows"] == CLOSER).any():
            sentences = ["No respondent follows the scale less closely than the others."]
        if few := int((table["n"] < FEWEST_TO_NAME).sum()):
            sentences.append(
                f"{few} of {len(table)} respondents gave fewer than {FEWEST_TO_NAME} answers: too few to say who does "
                "not belong, or answers the other way round."
            )
        return sentences + strangers(table, "yes where the others say no")


def answer_fit(matrix: Any) -> AnswerFit:
    """Infit, outfit and l_z of every respondent.

    Formula: above (Wright and Masters, 1982, Rating Scale Analysis; Drasgow, Levine and Williams, 1985, British Journal
    of Mathematical and Statistical Psychology 38, 67-86), each answer predicted without itself; p from the normal
    distribution.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.

    Returns:
        AnswerFit. Sign: infit above 1 and l_z below 0 = more surprising than the model; difficulty higher = harder.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `mirt::personfit(mirt::mirt(t(x), 1, "Rasch"))` for the statistics, not leaving the answer out.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((800, 1)) + 0.6 * rng.standard_normal((800, 9))
    >>> hidden[:, 0] = rng.standard_normal(800)  # answers by dice
    >>> result = answer_fit(hidden > 0)
    >>> result.respondents["belongs"].tolist()
    [False, True, True, True, True, True, True, True, True]
    """
    fits = Fits.of(matrix)
    answers, codes, fit = fits.answers, fits.codes, fits.fit(Model("histogram", "common"))
    # with one slope for all, answers by dice would pass for guesses that all make: those are taken from the other fit
    alike = fits.equal_slopes(fit)
    loading = fit.curves.loading
    respondents = _summed(codes, _predicted(codes, alike), answers.respondents)
    respondents["p"] = 2 * ndtr(-respondents["l_z"].abs())
    respondents["q"] = adjusted(respondents["p"].to_numpy())
    certain, differs = respondents["q"] <= LEVEL, np.abs(loading) - np.abs(alike.curves.loading)
    lower, higher = (certain & (side * differs >= OTHER_LOADING) for side in (-1, 1))
    respondents["follows"] = np.select([lower, higher], [LOOSER, CLOSER], FITS)
    error = Z_95 * loading_errors(fit)
    respondents["loading"] = loading
    respondents["loading_low"], respondents["loading_high"] = loading - error, loading + error
    many = respondents["n"] >= FEWEST_TO_NAME
    respondents["reversed"] = answers_other_way(loading, loading_errors(fit)) & many
    below = adjusted(ndtr((loading - SALIENT) / loading_errors(fit)))
    respondents["belongs"] = ~many | ~(respondents["reversed"] | (loading < SALIENT) & (below <= LEVEL / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        respondents["place"] = np.where(loading >= SALIENT, fit.curves.cuts[0] / fit.curves.slope, np.nan)
    return AnswerFit(
        respondents=respondents,
        information=information_of(fit.curves),
        loading=float(np.abs(alike.curves.loading).mean()),
    )


def strangers(table: pd.DataFrame, turned: str) -> list[str]:
    """Who answers the other way round, and who does not belong, by `reversed` and `belongs`: names with their loadings
    and the 95% intervals of these."""
    kinds = {
        f"The other way round, {turned}": table["reversed"],
        f"Not on this scale, by a loading below {SALIENT:g}": ~table["belongs"] & ~table["reversed"],
    }
    form = "{} {:.2f} ({:.2f} to {:.2f})".format
    rows = table[["loading", "loading_low", "loading_high"]]
    each = {words: ", ".join(form(*row) for row in rows[who].itertuples()) for words, who in kinds.items()}
    return [f"{words}: {who}.".replace(" (nan to nan)", "") for words, who in each.items() if who]


def _predicted(codes: Codes, fit: MarginalFit) -> Floats:
    """(question, respondent) chances of a yes given all other answers to the question."""
    joint = fit.log_likelihoods(codes) + fit.log_weight
    p = np.exp(fit.log_p[1])
    return np.column_stack([_without(joint, codes, fit, i) @ p[i] for i in range(codes.shape[1])])


def _without(joint: Floats, codes: Codes, fit: MarginalFit, i: int) -> Floats:
    """(question, node) where each question probably lies by the answers of everyone but i."""
    log_p = np.stack([fit.log_p[0, i], fit.log_p[1, i], np.zeros(len(fit.nodes))])  # the last where there is no answer
    others = joint - log_p[codes[:, i]]
    posterior = np.exp(others - others.max(axis=1, keepdims=True))
    return posterior / posterior.sum(axis=1, keepdims=True)


def _summed(codes: Codes, p: Floats, labels: pd.Index) -> pd.DataFrame:
    """Statistics of each respondent over its questions."""
    known = codes != MISSING
    p = np.clip(p, 1e-9, 1 - 1e-9)
    weight, squared = p * (1 - p), (codes - p) ** 2
    surprise = xlogy(codes == 1, p) + xlogy(codes == 0, 1 - p) - (p * np.log(p) + (1 - p) * np.log(1 - p))
    spread = weight * np.log(p / (1 - p)) ** 2

    def total(values: Floats) -> Floats:
        return np.where(known, values, 0.0).sum(axis=0)

    n = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "n": n,
            "infit": total(squared) / total(weight),
            "outfit": total(squared / weight) / n,
            "l_z": total(surprise) / np.sqrt(total(spread)),
        }
    return pd.DataFrame(columns, labels)


def information_of(curves: Curves) -> pd.DataFrame:
    """What the answers of all tell of a question's place: `difficulty, information` (1 / SE^2).

    Formula: sum over respondents and categories of a^2 (phi_k - phi_k+1)^2 / P_k (Samejima, 1969); for yes and no
    (a phi)^2 / (P (1 - P)).
    """
    nodes = np.linspace(-4, 4, 81)
    chances = Chances.of(curves, nodes)
    rises = np.abs(np.diff(np.exp(chances.log_rise), axis=0, prepend=0, append=0))
    with np.errstate(divide="ignore"):
        information = (curves.slope[:, None] ** 2 * np.exp(2 * np.log(rises) - chances.log_p)).sum(axis=(0, 1))
    return pd.DataFrame({"difficulty": -nodes[::-1], "information": information[::-1]})
