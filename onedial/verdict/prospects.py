"""What can be said of a panel before any model is asked: which targets could be judged at all.

A target needs answers of both kinds, enough of them on the test split, and enough on the fitting split, where wordings
of one question count once; whether the subject reaches it is another matter. So these numbers are upper bounds.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.splits import FITTING, TEST, wordings_of
from onedial.stats.agreement import MIN_OF_A_KIND
from onedial.stats.resampling import counted_once, groups_among
from onedial.verdict.case import wording_groups
from onedial.verdict.criteria.status import CONSTANT, FEW, MIN_FITTING, MIN_TEST
from onedial.verdict.verdict import MIN_MODELS, MIN_TARGETS

POSSIBLE = "possible"


@dataclass(frozen=True)
class Prospects:
    """Which targets can be judged, as far as their own answers tell.

    Attributes:
        status: target -> "possible", "constant" or "few" (`onedial.verdict.criteria.status`).
        n_models: base models of the possible ones. n_questions: that are asked.
    """

    status: pd.Series
    n_models: int
    n_questions: int

    __repr__ = one_line

    @property
    def n_possible(self) -> int:
        """Targets that could be judged."""
        return int((self.status == POSSIBLE).sum())

    @property
    def suffices(self) -> bool:
        """Whether enough targets for a verdict could be judged, of enough base models."""
        return self.n_possible >= MIN_TARGETS and self.n_models >= MIN_MODELS

    def __str__(self) -> str:
        """Say in a sentence what to know and what to do."""
        counts = self.status[self.status != POSSIBLE].value_counts()
        why = "".join(f", {count} {_WHY[str(name)]}" for name, count in counts.items())
        sentence = f"{self.n_possible} of {len(self.status)} targets can be judged on these questions{why}"
        if self.suffices:
            return sentence
        alone = ", all of one base model" if 0 < self.n_models < MIN_MODELS else ""
        return (
            f"a verdict needs {2 * MIN_TEST} questions and {MIN_TARGETS} targets of {MIN_MODELS} base models; you have "
            f"{self.n_questions} questions, and {sentence}{alone}; give a panel of more, more of its questions "
            "(--n-questions), or say by --respondents which model each target is"
        )


_WHY = {
    CONSTANT: "with one answer only",
    FEW: f"with under {MIN_TEST} test answers, {MIN_OF_A_KIND} of a kind or {MIN_FITTING} to fit on",
}


def prospects_of(inputs: ExperimentInputs) -> Prospects:
    """Say what the inputs of a run allow, without a model.

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
    status = _status(questions_frame(inputs.questions), inputs.panel.answers, pd.Series(inputs.splits))
    if (status == CONSTANT).all():
        raise InputError(
            f"none of the {len(targets)} targets says both yes and no to the {len(inputs.questions)} questions asked, "
            "so there is nothing to reproduce; check the panel's answers, or ask more questions"
        )
    n_models = inputs.panel.respondents["model"][status == POSSIBLE].nunique()
    return Prospects(status, n_models, len(inputs.questions))


def _status(questions: pd.DataFrame, answers: pd.DataFrame, splits: pd.Series) -> pd.Series:
    values, split = answers.to_numpy(dtype=float), splits.reindex(answers.index).to_numpy()
    groups = wording_groups(wordings_of(questions), answers.index)
    yes, no = values == 1, values == 0

    def counted(answered: np.ndarray, name: str) -> np.ndarray:
        return counted_once(answered[split == name], groups_among(groups, split == name))

    few = (counted(yes | no, TEST) < MIN_TEST) | (np.minimum(counted(yes, TEST), counted(no, TEST)) < MIN_OF_A_KIND)
    few |= counted(yes | no, FITTING) < MIN_FITTING
    constant = ~(yes.any(axis=0) & no.any(axis=0))
    return pd.Series(np.select([constant, few], [CONSTANT, FEW], POSSIBLE), index=answers.columns, name="status")
