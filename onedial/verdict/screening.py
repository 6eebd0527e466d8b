"""What is wrong with a panel before anything is judged: each check has a name, the targets it is about, and a sentence.

    copies among the targets            two base models, or one and the subject (unsteered, or as often for yes),
                                        with a kappa of .95 or more
    near-copies count as one            base models that share over two thirds of what the scale of the others leaves of
                                        each (`scale.near_copies`)
    framings may count as models        no target has a framing, and names of several begin alike
    informative gaps                    of a target with 5% gaps or more: the dial turns what it left out earlier or
                                        later (Mann-Whitney, adjusted over targets)
    questions stand there twice         one normalised text under several ids
    nearly one answer only              over half of the judged targets give the rarer answer in 15% or less

A check warns and takes nothing out: what it finds may be the truth about a panel. Near-copies are kept too, and count
as one base model (`match`).
"""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from onedial.asking.questions import normalised_text
from onedial.asking.tables import listed
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import adjusted
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.criteria.choice import answers_of
from onedial.verdict.criteria.status import MIN_OF_A_KIND

COPIES, NEAR, FRAMINGS, GAPS = (
    "copies among the targets",
    "near-copies count as one",
    "framings may count as models",
    "informative gaps",
)
TWICE, ONE_SIDED = "questions stand there twice", "nearly one answer only"
CHECKS = (COPIES, NEAR, FRAMINGS, GAPS, TWICE, ONE_SIDED)
ALIKE, MANY_GAPS, RARE = 0.95, 0.05, 0.15
_SEPARATOR = re.compile(r"\s*[:,]\s+|\s+[/|]\s+|\s+\(")
"""Between a model and a framing; `llama3:8b` and `openai/o3` are models."""


@dataclass(frozen=True)
class Screened:
    """One finding: the check's name, what it is about, and a sentence for a reader."""

    check: str
    about: list[str]
    sentence: str


def screen(case: Case) -> list[Screened]:
    """Everything that the checks find, in the order of `CHECKS`.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> [(finding.check, finding.about) for finding in screen(case)]
    [('informative gaps', ['gemma-3-270m: neutral'])]
    """
    found = [check(case) for check in (_copies, _near, _framings, _gaps, _twice, _one_sided)]
    return [finding for finding in found if finding is not None]


def _copies(case: Case) -> Screened | None:
    names = [str(name) for name in case.targets]
    answers = np.column_stack([case.given, answers_of(case.unsteered_margins)])
    models = [*case.near_copies.models, "\0the subject"]
    kappas = _kappas(answers)
    pairs = [(one, other) for one, other in np.argwhere(np.triu(kappas >= ALIKE, k=1)) if models[one] != models[other]]
    labels = [*names, "the unsteered subject"]
    told = [f"{labels[one]} and {labels[other]} ({kappas[one, other]:.2f})" for one, other in pairs]
    about = {labels[place] for pair in pairs for place in pair} & set(names)
    for name, own, unsteered in zip(names, case.given.T, kappas[-1], strict=False):
        kappa = _kappas(np.column_stack([own, _as_often(case.dial.ease, own)]))[0, 1]
        if kappa >= ALIKE and not unsteered >= ALIKE:
            told.append(f"{name} and the subject where it says yes as often ({kappa:.2f})")
            about.add(name)
    if not told:
        return None
    return Screened(
        COPIES,
        sorted(about),
        f"These answer all but alike under other names (kappa): {listed(told, 3)}; if they are one model, leave all "
        "but one out, and the subject's own.",
    )


