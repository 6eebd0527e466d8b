"""Reference files that R made (tests/reference/psychometrics.R), and simulated answers with known truth."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from onedial.confidence.tokens import TokenStatistics

REFERENCE = Path(__file__).parents[1] / "reference"


def answers(name: str) -> pd.DataFrame:
    """Question x respondent answers of `{name}_X.csv`."""
    return pd.read_csv(REFERENCE / f"{name}_X.csv")


def matrix(name: str) -> np.ndarray:
    """A square or rectangular table that R wrote, without its names."""
    return pd.read_csv(REFERENCE / f"{name}.csv", index_col=0).to_numpy(dtype=float)


@dataclass(frozen=True)
class Truth:
    """Simulated answers and what they were made of."""

    answers: np.ndarray
    easiness: np.ndarray
    loadings: np.ndarray
    thresholds: np.ndarray


def one_factor(
    seed: int,
    n_questions: int = 1000,
    n_respondents: int = 19,
    rates: tuple[float, float] = (0.1, 0.9),
    loadings: tuple[float, float] = (0.5, 0.95),
    missing: float = 0.0,
) -> Truth:
    """Answers from one factor; yes rates and loadings evenly spaced and then shuffled against each other."""
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    slope = rng.permutation(np.linspace(*loadings, n_respondents))
    limit = ndtri(rng.permutation(np.linspace(*rates, n_respondents)))
    easiness = rng.standard_normal(n_questions)
    latent = slope * easiness[:, None] + np.sqrt(1 - slope**2) * rng.standard_normal((n_questions, n_respondents))
    values = (latent > -limit).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return Truth(values, easiness, slope, limit)


def equal_loadings(
    kind: str, rates: np.ndarray, n: int, rng: np.random.Generator, loading: float | np.ndarray = 0.8
) -> np.ndarray:
    """Answers from one scale of that kind, at these yes rates; nobody answers in one way only."""
    from simulations.structure import panel

    return panel(kind, n, rates, loading, rng)[0]


def token_statistics(logits, written):
    """The four numbers of each written token, from whole distributions; see `onedial.confidence.TokenStatistics`."""
    log_p = log_softmax(np.asarray(logits, dtype=float), axis=1)
    top = np.sort(log_p, axis=1)[:, -2:]
    return TokenStatistics(
        log_p[np.arange(len(written)), list(written)],
        -(np.exp(log_p) * log_p).sum(axis=1),
        -np.log(log_p.shape[1]) - log_p.mean(axis=1),
        top[:, 1] - top[:, 0],
    )
