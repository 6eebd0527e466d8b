"""What an experiment is given: questions that the panel answers, each on its split, and the panel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from common import say
from elicitation import (
    Question,
    ResponseMatrix,
    drop_own,
    join_questions_and_panel,
    load_panel,
    load_questions,
    questions_frame,
    sample_questions,
)
from matching.splits import assign_splits


@dataclass(frozen=True)
class ExperimentInputs:
    """Questions and panel, joined and split.

    Attributes:
        splits: question id -> "extraction", "fitting" or "test".
        panel: its rows are the questions, in their order.
        notes: what was left out on the way, in sentences.
    """

    questions: list[Question]
    splits: dict[str, str]
    panel: ResponseMatrix
    notes: tuple[str, ...]

    def ids(self, split: str) -> list[str]:
        """The question ids of one split."""
        return [question.id for question in self.questions if self.splits[question.id] == split]

    def without_own(self, name: str, fingerprint: str | None = None) -> "ExperimentInputs":
        """Without the targets that are the subject: by its name, and by its weights once these are known."""
        panel, own = drop_own(self.panel, name, fingerprint)
        if not own:
            return self
        note = f"{len(own)} targets are the subject itself and are left out: {', '.join(own)}"
        say(note)
        return replace(self, panel=panel, notes=(*self.notes, note))


def load_inputs(
    panel: str,
    questions: str | None = None,
    respondents: str | None = None,
    targets: Sequence[str] | None = None,
    n_questions: int | None = None,
    seed: int = 0,
) -> ExperimentInputs:
    """Load, join (by id, then by text), draw, split.

    Args:
        panel: a file, or "embedded".
        questions: what `load_questions` takes; None takes the panel's own texts where it has them, else the embedded
            questions.
        targets: keep these respondents only.
        n_questions: draw this many.

    Raises:
        InputError: as the loaders; no question that the panel answers; an unknown target.
    """
    answers = load_panel(panel, respondents)
    if questions is None:
        questions = panel if answers.question_texts is not None and panel != "embedded" else "embedded"
    asked, answers, joined = join_questions_and_panel(load_questions(questions), answers)
    if n_questions is not None:
        asked = sample_questions(asked, n_questions, seed)
    if targets is not None:
        answers = answers.select(respondents=list(targets))
    answers = answers.select(questions=[question.id for question in asked])
    splits = assign_splits(questions_frame(asked), seed)
    say(str(joined))
    return ExperimentInputs(asked, {str(name): str(split) for name, split in splits.items()}, answers, (str(joined),))
