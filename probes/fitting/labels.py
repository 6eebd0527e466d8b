"""Make the labels that are to be read of each question: 1 / 0 / nan, positive towards yes, right, or easy.

    own yes         the subject's own margin is above 0 (nan: unread)
    own margin high its margin is above its median, where it says nearly always the same (under a fifth on one side)
    own correct     the subject's closed-book answer was right, as the panel has it: what P(IK) is trained on
    easy for all    the panel's shared difficulty is below its median
    yes: TARGET     a target says yes
    correct: MODEL  the closed-book answer of another base model was right

The subject's own respondents are in none of the panel's labels. Of facts that have nothing to do with ability:

    fact is true    yes is the right answer
    yes to a fact   the subject's margin is above 0, or above its median where it says nearly always the same: what is
                    left of "say yes" where nobody asks for ability
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.inside.activation_store import ActivationStore
from onedial.panels.joining import drop_own
from onedial.panels.panel_scores import correctness_of
from onedial.panels.panels import ResponseMatrix
from onedial.scale.factor.factor_model import fit_factor_model
from probes.fitting.crossfit import LEAST_OF_A_KIND

OWN_YES, OWN_MARGIN, OWN_CORRECT, EASY = "own yes", "own margin high", "own correct", "easy for all"
MAIN_LABELS = (OWN_YES, OWN_MARGIN, OWN_CORRECT, EASY)
FACT_TRUE, FACT_YES = "fact is true", "yes to a fact"
SMALLER_SIDE = 0.2


def target_label(target: str) -> str:
    """The label that says what a target says.

    >>> target_label("gemma-3-270m: exam")
    'yes: gemma-3-270m: exam'
    """
    return f"yes: {target}"


def correct_label(model: str) -> str:
    """The label that says whether another base model was right.

    >>> correct_label("gemma-3-270m")
    'correct: gemma-3-270m'
    """
    return f"correct: {model}"


@dataclass(frozen=True, eq=False)
class ProbeLabels:
    """Labels of a set of questions, and the numbers that they were made of.

    Attributes:
        truth: index question_id, one column per label that has enough of either kind.
        difficulty: (question,) the panel's shared difficulty without the subject; higher = harder.
        panel: without the subject's own respondents, its questions in the order of `truth`.
        own: names of the subject's own respondents.
    """

    truth: pd.DataFrame
    difficulty: pd.Series
    panel: ResponseMatrix
    own: tuple[str, ...]

    __repr__ = one_line


def labels_of(
    store: ActivationStore, panel: ResponseMatrix, correct: pd.Series | None = None, least: int = LEAST_OF_A_KIND
) -> ProbeLabels:
    """Labels of the questions of a store that the panel answers.

    Labels with fewer than `least` questions of a kind are left out, and said so.

    Args:
        panel: holds the questions of the store under their ids.
        correct: (question,) whether the subject's own answer was right, where the panel does not know.

    Raises:
        InputError: the panel lacks a question, holds nobody but the subject, or no label is left.

    >>> import tempfile
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import store_activations
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=12)
    >>> folder, prompts = tempfile.TemporaryDirectory(), PromptSet.build(model, questions, METACOGNITIVE)
    >>> store = store_activations(model, prompts, f"{folder.name}/acts", positions=["last"])
    >>> from onedial import load_panel
    >>> labels_of(store, load_panel("embedded"), least=2).truth["easy for all"].size
    12
    """
    questions = list(store.question_ids)
    panel = panel.select(questions=questions)
    model = store.key.model
    others, subjects = drop_own(panel, model.name, model.fingerprints)
    right = correctness_of(panel)
    labels = _own_answer(store)
    known = correct if correct is not None else _mean_of(right, subjects)
    if known is not None:
        labels[OWN_CORRECT] = known.reindex(questions)
    difficulty = _difficulty(others)
    labels[EASY] = (difficulty < difficulty.median()).astype(float).where(difficulty.notna())
    labels |= {target_label(str(name)): others.answers[name] for name in others.answers}
    by_model = _correct_by_model(others, right)
    labels |= {correct_label(str(name)): by_model[name] for name in by_model}
    enough = {name: values for name, values in labels.items() if _smaller_side(values) >= least}
    if left_out := [f"{name} ({_smaller_side(values)})" for name, values in labels.items() if name not in enough]:
        notice(
            f"{len(left_out)} labels are left out, since fewer than {least} questions stand on one side: "
            f"{', '.join(left_out)}"
        )
    if OWN_CORRECT not in labels:
        notice("no label 'own correct': the panel does not say which of the subject's own answers were right")
    if not enough:
        raise InputError(f"no label has {least} questions of either kind; ask more questions")
    truth = pd.DataFrame(enough, index=pd.Index(questions, name="question_id")).astype(float)
    return ProbeLabels(truth, difficulty, others, subjects)


def fact_labels(store: ActivationStore, truth: Mapping[str, float], least: int = LEAST_OF_A_KIND) -> pd.DataFrame:
    """Labels of facts, index question_id: which are true, and to which the subject leans towards yes.

    Args:
        store: of the facts. truth: question id -> 1 / 0, see `onedial.panels.truth_of`.

    Raises:
        InputError: a question without a truth, or fewer than `least` facts of either kind.

    >>> import tempfile
    >>> from onedial import PromptSet, load_model
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import store_activations
    >>> from onedial.panels import load_facts, truth_of
    >>> model, facts = load_model("smollm2-135m-instruct"), load_facts(12)
    >>> folder, prompts = tempfile.TemporaryDirectory(), PromptSet.build(model, facts, METACOGNITIVE)
    >>> store = store_activations(model, prompts, f"{folder.name}/acts", positions=["last"])
    >>> fact_labels(store, truth_of(facts), least=2)["fact is true"].value_counts().tolist()
    [6, 6]
    """
    facts = list(store.question_ids)
    if unknown := [fact for fact in facts if fact not in truth]:
        raise InputError(f"{len(unknown)} facts have no truth, first {unknown[0]!r}; give 1 or 0 for each")
    labels = {FACT_TRUE: pd.Series({fact: truth[fact] for fact in facts}, dtype=float)}
    (said_yes,) = _own_answer(store, "facts").values()
    labels[FACT_YES] = said_yes
    kept = {name: values for name, values in labels.items() if _smaller_side(values) >= least}
    if FACT_TRUE not in kept:
        raise InputError(
            f"{len(facts)} facts are too few; a probe needs {least} that are true and {least} that are not"
        )
    if FACT_YES not in kept:
        notice(f"no label {FACT_YES!r}: fewer than {least} facts stand on one side of the subject's answers")
    return pd.DataFrame(kept, index=pd.Index(facts, name="question_id")).astype(float)


def shared_difficulty(panel: ResponseMatrix, without: Collection[str] = ()) -> pd.Series:
    """(question,) the difficulty that respondents share, higher = harder, without some respondents.

    >>> from onedial.panels import load_panel
    >>> shared_difficulty(load_panel("frontier")).shape
    (450,)
    """
    left = [str(name) for name in panel.answers if name not in set(without)]
    return _difficulty(panel.select(respondents=left))


def _own_answer(store: ActivationStore, what: str = "questions") -> dict[str, pd.Series]:
    read, margin = is_read(store.mass).numpy(), store.margin.double().numpy()
    yes = np.where(read, margin > 0, np.nan)
    name = OWN_YES
    if read.any() and min(np.nanmean(yes), 1 - np.nanmean(yes)) < SMALLER_SIDE:
        instead = OWN_MARGIN if what == "questions" else FACT_YES
        notice(
            f"the subject says yes to {np.nanmean(yes):.0%} of the {int(read.sum())} {what} that it can be read on, so "
            f"its own margin is split at its median instead of at 0 (label {instead!r})"
        )
        name, yes = OWN_MARGIN, np.where(read, margin > np.median(margin[read]), np.nan)
    return {name: pd.Series(yes, index=list(store.question_ids))}


def _difficulty(panel: ResponseMatrix) -> pd.Series:
    """By the factor model; by the plain share of no where fewer than three respondents vary."""
    try:
        return fit_factor_model(panel).difficulty
    except InputError as error:
        notice(f"difficulty is the share of no among the respondents, since there is no factor model: {error}")
        return 1 - panel.answers.mean(axis=1)


def _correct_by_model(panel: ResponseMatrix, right: pd.DataFrame | None) -> pd.DataFrame:
    """Question x base model, 1 / 0 / nan; a base model's framings share its closed-book answer."""
    models = panel.respondents["model"]
    means = {}
    for model in dict.fromkeys(models):
        mean = _mean_of(right, list(models.index[models == model]))
        if mean is not None:
            means[str(model)] = mean
    return pd.DataFrame(means, index=panel.answers.index, dtype=float)


def _mean_of(right: pd.DataFrame | None, respondents: Collection[str]) -> pd.Series | None:
    if right is None or not respondents:
        return None
    share = right[list(respondents)].mean(axis=1)
    if share.isna().all():
        return None
    return (share > 0.5).astype(float).where(share.notna() & (share != 0.5))


def _smaller_side(values: pd.Series) -> int:
    return int(min((values == 1).sum(), (values == 0).sum()))
