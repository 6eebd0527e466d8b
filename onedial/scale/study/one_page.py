"""One page for somebody who has to decide whether to believe "one shared scale"."""

import math
import textwrap
from collections.abc import Iterable

import numpy as np
import pandas as pd

from onedial.scale.checks.accounts import PLAIN
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.factor.factor_fit import FEWEST_FITTED
from onedial.scale.study.panel_analysis import RESPONDENT, PanelAnalysis
from onedial.scale.study.power import SECOND_SCALE, SHARES, WORTH_A_SCALE, would_be_missed
from onedial.scale.study.sensitivity_summary import summarise_sensitivity
from onedial.stats.answers import names
from onedial.stats.arrays import number
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text

_WIDTH = 100
STRONG = 0.5  # of the variance: more shared than not
_FEWEST_QUESTIONS = 20
_MOST_EMPTY = 0.5
"""Share of pairs that lack an answer pattern, above which correlations come from a rule and not from answers."""
_POOR = 0.10
"""RMSEA above which one factor is rejected whatever else it explains (MacCallum, Browne and Sugawara, 1996)."""
_AS_LARGE = 0.5
"""Size of a second factor beside the first from which on no scale is common to all."""
WORTH_A_NAME = 0.05  # of a variance
_WORTH_ANOTHER_SHAPE = 9.2
"""Log likelihood that guesses and any shape have to gain over one normal scale: half the 95% point of chi-squared with
ten degrees of freedom, since a histogram has no fixed number of parameters."""
FEWEST_KIN = 3  # groups, of which none can be taken for everybody
MODELS_UNKNOWN = (
    "Which respondents are one base model is not known: framings of one model would pass for a shared scale."
)
_EXTRACTIONS = {"minres": "minres loadings", "principal": "principal components (unique variance included)"}


def one_page(analysis: PanelAnalysis) -> str:
    """The page: a verdict, what speaks for it and against it, and the numbers behind each.

    Formula: none; every number is one of the analysis. For: a first factor beyond shuffled answers, shared between
    models. Against: another factor, misfit, questions that lie elsewhere for some.

    Args:
        analysis: of `analyse_panel`.

    Returns:
        text of about a page. Sign: as in the analysis.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from onedial.scale import analyse_panel
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.standard_normal((40, 1))
    >>> panel = pd.DataFrame((ease + rng.standard_normal((40, 4)) > 0) * 1.0, columns=list("abcd"))
    >>> print(one_page(analyse_panel(panel, n_replicates=0, n_sensitivity=0)).split(";")[0])
    One factor would explain 50% of the variance
    """
    return "\n".join(page_lines(verdict(analysis), page_sections(analysis)))


def page_lines(judgement: str, sections: dict[str, list[str]]) -> list[str]:
    """The verdict and the sections, wrapped."""
    lines = [*_wrapped(judgement, "")]
    for title, sentences in sections.items():
        lines += ["", title]
        for sentence in sentences:
            lines += _wrapped(sentence, "- ")
    return lines


def page_sections(analysis: PanelAnalysis) -> dict[str, list[str]]:
    """The sentences below the verdict, by the question that they answer; questions without a sentence are left out."""
    told = {title: [sentence for sentence in tell(analysis) if sentence] for title, tell in _SECTIONS.items()}
    return {title: sentences for title, sentences in told.items() if sentences}


