"""Variance components are those of the analysis of variance, and where answers are missing those planted."""

import numpy as np
import pandas as pd
import pytest

from onedial.core import InputError
from onedial.scale import generalizability

STANDARD = {"model": 0.6, "framing": 0.3, "question": 1.0, "model x question": 0.5, "model x framing": 0.2}


def planted(sizes: tuple[int, int, int], n_samples: int, seed: int) -> pd.DataFrame:
    """Answers of random effects, not cut to yes and no, so that the truth is known exactly."""
    rng = np.random.default_rng(seed)
    m, f, q = sizes
    effects = {
        "model": (m, 1, 1, 1), "framing": (1, f, 1, 1), "question": (1, 1, q, 1), "model x question": (m, 1, q, 1),
        "model x framing": (m, f, 1, 1),
    }  # fmt: skip
    value = 0.8 * rng.standard_normal((m, f, q, n_samples))
    for name, shape in effects.items():
        value = value + STANDARD[name] * rng.standard_normal(shape)
    index = pd.MultiIndex.from_product([range(m), range(f), range(q), range(n_samples)])
    table = pd.Series(value.ravel(), index.set_names(["model", "framing", "question", "sample"])).rename("yes")
    return table.reset_index()


def test_complete_answers_give_what_the_analysis_of_variance_gives() -> None:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    m, f, q, s = 5, 3, 6, 2
    table = planted((m, f, q), s, 0)
    anova = anova_lm(ols("yes ~ C(model) * C(framing) * C(question)", table).fit())
    square = (anova["sum_sq"] / anova["df"]).rename(lambda name: name.replace("C(", "").replace(")", ""))
    triple = (square["model:framing:question"] - square["Residual"]) / s
    expected = {
        "sample": square["Residual"],
        "model x framing x question": triple,
        "model x question": (square["model:question"] - square["model:framing:question"]) / (s * f),
        "model": (
            square["model"] - square["model:framing"] - square["model:question"] + square["model:framing:question"]
        ) / (s * f * q),
    }  # fmt: skip
    found = generalizability(table).components["variance"]
    for part, value in expected.items():
        assert found[part] == pytest.approx(value, abs=1e-10), part


def test_planted_variances_are_found_where_a_third_of_the_answers_is_missing() -> None:
    found = []
    for seed in range(8):
        table = planted((30, 10, 120), 1, seed)
        gone = np.random.default_rng(seed + 100).random(len(table)) < 1 / 3
        found.append(generalizability(table.assign(yes=table["yes"].where(~gone))).components["variance"])
    mean, error = pd.DataFrame(found).mean(), pd.DataFrame(found).sem()
    for part, standard in {**STANDARD, "sample": 0.8, "framing x question": 0.0}.items():
        assert abs(mean[part] - standard**2) < 4 * error[part], part


def test_the_error_that_is_promised_is_the_error_that_thresholds_have() -> None:
    rng = np.random.default_rng(3)
    table = planted((40, 4, 400), 1, 3)
    found = generalizability(table.assign(yes=table["yes"] > 0))
    errors = []
    for _ in range(40):  # the same models, other questions of the same kind
        drawn = rng.choice(400, 50, replace=False)
        part = table[table["question"].isin(drawn)].assign(yes=lambda rows: (rows["yes"] > 0).astype(float))
        errors.append(part.groupby("model")["yes"].mean())
    each = pd.DataFrame(errors)
    relative = each.sub(each.mean(axis=1), axis=0).std().pow(2).mean() / (1 - 50 / 400)
    promised = found.components["variance"]["model x question"] / 50
    promised += found.components["variance"]["sample"] / 200
    assert promised == pytest.approx(relative, rel=0.2)


def test_more_questions_and_framings_make_a_threshold_surer_and_enough_are_named() -> None:
    table = planted((12, 4, 200), 1, 1)
    found = generalizability(table.assign(yes=table["yes"] > 0))
    needed = found.needed(0.1, (1, 8, 64, 512))
    assert found.threshold_se(100, 4) < found.threshold_se(100, 1) < found.threshold_se(20, 1)
    assert found.threshold_se(100, 4) < found.threshold_se(100, 4, absolute=True)
    assert needed["relative"].is_monotonic_decreasing
    assert not np.isfinite(needed["relative"][1])
    n = int(needed["relative"][512])
    assert found.threshold_se(n, 512) <= 0.1 < found.threshold_se(n - 1, 512)


def test_one_framing_and_a_missing_column_are_refused() -> None:
    table = planted((3, 2, 4), 1, 2)
    with pytest.raises(InputError, match="1 framing"):
        generalizability(table[table["framing"] == 0])
    with pytest.raises(InputError, match="has no yes"):
        generalizability(table.drop(columns="yes"))
