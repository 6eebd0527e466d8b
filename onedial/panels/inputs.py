"""What an experiment is given: questions that the panel answers, each on its split, and the panel."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from onedial.asking.elicited import how_asked, panel_and_cuts
from onedial.asking.named_data import NAMED_PANELS, NAMED_QUESTIONS
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question, questions_frame, stratified_sample
from onedial.core.cards import one_line
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice
from onedial.panels.joining import drop_own, join_questions_and_panel
from onedial.panels.keying import reversed_questions
from onedial.panels.panel_files import PanelSource
from onedial.panels.panel_scores import correctness_of
from onedial.panels.panels import ResponseMatrix, nobodys_panel
from onedial.panels.questions.question_files import load_questions, questions_of_panel
from onedial.panels.splits import TEST, assign_splits, wordings_of


@dataclass(frozen=True)
class ExperimentInputs:
    """Questions and panel, joined and split.

    Attributes:
        splits: question id -> "extraction", "fitting" or "test".
        panel: its rows are the questions, in their order; it has no columns where no panel was given.
        subject_correct: whether the subject itself answers each question correctly (1, 0, nan), where its own answers
            stood in the panel; None where that is not known.
    """

    questions: list[Question]
    splits: dict[str, str]
    panel: ResponseMatrix
    subject_correct: pd.Series | None = None

    __repr__ = one_line

    @property
    def has_panel(self) -> bool:
        """Whether anybody's answers stand beside the questions."""
        return len(self.panel.answers.columns) > 0

    def ids(self, split: str) -> list[str]:
        """The question ids of one split."""
        return [question.id for question in self.questions if self.splits[question.id] == split]

    def in_splits(self, *splits: str) -> list[Question]:
        """The questions of these splits, in their order."""
        return [question for question in self.questions if self.splits[question.id] in splits]

    def without_own(self, name: str, fingerprints: Collection[str] = ()) -> "ExperimentInputs":
        """Without the targets that are the subject: by its name, and by its weights once these are known."""
        if not self.has_panel:
            return self
        panel, left_out = drop_own(self.panel, name, fingerprints)
        if not left_out:
            return self
        notice(f"{len(left_out)} targets are the subject itself and are left out: {', '.join(left_out)}")
        correctness = correctness_of(self.panel.select(respondents=left_out))
        known = self.subject_correct if correctness is None else correctness.mean(axis=1)
        return replace(self, panel=panel, subject_correct=known)

    def elicited_otherwise(self, answer: str) -> str:
        """What to say where targets answered after reasoning and the subject does not, or the other way round; else "".

        Args:
            answer: how the subject answers: "direct" (at its first token) or "reasoned".
        """
        framings = self.panel.respondents["framing"] if "framing" in self.panel.respondents else pd.Series(dtype=str)
        n, n_reasoned = len(self.panel.answers.columns), int(framings.astype(str).str.endswith("reasoned").sum())
        if self.panel.elicitation is not None and self.panel.elicitation.reasoned:
            n_reasoned = n
        if answer == "direct" and n_reasoned:
            return (
                f"{n_reasoned} of {n} targets answered after reasoning: a panel elicited with reasoning is matched by "
                "a direct subject, which answers at its first token; --answer reasoned lets it reason as well"
            )
        if answer == "reasoned" and n_reasoned < n:
            return (
                f"{n - n_reasoned} of {n} targets are not known to have reasoned before they answered; the subject does"
            )
        return ""

    def asked_otherwise(self, template: PromptTemplate) -> list[str]:
        """In what the subject is asked otherwise than the panel was; empty where nothing, or where it does not say."""
        return list(how_asked(self.panel.elicitation, template.user)["otherwise"])

    def frame(self) -> pd.DataFrame:
        """The questions as a table, with their split and, where it is known, `subject_correct`."""
        frame = questions_frame(self.questions)
        frame = frame.assign(split=frame["id"].map(self.splits))
        if self.subject_correct is not None:
            frame["subject_correct"] = frame["id"].map(self.subject_correct)
        return frame

    def plan_hash(self, configuration: str, rule: int) -> str:
        """Hash of all that is settled before the test split is read: options, questions, splits, rule of the verdict.

        Args:
            configuration: hash of the options.
        """
        rows = [(question.id, question.rendered, self.splits[question.id]) for question in self.questions]
        return sha256_of_text("\x1f".join([configuration, str(rule), *("\x1e".join(map(str, row)) for row in rows)]))