def verdict(analysis: PanelAnalysis) -> str:
    """The judgement in one or two sentences."""
    if small := too_small(analysis):
        return small
    against, missed = objections(analysis), _missed(analysis)
    clusters = analysis.clusters
    share, low, high = shared_variance(analysis)
    of_variance = f"{share:.0%} of the variance"
    if np.isfinite(low):
        of_variance += f", {low:.0%} to {high:.0%}"
    if other := _share_by_another_account(analysis, share):
        of_variance += f"; {other}"
    if analysis.shuffled is None:
        opening = f"One factor would explain {share:.0%} of the variance; nothing was compared with chance."
    elif analysis.shuffled.p[0] > LEVEL:
        return nothing_shared(analysis.shuffled, analysis.least_share)
    elif analysis.models is not None and len(analysis.models) == 1:
        return (
            f"All respondents are one model, {analysis.models[0]}: that its framings agree ({share:.0%} of the "
            "variance) says nothing of a scale that models share."
        )
    elif clusters is not None and clusters.between.p > LEVEL and clusters.difference.p <= LEVEL:
        return (
            "There is no scale that models share: what looks shared is each model agreeing with itself "
            f"(between models {p_text(clusters.between.p)})."
        )
    elif clusters is not None and clusters.shares["between"] < clusters.shares["within_only"]:
        opening = (
            f"Little is shared between models: {clusters.shares['between']:.0%} of the variance, against "
            f"{clusters.shares['within_only']:.0%} that each model shares only with itself."
        )
    elif _n_varied(analysis.model.thresholds) < FEWEST_FITTED:
        opening = (
            f"Something is shared ({p_text(analysis.shuffled.p[0])}); whether it is one scale {FEWEST_FITTED - 1} "
            "respondents cannot say, since one factor fits any three correlations."
        )
    elif _nothing_common(analysis):
        opening = "There is no scale that is common to all."
    elif _several_stand(analysis) or (analysis.fit is not None and analysis.fit.rejected):
        opening = f"Something is shared ({of_variance}), but one scale is not all of it."
    elif share >= STRONG:
        opening = f"One scale is shared, and it explains most of the answers ({of_variance})."
    else:
        opening = f"Something is shared ({of_variance}), but most of each respondent's answers is its own."
    if not against and not missed:
        return f"{opening} Nothing found here speaks against one scale for all."
    if not against:
        return (
            f"{opening} Nothing was found against one scale for all, but it could not have been: {'; '.join(missed)}."
        )
    return f"{opening} Against one scale for all: {'; '.join(against)}."


def nothing_shared(shuffled: EigenvalueNull, least: float | None) -> str:
    """That no scale was found, and how large a one would have been."""
    opening = f"Nothing is shared that shuffled answers would not show ({p_text(shuffled.p[0])})"
    if least is None:
        return f"{opening}; how large a scale would have been found is not known."
    if least <= WORTH_A_SCALE:
        return f"{opening}: there is no scale to speak of (one of {least:.0%} of the variance would be found in 80%)."
    much = f"only from {least:.0%} of the variance on" if np.isfinite(least) else f"of no size up to {max(SHARES):.0%}"
    return f"{opening}, but it could have been missed: a scale would be found in 80% {much}."


def too_small(analysis: PanelAnalysis) -> str:
    """Why nothing can be said of so small a panel; empty where it can."""
    used = analysis.model.tetrachoric
    n, pairs = len(analysis.model.difficulty), math.comb(_n_varied(used.thresholds), 2)
    reasons = []
    if used.n_zero_cell_pairs > _MOST_EMPTY * pairs:
        reasons.append(
            f"{used.n_zero_cell_pairs} of {pairs} pairs have an empty cell, so that a rule makes their correlation"
        )
    if n < _FEWEST_QUESTIONS:
        reasons.append(f"there are {n} questions, and {_FEWEST_QUESTIONS} are the least")
    return f"Too small to say whether a scale is shared: {'; '.join(reasons)}. Ask more questions." if reasons else ""


def shared_variance(analysis: PanelAnalysis) -> tuple[float, float, float]:
    """Mean squared loading of the page's own loadings; its 95% interval over questions, nan where none was drawn."""
    share = number(analysis.model.explained, "factor_1", "squared_loadings_of_total_variance")
    if analysis.bootstrap is None:
        return share, float("nan"), float("nan")
    low, high = (number(analysis.bootstrap.shares, "squared_loadings", end) for end in ("low", "high"))
    return share, low, high


def _share_by_another_account(analysis: PanelAnalysis, share: float) -> str:
    """The share under an account that is not the usual one, named, where it is another; and whether it fits better.

    Shares of random answers of each respondent's own are at least 0, and raise loadings where nobody guesses: of .49
    planted they made .54, those of all .52; where a third guesses at .3, .51 and .46.
    """
    if analysis.specific is not None and len(analysis.specific.tests) >= FEWEST_KIN:
        other = number(analysis.specific.model.shares, "general", "share")
        account = f"beside what each {analysis.kin} shares"
    elif analysis.accounts is not None:
        table, name = analysis.accounts.table, "any scale, random answers all alike"
        other, gain = number(table, name, "loadings_share"), np.diff(table["log_likelihood"][[PLAIN, name]])[0]
        better = "better" if gain >= _WORTH_ANOTHER_SHAPE else "no better"
        account = f"if all guess equally often and the scale has any shape, which fits {better}"
    else:
        return ""
    return f"{other:.0%} {account}" if abs(share - other) >= WORTH_A_NAME else ""


