"""Compare where `onedial place` says that newcomers of known kinds stand, after 25 answers (docs/evidence.md).

Panels of 20 respondents (five families, each with something of its own besides the shared scale) on 500 questions; 20
newcomers of each kind to each panel. `follows`: how often it is said that the answers follow the scale, which is true
of the first four kinds; `rmse` and `coverage` of the threshold, where there is one; `rate_rmse` of the yes rate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.scale.place.question_bank import QuestionBank
from simulations.frame import Cell, Rows, Simulation, by_cell

N_QUESTIONS, N_RESPONDENTS, N_FAMILIES = 500, 20, 5
ANSWERS, NEWCOMERS, SETS = 25, 20, 10
OF_FAMILY = 0.3
"""Loading on what a family has of its own."""


@dataclass(frozen=True)
class Panel:
    """Hold a panel and what it was made of: (question,) easiness, (question, family) what each family has besides."""

    bank: QuestionBank
    answers: np.ndarray
    easiness: np.ndarray
    families: np.ndarray


def says_yes(threshold: float, shared: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw (question,) answers of a respondent whose hidden variable is `shared` and noise, of variance 1 together."""
    noise = np.sqrt(max(0.0, 1 - shared.var()))
    return shared + noise * rng.standard_normal(len(shared)) > -threshold


@cache
def panel(seed: int) -> Panel:
    rng = np.random.default_rng([0, seed])
    easiness = rng.standard_normal(N_QUESTIONS)
    families = rng.standard_normal((N_QUESTIONS, N_FAMILIES))
    family = np.arange(N_RESPONDENTS) % N_FAMILIES
    answers = np.column_stack([
        says_yes(rng.normal(0.5, 0.7), rng.uniform(0.6, 0.9) * easiness + OF_FAMILY * families[:, family_code], rng)
        for family_code in family
    ])  # fmt: skip
    frame = pd.DataFrame(answers.astype(float), columns=[f"m{place}" for place in range(N_RESPONDENTS)])
    bank = QuestionBank.of(frame, pd.Series(family, frame.columns))
    return Panel(bank, answers, easiness, families)


Kind = Callable[[Panel, np.random.Generator], np.ndarray]


def like_the_panel(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return says_yes(rng.normal(0.5, 0.7), rng.uniform(0.6, 0.9) * given.easiness, rng)


def of_a_family(given: Panel, rng: np.random.Generator) -> np.ndarray:
    of_family = given.families[:, rng.integers(N_FAMILIES)]
    return says_yes(rng.normal(0.5, 0.7), rng.uniform(0.6, 0.9) * given.easiness + OF_FAMILY * of_family, rng)


def copy(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return given.answers[:, rng.integers(N_RESPONDENTS)]


def with_tosses(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(N_QUESTIONS) < 0.1, rng.random(N_QUESTIONS) < 0.5, like_the_panel(given, rng))


def unrelated(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return says_yes(rng.normal(0.5, 0.7), np.zeros(N_QUESTIONS), rng)


def guesser(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return rng.random(N_QUESTIONS) < 0.5


def always_yes(given: Panel, rng: np.random.Generator) -> np.ndarray:
    return np.ones(N_QUESTIONS, dtype=bool)


KINDS: dict[str, Kind] = {
    "like the panel": like_the_panel,
    "of a family in the panel": of_a_family,
    "copy of a respondent": copy,
    "a tenth of it coin tosses": with_tosses,
    "unrelated to the scale": unrelated,
    "coin tosses": guesser,
    "always yes": always_yes,
}


def newcomers(kind: str, seed: int) -> list[dict[str, float]]:
    """Place newcomers of a kind beside one panel."""
    given, rows = panel(seed), []
    for number in range(NEWCOMERS):
        answers = KINDS[kind](given, np.random.default_rng([1, seed, number]))
        placement = given.bank.place({})
        for _ in range(ANSWERS):
            (question,) = placement.next_questions(1, number)
            placement = placement.after(question, bool(answers[question]))
        truth, (low, high) = float(ndtri(answers.mean())), placement.interval
        row = {"error": placement.threshold - truth, "covered": low <= truth <= high}
        row |= {"of_rate": placement.yes_rate - answers.mean(), "follows": placement.follows}
        rows.append(row)
    return rows


def told(draws: pd.DataFrame) -> Rows:
    with_threshold = draws[np.isfinite(draws["error"])]
    return [
        {
            "n": len(draws),
            "rmse": float(np.sqrt((with_threshold["error"] ** 2).mean())),
            "coverage": with_threshold["covered"].mean(),
            "rate_rmse": float(np.sqrt((draws["of_rate"] ** 2).mean())),
            "follows": draws["follows"].mean(),
        }
    ]


SIMULATION = Simulation(
    {"newcomers": [Cell(kind, SETS, partial(newcomers, kind)) for kind in KINDS]}, by_cell(told, "kind", "sets")
)
