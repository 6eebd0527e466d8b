"""Make of runs of foreign logs one long panel, its questions, its respondents, and a report of what was made of what.

A run asked one of two things, as the user says:

    yes-no     "can you answer this?": said_yes is read from the answers; the run's own scores are left aside, since
               they compare that yes with a target
    question   the question itself: tells what was answered correctly, and holds no yes or no

Where both kinds of a model's runs are given, the second fills the first's answered_correctly, by the question's id.
An answer that cannot be read as yes or no is blank, never no; so is one that failed.

What an import says of itself: which runs were read as what, what is blank and why, what could not be read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from onedial.asking.named_data import unknown_name
from onedial.asking.questions import Question
from onedial.asking.tables import listed
from onedial.asking.yes_no import parse_yes_no
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.formats.asked import AskedRun, asked_runs, questions_of
from onedial.panels.formats.records import NAN, UNREAD, LogRecord, LogRun, cleaned
from onedial.panels.grading.choice_grading import grade_answer

_N_EXAMPLES = 10
COLUMNS = (
    *("question_id", "question", "respondent", "said_yes", "confidence", "margin", "mass"),
    *("sample", "answered_correctly", "missing", "raw_text"),
)


@dataclass(frozen=True)
class ImportedPanel:
    """What an import gives.

    Attributes:
        panel: one row per question, respondent and sample, columns `COLUMNS`; `missing` says why said_yes is blank
            (in a panel of correctness alone: why answered_correctly is).
        questions: every question of the panel, with what the logs accept as an answer.
        respondents: respondent, model, framing, family (blank: no log tells it).
        report: what was read, what was left out and why, counts of unread, per run and per respondent.
    """

    panel: pd.DataFrame
    questions: list[Question]
    respondents: pd.DataFrame
    report: dict[str, Any]

    __repr__ = one_line


def panel_from_logs(
    runs: Sequence[LogRun],
    asked: str | Mapping[str, str] | None = None,
    score: str | None = None,
    shared_lines: str | None = None,
) -> ImportedPanel:
    """Put runs together.

    Args:
        runs: of any formats.
        asked: what the runs asked, "yes-no" or "question", or task to one of these; only a table with a column said_yes
            tells it itself.
        score: name of the score that says whether the question itself was answered correctly; a yes-no run that has
            it is scored by it too. A question run without it is scored by the only score that it has.
        shared_lines: "cut" where the lines that all prompts of a task share stand around the questions, "keep" where
            they belong to them; needed where prompts share such lines.

    Raises:
        InputError: what was asked is not said, a question run has several scores that differ and none is chosen, no run
            has the chosen one, or nothing can be read at all.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from onedial.panels import read_logs
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pd.DataFrame({"model": ["m"], "question": ["Can you sing?"], "raw_text": ["Yes"]})
    >>> rows.to_csv(Path(folder.name) / "log.csv", index=False)
    >>> panel_from_logs(read_logs(Path(folder.name) / "log.csv"), "yes-no").panel["said_yes"].tolist()
    [1.0]
    """
    names = sorted({name for run in runs for record in run.records for name in record.scores})
    if score is not None and score not in names:
        raise unknown_name("is no score called", score, names, "nothing, where each run has one score only")
    runs, left_out = _without_copies(runs)
    known = asked_runs(runs, asked, shared_lines)
    by_id = {question.id: question for question in questions_of(known)}
    labels = _labels([one.run for one in known if one.kind == "yes-no"] or [one.run for one in known])
    rows = []
    for one in known:
        of_run = {"kind": one.kind, "model": one.run.model, "respondent": labels.get(id(one.run), ("", ""))[0]}
        for record, identity in zip(one.run.records, one.ids, strict=True):
            question = by_id[identity]
            row = _row(record, one.kind, _is_correct(one, record, question, score))
            rows.append(row | of_run | {"question_id": question.id, "question": question.rendered})
    if not rows:
        raise InputError("the logs hold no answers; give logs with samples")
    panel = pd.DataFrame(rows)
    is_question = panel["kind"] == "question"
    if not is_question.all():
        panel, strangers = _with_what_was_known(panel[~is_question].copy(), panel[is_question])
        left_out |= strangers
    panel["sample"] = panel.groupby(["question_id", "respondent"]).cumcount()
    panel = panel[list(COLUMNS)].reset_index(drop=True)
    used = set(panel["question_id"])
    questions = [question for name, question in by_id.items() if name in used]
    about = {labels[id(one.run)]: one.run.model for one in known if id(one.run) in labels}
    held = {name: {"model": model, "framing": framing, "family": ""} for (name, framing), model in about.items()}
    respondents = [{"respondent": name, **held[name]} for name in dict.fromkeys(panel["respondent"])]
    return ImportedPanel(panel, questions, pd.DataFrame(respondents), _report(known, panel, questions, left_out))


def _without_copies(runs: Sequence[LogRun]) -> tuple[list[LogRun], dict[str, int]]:
    """Answers that two logs hold (a run that was taken up again copies what was finished) count once."""
    seen: set[str] = set()
    n_copies, kept = 0, []
    for run in map(cleaned, runs):
        records = tuple(record for record in run.records if not (record.uid and record.uid in seen))
        n_copies += len(run.records) - len(records)
        seen |= {record.uid for record in records}
        kept += [replace(run, records=records)] if records else []
    return kept, {"copy of an answer that another log holds": n_copies} if n_copies else {}


def _labels(runs: Sequence[LogRun]) -> dict[int, tuple[str, str]]:
    """id of a run to (respondent, framing): the model's short name, and what tells its runs apart."""
    short = {run.model: run.model.rstrip("/").rpartition("/")[2] or run.model for run in runs}
    twice = {name for name, n in Counter(short.values()).items() if n > 1}
    many_tasks = len({run.task for run in runs}) > 1
    labels = {}
    for run in runs:
        kin = [other for other in runs if (other.model, other.task) == (run.model, run.task)]
        varying = [name for name in run.settings if len({other.settings.get(name) for other in kin}) > 1]
        parts = ([run.task] if many_tasks and run.task else []) + [f"{name}={run.settings[name]}" for name in varying]
        name, framing = run.model if short[run.model] in twice else short[run.model], "; ".join(parts)
        labels[id(run)] = (f"{name}: {framing}" if framing else name, framing)
    return labels