def _nothing_common(analysis: PanelAnalysis) -> bool:
    """Whether a second factor is nearly as large as the first, or one factor does not fit at all."""
    sizes = factor_shares(analysis)
    poor = analysis.fit is not None and analysis.fit.rmsea_low > _POOR
    return _several_stand(analysis) and (sizes[1] >= _AS_LARGE * sizes[0] or poor)


def objections(analysis: PanelAnalysis) -> list[str]:
    """What speaks against one scale that is the same for all, strongest first."""
    found = []
    if analysis.several is not None and _several_stand(analysis):
        sizes = ", ".join(f"{share:.0%}" for share in factor_shares(analysis))
        made = analysis.by_kin is not None and analysis.by_kin.p[1] > LEVEL
        kin = f"; what each {analysis.kin} shares would make the second" if made else ""
        found.append(f"{analysis.several.loadings.shape[1]} factors, not one (of the variance: {sizes}{kin})")
    if analysis.fit is not None and analysis.fit.rejected:
        found.append(f"one factor does not fit (RMSEA {analysis.fit.rmsea:.3f})")
    if analysis.specific is not None and analysis.specific.p <= LEVEL:
        share, low, high = (number(analysis.specific.model.shares, "specific", end) for end in ("share", "low", "high"))
        if share >= WORTH_A_NAME:
            found.append(
                f"{share:.0%} ({low:.0%} to {high:.0%}) of the variance is shared within a {analysis.kin} only"
            )
    for (what, who), bundles in analysis.invariance.items():
        broken, n = (len(table.index.unique("group")) for table in (bundles.violations(), bundles.table))
        if broken:
            whom = "respondents" if who == RESPONDENT else f"groups by {who}"
            found.append(
                f"for {broken} of {n} {whom} questions lie elsewhere by {what} (standard deviation of the shifts "
                f"{bundles.spread:.2f} spreads)"
            )
    turned = int(analysis.answer_fit.respondents["reversed"].sum())
    if turned:
        answer = "answers" if turned == 1 else "answer"
        found.append(f"{turned} of {len(analysis.answer_fit.respondents)} {answer} the other way round")
    if analysis.copies:
        found.append(
            f"{len(analysis.copies)} {'pair is' if len(analysis.copies) == 1 else 'pairs are'} one respondent twice"
        )
    alike = 0 if analysis.residuals is None else len(analysis.residuals.violations())
    if alike:
        found.append(f"{alike} {'pair shares' if alike == 1 else 'pairs share'} something beyond the scale")
    return found


def _several_stand(analysis: PanelAnalysis) -> bool:
    """Whether there is more than one factor, and no account of one scale would make the second."""
    return analysis.several is not None and _second_stands(analysis)


def _second_stands(analysis: PanelAnalysis) -> bool:
    return analysis.accounts is None or analysis.accounts.stands("second")


def _missed(analysis: PanelAnalysis) -> list[str]:
    return would_be_missed(analysis.second_scale, analysis.residuals, analysis.invariance)


def factor_shares(analysis: PanelAnalysis) -> list[float]:
    """Shares of the total variance of several factors, unrotated."""
    if analysis.several is None:
        return []
    return [float(share) for share in analysis.several.explained["squared_loadings_of_total_variance"]]


def _panel(analysis: PanelAnalysis) -> Iterable[str]:
    model, missing = analysis.model, analysis.missing
    n, m = len(model.difficulty), len(model.thresholds)
    gaps = int(missing["n_missing"].sum())
    models = "" if analysis.clusters is None else f" of {len(analysis.clusters.matrix)} models"
    constant = m - _n_varied(model.thresholds)
    placed = f" ({constant} with one kind of answer only, and so without a place on the scale)" if constant else ""
    yield f"{n} questions, {m} respondents{models}{placed}, {gaps} answers missing ({gaps / (n * m):.1%})."
    if analysis.copies:
        yield f"Pairs that answer as one respondent, so that what they share is no scale: {'; '.join(analysis.copies)}."
    not_random = missing.index[missing["p_adjusted"] < LEVEL]
    if len(not_random):
        part = missing.loc[not_random]
        yield (
            f"Answers are not missing at random for {names(not_random, 6)}: the others say yes to "
            f"{part['others_yes_when_answered'].mean():.0%} of what these answered and "
            f"{part['others_yes_when_missing'].mean():.0%} of what they left out; thresholds over the whole scale "
            "(marginal) are then the ones to compare."
        )


