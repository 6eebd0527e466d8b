"""The page of a panel in ordered categories: one scale of more than yes and no, with what of the tests holds for it."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers, as_graded, cut_confidence, used_only
from onedial.scale.checks.draws import one_factor_categories
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.checks.replicates import eigenvalues, fill_gaps
from onedial.scale.checks.residual_correlations import ResidualCorrelations, beside_simulated, q3_of
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.polychoric import PolychoricResult, polychoric
from onedial.scale.evidence import MISSING, Codes
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.factor.usable import require_one_part
from onedial.scale.gap_model import null_fit
from onedial.scale.likelihood import MarginalFit
from onedial.scale.misfit.answer_fit import information_of
from onedial.scale.response_model import SALIENT, Reliability, ResponseModel, response_model
from onedial.scale.specific.kin_pairs import KinPairs, kin_pairs
from onedial.scale.specific.specific_factors import SpecificFactors, specific_factors
from onedial.scale.study.one_page import FEWEST_KIN, MODELS_UNKNOWN, STRONG, WORTH_A_NAME, nothing_shared, page_lines
from onedial.scale.study.panel_analysis import LARGEST_KIN, each_notice_once, kin_labels, models_of
from onedial.stats.answers import Answers, PsychometricsWarning, names
from onedial.stats.arrays import Floats, number
from onedial.stats.level import LEVEL, p_value
from onedial.stats.multiple_tests import p_text
from onedial.stats.remembered import fits_remembered

THRESHOLD_AT = "threshold at "
_MOST_REPLICATES = 99  # of polychoric correlations, the slowest part


@dataclass(frozen=True)
class GradedPanel:
    """What was found; None where a part could not be asked, or was not wanted.

    Attributes:
        graded: the answers. begins: where each category above the lowest begins. model: of `response_model`, on
            a normal scale; its loadings are the page's. other: what another account leaves of the variance to
            everybody's scale: what kin share beside it, else a scale of any distribution with answers at random.
        correlations, loadings, eigenvalues: polychoric, with minres loadings (respondent,) and falling eigenvalues.
        nulls: shuffled answers (first eigenvalue), and with it one factor on a scale of any distribution with each
            respondent's own answers at random (second). residuals: under the same.
        information: `difficulty, information`. reliability: of the difficulties.
        models: names of the base models, None where unknown. kin, specific, strongest: as in `PanelAnalysis`.
    """

    graded: GradedAnswers
    begins: list[float]
    model: ResponseModel
    other: float
    correlations: PolychoricResult
    loadings: pd.Series
    eigenvalues: pd.Series
    nulls: tuple[EigenvalueNull, EigenvalueNull] | None
    residuals: ResidualCorrelations | None
    information: pd.DataFrame
    reliability: Reliability
    models: list[str] | None
    kin: str | None = None
    specific: SpecificFactors | None = None
    strongest: KinPairs | None = None

    __repr__ = one_line

    @property
    def share(self) -> tuple[float, float, float]:
        """Mean squared loading of the page's own loadings, and its 95% interval by the delta method."""
        low, high = (number(self.model.shares, "general", end) for end in ("low", "high"))
        return number(self.model.shares, "general", "share"), low, high

    @property
    def places(self) -> pd.DataFrame:
        """(respondent, category above the lowest) difficulty at which half of the answers are there or above; nan for a
        loading below .3."""
        loading = self.model.respondents["loading"]
        return self.model.thresholds.div(loading.where(loading >= SALIENT), axis=0)


