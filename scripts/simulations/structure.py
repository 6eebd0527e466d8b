"""Count how often tests of structure speak, with and without something there (docs/evidence.md).

Each line is a kind of panel and a test: the share of simulated panels in which p <= .05, or another number where it
says so, and its standard error over panels.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from onedial.scale.checks.bundles import bundle_invariance
from onedial.scale.checks.question_bootstrap import bootstrap_questions
from onedial.scale.factor.factor_fit import factor_fit
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.nulls import Nulls
from onedial.scale.factor.structure import one_factor_bootstrap, quadratic_fit_test
from onedial.scale.misfit.answer_fit import answer_fit
from onedial.scale.scale_distribution import scale_distribution
from onedial.scale.study.the_panel import copies_among
from onedial.stats.answers import as_answers
from simulations.frame import Cell, Found, Simulation, by_cell, mean_and_error

MIDDLE = np.linspace(0.2, 0.8, 19)
EXTREME = np.concatenate([np.linspace(0.01, 0.05, 6), np.linspace(0.2, 0.8, 7), np.linspace(0.95, 0.99, 6)])
B = 99


def places(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the easiness of n questions, mean 0 and variance 1."""
    if kind == "exponential":
        return rng.exponential(size=n) - 1
    if kind == "bimodal":
        return rng.choice([-0.9, 0.9], n) + np.sqrt(0.19) * rng.standard_normal(n)
    return rng.standard_normal(n)


