"""What the panel is: its size, gaps and copies; and what so small a panel cannot tell."""

import math

import numpy as np
import pandas as pd

from onedial.scale.checks.near_copies import near_copies
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import FEWEST_QUESTIONS
from onedial.stats.agreement import COPY, kappas_between
from onedial.stats.answers import Answers, names
from onedial.stats.level import LEVEL, Z_95

MODELS_UNKNOWN = (
    "Which respondents are one base model is not known: framings of one model would pass for a shared scale."
)
_WIDEST = {"loading": 1.0, "threshold": 2.0}  # of half an interval: thresholds of 2 are yes rates from 2 to 98%


def limits(fit: PanelFit) -> Finding:
    """What cannot be known of this panel, whatever the numbers say."""
    tetrachoric, n, reasons = fit.factor.tetrachoric, fit.answers.n_questions, []
    empty, pairs = tetrachoric.n_zero_cell_pairs, math.comb(fit.n_varied, 2)
    if not fit.response.respondents["loading_se"].median() * Z_95 < _WIDEST["loading"]:
        reasons.append(f"with {np.median(fit.answers.n_answered):.0f} answers a loading is not known")
    if n < FEWEST_QUESTIONS:
        reasons.append(f"there are {n} questions, and {FEWEST_QUESTIONS} are the least")
    finding = Finding(numbers={"n_zero_cell_pairs": empty}, evidence={"too_small": "; ".join(reasons)})
    if empty:
        first, filled = fit.factor.eigenvalues.iloc[0], len(fit.factor.eigenvalues)
        bare = fit_factor_model(fit.answers, zero_cells="none").eigenvalues.iloc[0]
        finding.sentences.append(
            f"{empty} of {pairs} pairs of respondents lack an answer pattern, so that a rule makes their correlation: "
            f"with half an answer put there the first eigenvalue is {first / filled:.0%} of the variance, left empty "
            f"{bare / filled:.0%}."
        )
    else:
        finding.sentences.append("No pair of respondents lacks an answer pattern: no correlation hangs on a rule.")
    finding.sentences += [how_well_known(fit)] * bool(fit.response.respondents["loading_se"].notna().any())
    if fit.models is None:
        finding.sentences.append(MODELS_UNKNOWN)
    if not fit.response.converged:
        finding.sentences.append("The likelihood stopped below its maximum: its numbers are those of the last step.")
    return finding


def how_well_known(fit: PanelFit) -> str:
    """What so many answers tell of a respondent: half the width of the 95% intervals, in the middle of all."""
    errors = fit.response.respondents[["loading_se", "threshold_se"]].median()
    n = np.median(fit.answers.n_answered)
    words = [
        f"a {name} is known to within {Z_95 * error:.2f}" if Z_95 * error < widest else f"a {name} is not known"
        for name, error, widest in zip(_WIDEST, errors, _WIDEST.values(), strict=True)
    ]
    return f"With {n:.0f} answers {', '.join(words)}."


def the_panel(fit: PanelFit) -> Finding:
    """Size, gaps, copies."""
    answers, finding = fit.answers, Finding()
    n, m, gaps = answers.n_questions, answers.n_respondents, int((~answers.answered).sum())
    constant = m - fit.n_varied
    models = f" of {len(fit.models)} models" if fit.models is not None else ""
    placed = f" ({constant} with one kind of answer only, and so without a place on the scale)" if constant else ""
    finding.sentences.append(
        f"{n} questions, {m} respondents{models}{placed}, {gaps} answers missing ({gaps / (n * m):.1%})."
    )
    if copies := copies_among(fit.answers):
        finding.sentences.append(f"Pairs that answer as one respondent share no scale: {'; '.join(copies)}.")
        finding.against.append(f"{len(copies)} {'pair is' if len(copies) == 1 else 'pairs are'} one respondent twice")
    elif near := near_copies(answers, list(map(str, _base_models(fit)))).groups:
        groups = "; ".join(" and ".join(group) for group in near)
        finding.sentences.append(
            f"Count as one, since they share over two thirds of what the scale of the others leaves of each: {groups}."
        )
        finding.against.append(
            f"{sum(map(len, near))} {'models' if fit.models else 'respondents'} count as {len(near)}"
        )
    missing = fit.missingness
    finding.tables["missingness"] = missing
    if len(part := missing[missing["p_adjusted"] < LEVEL]):
        finding.sentences.append(
            f"Answers are not missing at random for {names(part.index, 6)}: the others say yes to "
            f"{part['others_yes_when_answered'].mean():.0%} of what these answered and "
            f"{part['others_yes_when_missing'].mean():.0%} of what they left out; thresholds over the whole scale "
            "(marginal) are then the ones to compare."
        )
    return finding


def _base_models(fit: PanelFit) -> pd.Index | pd.Series:
    """Whose framings are one, or each by itself."""
    known, names_of = fit.respondents, fit.answers.respondents
    return names_of if fit.models is None or known is None else known["model"].reindex(names_of)


def copies_among(answers: Answers) -> list[str]:
    """Pairs whose answers hardly differ, or are hardly ever the same: one respondent twice, in words.

    By Cohen's kappa of `COPY` or more in size (`kappas_between`).

    >>> import pandas as pd
    >>> from onedial.stats.answers import as_answers
    >>> answers = np.random.default_rng(0).integers(0, 2, (60, 2))
    >>> copies_among(as_answers(pd.DataFrame({"a": answers[:, 0], "b": answers[:, 0], "c": answers[:, 1]})))
    ['b answers as a (kappa 1.00)']
    """
    kappas, sentences = kappas_between(np.where(answers.answered, answers.yes, np.nan).astype(float)), []
    for one, other in np.argwhere(np.triu(np.abs(kappas) >= COPY, k=1)):
        how = "as" if kappas[one, other] > 0 else "the other way round to"
        copy, of = answers.respondents[other], answers.respondents[one]
        sentences.append(f"{copy} answers {how} {of} (kappa {kappas[one, other]:.2f})")
    return sentences