def _shared(analysis: PanelAnalysis) -> Iterable[str]:
    shares = {str(name): number(analysis.model.explained, "factor_1", str(name)) for name in analysis.model.explained}
    yield (
        f"First factor: {shares['squared_loadings_of_total_variance']:.1%} of the total variance by "
        f"{_EXTRACTIONS[analysis.model.extraction]}, {shares['eigenvalue_of_total_variance']:.1%} by eigenvalue, "
        f"{shares['squared_loadings_of_common_variance']:.1%} of the common variance; by marginal likelihood, without "
        f"any correction, {analysis.marginal.respondents['loading'].pow(2).mean():.1%}."
    )
    if analysis.shuffled is not None:
        null = analysis.shuffled
        yield f"First eigenvalue {null.observed[0]:.2f}; answers shuffled {null.mean[0]:.2f}, {p_text(null.p[0])}."


def _between(analysis: PanelAnalysis) -> Iterable[str]:
    if analysis.models is None:
        yield MODELS_UNKNOWN
    if analysis.clusters is not None:
        yield from analysis.clusters.sentences()
    if analysis.specific is not None:
        yield f"By one model of everybody's and each {analysis.kin}'s: {analysis.specific.sentence(str(analysis.kin))}"


def _enough(analysis: PanelAnalysis) -> Iterable[str]:
    parallel, one = analysis.parallel, analysis.one_factor
    if parallel is not None and one is not None:
        tested = np.flatnonzero(np.isfinite(parallel.p))
        values = ", ".join(f"{rank + 1}: {p_text(parallel.p[rank])}" for rank in tested)
        yield f"Factors beyond matrices with one factor fewer: {parallel.n_above()} (eigenvalue {values})."
        yield (
            f"Smallest eigenvalue {one.smallest.observed:.2f}; under one factor {one.smallest.mean:.2f}, "
            f"{p_text(one.smallest.p)}."
        )
    if analysis.accounts is not None:
        yield analysis.accounts.sentence("second")
    kin = analysis.by_kin
    if kin is not None and (kin.p[1] > LEVEL or _second_stands(analysis)):
        made = "also" if kin.p[1] > LEVEL else "not"
        yield (
            f"One scale and what each {analysis.kin}'s respondents share would {made} make a second eigenvalue of "
            f"{kin.observed[1]:.2f} ({kin.mean[1]:.2f} in the mean, {p_text(kin.p[1])})."
        )
    if analysis.second_scale is not None:
        power = f"{analysis.second_scale:.0%}"
        yield f"A second scale that correlates {SECOND_SCALE:g} with the first would be found in {power}."
    if analysis.fit is not None:
        found = f"{analysis.n_factors} factors were found" if _several_stand(analysis) else ""
        yield analysis.fit.sentence(found)
        other = analysis.fit_global
        if other is not None and np.isfinite(other.rmsea) and abs(other.rmsea - analysis.fit.rmsea) > 0.005:
            cause = "gaps" if analysis.missing["n_missing"].any() else "empty cells"
            values = f"RMSEA is {other.rmsea:.3f} and CFI {other.cfi:.3f}"
            yield f"With thresholds over all answers {values}: {cause} matter."
    if analysis.residuals is not None:
        yield analysis.residuals.sentence()
    if analysis.strongest is not None:
        yield analysis.strongest.sentence(str(analysis.kin))
    if analysis.several is not None and _second_stands(analysis):
        sizes = ", ".join(f"{share:.1%}" for share in factor_shares(analysis))
        yield f"{analysis.several.loadings.shape[1]} factors make {sizes} of the total variance."
    if analysis.factor_names is not None:
        table = analysis.factor_names
        named = table[(table["q"] <= LEVEL) & (table["share"] >= WORTH_A_NAME)]
        for factor, part in named.groupby("factor", sort=True):
            first = part.iloc[0]
            name = str(factor).replace("_", " ").capitalize()
            share, highest = f"{first['share']:.0%} of its variance", f"highest: {first['highest']}"
            yield f"{name} goes with {first['column']} ({share}; {highest})."


