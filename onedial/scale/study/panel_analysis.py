"""Everything that tells whether a panel has one shared scale, in the order in which somebody who doubts it would ask.

Each part is a public function of this package; here they are called on one panel with one set of choices, and what
several of them need is computed once.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers
from onedial.scale.checks.accounts import RivalAccounts, rival_accounts
from onedial.scale.checks.bundles import BundleInvariance, bundle_invariance
from onedial.scale.checks.clusters import ClusterStructure, cluster_structure
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.checks.missingness import missingness_test
from onedial.scale.checks.one_factor import OneFactorBootstrap, one_factor_bootstrap, revised_parallel_analysis
from onedial.scale.checks.permutation import permutation_null
from onedial.scale.checks.quadratic_null import quadratic_fit_test
from onedial.scale.checks.question_bootstrap import QuestionBootstrap, bootstrap_questions
from onedial.scale.checks.residual_correlations import ResidualCorrelations, residual_correlations
from onedial.scale.checks.simulation import Simulated
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.equal_slopes import RaschTest, rasch_test
from onedial.scale.factor.factor_fit import FEWEST_FITTED, MOST_FITTED, FactorFit, factor_fit
from onedial.scale.factor.factor_model import Extraction, FactorModel, fit_factor_model
from onedial.scale.factor.factor_names import name_factors
from onedial.scale.factor.rotation import RotatedLoadings, rotate
from onedial.scale.factor.usable import require_one_part
from onedial.scale.misfit.answer_fit import AnswerFit, answer_fit
from onedial.scale.response_model import Reliability, ResponseModel, response_model
from onedial.scale.scale_distribution import ScaleDistribution, scale_distribution
from onedial.scale.specific.kin_account import kin_account, kin_bend
from onedial.scale.specific.kin_pairs import KinPairs, kin_pairs
from onedial.scale.specific.specific_factors import SpecificFactors, specific_factors
from onedial.scale.study.power import least_share, second_scale_power
from onedial.scale.study.sensitivity import sensitivity_table
from onedial.stats.answers import Answers, as_answers
from onedial.stats.level import LEVEL
from onedial.stats.remembered import fits_remembered

_MOST_GROUPS = 12
_FEWEST_TOPICS = 8  # for a bootstrap over topics
_FEWEST_IN_BUNDLES = 10  # questions in the mean
TOPIC, RESPONDENT = "topic", "respondent"
LARGEST_KIN = 16  # respondents of one group, whose patterns of answers are then nearly as many as questions
_COPIES, _CLOSEST = 0.9, 0.72  # phi of copies; of two that follow one scale as closely as anybody does
_FEWER = 199  # replicates of what needs no p below 1 / 200


@dataclass(frozen=True)
class PanelAnalysis:
    """What was found; None where a part could not be asked, or was not wanted.

    Attributes:
        model, marginal, free: factor model of the correlations; two-parameter models on a normal scale and on one of
            any distribution that knows the gaps. missing: of `missingness_test`. threshold_shift: largest change of a
            correlation with the other threshold mode. fit: of one factor, thresholds as chosen, and `fit_global`, over
            all answers. scale, rasch, reliability, residuals: as named. answer_fit: who does not belong. accounts: of
            `rival_accounts`; one_factor, parallel and parabola are under the account that comes nearest to explaining a
            second factor, or a parabola. shuffled, bootstrap, by_topic, sensitivity: null and resamples (of questions;
            of topics).
            clusters: of base models.
            invariance: of every column of the questions (topic, level, ..) over every respondent and every column of
            the respondents (model, framing, ..), by these two names.
        copies: pairs that answer alike, or the other way round, in words.
        models: names of the base models, None where it is not known which respondents are one; second_scale: how
            often a second scale that correlates .8 would be found; least_share: of the variance, from which on a scale
            would be found where none was; left_out: columns by which invariance was not
            tested, and why.
        kin: the column that says which respondents are kin (models, else families), specific: what those share beside
            the scale, by_kin: eigenvalues beside what that makes of them, kin_bend: p of a parabola among the
            loadings on everybody's scale, strongest: their pairs among those with the strongest residuals.
        several, rotated, factor_names: where there is more than one factor.
    """

    model: FactorModel
    marginal: ResponseModel
    free: ResponseModel
    missing: pd.DataFrame
    threshold_shift: float
    scale: ScaleDistribution
    rasch: RaschTest
    reliability: Reliability
    answer_fit: AnswerFit
    fit: FactorFit | None
    fit_global: FactorFit | None
    accounts: RivalAccounts | None = None
    shuffled: EigenvalueNull | None = None
    one_factor: OneFactorBootstrap | None = None
    parallel: EigenvalueNull | None = None
    parabola: Simulated | None = None
    bootstrap: QuestionBootstrap | None = None
    by_topic: QuestionBootstrap | None = None
    sensitivity: pd.DataFrame | None = None
    residuals: ResidualCorrelations | None = None
    clusters: ClusterStructure | None = None
    invariance: dict[tuple[str, str], BundleInvariance] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    models: list[str] | None = None
    second_scale: float | None = None
    least_share: float | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    kin: str | None = None
    specific: SpecificFactors | None = None
    by_kin: EigenvalueNull | None = None
    kin_bend: float | None = None
    strongest: KinPairs | None = None
    several: FactorModel | None = None
    rotated: RotatedLoadings | None = None
    factor_names: pd.DataFrame | None = None

    __repr__ = one_line

    @property
    def n_factors(self) -> int | None:
        """By revised parallel analysis."""
        return self.parallel.n_above() if self.parallel is not None else None


def analyse_panel(
    matrix: Any,
    respondents: pd.DataFrame | None = None,
    questions: pd.DataFrame | None = None,
    n_factors: int = 1,
    extraction: Extraction = "minres",
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    n_replicates: int = 999,
    n_sensitivity: int = 199,
    seed: int = 0,
) -> PanelAnalysis:
    """Ask everything of one panel.

    Formula: see the functions that are called.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary and hang together.
        respondents: what is known of them, index respondent: `model` makes clusters, every column with groups is tested
            for invariance. questions: what is known of the questions, index question: topic, level, length; numbers are
            cut into thirds. n_factors, extraction, thresholds, zero_cells: of the factor model and the reference row.
        n_replicates: of each null and bootstrap; 0 = none. n_sensitivity: of each row of the sensitivity table; 0 = no
            table. seed: of all random numbers.

    Returns:
        PanelAnalysis. Sign: as in the parts.

    Raises:
        InputError: the matrix or an option cannot be used, or parts of the panel share no questions.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> analysis = analyse_panel(answers, n_replicates=9, n_sensitivity=3)
    >>> analysis.model.loadings.shape
    (6, 1)
    """
    answers = as_answers(matrix)
    require_one_part(answers)
    rules: dict[str, Any] = {"thresholds": thresholds, "zero_cells": zero_cells}
    with each_notice_once(), fits_remembered():
        model = fit_factor_model(answers, n_factors, extraction, **rules)
        drawn = _drawn(answers, n_replicates, rules, seed) if n_replicates else {}
        parallel = drawn.get("parallel")
        marginal = response_model(answers)
        fits = FEWEST_FITTED <= answers.varies.sum() <= MOST_FITTED
        bundles = grouped(questions, answers.questions, len(answers.questions) // _FEWEST_IN_BUNDLES)
        groups = grouped(respondents, answers.respondents[answers.varies], _MOST_GROUPS)
        residuals = None
        if n_replicates:
            residuals = residual_correlations(answers, min(n_replicates, _FEWER), seed, asymptotes="own")
        return PanelAnalysis(
            model=replace(model, null=drawn.get("shuffled")),
            marginal=marginal,
            free=response_model(answers, scale="histogram", gaps="informative"),
            missing=missingness_test(answers),
            threshold_shift=_threshold_shift(answers, model),
            scale=scale_distribution(answers),
            rasch=rasch_test(answers, "histogram", "common"),
            reliability=marginal.reliability,
            answer_fit=answer_fit(answers, n_replicates=max(2, min(9, 20_000 // answers.n_questions)), seed=seed),
            fit=factor_fit(answers, **rules) if fits else None,
            fit_global=factor_fit(answers, thresholds="global", zero_cells=zero_cells) if fits else None,
            residuals=residuals,
            sensitivity=sensitivity_table(answers, n_sensitivity, seed=seed, **rules) if n_sensitivity else None,
            clusters=_clusters(answers, respondents, min(n_replicates, _FEWER), rules, seed),
            by_topic=_by_topic(answers, questions, min(n_replicates, _FEWER), rules, seed),
            invariance=_invariance(answers, bundles, groups),
            copies=copies_among(answers),
            models=models_of(answers, respondents),
            left_out=bundles.left_out | groups.left_out,
            **_kin(answers, respondents, residuals, min(n_replicates, _FEWER), rules, seed),
            **drawn,
            **_several(answers, model, parallel.n_above() if parallel is not None else 1, respondents, seed),
        )


def copies_among(answers: Answers) -> list[str]:
    """Pairs whose answers hardly differ, or are hardly ever the same: one respondent twice, in words.

    Formula: phi, the correlation of the answers as they stand, of at least `_COPIES` in size, and so many equal (or
    unequal) answers as would come in fewer than 1 of 20 panels with as many pairs (binomial) from two with a phi of
    `_CLOSEST`, which those have that follow a normal scale with loadings of .95; or, where it is larger, with the phi
    of whoever comes next to either: on a scale that falls into two heaps all are as close.

    >>> rng = np.random.default_rng(0)
    >>> said = rng.integers(0, 2, (60, 2))
    >>> copies_among(as_answers(pd.DataFrame({"a": said[:, 0], "b": said[:, 0], "c": said[:, 1]})))
    ['b answers as a (100% of 60 answers)']
    """
    known = answers.answered.astype(float)
    yes = np.where(answers.answered, answers.yes, 0).astype(float)
    n, both, first = known.T @ known, yes.T @ yes, yes.T @ known  # of each pair, over what both answered
    same = n - first - first.T + 2 * both
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, other_rate = first / n, first.T / n
        spread = np.sqrt(rate * (1 - rate) * other_rate * (1 - other_rate))
        phi = (both / n - rate * other_rate) / spread
        equal = np.where(phi > 0, same, n - same)
        size = np.abs(np.nan_to_num(phi)) * ~np.eye(len(phi), dtype=bool)
        next_to = np.where(size < _COPIES, size, 0).max(axis=1)
        closest = np.maximum(_CLOSEST, np.maximum(next_to[:, None], next_to))
        by_chance = rate * other_rate + (1 - rate) * (1 - other_rate)
        likely = np.where(phi > 0, by_chance, 1 - by_chance) + 2 * closest * spread
        p = bdtrc(np.maximum(equal - 1, 0), n.astype(np.int64), np.minimum(likely, 1)) * math.comb(len(n), 2)
        there = np.triu((np.abs(phi) >= _COPIES) & (p <= LEVEL), 1)
    found = []
    for one, other in zip(*np.nonzero(there), strict=True):
        how = "as" if phi[one, other] > 0 else "the other way round to"
        copy, of = answers.respondents[other], answers.respondents[one]
        part = equal[one, other] / n[one, other]
        found.append(f"{copy} answers {how} {of} ({part:.0%} of {n[one, other]:.0f} answers)")
    return found


@contextmanager
def each_notice_once() -> Iterator[None]:
    """Many parts name the same respondents for the same reason; say each sentence once, at the end."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        said = set()
        for one in caught:
            if (one.category, str(one.message)) not in said:
                said.add((one.category, str(one.message)))
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


