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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from onedial.asking.questions import normalised_text
from onedial.asking.tables import listed
from onedial.stats.agreement import COPY, kappas_between
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import adjusted
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.criteria.choice import answers_of

MANY_GAPS, RARE = 0.05, 0.15
_SEPARATOR = re.compile(r"\s*[:,]\s+|\s+[/|]\s+|\s+\(")
"""Between a model and a framing; `llama3:8b` and `openai/o3` are models."""

SENTENCES: dict[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
Finding = tuple[list[str], dict[str, Any]]
"""What a check is about, nobody where it finds nothing, and what its sentence names."""


@dataclass(frozen=True)
class Screened:
    """One finding: the check's name, what it is about, and a sentence for a reader."""

    check: str
    about: list[str]
    sentence: str


def screen(case: Case) -> list[Screened]:
    """List everything that the checks find, in the order of `CHECKS`.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> [(finding.check, finding.about) for finding in screen(case)]
    [('informative gaps', ['gemma-3-270m: neutral'])]
    """
    return [
        Screened(name, about, SENTENCES[name].format(n=len(about), few=listed(about, 3), **more))
        for name, check in CHECKS.items()
        for about, more in [check(case)]
        if about
    ]


def _copies(case: Case) -> Finding:
    names = [str(name) for name in case.targets]
    answers = np.column_stack([case.given, answers_of(case.unsteered_margins)])
    models, labels = [*case.near_copies.models, "\0the subject"], [*names, "the unsteered subject"]
    kappas = kappas_between(answers)
    pairs = [(one, other) for one, other in np.argwhere(np.triu(kappas >= COPY, k=1)) if models[one] != models[other]]
    pairs_named = [f"{labels[one]} and {labels[other]} ({kappas[one, other]:.2f})" for one, other in pairs]
    about = {labels[place] for pair in pairs for place in pair} & set(names)
    for name, given, unsteered in zip(names, case.given.T, kappas[-1], strict=False):
        kappa = kappas_between(np.column_stack([given, _as_often(case.dial.ease, given)]))[0, 1]
        if kappa >= COPY and not unsteered >= COPY:
            pairs_named.append(f"{name} and the subject where it says yes as often ({kappa:.2f})")
            about.add(name)
    return sorted(about), {"pairs": listed(pairs_named, 3)}


def _as_often(ease: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Answer as the subject where the dial turns as many questions to yes as were answered so; nan as ease."""
    known = np.sort(ease[~np.isnan(ease) & ~np.isnan(given)])
    n_no = len(known) - int(np.nansum(np.where(np.isnan(ease), 0, given)))
    cut = known[n_no] if n_no < len(known) else np.inf
    return np.where(np.isnan(ease), np.nan, (ease >= cut).astype(float))


def _near(case: Case) -> Finding:
    copies, groups_named = case.near_copies, []
    joins = copies.joins.set_index("models") if copies.groups else pd.DataFrame()
    for group in copies.groups:
        row = joins.loc[" + ".join(group)]
        groups_named.append(f"{listed(group)} ({row['correlation']:.2f}, where {row['expected']:.2f} was expected)")
    joined = np.isin(case.models, [" + ".join(group) for group in copies.groups])
    return [str(name) for name in case.targets[joined]], {"groups": "; ".join(groups_named)}


def _framings(case: Case) -> Finding:
    names = _stems(case)
    times = Counter(names.values())
    about = [name for name, stem in names.items() if times[stem] > 1]
    return about, {"stems": listed(dict.fromkeys(names[name] for name in about), 3)}


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
    return {name: names[0] for name, names in parts.items() if len(names) > 1}


def _gaps(case: Case) -> Finding:
    from scipy.stats import mannwhitneyu  # scipy.stats takes a second to load

    ease, gone = case.dial.ease, np.isnan(case.given)
    known = ~np.isnan(ease)
    p = np.full(gone.shape[1], np.nan)
    for target, left_out in enumerate(gone.T):
        if MANY_GAPS <= left_out[known].mean() < 1:
            p[target] = mannwhitneyu(ease[known & left_out], ease[known & ~left_out], method="asymptotic").pvalue
    return [str(name) for name in case.targets[np.nan_to_num(adjusted(p), nan=1.0) <= LEVEL]], {}


def _twice(case: Case) -> Finding:
    texts = [normalised_text(text) for text in case.texts]
    again = {text for text, n in Counter(texts).items() if n > 1}
    about = [str(question) for question, text in zip(case.questions, texts, strict=False) if text in again]
    return about, {"n_texts": len(again)}


def _one_sided(case: Case) -> Finding:
    judged, (yes_rates, _) = case.judged, rates(case.panel.to_numpy())
    rare = judged & (np.minimum(yes_rates, 1 - yes_rates) <= RARE)
    most = 2 * rare.sum() > judged.sum()
    return [str(name) for name in case.targets[rare & most]], {"n_judged": int(judged.sum()), "most": 1 - RARE}


CHECKS: dict[str, Callable[[Case], Finding]] = {
    "copies among the targets": _copies,
    "near-copies count as one": _near,
    "framings may count as models": _framings,
    "informative gaps": _gaps,
    "questions stand there twice": _twice,
    "nearly one answer only": _one_sided,
}
"""Name, which is among the verdict's flags -> what finds it; its sentence stands under its name in screening.yaml."""