def _row(record: LogRecord, kind: str, is_correct: bool | None) -> dict[str, Any]:
    said_yes, missing = record.said_yes, record.failed
    if said_yes is None and record.text and kind == "yes-no":
        said_yes = parse_yes_no(record.text, record.finished)
    is_read = said_yes is not None and kind == "yes-no" and not missing
    if not missing and kind == "yes-no":
        missing = None if is_read else UNREAD
    elif not missing and is_correct is None:
        missing = "not graded"
    return {
        "said_yes": float(bool(said_yes)) if is_read else NAN,
        "answered_correctly": NAN if is_correct is None else float(is_correct),
        "confidence": record.confidence,
        "margin": NAN if record.failed else record.margin,
        "mass": NAN if record.failed else record.mass,
        "missing": missing,
        "raw_text": record.text,
    }


def _with_what_was_known(answers: pd.DataFrame, asked: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Answers yes or no with what the same model's answers to the questions themselves tell: most of several decide, a
    tie is unknown; confidence is their mean. And how many answers are of models that were asked the questions alone."""
    key = ["model", "question_id"]
    known = asked.groupby(key)[["answered_correctly", "confidence"]].mean()
    known["answered_correctly"] = known["answered_correctly"].where(known["answered_correctly"] != 0.5).round()
    known = known.reindex(pd.MultiIndex.from_frame(answers[key])).set_axis(answers.index)
    strangers = asked.loc[~asked["model"].isin(answers["model"]), "model"].value_counts()
    left_out = {f"{model} was asked the questions alone, not for a yes or no": int(n) for model, n in strangers.items()}
    return answers.fillna(known), left_out


def _is_correct(one: AskedRun, record: LogRecord, question: Question, score: str | None) -> bool | None:
    """By the log's score, where it is of the question; by the grader here where a run of questions has none at all."""
    if record.failed not in (None, UNREAD):
        return None
    if one.kind == "yes-no":
        is_told = one.run.scores_are_of_the_question or score in record.scores
        return _chosen_score(one, record, score) if is_told else None
    return _chosen_score(one, record, score) if one.scores else grade_answer(question, record.text).correct


def _chosen_score(one: AskedRun, record: LogRecord, score: str | None) -> bool | None:
    if score in one.scores:
        return record.scores.get(str(score))
    values = set(record.scores.values())
    if len(values) > 1:
        raise InputError(
            f"{one.run.source} scores the item {record.item!r} in several ways that differ ({listed(one.scores)}); "
            "choose one with --score"
        )
    return next(iter(values), None)


def _report(
    known: Sequence[AskedRun], panel: pd.DataFrame, questions: Sequence[Question], left_out: Mapping[str, int]
) -> dict[str, Any]:
    """What is written beside the panel; of unread answers some examples, of the respondent with the most first."""
    unread = panel[panel["missing"] == UNREAD]
    share = unread["respondent"].value_counts() / panel["respondent"].value_counts()
    order = unread["respondent"].map(share).sort_values(ascending=False, kind="stable").index
    return {
        "format_version": 1,
        "runs": [_about_run(one) for one in known],
        "left_out": dict(left_out),
        "n_questions": len(questions),
        "n_questions_without_text": sum(question.rendered == f"item {question.id}" for question in questions),
        "n_answers": len(panel),
        "respondents": {
            str(name): _counts(of_respondent) for name, of_respondent in panel.groupby("respondent", sort=False)
        },
        "unread_examples": [
            {"respondent": row.respondent, "question_id": row.question_id, "text": str(row.raw_text or "")[:300]}
            for row in unread.loc[order[:_N_EXAMPLES]].itertuples()
        ],
    }


def _about_run(one: AskedRun) -> dict[str, Any]:
    about = {name: getattr(one.run, name) for name in ("source", "format", "model", "task", "settings", "about")}
    return about | {
        **{"asked": one.kind, "scores": list(one.scores), "first": [one.texts[0], one.run.records[0].text]},
        **{"prompt_before": one.template.before, "prompt_after": one.template.after},
        "answers": len(one.run.records),
        "failed": dict(Counter(record.failed for record in one.run.records if record.failed)),
    }


def _counts(answers: pd.DataFrame) -> dict[str, Any]:
    missing = {str(reason): int(n) for reason, n in answers["missing"].value_counts().items()}
    n_answered = len(answers) - sum(missing.values()) + missing.get(UNREAD, 0)
    said_yes, correct = answers["said_yes"], answers["answered_correctly"]
    counts = {"rows": len(answers), "questions": answers["question_id"].nunique(), "yes": (said_yes == 1).sum()}
    counts |= {"no": (said_yes == 0).sum(), "correct": (correct == 1).sum(), "wrong": (correct == 0).sum()}
    counts |= {"correctness_unknown": correct.isna().sum(), "with_confidence": answers["confidence"].notna().sum()}
    share = missing.get(UNREAD, 0) / n_answered if n_answered else None
    return {name: int(n) for name, n in counts.items()} | {"missing": missing, "unread_of_answered": share}