def analyse_graded_panel(
    numbers: pd.DataFrame,
    at: Sequence[float],
    respondents: pd.DataFrame | None = None,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    n_replicates: int = 999,
    seed: int = 0,
) -> GradedPanel:
    """Ask of a panel in ordered categories what can be asked of it.

    Formula: `response_model`, `polychoric`, `specific_factors`. Nulls: answers shuffled for the first
    eigenvalue; for the second and for residual correlations answers drawn from one factor on a scale of any
    distribution, some of them at random, places from their posterior, gaps kept.

    Args:
        numbers: question x respondent, nan = missing. at: where each category above the lowest begins, rising.
        respondents: what is known of them, index respondent: model or family make kin. thresholds, zero_cells: of the
            polychoric correlations. n_replicates: of each null, at most 99; 0 = none. seed: of all random numbers.

    Returns:
        GradedPanel. Sign: as in the parts.

    Raises:
        InputError: fewer than three respondents vary or hang together, or the points do not rise.

    R: `mirt::mirt(x, 1, itemtype = "graded")`, `psych::fa(psych::polychoric(x)$rho)` for the parts.

    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.standard_normal((400, 1)) + rng.standard_normal((400, 6))
    >>> found = analyse_graded_panel(pd.DataFrame(hidden), [-1.0, 0.0, 1.0], n_replicates=9)
    >>> found.places.shape
    (6, 3)
    """
    graded = as_graded(cut_confidence(numbers, at).rename_axis(columns="respondent"))
    require_one_part(Answers(graded.codes > 0, graded.answered, graded.questions, graded.respondents))
    n, begins = min(n_replicates, _MOST_REPLICATES), [at[int(value) - 1] for value in graded.values[1:]]
    with each_notice_once(), fits_remembered():
        model = response_model(graded)
        loading = model.respondents["loading"]
        used = graded.select(loading.notna().to_numpy())
        codes, _ = used_only(used)
        fit = null_fit(codes, "histogram", "own")
        residuals = _residuals(used, codes, fit, n, seed) if n else None
        correlations, values, by_minres = polychoric_factor(used, thresholds, zero_cells)
        column, labels = kin_labels(used, respondents)
        specific = None
        if column is not None and labels.value_counts().max() <= LARGEST_KIN:
            specific = specific_factors(used, labels, scale="histogram", asymptotes="own")
        kin = specific is not None and len(specific.tests) >= FEWEST_KIN
        other = specific.model if specific is not None and kin else response_model(graded, "histogram", "common")
        return GradedPanel(
            graded=graded,
            begins=begins,
            model=replace(model, thresholds=model.thresholds.set_axis(begins, axis=1)),
            other=number(other.shares, "general", "share"),
            correlations=correlations,
            loadings=by_minres.reindex(graded.respondents),
            eigenvalues=pd.Series(values, pd.RangeIndex(1, len(values) + 1, name="eigenvalue"), name="observed"),
            nulls=_nulls(used, fit, values, n, seed, thresholds, zero_cells) if n else None,
            residuals=residuals,
            information=information_of(model.fit.curves),
            reliability=model.reliability,
            models=models_of(graded, respondents),
            kin=column if specific is not None else None,
            specific=specific,
            strongest=kin_pairs(residuals, labels, seed=seed) if residuals is not None and kin else None,
        )


def polychoric_factor(
    graded: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half"
) -> tuple[PolychoricResult, Floats, pd.Series]:
    """Polychoric correlations, their falling eigenvalues (gaps filled by one factor), and minres loadings of one factor
    by respondent.

    >>> rng = np.random.default_rng(0)
    >>> scale = rng.standard_normal(300)
    >>> answers = {name: np.digitize(scale + rng.standard_normal(300), [-1, 0, 1]) for name in "abcd"}
    >>> _, values, loadings = polychoric_factor(pd.DataFrame(answers))
    >>> bool(values[0] > 2 > 1 > values[1]), bool(loadings.between(0.5, 0.9).all())
    (True, True)
    """
    found = polychoric(graded, thresholds, zero_cells)
    matrix = found.correlation.to_numpy()
    loadings = pd.Series(minres_one_factor(matrix), found.correlation.index, name="loading")
    return found, eigenvalues(fill_gaps(matrix)), loadings