class Groupings(dict[str, pd.Series]):
    """Columns that make groups, by name; `left_out` says why others do not."""

    def __init__(self) -> None:
        super().__init__()
        self.left_out: dict[str, str] = {}


def grouped(known: pd.DataFrame | None, names: pd.Index, most: int) -> Groupings:
    """The columns that sort the names into at least two groups, and no more than `most`.

    Numbers with more than twelve values are cut into thirds. Left out are columns with gaps, and columns that make the
    same groups as one before them.
    """
    found = Groupings()
    codes: list[list[int]] = []
    for column in known.columns if known is not None else ():
        labels = pd.Series(known[column].reindex(names)) if known is not None else pd.Series(dtype=object)
        blank = int((labels.isna() | (labels.astype(str).str.strip() == "")).sum())
        if blank:
            if blank < len(labels):
                found.left_out[str(column)] = f"{blank} of {len(labels)} have none"
            continue
        is_number = pd.api.types.is_numeric_dtype(labels) and not pd.api.types.is_bool_dtype(labels)
        if is_number and labels.nunique() > _MOST_GROUPS:
            values = np.asarray(labels, dtype=float)
            cut = np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values)
            labels = pd.Series(np.array(["low", "middle", "high"])[cut], names)
        sizes, code = labels.value_counts(), pd.factorize(labels)[0].tolist()
        if 2 <= len(sizes) <= most and code not in codes:
            found[str(column)] = labels
            codes.append(code)
        elif most < len(sizes) < len(labels):
            found.left_out[str(column)] = f"{len(sizes)} groups, more than {most}"
    return found


