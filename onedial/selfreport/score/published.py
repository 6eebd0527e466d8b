"""What two studies printed of their models, beside what was found here."""

from collections.abc import Mapping
from contextlib import ExitStack

import numpy as np
import pandas as pd
from scipy.stats import t as student

from onedial.asking.named_data import embedded_file
from onedial.core.errors import InputError
from onedial.stats.level import QUANTILES_95

SELF_EXECUTION = "self_execution_published.csv"
NEAR, NEAR_TOKENS = 0.005, 0.01
SELF_EFFICACY = {
    "alpha over models, lowest condition": 0.785,
    "alpha over models, highest condition": 0.915,
    "ICC (the study says above .9, and not of what)": 0.9,
    "share of statements rated the same each time": 0.95,
    "points added by 'are you confident?', all statements": -1.3,
    "lowest mean of a model without a task": 1.0,
    "share right, computation": 1.0,
    "share right, social reasoning": 1.0,
}
"""What the self-efficacy study prints of ten models and the ten GSES statements (arXiv 2511.19872)."""


def beside_self_execution(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Set every figure of the three tests beside what the Self-Execution study published of its models.

    Formula: median, least and largest over models, here and there. `same` models carry the study's names; as_published
    of them lie within .005, or a hundredth of a number of tokens; largest_difference is the largest of them, furthest
    the model that has it.

    Args:
        scores: test -> its scores, index model (`association_scores` and so on; `means` for the mean of the three).

    Returns:
        index test, figure; models, median, lowest, highest; study_models, study_median, study_lowest, study_highest;
        same, as_published, largest_difference (nan where no name is the same), furthest. A figure that was not found
        here has 0 models.

    Sign: as in the scores. Over-niceness is published over errors and unread pairs, here over errors alone.

    >>> scores = {"association": pd.DataFrame({"accuracy": [0.63, 0.5]}, index=["o4-mini", "mine"])}
    >>> result = beside_self_execution(scores).loc[("association", "accuracy")]
    >>> int(result["models"]), int(result["study_models"]), round(float(result["largest_difference"]), 4)
    (2, 15, 0.0018)
    """
    with ExitStack() as stack:
        published = pd.read_csv(embedded_file(SELF_EXECUTION, stack))
    rows = {}
    for test, figure in published[["test", "figure"]].drop_duplicates().itertuples(index=False):
        if test not in scores:
            continue
        theirs = published[(published["test"] == test) & (published["figure"] == figure)]
        values = scores[test][figure].dropna() if figure in scores[test] else pd.Series(dtype=float)
        study = theirs.set_index("model")["published"]
        apart = (values - study).abs().dropna()
        rows[test, figure] = {
            **_range_of(values, ""),
            **_range_of(study, "study_"),
            "same": len(apart),
            "as_published": int((apart <= np.maximum(NEAR, study.reindex(apart.index) * NEAR_TOKENS)).sum()),
            "largest_difference": apart.max() if len(apart) else np.nan,
            "furthest": apart.idxmax() if len(apart) else "",
        }
    index = pd.MultiIndex.from_tuples(list(rows), names=["test", "figure"])
    return pd.DataFrame(list(rows.values()), index)


def benchmark_abilities(benchmarks: pd.DataFrame) -> pd.DataFrame:
    """Fit one ability for each model and one difficulty for each benchmark, from shares of right answers.

    Formula: share = 1 / (1 + exp(difficulty - ability)), by the likelihood of a binomial (quasi-likelihood, since
    shares stand for counts; Papke & Wooldridge 1996), which is the joint estimate of Wright & Panchapakesan (1969)
    that the Self-Execution study uses; `statsmodels.GLM`. The mean difficulty is 0.

    Args:
        benchmarks: columns model, benchmark, score (0 to 1); a model need not have all benchmarks.

    Returns:
        index kind ("model", "benchmark"), name; logits (ability or difficulty), low, high (95%, with the scatter of the
        scores about the model as dispersion), n_scores.

    Sign: higher ability = better; higher difficulty = harder.

    R: `glm(score ~ model + benchmark, quasibinomial)`.

    Raises:
        InputError: columns are missing, a score is no share, a pair is there twice, or some models share no
            benchmark with the others.
    """
    import statsmodels.api as sm

    table = benchmarks
    if missing := [each for each in ("model", "benchmark", "score") if each not in table]:
        raise InputError(f"the benchmarks lack {', '.join(missing)}; give model, benchmark and score (0 to 1)")
    table = table.dropna(subset=["score"])
    if not pd.to_numeric(table["score"], errors="coerce").between(0, 1).all():
        raise InputError("a benchmark's score is no share; give numbers from 0 to 1")
    if table.duplicated(["model", "benchmark"]).any():
        twice = table[table.duplicated(["model", "benchmark"])].iloc[0]
        raise InputError(f"{twice['model']} has two scores in {twice['benchmark']}; give one")
    models, benches = (list(dict.fromkeys(table[each])) for each in ("model", "benchmark"))
    columns = [("model", name) for name in models] + [("benchmark", name) for name in benches]
    who = pd.get_dummies(table["model"])[models].to_numpy(float)
    what = pd.get_dummies(table["benchmark"])[benches].to_numpy(float)
    sum_to_zero = np.vstack([np.eye(len(benches) - 1), -np.ones(len(benches) - 1)])
    design = np.hstack([who, -what @ sum_to_zero])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError("some models share no benchmark with the others; give benchmarks that connect them")
    fit = sm.GLM(table["score"].to_numpy(float), design, family=sm.families.Binomial()).fit(scale="X2")
    back = np.zeros((len(columns), design.shape[1]))
    back[: len(models), : len(models)] = np.eye(len(models))
    back[len(models) :, len(models) :] = sum_to_zero
    logits = back @ fit.params
    se = np.sqrt(np.einsum("ij,jk,ik->i", back, fit.cov_params(), back))
    reach = se * (student.ppf(QUANTILES_95[1], fit.df_resid) if fit.df_resid else np.nan)
    counts = [int((table[kind] == name).sum()) for kind, name in columns]
    return pd.DataFrame(
        {"logits": logits, "low": logits - reach, "high": logits + reach, "n_scores": counts},
        pd.MultiIndex.from_tuples(columns, names=["kind", "name"]),
    )


def beside_self_efficacy(
    scores: pd.DataFrame, coherence: pd.DataFrame, accuracy: pd.DataFrame, changes: pd.DataFrame | None, n_items: int
) -> pd.DataFrame:
    """Set what was found here beside what the self-efficacy study found of other models and statements.

    Formula: of a presentation, over all conditions: alpha's least and largest, mean ICC(A,1) of one model's statements,
    share of statements rated the same in all administrations (95% of 400 in the study); mean change of a rating
    after the neutral follow-up, times the number of statements.

    Args:
        scores, coherence: columns condition, presentation, and the numbers of `experiments/ask.py questionnaire`.
        accuracy: index model, condition; right. changes: of `revisions`, index model, follow-up; None where nobody
            was asked again. n_items: statements.

    Returns:
        index what; one by one, all at once (nan where there is none), study. Sign: as in these tables.
    """
    columns = {}
    right = accuracy["right"].groupby("condition").mean()
    for presentation in ("one by one", "all at once"):
        of_presentation = scores[scores["presentation"] == presentation]
        alphas = coherence.loc[coherence["presentation"] == presentation, "alpha"]
        again = changes if presentation == "one by one" else None
        columns[presentation] = [
            alphas.min(),
            alphas.max(),
            of_presentation["icc_a1"].mean(),
            (of_presentation["identical"] * of_presentation["items_read"]).sum()
            / (of_presentation["items_read"].sum() or float("nan")),
            float("nan") if again is None else again.xs("neutral", level="follow_up")["change"].mean() * n_items,
            of_presentation.loc[of_presentation["condition"] == "no task", "mean"].min(),
            right.get("computation", float("nan")),
            right.get("social reasoning", float("nan")),
        ]
    return pd.DataFrame({**columns, "study": list(SELF_EFFICACY.values())}, pd.Index(list(SELF_EFFICACY), name="what"))


def _range_of(values: pd.Series, prefix: str) -> dict[str, float]:
    return {
        f"{prefix}models": len(values),
        f"{prefix}median": values.median(),
        f"{prefix}lowest": values.min(),
        f"{prefix}highest": values.max(),
    }