def graded_tables(panel: GradedPanel) -> dict[str, Any]:
    """Every table by the name of its file, and `summary` with the page.

    >>> hidden = np.random.default_rng(0).standard_normal((400, 7))
    >>> found = analyse_graded_panel(pd.DataFrame(hidden[:, :1] + hidden[:, 1:]), [-1.0, 0.0, 1.0], n_replicates=0)
    >>> graded_tables(found)["respondents"].shape[0]
    6
    """
    model, cuts = panel.model, panel.model.thresholds.rename(columns=lambda at: f"{THRESHOLD_AT}{at:g}")
    respondents = model.respondents.assign(
        minres_loading=panel.loadings, n_answers=panel.graded.answered.sum(axis=0)
    ).join(cuts)
    places = panel.places.rename(columns=lambda at: f"difficulty at {at:g}")
    told = {title: list(tell(panel)) for title, tell in _SECTIONS.items()}
    sections = {title: sentences for title, sentences in told.items() if sentences}
    tables: dict[str, Any] = {
        "respondents": respondents.join(places),
        "questions": pd.DataFrame({"difficulty": model.difficulty, "difficulty_se": model.difficulty_se}),
        "correlations": panel.correlations.correlation,
        "eigenvalues": panel.eigenvalues.to_frame() if panel.nulls is None else panel.nulls[1].to_frame(),
        "information": panel.information,
        "summary": {
            "page": page_lines(graded_verdict(panel), sections),
            "verdict": graded_verdict(panel),
            "sections": sections,
            "share": dict(zip(("share", "low", "high"), panel.share, strict=True)) | {"other": panel.other},
            "reliability": vars(panel.reliability),
        },
    }
    if panel.residuals is not None:
        tables["residuals"] = panel.residuals.pairs
    if panel.specific is not None:
        tables |= {"specific_shares": panel.specific.model.shares, "specific_tests": panel.specific.tests}
    return tables


def graded_verdict(panel: GradedPanel) -> str:
    """The judgement in one or two sentences."""
    of_variance, low, high = panel.share
    share = f"{of_variance:.0%} of the variance, {low:.0%} to {high:.0%}"
    if abs(of_variance - panel.other) >= WORTH_A_NAME:
        share += f"; {panel.other:.0%} {_other(panel)}"
    if panel.nulls is None:
        opening = f"One factor would explain {share}; nothing was compared with chance."
    elif panel.nulls[0].p[0] > LEVEL:
        return nothing_shared(panel.nulls[0], None)
    elif panel.models is not None and len(panel.models) == 1:
        return (
            f"All respondents are one model, {panel.models[0]}: that its framings agree ({share}) says nothing of a "
            "scale that models share."
        )
    elif of_variance >= STRONG:
        opening = f"One scale is shared, and it explains most of the answers ({share})."
    else:
        opening = f"Something is shared ({share}), but most of each respondent's answers is its own."
    against = list(_objections(panel))
    if against:
        return f"{opening} Against one scale for all: {'; '.join(against)}."
    return f"{opening} Nothing was found against one scale for all by the tests below, whose power is not known."


def _other(panel: GradedPanel) -> str:
    if panel.kin is not None and panel.specific is not None and len(panel.specific.tests) >= FEWEST_KIN:
        return f"beside what each {panel.kin} shares"
    return "if the scale has any shape and all answer at random equally often"


def _objections(panel: GradedPanel) -> Iterable[str]:
    if panel.nulls is not None and panel.nulls[1].p[1] <= LEVEL:
        yield f"a second factor ({panel.eigenvalues[2] / len(panel.eigenvalues):.0%} by eigenvalue)"
    if panel.specific is not None and panel.specific.p <= LEVEL:
        share, low, high = (number(panel.specific.model.shares, "specific", end) for end in ("share", "low", "high"))
        if share >= WORTH_A_NAME:
            yield f"{share:.0%} ({low:.0%} to {high:.0%}) of the variance is shared within a {panel.kin} only"
    alike = 0 if panel.residuals is None else len(panel.residuals.violations())
    if alike:
        yield f"{alike} {'pair shares' if alike == 1 else 'pairs share'} something beyond the scale"


def _panel(panel: GradedPanel) -> Iterable[str]:
    graded, constant = panel.graded, int((~panel.graded.varies).sum())
    placed = f" ({constant} used one category only, and so have no place on the scale)" if constant else ""
    gaps, begins = int((~graded.answered).sum()), ", ".join(f"{value:g}" for value in panel.begins)
    yield (
        f"{len(graded.questions)} questions, {len(graded.respondents)} respondents{placed}, {gaps} answers missing "
        f"({gaps / graded.codes.size:.1%}); {graded.n_categories} ordered categories, which begin at {begins}."
    )