def _drawn(answers: Answers, n_replicates: int, rules: dict[str, Any], seed: int) -> dict[str, Any]:
    chance, few = {"seed": seed, **rules}, min(n_replicates, _FEWER)
    shuffled = permutation_null(answers, n_replicates, **chance)
    accounts = rival_accounts(answers, few, **chance)
    scale, asymptotes = accounts.nearest("second")
    one_factor = one_factor_bootstrap(answers, few, scale=scale, asymptotes=asymptotes, **chance)
    scale, asymptotes = accounts.nearest("parabola")
    return {
        "accounts": accounts,
        "second_scale": second_scale_power(answers, one_factor, **chance),
        "least_share": least_share(answers, shuffled, **chance) if shuffled.p[0] > LEVEL else None,
        "shuffled": shuffled,
        "one_factor": one_factor,
        "parallel": revised_parallel_analysis(answers, None, few, shuffles=shuffled, one_factor=one_factor, **chance),
        "parabola": quadratic_fit_test(answers, few, scale=scale, asymptotes=asymptotes, **chance),
        "bootstrap": bootstrap_questions(answers, n_replicates, **chance),
    }


def _threshold_shift(answers: Answers, model: FactorModel) -> float:
    used = model.tetrachoric
    other = next(mode for mode in get_args(ThresholdMode) if mode != used.threshold_mode)
    there = tetrachoric(answers, other, used.zero_cell_rule).correlation.to_numpy()
    moved = np.abs(there - used.correlation.to_numpy())
    return float(np.nanmax(moved)) if np.isfinite(moved).any() else float("nan")


