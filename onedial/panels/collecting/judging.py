"""A model as judge of closed-book answers, and how often it agrees with the grader here.

The judge sees the question, the accepted answers and what was answered, and says whether that is right. Agreement is
Cohen's kappa beside the plain share, over the answers that both could grade; where they differ, neither is known to be
right.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from onedial.asking.asks import Ask
from onedial.asking.instruments import CAN_YOU_ANSWER, Instrument
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question, question_id
from onedial.asking.store import BudgetSpent, Store
from onedial.panels.collecting.respondent_files import RespondentModel
from onedial.stats.agreement import count

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
_ASKED = ["question_id", "text"]
"""What the judge is shown: whoever gave an answer, it is judged once."""
JUDGED = ["model", "question_id", "text", "correct", "judged_right"]


def answers_to_judge(closed: pd.DataFrame, questions: Sequence[Question], n: int | None = None) -> pd.DataFrame:
    """The answers that a judge can be asked about: those that say something, to questions with accepted answers.

    Args:
        closed: as `grade_closed_book` gives it.
        n: draw at most so many, spread evenly over models by a hash of model, question and text; None takes all.

    >>> from onedial.panels import load_questions
    >>> questions = load_questions([{"id": "q1", "question": "Who wrote Emma?", "answers": ["Jane Austen"]}])
    >>> closed = pd.DataFrame({"question_id": ["q1"], "model": ["m"], "text": ["Austen"], "outcome": ["right"]})
    >>> answers_to_judge(closed.assign(correct=1.0), questions).shape[0]
    1
    """
    known = {question.id for question in questions if question.answers}
    rows = closed[closed["question_id"].isin(known) & (closed["text"].fillna("").str.strip() != "")]
    if n is None or len(rows) <= n:
        return rows
    order = pd.Series([question_id(f"{m} {q} {t}") for m, q, t in rows[["model", "question_id", "text"]].to_numpy()])
    order.index = rows.index
    rank = order.groupby(rows["model"]).rank()
    return rows.loc[rank.sort_values(kind="stable").index[:n]].sort_index()


def judging(entry: RespondentModel, about: Sequence[tuple[Question, str]]) -> Ask:
    """What the judge is asked about answers: whether each of these, to its question, is right."""
    assert entry.provider is not None
    prompts = [
        JUDGE.prompt(question.rendered, accepted=" | ".join(question.answers), answer=text) for question, text in about
    ]
    items = [question.id for question, _ in about]
    whom = entry.provider.what_is_asked
    return Ask(entry.respondent_for(JUDGE), entry.provider, prompts, JUDGE, items=items, whom=whom)


def judge_answers(
    rows: pd.DataFrame,
    questions: Sequence[Question],
    entry: RespondentModel,
    store: Store,
    advance: Callable[[int], object] = lambda n: None,
) -> pd.DataFrame:
    """Put the answers before the judge that it has not judged; the same answer of several models is put once.

    Args:
        rows: model, question_id, text, correct (`answers_to_judge`).
        entry: the judge, a model behind a provider or server (`load_judge`).
        store: keeps what it says.
        advance: is told how many answers have been judged, earlier starts included.

    Returns:
        `JUDGED`, one row for each of `rows`; judged_right is nan where the judge could not be read, its request failed
        (then it is asked again the next time), or the budget did not allow it.
    """
    by_id = {question.id: question for question in questions}
    shown = rows[_ASKED].drop_duplicates()
    verdicts: dict[int, float | None] = {}
    with suppress(BudgetSpent):
        for _, response in store.ask(judging(entry, [(by_id[key], text) for key, text in shown.to_numpy()])):
            verdicts[response.place] = response.value
            advance(1)
    judged = shown.assign(judged_right=pd.Series(verdicts, dtype=float).reindex(range(len(shown))).to_numpy())
    return rows[JUDGED[:4]].merge(judged, on=_ASKED, how="left")


def agreement(judged: pd.DataFrame) -> dict[str, float]:
    """How often judge and grader say the same.

    kappa = (p_o - p_e) / (1 - p_e), with p_e from both margins; standard error sqrt(p_o (1 - p_o) / n) / (1 - p_e).

    Args:
        judged: columns correct (the grader's 1, 0, nan) and judged_right (the judge's 1, 0, nan).

    Returns:
        n, share (p_o), kappa, kappa_low, kappa_high (95%), grader_right, judge_right (shares right), n_unread (answers
        that the judge gave no verdict on); nan where there is nothing to compare; kappa as `onedial.stats.agreement`.

    >>> judged = pd.DataFrame({"correct": [1.0, 1, 0, 0], "judged_right": [1.0, 0, 0, 0]})
    >>> sorted(agreement(judged))[:2]
    ['grader_right', 'judge_right']
    """
    both = judged[["correct", "judged_right"]].dropna()
    counts = count(both[["judged_right"]].to_numpy(float), both[["correct"]].to_numpy(float))
    share, kappa = float(counts.agreement()[0]), float(counts.kappa()[0])
    grader, judge = both["correct"].mean(), both["judged_right"].mean()
    chance = grader * judge + (1 - grader) * (1 - judge)
    half = 1.96 * math.sqrt(share * (1 - share) / len(both)) / (1 - chance) if chance < 1 else math.nan
    return {
        "n": len(both),
        "share": share,
        "kappa": kappa,
        "kappa_low": kappa - half,
        "kappa_high": float(np.minimum(1.0, kappa + half)),
        "grader_right": float(grader),
        "judge_right": float(judge),
        "n_unread": int(judged["judged_right"].isna().sum()),
    }