def _shared(panel: GradedPanel) -> Iterable[str]:
    m, (share, low, high) = len(panel.eigenvalues), panel.share
    yield (
        f"First factor of the polychoric correlations: {(panel.loadings**2).sum() / m:.1%} of the total variance by "
        f"minres loadings, {panel.eigenvalues[1] / m:.1%} by eigenvalue; by the graded response model, whose "
        f"loadings are listed below, {share:.1%} ({low:.1%} to {high:.1%}); {panel.other:.1%} {_other(panel)}."
    )
    if panel.nulls is not None:
        null = panel.nulls[0]
        yield f"First eigenvalue {null.observed[0]:.2f}; answers shuffled {null.mean[0]:.2f}, {p_text(null.p[0])}."


def _between(panel: GradedPanel) -> Iterable[str]:
    if panel.models is None:
        yield MODELS_UNKNOWN
    if panel.specific is not None:
        yield f"By one model of everybody's and each {panel.kin}'s: {panel.specific.sentence(str(panel.kin))}"


def _enough(panel: GradedPanel) -> Iterable[str]:
    if panel.nulls is not None:
        null = panel.nulls[1]
        yield (
            f"Second eigenvalue {null.observed[1]:.2f}; one scale of any distribution, with answers at random, makes "
            f"{null.mean[1]:.2f}, {p_text(null.p[1])}."
        )
    if panel.residuals is not None:
        yield panel.residuals.sentence()
    if panel.strongest is not None:
        yield panel.strongest.sentence(str(panel.kin))


def _known(panel: GradedPanel) -> Iterable[str]:
    loading = panel.model.respondents["loading"].dropna()
    low, high = loading.idxmin(), loading.idxmax()
    yield f"Loadings run from {loading.min():.2f} ({low}) to {loading.max():.2f} ({high})."
    off = loading[loading < SALIENT]
    if len(off):
        yield f"Not on this scale, by a loading below {SALIENT:g}: {names(off.index, 6)}."
    yield panel.reliability.sentence()


def _not_asked(panel: GradedPanel) -> Iterable[str]:
    yield (
        "The parabola and its rival accounts, a third factor, RMSEA, curves and orders that differ between topics or "
        "groups, person fit, informative gaps and rules for empty cells are asked of yes and no only: cut the panel "
        f"for them (without --categories; of numbers at a point behind its name, PANEL:{panel.begins[-1]:g})."
    )


_SECTIONS = {
    "The panel": _panel,
    "Is anything shared?": _shared,
    "Between models, or within each?": _between,
    "Is one factor enough?": _enough,
    "Who follows it how closely, and how well is it known?": _known,
    "What is not asked of categories": _not_asked,
}


def _residuals(
    used: GradedAnswers, codes: Codes, fit: MarginalFit, n_replicates: int, seed: int
) -> ResidualCorrelations:
    """Q3 beside answers drawn from the fit."""
    drawn = one_factor_categories(fit, n_replicates, np.random.default_rng(seed))
    return beside_simulated(codes, fit, np.stack([q3_of(one, fit) for one in drawn]), used.respondents, seed)


def _nulls(
    used: GradedAnswers,
    fit: MarginalFit,
    observed: Floats,
    n_replicates: int,
    seed: int,
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
) -> tuple[EigenvalueNull, EigenvalueNull]:
    """Shuffled answers; and with the first eigenvalue from them, the second from one factor."""
    rng = np.random.default_rng(seed)
    sources = (_shuffled(used.codes, n_replicates, rng), one_factor_categories(fit, n_replicates, rng))
    simulated, p = np.full((n_replicates, len(observed)), np.nan), np.full(len(observed), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)  # of respondents that a draw leaves one category
        for rank, source in enumerate(sources):
            for row, codes in enumerate(source):
                simulated[row, rank] = polychoric_factor(replace(used, codes=codes), thresholds, zero_cells)[1][rank]
            p[rank] = p_value(observed[rank], simulated[:, rank])
    alone = np.arange(len(observed)) == 0
    first = EigenvalueNull(
        "permutation", observed, np.where(alone, simulated, np.nan), np.where(alone, p, np.nan), seed
    )
    return first, EigenvalueNull("one factor fewer", observed, simulated, p, seed)


def _shuffled(codes: Codes, n_replicates: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Each respondent's answers in another order; gaps stay where they are."""
    for _ in range(n_replicates):
        found = codes.copy()
        for column in found.T:
            known = column != MISSING
            column[known] = rng.permutation(column[known])
        yield found