def _clusters(
    answers: Answers, respondents: pd.DataFrame | None, n_replicates: int, rules: dict[str, Any], seed: int
) -> ClusterStructure | None:
    """Within and between base models, where some have several respondents."""
    if respondents is None or "model" not in respondents or not n_replicates:
        return None
    models = respondents["model"].reindex(answers.respondents[answers.varies])
    sizes = models.value_counts()
    if models.isna().any() or len(sizes) < 2 or sizes.max() < 2:
        return None
    return cluster_structure(answers, respondents["model"], n_replicates, seed=seed, **rules)


def models_of(answers: Answers | GradedAnswers, respondents: pd.DataFrame | None) -> list[str] | None:
    """Names of the base models of the respondents that vary."""
    if respondents is None or "model" not in respondents:
        return None
    models = respondents["model"].reindex(answers.respondents[answers.varies])
    return None if models.isna().any() else [str(name) for name in models.unique()]


def _kin(
    answers: Answers,
    respondents: pd.DataFrame | None,
    residuals: ResidualCorrelations | None,
    n_replicates: int,
    rules: dict[str, Any],
    seed: int,
) -> dict[str, Any]:
    """What respondents of one model share, or, where each is a model, those of one family."""
    column, labels = kin_labels(answers, respondents)
    if column is None or labels[answers.varies].value_counts().max() > LARGEST_KIN:
        return {}
    specific = specific_factors(answers, labels, scale="histogram", asymptotes="own")
    return {
        "kin": column,
        "specific": specific,
        "kin_bend": kin_bend(specific),
        "by_kin": kin_account(answers, specific, n_replicates, seed=seed, **rules) if n_replicates else None,
        "strongest": kin_pairs(residuals, labels, seed=seed) if residuals is not None else None,
    }


def kin_labels(answers: Answers | GradedAnswers, respondents: pd.DataFrame | None) -> tuple[str | None, pd.Series]:
    """The column that makes several respondents kin, and its labels; None where there is none."""
    for column in ("model", "family"):
        if respondents is None or column not in respondents:
            continue
        labels = respondents[column].reindex(answers.respondents)
        sizes = labels[answers.varies].value_counts()
        if not labels.isna().any() and not (labels == "").any() and len(sizes) > 1 and sizes.max() > 1:
            return column, labels
    return None, pd.Series(dtype=object)


def _by_topic(
    answers: Answers, questions: pd.DataFrame | None, n_replicates: int, rules: dict[str, Any], seed: int
) -> QuestionBootstrap | None:
    """Resamples of whole topics, where there are enough of them."""
    if questions is None or "topic" not in questions or n_replicates < 2:
        return None
    topics = questions["topic"].reindex(answers.questions)
    if topics.isna().any() or topics.nunique() < _FEWEST_TOPICS:
        return None
    return bootstrap_questions(answers, n_replicates, seed=seed, groups=questions["topic"], **rules)


def _invariance(answers: Answers, bundles: Groupings, groups: Groupings) -> dict[tuple[str, str], BundleInvariance]:
    several = {name: labels for name, labels in groups.items() if labels.value_counts().max() > 1}
    return {
        (what, who): bundle_invariance(answers, of_questions, of_respondents)
        for what, of_questions in bundles.items()
        for who, of_respondents in {RESPONDENT: None, **several}.items()
    }


def _several(
    answers: Answers,
    model: FactorModel,
    n_factors: int,
    respondents: pd.DataFrame | None,
    seed: int,
) -> dict[str, Any]:
    """Rotated factors with the respondents that they go with, where there is more than one."""
    most = int(answers.varies.sum()) // 3
    k = min(n_factors, most)
    if k < 2:
        return {}
    used = model.tetrachoric
    several = fit_factor_model(answers, k, "minres", used.threshold_mode, used.zero_cell_rule)
    rotated = rotate(several.loadings, "oblimin", seed)
    named = None
    if respondents is not None and len(rotated.loadings.index.intersection(respondents.index)):
        named = name_factors(rotated.loadings, respondents, seed=seed)
    return {
        "several": several,
        "rotated": rotated,
        "factor_names": named,
    }
