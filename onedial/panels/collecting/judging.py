"""A model as judge of closed-book answers, and how often it agrees with the grader here.

The judge sees the question, the accepted answers and what was answered, and says whether that is right. Agreement is
Cohen's kappa beside the plain share, over the answers that both could grade; where they differ, neither is known to be
right.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from onedial.asking import CAN_YOU_ANSWER, Instrument, Prompt, PromptTemplate, ProviderRespondent, Question, question_id
from onedial.core import Journal, Parts
from onedial.panels.collecting.respondent_files import RespondentModel

JUDGE = Instrument(
    "judge",
    PromptTemplate(
        "Somebody was asked a question. Say whether the answer is right: whether it names what one of the accepted "
        "answers names, however it is put, and nothing that contradicts it.\n\n"
        "Question: {question}\nAccepted answers: {accepted}\nAnswer: {answer}\n\nIs the answer right? Yes or No?",
        "",
        "judge",
        ("question", "accepted", "answer"),
    ),
    CAN_YOU_ANSWER.scale,
    CAN_YOU_ANSWER.reader,
)
JUDGED_KEY = ["model", "question_id", "text"]
JUDGED = [*JUDGED_KEY, "correct", "judged_right", "error"]


def answers_to_judge(closed: pd.DataFrame, questions: Sequence[Question], n: int | None = None) -> pd.DataFrame:
    """The answers that a judge can be asked about: those that say something, to questions with accepted answers.

    Args:
        closed: as `grade_closed_book` gives it.
        n: draw at most so many, spread evenly over models by a hash of model, question and text; None takes all.
    """
    known = {question.id for question in questions if question.answers}
    rows = closed[closed["question_id"].isin(known) & (closed["text"].fillna("").str.strip() != "")]
    if n is None or len(rows) <= n:
        return rows
    order = pd.Series([question_id(f"{m} {q} {t}") for m, q, t in rows[["model", "question_id", "text"]].to_numpy()])
    order.index = rows.index
    rank = order.groupby(rows["model"]).rank()
    return rows.loc[rank.sort_values(kind="stable").index[:n]].sort_index()


def judge_prompt(question: Question, text: str) -> Prompt:
    """What the judge is asked about one answer."""
    return JUDGE.prompt(question.text, accepted=" | ".join(question.answers), answer=text)


def judge_answers(
    rows: pd.DataFrame,
    questions: Sequence[Question],
    entry: RespondentModel,
    parts: Parts,
    *,
    logs: Path | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> pd.DataFrame:
    """Put the answers before the judge that it has not judged; what it says is on disk as soon as it has come.

    Args:
        rows: model, question_id, text, correct (`answers_to_judge`).
        entry: the judge, a model behind a provider or server (`load_judge`).
        parts: what it has said (`JUDGED`, keyed by `JUDGED_KEY`).
        logs: folder for inspect_ai's logs.
        advance: is told how many answers have been judged, earlier starts included.

    Returns:
        `JUDGED`, one row for each of `rows`; judged_right is nan where the judge could not be read, or its request
        failed: then it is asked again the next time.
    """
    assert entry.provider is not None
    by_id = {question.id: question for question in questions}
    known = parts.done_keys()
    pending = [row for row in rows[JUDGED[:4]].to_dict("records") if tuple(row[k] for k in JUDGED_KEY) not in known]
    prompts = [judge_prompt(by_id[row["question_id"]], row["text"]) for row in pending]
    journal = Journal(parts, ("correct", "judged_right"))
    advance(len(rows) - len(pending))
    try:
        for response in ProviderRespondent(entry.provider, logs=logs).answer(prompts, JUDGE):
            if not response.error:
                said = {"judged_right": response.value, "error": ""}
                journal.add({str(name): value for name, value in pending[response.place].items()} | said)
            advance(1)
    finally:
        journal.fold()
    judged = parts.read().drop(columns="correct")
    return rows[JUDGED[:4]].merge(judged, on=JUDGED_KEY, how="left")


def agreement(judged: pd.DataFrame) -> dict[str, float]:
    """How often judge and grader say the same.

    kappa = (p_o - p_e) / (1 - p_e), with p_e from both margins; standard error sqrt(p_o (1 - p_o) / n) / (1 - p_e).

    Args:
        judged: columns correct (the grader's 1, 0, nan) and judged_right (the judge's 1, 0, nan).

    Returns:
        n, share (p_o), kappa, kappa_low, kappa_high (95%), grader_right, judge_right (shares right), n_unread (answers
        that the judge gave no verdict on); nan where there is nothing to compare, kappa where one of them never varies.
    """
    both = judged[["correct", "judged_right"]].dropna()
    n, n_unread = len(both), int(judged["judged_right"].isna().sum())
    if not n:
        nothing = dict.fromkeys(["share", "kappa", "kappa_low", "kappa_high", "grader_right", "judge_right"], math.nan)
        return {"n": 0, **nothing, "n_unread": n_unread}
    grader, judge = both["correct"].mean(), both["judged_right"].mean()
    share = float((both["correct"] == both["judged_right"]).mean())
    chance = grader * judge + (1 - grader) * (1 - judge)
    kappa = (share - chance) / (1 - chance) if chance < 1 else math.nan
    half = 1.96 * math.sqrt(share * (1 - share) / n) / (1 - chance) if chance < 1 else math.nan
    return {
        "n": n,
        "share": share,
        "kappa": kappa,
        "kappa_low": kappa - half,
        "kappa_high": min(1.0, kappa + half),
        "grader_right": float(grader),
        "judge_right": float(judge),
        "n_unread": n_unread,
    }