def _spread(analysis: PanelAnalysis) -> Iterable[str]:
    yield from analysis.scale.sentences()
    if analysis.accounts is not None and analysis.accounts.table["bend_p"].isna().all():
        yield "Whether loadings bend along thresholds takes at least six respondents."
        return
    if analysis.parabola is not None:
        found, fit = analysis.parabola, analysis.model.quadratic_fit
        low, high = fit.r2_range
        lost = len(found.simulated) - found.n_defined
        undefined = f"; undefined in {lost} of {len(found.simulated)} simulated panels" if lost else ""
        yield (
            f"Parabola of loading on threshold: R^2 {found.observed:.2f}; {found.mean:.2f} if the two are unrelated "
            f"(p = {found.p:.2g}{undefined}); {low:.2f} to {high:.2f} without one respondent."
        )
    if analysis.accounts is not None:
        yield analysis.accounts.sentence("parabola")
        if analysis.accounts.stands("parabola") and analysis.kin_bend is not None:
            left = "a bend is left" if analysis.kin_bend <= LEVEL else "no bend is left, and the parabola no finding"
            yield f"With what each {analysis.kin}'s respondents share modelled, {left} ({p_text(analysis.kin_bend)})."
        yield _refitted(analysis.accounts.table)


def _refitted(table: pd.DataFrame) -> str:
    """The parabola among the loadings of each model of the scale."""
    each = ", ".join(f"{name} {row['refitted_r2']:.2f} ({p_text(row['bend_p'])})" for name, row in table.iterrows())
    return f"R^2 of the parabola among the loadings of each model: {each}."


def _same(analysis: PanelAnalysis) -> Iterable[str]:
    clusters = analysis.clusters
    if clusters is not None and clusters.difference.p <= LEVEL and analysis.invariance:
        yield "Respondents of one model are no independent witnesses; read the counts below with that in mind."
    for (what, who), bundles in analysis.invariance.items():
        yield bundles.sentence(what, who)
    for what, reason in analysis.left_out.items():
        yield f"Not tested by {what}: {reason}."
    if not analysis.invariance:
        yield "Not tested: nothing is known of the questions (topic, level) to group them by."


def _known(analysis: PanelAnalysis) -> Iterable[str]:
    loading = analysis.model.loadings["factor_1"].dropna()
    widths = [
        f"{(drawn.respondents['loading_high'] - drawn.respondents['loading_low']).median():.2f} over {unit}"
        for drawn, unit in ((analysis.bootstrap, "questions"), (analysis.by_topic, "topics"))
        if drawn is not None
    ]
    bars = f"; the median width of a 95% interval is {' and '.join(widths)}" if widths else ""
    low, high = loading.idxmin(), loading.idxmax()
    yield f"Loadings run from {loading.min():.2f} ({low}) to {loading.max():.2f} ({high}){bars}."
    yield from analysis.answer_fit.sentences()
    turned = int(analysis.answer_fit.respondents["reversed"].sum())
    if turned:
        answer = "answers" if turned == 1 else "answer"
        yield f"A Rasch model, one slope for all, does not hold: {turned} {answer} the other way round."
    else:
        yield analysis.rasch.sentence()
    yield analysis.reliability.sentence()


def _choices(analysis: PanelAnalysis) -> Iterable[str]:
    used = analysis.model.tetrachoric
    pairs = math.comb(_n_varied(used.thresholds), 2)
    yield (
        f"{used.n_zero_cell_pairs} of {pairs} pairs lack an answer pattern, and a rule decides their correlation; "
        f"where thresholds come from moves correlations by up to {analysis.threshold_shift:.2f}."
    )
    if analysis.sensitivity is not None:
        bends = analysis.accounts is None or bool(analysis.accounts.table["bend_p"].notna().any())
        yield from summarise_sensitivity(analysis.sensitivity, bends)
        accounts = [] if analysis.accounts is None else map(analysis.accounts.explaining, ("parabola", "second"))
        if any(len(rows) and PLAIN not in rows.index for rows in accounts):
            yield "Nobody answers at random in these analyses: what the accounts above explain stays explained."


def _n_varied(thresholds: pd.Series) -> int:
    """Respondents that gave both kinds of answer."""
    return int(np.isfinite(thresholds).sum())


def _wrapped(text: str, bullet: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet))


_SECTIONS = {
    "The panel": _panel,
    "Is anything shared?": _shared,
    "Between models, or within each?": _between,
    "Is one factor enough?": _enough,
    "How are the questions spread?": _spread,
    "Is it the same for everyone, everywhere?": _same,
    "Who follows it how closely, and how well is it known?": _known,
    "What hangs on choices": _choices,
}