def _as_often(ease: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The subject's answers where the dial turns as many of the questions to yes as were answered so; nan as ease."""
    known = np.sort(ease[~np.isnan(ease) & ~np.isnan(given)])
    n_no = len(known) - int(np.nansum(np.where(np.isnan(ease), 0, given)))
    cut = known[n_no] if n_no < len(known) else np.inf
    return np.where(np.isnan(ease), np.nan, (ease >= cut).astype(float))


def _near(case: Case) -> Screened | None:
    found = case.near_copies
    if not found.groups:
        return None
    joins = found.joins.set_index("models")
    told = []
    for group in found.groups:
        own = joins.loc[" + ".join(group)]
        told.append(f"{listed(group)} ({own['correlation']:.2f}, where {own['expected']:.2f} was expected)")
    joined = np.isin(case.models, [" + ".join(group) for group in found.groups])
    about = [str(name) for name in case.targets[joined]]
    return Screened(
        NEAR,
        about,
        f"These base models answer nearly as one (mean correlation, and what the others' scale lets expect): "
        f"{'; '.join(told)}; each group counts as one base model.",
    )


def _framings(case: Case) -> Screened | None:
    names = _stems(case)
    times = Counter(names.values())
    about = [name for name, stem in names.items() if times[stem] > 1]
    if not about:
        return None
    shared = dict.fromkeys(names[name] for name in about)
    return Screened(
        FRAMINGS,
        about,
        f"{len(about)} targets whose names begin alike ({listed(shared, 3)}) count as as many base models, since "
        "nothing says otherwise; give a table of respondents with the column model.",
    )


def of_one_name(case: Case) -> bool:
    """Whether all judged targets may be one base model under framings, for all that is said of them."""
    judged = case.targets[case.judged]
    stems = _stems(case)
    return len(judged) > 1 and len({stems.get(str(name), str(name)) for name in judged}) == 1


def _stems(case: Case) -> dict[str, str]:
    """How each name begins, of those that go on with a framing; none where framings or base models are told."""
    named = (case.respondents["framing"].astype(str) != "").any()
    if named or list(case.near_copies.models) != list(case.targets.astype(str)):
        return {}
    parts = {str(name): _SEPARATOR.split(str(name), maxsplit=1) for name in case.targets}
    return {name: own[0] for name, own in parts.items() if len(own) > 1}


def _gaps(case: Case) -> Screened | None:
    from scipy.stats import mannwhitneyu  # scipy.stats takes a second to load

    ease, gone = case.dial.ease, np.isnan(case.given)
    known = ~np.isnan(ease)
    p = np.full(gone.shape[1], np.nan)
    for target, own in enumerate(gone.T):
        if MANY_GAPS <= own[known].mean() < 1:
            p[target] = mannwhitneyu(ease[known & own], ease[known & ~own], method="asymptotic").pvalue
    about = [str(name) for name in case.targets[np.nan_to_num(adjusted(p), nan=1.0) <= LEVEL]]
    if not about:
        return None
    return Screened(
        GAPS,
        about,
        f"{len(about)} targets left out questions that the dial turns earlier or later than others "
        f"({listed(about, 3)}): what is said of them is about the questions that they did answer.",
    )


def _twice(case: Case) -> Screened | None:
    times = Counter(normalised_text(text) for text in case.texts)
    again = {text for text, n in times.items() if n > 1}
    if not again:
        return None
    ids = [str(q) for q, text in zip(case.questions, case.texts, strict=True) if normalised_text(text) in again]
    return Screened(
        TWICE,
        ids,
        f"{len(ids)} questions are {len(again)} texts under several ids ({listed(ids, 3)}): they are no independent "
        "evidence, and may stand in two splits; keep one of each.",
    )


def _one_sided(case: Case) -> Screened | None:
    judged, (yes_rates, _) = case.judged, rates(case.panel.to_numpy())
    rare = judged & (np.minimum(yes_rates, 1 - yes_rates) <= RARE)
    if not judged.any() or 2 * rare.sum() <= judged.sum():
        return None
    about = [str(name) for name in case.targets[rare]]
    return Screened(
        ONE_SIDED,
        about,
        f"{rare.sum()} of {judged.sum()} judged targets give one answer in {1 - RARE:.0%} or more: hardly a gain over "
        "that answer is possible, and little is left to predict.",
    )


def _kappas(answers: np.ndarray) -> np.ndarray:
    """Cohen's kappa of every two columns over what both answered; nan under ten answers of a kind on either side."""
    yes, no = (answers == 1).astype(float), (answers == 0).astype(float)
    both_yes, both_no, yes_no = yes.T @ yes, no.T @ no, yes.T @ no
    n = both_yes + both_no + yes_no + yes_no.T
    one, other = both_yes + yes_no, both_yes + yes_no.T
    fewest = np.minimum.reduce([one, n - one, other, n - other])
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = (one * other + (n - one) * (n - other)) / n**2
        kappa = ((both_yes + both_no) / n - chance) / (1 - chance)
    return np.where(fewest >= MIN_OF_A_KIND, kappa, np.nan)
