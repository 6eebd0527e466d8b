"""What can be said of a panel before any model is asked: which targets could be judged at all, and on how many
questions enough of them could.

A target needs answers of both kinds, enough of them on the test split, and enough on the fitting split, where wordings
of one question count once; whether the
subject reaches it is another matter. So these numbers are upper bounds.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from onedial.asking import questions_frame, stratified_sample
from onedial.core import InputError, one_line
from onedial.panels import FITTING, TEST, ExperimentInputs, assign_splits, wordings_of
from onedial.stats import counted_once, groups_among
from onedial.verdict.criteria.status import CONSTANT, FEW, MIN_FITTING, MIN_OF_A_KIND, MIN_TEST
from onedial.verdict.tables import wording_groups
from onedial.verdict.verdict import MIN_TARGETS

POSSIBLE = "possible"
STEPS = 20
"""In which the number of questions is raised that lets most targets be judged."""


@dataclass(frozen=True)
class Prospects:
    """Which targets can be judged, as far as their own answers tell.

    Attributes:
        status: target -> "possible", "constant" or "few" (`onedial.verdict.criteria.status`).
        n_needed: so many questions, drawn as these were, let five targets be judged, and one less does not; None where
            they can be now, or cannot be with all that there are.
        n_available: questions that the panel answers.
        n_test: questions that are tested on.
        n_for_most: where enough targets can be judged but more questions would add to them: about how many questions
            let as many be judged as all of them would; else None.
        n_most: targets that could then be judged.
    """

    status: pd.Series
    n_needed: int | None
    n_available: int
    n_test: int = 0
    n_for_most: int | None = None
    n_most: int = 0

    __repr__ = one_line

    @property
    def n_possible(self) -> int:
        """Targets that could be judged."""
        return int((self.status == POSSIBLE).sum())

    @property
    def suffices(self) -> bool:
        """Whether enough targets for a verdict could be judged."""
        return self.n_possible >= MIN_TARGETS

    def __str__(self) -> str:
        """What to know and what to do, in a sentence."""
        counts = self.status[self.status != POSSIBLE].value_counts()
        why = "".join(f", {count} {_WHY[str(name)]}" for name, count in counts.items())
        said = f"{self.n_possible} of {len(self.status)} targets can be judged on these questions{why}"
        if self.suffices and self.n_for_most is not None:
            said += f"; only {self.n_test} of the questions are for the test"
            return f"{said}: ask {self.n_for_most} or more to judge {self.n_most} (--n-questions {self.n_for_most})"
        if self.suffices:
            return said
        said += f"; a verdict takes {MIN_TARGETS} targets"
        if self.n_needed is not None:
            return f"{said}: ask {self.n_needed} questions or more (--n-questions {self.n_needed})"
        if len(self.status) < MIN_TARGETS:
            return f"{said}: give a panel of more, or leave --target out"
        return (
            f"{said}, and all {self.n_available} questions that the panel answers are not enough for that: give a "
            f"panel with {2 * MIN_TEST} questions or more, to which {MIN_TARGETS} targets say both yes and no"
        )


_WHY = {
    CONSTANT: "with one answer only",
    FEW: f"with under {MIN_TEST} test answers, {MIN_OF_A_KIND} of a kind or {MIN_FITTING} to fit on",
}


def prospects_of(inputs: ExperimentInputs, seed: int = 0) -> Prospects:
    """What the inputs of a run allow, without a model.

    Raises:
        InputError: no target has said both yes and no to these questions, so that there is nothing to reproduce.

    >>> from onedial.panels import load_questions, panel_from_long
    >>> asked = load_questions(["Who wrote Emma?", "What is 7 times 8?"])
    >>> ids = [question.id for question in asked]
    >>> long = pd.DataFrame({"question_id": ids, "respondent": "gpt-x", "said_yes": [1, 0]})
    >>> inputs = ExperimentInputs(asked, dict.fromkeys(ids, "test"), panel_from_long(long))
    >>> prospects_of(inputs).n_possible
    0
    """
    targets = list(inputs.panel.answers.columns)
    every = inputs.everything or inputs
    status = _status(questions_frame(inputs.questions), inputs.panel.answers, pd.Series(inputs.splits))
    if (status == CONSTANT).all():
        raise InputError(
            f"none of the {len(targets)} targets says both yes and no to the {len(inputs.questions)} questions asked, "
            "so there is nothing to reproduce; check the panel's answers, or ask more questions"
        )
    n_test = sum(split == TEST for split in inputs.splits.values())
    found = Prospects(status, None, len(every.questions), n_test)

    def possible(n: int) -> int:
        """Targets that could be judged on n questions, drawn as these were."""
        drawn = stratified_sample(every.questions, n, seed) if n < len(every.questions) else every.questions
        answers = every.panel.answers.loc[[question.id for question in drawn], targets]
        frame = questions_frame(drawn)
        splits = assign_splits(frame, seed, inputs.hold_out_topics)
        return int((_status(frame, answers, splits) == POSSIBLE).sum())

    if found.suffices and (status == FEW).any() and len(inputs.questions) < len(every.questions):
        most = possible(len(every.questions))
        if most > found.n_possible:
            steps = np.linspace(len(inputs.questions), len(every.questions), STEPS + 1)[1:]
            enough = bisect_left(steps, True, key=lambda step: possible(int(np.ceil(step))) >= most)
            return replace(found, n_for_most=int(np.ceil(steps[enough])), n_most=most)
    if found.suffices or len(targets) < MIN_TARGETS:
        return found
    more = range(len(inputs.questions) + 1, len(every.questions) + 1)
    if not more or possible(more[-1]) < MIN_TARGETS:
        return found
    return replace(found, n_needed=more[bisect_left(more, True, key=lambda n: possible(n) >= MIN_TARGETS)])


def _status(questions: pd.DataFrame, answers: pd.DataFrame, splits: pd.Series) -> pd.Series:
    values, split = answers.to_numpy(dtype=float), splits.reindex(answers.index).to_numpy()
    groups = wording_groups(wordings_of(questions), answers.index)
    yes, no = values == 1, values == 0

    def counted(found: np.ndarray, name: str) -> np.ndarray:
        return counted_once(found[split == name], groups_among(groups, split == name))

    few = (counted(yes | no, TEST) < MIN_TEST) | (np.minimum(counted(yes, TEST), counted(no, TEST)) < MIN_OF_A_KIND)
    few |= counted(yes | no, FITTING) < MIN_FITTING
    constant = ~(yes.any(axis=0) & no.any(axis=0))
    return pd.Series(np.select([constant, few], [CONSTANT, FEW], POSSIBLE), index=answers.columns, name="status")