def panel(
    kind: str, n: int, rates: np.ndarray, loading: float | np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw answers with these yes rates, nobody in one way only, and the easiness of the questions."""
    loading = np.broadcast_to(loading, len(rates))
    noise = np.sqrt(1 - loading**2)
    many = places(kind, 100_000, rng)[:, None] * loading + noise * rng.standard_normal((100_000, len(rates)))
    cuts = np.array([np.quantile(column, 1 - rate) for column, rate in zip(many.T, rates, strict=True)])
    while True:
        easiness = places(kind, n, rng)
        answers = (easiness[:, None] * loading + noise * rng.standard_normal((n, len(rates))) > cuts).astype(float)
        if ((answers.mean(axis=0) > 0) & (answers.mean(axis=0) < 1)).all():
            return answers, easiness


def grouped_scales(n: int, m: int, groups: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Draw answers of groups of respondents whose scales correlate; loadings .8."""
    scales = np.sqrt(correlation) * rng.standard_normal((n, 1))
    scales = scales + np.sqrt(1 - correlation) * rng.standard_normal((n, groups))
    latent = 0.8 * scales[:, np.arange(m) % groups] + 0.6 * rng.standard_normal((n, m))
    return (latent > rng.uniform(-0.8, 0.8, m)).astype(float)


def at_random(answers: np.ndarray, share: float, yes: float, rng: np.random.Generator) -> np.ndarray:
    """Give that share of the answers at random, yes with that chance."""
    return np.where(rng.random(answers.shape) < share, rng.random(answers.shape) < yes, answers).astype(float)


def with_rates(hidden: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Cut hidden values into answers with these yes rates."""
    return (hidden > np.quantile(hidden, 1 - rates, axis=0).diagonal()).astype(float)


def without_hard_ones(answers: np.ndarray, easiness: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Leave out most of the hard questions for the first third of the respondents."""
    gone = rng.random(answers.shape) < 1 / (1 + np.exp(2.5 * (easiness[:, None] + 0.3)))
    gone[:, answers.shape[1] // 3 :] = False
    return np.where(gone, np.nan, answers)


def every_test(kind: str, rng: np.random.Generator, seed: int) -> Found:
    answers, _ = panel(kind, 1000, rng.permutation(MIDDLE), 0.8, rng)
    compared = scale_distribution(answers).comparison
    row: dict[str, float] = {
        "R² of the parabola, minres": fit_factor_model(answers).quadratic_fit.r2,
        "R² by marginal likelihood, normal scale": compared["quadratic_r2"]["normal"],
        "R² by marginal likelihood, histogram": compared["quadratic_r2"]["histogram"],
        "normality rejected": compared["p"]["smooth"] <= 0.05,
    }
    nulls = Nulls.of(answers, B, seed)
    for shape in ("normal", "histogram"):
        one_factor = one_factor_bootstrap(nulls, scale=shape, asymptotes="none")
        row |= {
            f"parabola, {shape} null": quadratic_fit_test(nulls, scale=shape, asymptotes="none").p <= 0.05,
            f"second factor, {shape} null": one_factor.second.p <= 0.05,
            f"smallest eigenvalue, {shape} null": one_factor.smallest.p <= 0.05,
        }
    return row


def at_extreme_rates(n: int, rng: np.random.Generator, seed: int) -> Found:
    answers, _ = panel("normal", n, EXTREME, 0.8, rng)
    return {"parabola": quadratic_fit_test(answers, n_replicates=B, seed=seed).p <= 0.05}


def a_true_parabola(rng: np.random.Generator, seed: int) -> Found:
    limits = np.linspace(-0.9, 0.9, 16)
    slope = 0.9 - 0.3 * limits**2
    latent = slope * rng.standard_normal((1000, 1)) + np.sqrt(1 - slope**2) * rng.standard_normal((1000, 16))
    return {"parabola": quadratic_fit_test((latent > -limits).astype(float), n_replicates=B, seed=seed).p <= 0.05}


def gaps_in_one_factor(rng: np.random.Generator, seed: int) -> Found:
    answers, easiness = panel("normal", 1500, rng.permutation(MIDDLE), rng.uniform(0.6, 0.9, 19), rng)
    answers = without_hard_ones(answers, easiness, rng)
    return {"second factor": one_factor_bootstrap(answers, n_replicates=B, seed=seed).second.p <= 0.05}


def gaps_in_two_scales(rng: np.random.Generator, seed: int) -> Found:
    answers = grouped_scales(800, 18, 2, 0.8, rng)
    level = answers.mean(axis=1)
    answers = without_hard_ones(answers, (level - level.mean()) / level.std(), rng)
    return {"second factor": one_factor_bootstrap(answers, n_replicates=B, seed=seed).second.p <= 0.05}


def a_topic_elsewhere(shifted: bool, rng: np.random.Generator, _: int) -> Found:
    # A topic that is easier, or harder, for a family by the least shift that is printed; a tenth is guessed yes.
    n, m = 480, 20
    topic, family = rng.permutation(np.arange(n) % 6), np.repeat(np.arange(m // 4), 4)
    place = np.linspace(-0.7, 0.7, 6)[topic] + rng.standard_normal(n)
    loading, cut = rng.uniform(0.6, 0.9, m), ndtri(rng.uniform(0.25, 0.75, m))
    noise, guessed = rng.standard_normal((n, m)), rng.random((n, m)) < 0.1
    noise = np.sqrt(1 - loading**2) * noise

    def answers(move: Any) -> np.ndarray:
        return (guessed | (loading * (place[:, None] + move) + cut + noise > 0)).astype(float)

    result = bundle_invariance(answers(0), topic, family)
    if not shifted:
        row = {"some topic lies elsewhere": len(result.violations()) > 0}
        return row | {"the difference found in 80%, as printed (mean)": result.least}
    where, who, side = rng.integers(6), rng.integers(m // 4), rng.choice([-1, 1])
    here = np.outer(topic == where, family == who)

    def too_small(move: float) -> float:
        rates = [ndtr((loading * (place[:, None] + step) + cut) / np.sqrt(1 - loading**2))[here] for step in (0, move)]
        return 0.9 * abs(float(np.mean(rates[1] - rates[0]))) - result.least  # a tenth is guessed

    moved = side * brentq(lambda move: too_small(side * move), 0, 9) * here
    named = bundle_invariance(answers(moved), topic, family).violations().index
    return {"the topic that lies elsewhere is named": (where, who) in named}


def fit_of_one_factor(rng: np.random.Generator, _: int) -> Found:
    answers, _ = panel("normal", 500, rng.permutation(MIDDLE[:12]), rng.uniform(0.5, 0.9, 12), rng)
    fit = factor_fit(answers)
    return {"misfit": fit.p <= 0.05, "RMSEA (mean)": fit.rmsea}


def fit_of_two_scales(correlation: float, rng: np.random.Generator, _: int) -> Found:
    fit = factor_fit(grouped_scales(600, 12, 2, correlation, rng))
    return {"misfit": fit.p <= 0.05, "RMSEA (mean)": fit.rmsea}


def loadings_covered(rng: np.random.Generator, seed: int) -> Found:
    loading = rng.uniform(0.5, 0.85, 8)
    answers, _ = panel("normal", 400, rng.permutation(MIDDLE[4:12]), loading, rng)
    table = bootstrap_questions(answers, n_replicates=199, seed=seed).respondents
    return {
        "95% intervals of loadings cover": (
            (table["loading_low"] < loading) & (loading < table["loading_high"])
        ).mean(),
    }


def thresholds_covered(rng: np.random.Generator, seed: int) -> Found:
    # A respondent's noise is half the topic's: questions of a topic are no independent evidence about a loading.
    loading, topic = rng.uniform(0.5, 0.85, 8), np.arange(600) % 30
    noise = np.sqrt(0.5) * (rng.standard_normal((30, 8))[topic] + rng.standard_normal((600, 8)))
    latent = loading * rng.standard_normal((600, 1)) + np.sqrt(1 - loading**2) * noise
    answers = (latent > 0).astype(float)
    row = {}
    for name, groups in (("questions", None), ("topics", topic)):
        table = bootstrap_questions(answers, n_replicates=199, seed=seed, groups=groups).respondents
        low, high = table["threshold_low"], table["threshold_high"]
        row[f"95% intervals of thresholds cover, over {name}"] = ((low < 0) & (high > 0)).mean()
    return row


def said_of_one_scale(
    n: int, m: int, disturbed: bool, odd: tuple[float, ...], rng: np.random.Generator, _: int
) -> Found:
    # What the page of a scale says in words, of one scale with all that may be taken for more at once.
    family, loading = np.arange(m) // 3, rng.uniform(0.55, 0.8, m)
    loading[: len(odd)] = odd
    place, share = places("exponential" if disturbed else "normal", n, rng), 0.1 * disturbed
    hidden = loading * place[:, None] + np.sqrt(share) * rng.standard_normal((n, m // 3))[:, family]
    hidden = hidden + np.sqrt(1 - loading**2 - share) * rng.standard_normal((n, m))
    rates = rng.permutation(np.linspace(0.25, 0.75, m))
    answers = with_rates(hidden, rates)
    if disturbed:
        answers = without_hard_ones(at_random(answers, 0.1, 0.5, rng), place, rng)
    respondents = answer_fit(answers).respondents.reindex(range(m))
    turned = (respondents["reversed"] == True).to_numpy()  # noqa: E712 - nobody says it of those that do not vary
    off = (respondents["belongs"] == False).to_numpy() & ~turned  # noqa: E712
    planted = np.arange(m) < len(odd)
    row = {
        "somebody is said to answer the other way round": (turned & (loading >= 0)).any(),
        "somebody is said not to belong": (off & ~planted).any(),
        "two are said to be one respondent": len(copies_among(as_answers(answers))) > 0,
    }
    if odd:
        row["who answers the other way round is named"] = turned[loading < 0].all()
        row["who answers by dice is named"] = off[loading == 0].all()
    return row if m > 30 else row | fit_in_words(answers)


def said_of_two_scales(rng: np.random.Generator, _: int) -> Found:
    return fit_in_words(grouped_scales(400, 12, 2, 0.0, rng))


def fit_in_words(answers: np.ndarray) -> Found:
    """Ask what the page says of the fit of one factor."""
    sentence = factor_fit(answers).sentence()
    return {
        "one factor is said not to fit": "not fit" in sentence or "not by another" in sentence,
        "one factor is said to fit closely": "closely" in sentence,
    }


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def cells(sets: int, draw: Callable[..., Found], panels: Mapping[str, tuple[Any, ...]]) -> list[Cell]:
    """Draw so many panels of each kind: its name, and what `draw` is given before random numbers and seed."""

    def seeded(name: str, given: tuple[Any, ...]) -> Callable[[int], Found]:
        return lambda seed: draw(*given, np.random.default_rng([len(name), seed]), seed)

    return [Cell(name, sets, seeded(name, given)) for name, given in panels.items()]


DISTURBED = "one scale, a tenth random, exponential, families of three, gaps"
STUDIES: dict[str, list[Cell]] = {
    "scale": cells(
        200, every_test, {f"{kind} scale, 1000 x 19": (kind,) for kind in ("normal", "exponential", "bimodal")}
    ),
    "extremes": [
        *cells(100, at_extreme_rates, {f"equal loadings at extreme rates, half, {n} x 19": (n,) for n in (300, 1000)}),
        *cells(25, a_true_parabola, {"a true parabola, .90 to .66, 1000 x 16": ()}),
    ],
    "gaps": [
        *cells(100, gaps_in_one_factor, {"one factor, gaps on hard questions, 1500 x 19": ()}),
        *cells(25, gaps_in_two_scales, {"two scales that correlate .8, gaps on hard questions, 800 x 18": ()}),
    ],
    "bundles": cells(
        40,
        a_topic_elsewhere,
        {
            "no topic elsewhere, a tenth guessed yes, 480 x 20": (False,),
            "one topic elsewhere for a family, a tenth guessed yes, 480 x 20": (True,),
        },
    ),
    "fit": [
        *cells(100, fit_of_one_factor, {"one factor, 500 x 12": ()}),
        *cells(100, fit_of_two_scales, {f"two scales that correlate {r}, 600 x 12": (r,) for r in (0.9, 0.8)}),
    ],
    "intervals": [
        *cells(200, loadings_covered, {"one factor, 400 x 8": ()}),
        *cells(200, thresholds_covered, {"noise of topics, 600 x 8, 30 topics": ()}),
    ],
    "page": [
        *cells(
            50,
            said_of_one_scale,
            {
                "one scale, 400 x 12": (400, 12, False, ()),
                f"{DISTURBED}, 400 x 12": (400, 12, True, ()),
                "one scale, 33 x 60": (33, 60, False, ()),
                f"{DISTURBED}, 33 x 60": (33, 60, True, ()),
                "the same, one the other way round and one by dice, 400 x 12": (400, 12, True, (-0.6, 0.0)),
            },
        ),
        *cells(50, said_of_two_scales, {"two scales that have nothing to do with each other, 400 x 12": ()}),
    ],
}
SIMULATION = Simulation(STUDIES, by_cell(mean_and_error, "study", "panel", "sets"))
