"""A second factor that families make is told from one that they do not make."""

import numpy as np
import pandas as pd
import pytest

from onedial.scale.checks.accounts import kin_account
from onedial.scale.factor.structure import one_factor_bootstrap
from onedial.scale.specific.specific_factors import specific_factors

FAMILIES = list("aaaabbbbccccd")


def panel(seed: int, family: float = 0.0, second: float = 0.0) -> pd.DataFrame:
    """One scale, floors and lapses of 5%, what each family shares, and a second scale that every other one follows."""
    rng = np.random.default_rng(seed)
    n, m = 800, len(FAMILIES)
    shared = rng.standard_normal((n, 4))[:, [ord(name) - ord("a") for name in FAMILIES]]
    other = rng.standard_normal((n, 1)) * (np.arange(m) % 2)
    rest = np.sqrt(1 - 0.49 - family**2 - second**2)
    hidden = 0.7 * rng.exponential(1, (n, 1)) + family * shared + second * other + rest * rng.standard_normal((n, m))
    yes = hidden > np.linspace(0.1, 1.2, m)
    return pd.DataFrame(np.where(rng.random((n, m)) < 0.05, rng.random((n, m)) < 0.5, yes).astype(float))


def second_p(values: pd.DataFrame) -> float:
    """p of the second eigenvalue beside what the families make of it."""
    specific = specific_factors(values, FAMILIES, scale="histogram", asymptotes="own")
    return float(kin_account(values, specific, n_replicates=39).p)


@pytest.mark.long
def test_families_explain_the_second_factor_that_they_make_under_guesses_and_skew() -> None:
    made = panel(0, family=0.55)
    assert one_factor_bootstrap(made, n_replicates=39).second.p < 0.05
    assert second_p(made) > 0.05


@pytest.mark.long
def test_families_do_not_explain_a_second_scale() -> None:
    assert second_p(panel(1, second=0.55)) < 0.05