def load_inputs(
    panel: str | PanelSource | None,
    questions: str | Sequence[Question] | None = None,
    targets: Sequence[str] | None = None,
    n_questions: int | None = None,
    seed: int = 0,
    hold_out_topics: bool = False,
) -> ExperimentInputs:
    """Load, join (by id, then by text), draw, split; what is left out on the way is noticed.

    Args:
        panel: a file, or "embedded"; with what is said of it. None: nobody has answered the questions.
        questions: such that are read already, or a source that needs no mapping (`load_questions`); None takes the
            panel's own where it holds texts, else the embedded questions.
        targets: keep these respondents only.
        n_questions: draw this many, each topic and level by its share (`stratified_sample`).
        hold_out_topics: see `assign_splits`; which topics these are is noticed.

    Raises:
        InputError: as the loaders; no question that the panel answers; an unknown target.

    >>> inputs = load_inputs("embedded", n_questions=40)
    >>> len(inputs.questions), sorted(set(inputs.splits.values()))
    (40, ['extraction', 'fitting', 'test'])
    """
    if panel is None:
        asked = _loaded("embedded" if questions is None else questions)
        answers, line = nobodys_panel([question.id for question in asked]), f"{len(asked)} questions, and no panel"
    else:
        asked, answers, line = _beside_panel(panel if isinstance(panel, PanelSource) else PanelSource(panel), questions)
    n_known = len(asked)
    if targets is not None:
        answers = answers.select(respondents=list(targets))
    if n_questions is not None:
        asked = stratified_sample(asked, n_questions, seed)
    answers = answers.select(questions=[question.id for question in asked])
    splits = assign_splits(questions_frame(asked), seed, hold_out_topics, alone=panel is None)
    if repeats := wordings_of(questions_frame(asked)):
        shown = ", ".join(repeats[0][:3])
        notice(
            f"in several wordings stand there {len(repeats)} of the questions, first {shown}; the wordings of one stay "
            "in one split, and count as one question"
        )
    drawn = f"; {len(asked)} are drawn of them" if len(asked) < n_known else ""
    notice(f"{line}{drawn}")
    if hold_out_topics:
        held = sorted({str(question.topic) for question in asked if splits[question.id] == TEST})
        notice(f"held out: the test questions are those of the topics {', '.join(held)}")
    return ExperimentInputs(asked, {str(name): str(split) for name, split in splits.items()}, answers)


def _loaded(questions: str | Sequence[Question]) -> list[Question]:
    return load_questions(questions) if isinstance(questions, str) else list(questions)


def _beside_panel(
    source: PanelSource, questions: str | Sequence[Question] | None
) -> tuple[list[Question], ResponseMatrix, str]:
    """The questions that the panel answers, the panel, and how they met."""
    answers = source.load()
    name, *_ = panel_and_cuts(source.path)
    if questions is not None and answers.question_texts is None and name in NAMED_QUESTIONS:
        rendered = {question.id: question.rendered for question in load_questions(name)}  # an id alone proves nothing
        answers = replace(answers, question_texts=answers.answers.index.to_series().map(rendered))
    if questions is None:
        texts = None if name in NAMED_PANELS else answers.question_texts
        declared = {} if answers.elicitation is None else answers.elicitation.columns
        given = None if texts is None else questions_of_panel(name, declared, texts)
        questions = given or (name if name in NAMED_QUESTIONS else "embedded")
    if turned := reversed_questions(answers):
        notice(
            f"{len(turned)} questions are marked as reversed, first {turned[0]!r}; the subject is asked their own "
            "words, so that their answers are taken as they stand"
        )
    asked, answers, joined = join_questions_and_panel(_loaded(questions), answers)
    return asked, answers, str(joined)
