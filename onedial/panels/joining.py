"""Bring questions and panel together, and take the subject's own model out of the targets."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from onedial.asking.questions import Question, normalised_text
from onedial.asking.tables import listed
from onedial.core.errors import InputError
from onedial.panels.answer_tables import bare_id
from onedial.panels.panels import ResponseMatrix


class NothingSharedError(InputError):
    """The panel answers none of the questions."""


@dataclass(frozen=True)
class JoinReport:
    """How many questions met the panel, and how.

    Attributes:
        by_id: pairs with the same id (and, where the panel gives texts, the same normalised text).
        by_text: pairs with other ids and the same normalised text.
        unmatched_questions: questions that no row of the panel answers.
        unmatched_panel: rows of the panel whose question was not given.
        other_text: pairs with the same id and other texts; they are not matched by id.
    """

    by_id: int
    by_text: int
    unmatched_questions: int
    unmatched_panel: int
    other_text: int = 0

    @property
    def matched(self) -> int:
        """Questions that are in both."""
        return self.by_id + self.by_text

    def __str__(self) -> str:
        """The counts as one line for the terminal and the log."""
        line = (
            f"{self.matched} questions are in the panel ({self.by_id} by id, {self.by_text} by text); "
            f"{self.unmatched_questions} questions and {self.unmatched_panel} rows of the panel are left out"
        )
        return line + (f"; {self.other_text} ids stand for different texts" if self.other_text else "")


def join_questions_and_panel(
    questions: Sequence[Question], panel: ResponseMatrix
) -> tuple[list[Question], ResponseMatrix, JoinReport]:
    """Keep what questions and panel share: by id, and where ids do not meet, by normalised text, also of the question
    without its options.

    An id that stands for one text among the questions and for another in the panel is no match (two files may both
    count from 1). A text that stands more than once on either side matches by id only.

    Returns:
        The shared questions in their order; the panel with those rows, under the questions' ids, in the same order;
        and the counts.

    Raises:
        NothingSharedError: nothing is shared. InputError: ids differ in zeros, case or white space alone.

    >>> from onedial.panels import load_panel, load_questions
    >>> questions, panel, report = join_questions_and_panel(load_questions("embedded", n=20), load_panel("embedded"))
    >>> len(questions), panel.answers.shape[0]
    (20, 20)
    """
    panel_texts = {} if panel.question_texts is None else panel.question_texts.dropna().map(normalised_text).to_dict()
    texts = {question.id: normalised_text(question.rendered) for question in questions}
    rows = {row: panel_texts.get(row) for row in panel.answers.index}
    same_id = {identity for identity in texts if identity in rows}
    bare = {question.id: normalised_text(question.text) for question in questions}
    other_text = {name for name in same_id if rows[name] not in (None, texts[name], bare[name])}
    row_of = {identity: identity for identity in same_id - other_text}
    by_id = len(row_of)
    for texts_of_questions in (texts, bare):
        taken = set(row_of.values())
        free_rows = _only_once((text, row) for row, text in rows.items() if text and row not in taken)
        free = _only_once((text, name) for name, text in texts_of_questions.items() if name not in row_of)
        row_of |= {name: free_rows[text] for text, name in free.items() if text in free_rows}

    _refuse_ids_written_otherwise(set(texts) - set(row_of), set(rows) - set(row_of.values()))
    report = JoinReport(
        by_id=by_id,
        by_text=len(row_of) - by_id,
        unmatched_questions=len(questions) - len(row_of),
        unmatched_panel=len(rows) - len(row_of),
        other_text=len(other_text),
    )
    if not row_of:
        raise NothingSharedError(_nothing_shared(questions, panel, len(other_text)))
    shared = [question for question in questions if question.id in row_of]
    return shared, _renamed(panel, {row_of[question.id]: question.id for question in shared}), report


def _refuse_ids_written_otherwise(questions: Collection[str], rows: Collection[str]) -> None:
    """Ids that a spreadsheet has changed: 007 and 7, Q1 and q1, 7 and 7.0."""
    known = {bare_id(name): name for name in rows}
    if pairs := [(name, known[bare_id(name)]) for name in sorted(questions) if known.get(bare_id(name), name) != name]:
        first, other = pairs[0]
        raise InputError(
            f"{len(pairs)} ids of questions are written otherwise in the panel, as {first!r} and {other!r}; write them "
            "alike in both (a spreadsheet takes zeros away)"
        )


def drop_own(
    panel: ResponseMatrix, model: str, fingerprints: Collection[str] = ()
) -> tuple[ResponseMatrix, tuple[str, ...]]:
    """Leave out the targets that are the subject's own model, under whatever framing.

    A target is the subject's own if its `model` names the same model (`same_model`), or if its `model_sha256`
    is one of the fingerprints of the subject's weights.

    Returns:
        The panel without them, and their names.

    Raises:
        InputError: no target is left.

    >>> from onedial.panels import load_panel
    >>> panel, left_out = drop_own(load_panel("embedded"), "smollm2-135m-instruct")
    >>> len(left_out)
    7
    """
    about = panel.respondents
    is_own = about["model"].map(lambda name: same_model(str(name), model))
    if "model_sha256" in about.columns:
        is_own |= about["model_sha256"].astype(str).str.lower().isin([each.lower() for each in fingerprints])
    left_out = tuple(about.index[is_own])
    if len(left_out) == len(about):
        raise InputError(
            f"every respondent of the panel is {model}, the subject itself; give a panel of other models, "
            "or keep the subject's own with --keep-own"
        )
    return panel.select(respondents=list(about.index[~is_own])), left_out


def same_model(first: str, second: str) -> bool:
    """Whether two names (hub id, folder, file) name one model: the last part of the path, in any case.

    A revision after @, the endings .gguf and .safetensors with the quantisation before them, and the hub cache's
    folder names do not count.

    >>> same_model("Qwen/Qwen2.5-0.5B", "models/qwen2.5-0.5b")
    True
    """
    return _bare_name(first) == _bare_name(second)


def _bare_name(name: str) -> str:
    parts = PurePosixPath(name.strip().replace("\\", "/").rstrip("/")).parts
    cached = [part for part in parts if part.startswith("models--")]
    last = cached[-1].split("--")[-1] if cached else (parts[-1] if parts else "")
    last = last.split("@")[0].lower()
    if last.endswith((".gguf", ".safetensors")):
        last = last.rpartition(".")[0]
        last = re.sub(r"-\d{5}-of-\d{5}$", "", last)
        last = re.sub(r"[.-](i?q\d\w*|bf16|fp?16|fp?32)$", "", last)
    return last


def _only_once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    every = list(pairs)
    times = Counter(text for text, _ in every)
    return {text: identity for text, identity in every if times[text] == 1}


def _renamed(panel: ResponseMatrix, new_id: dict[str, str]) -> ResponseMatrix:
    kept = panel.select(questions=list(new_id))
    texts, responses, about = kept.question_texts, kept.responses, kept.about_questions
    return replace(
        kept,
        answers=kept.answers.rename(index=new_id),
        question_texts=None if texts is None else texts.rename(index=new_id),
        responses=None if responses is None else responses.assign(question_id=responses["question_id"].map(new_id)),
        about_questions=None if about is None else about.rename(index=new_id),
    )


def _nothing_shared(questions: Sequence[Question], panel: ResponseMatrix, n_other_text: int) -> str:
    ids, rows = listed((question.id for question in questions), 3), listed(panel.answers.index, 3)
    if n_other_text:
        return (
            f"the panel answers none of the {len(questions)} questions: {n_other_text} ids are the same, but stand for "
            "different texts; give the questions that the panel was asked"
        )
    remedy = (
        "the panel gives no texts to join by: add a column `question` to it, or use the same ids"
        if panel.question_texts is None
        else "no text is the same either: give the questions that the panel was asked"
    )
    return (
        f"the panel answers none of the {len(questions)} questions: they are {ids}, its rows are {rows}, and {remedy}"
    )
