"""What each run asked, as the user says, and which questions those were, however its prompts were written.

    yes-no     "can you answer this?"
    question   the question itself

No share of words tells which it was, since the answer to many a question is yes or no.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onedial.asking.questions import LETTERS, Question, normalised_text, question_id, rendered
from onedial.asking.tables import listed
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.formats.prompts import Template, bare_questions
from onedial.panels.formats.records import LogRecord, LogRun

KINDS = ("yes-no", "question")


@dataclass(frozen=True)
class AskedRun:
    """A run with what it asked.

    Attributes:
        run: the run.
        kind: one of `KINDS`.
        texts: the question of each record. ids: its id.
        template: what stood around the questions.
        scores: names of the run's scores.
    """

    run: LogRun
    kind: str
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    template: Template
    scores: tuple[str, ...]


def asked_runs(
    runs: Sequence[LogRun], asked: str | Mapping[str, str] | None, shared_lines: str | None = None
) -> list[AskedRun]:
    """What each run asked; the prompts of one task in one file tell together which lines they share.

    Args:
        asked: one of `KINDS` for all tasks, or task to one of them ("" for the others); needed but of a table that has
            a column said_yes.
        shared_lines: "cut" where such lines stand around the questions, "keep" where they belong to them.

    Raises:
        InputError: what some task asked is not said, or of one that there is not; prompts share lines, and nobody says
            what these are.
    """
    kinds = kinds_of(runs, {"": asked} if isinstance(asked, str) else dict(asked or {}))
    together: dict[tuple[str, str], list[str]] = defaultdict(list)
    for run in runs:
        together[run.source, run.task] += [record.prompt for record in run.records if not record.question]
    bare = {}
    for place, prompts in together.items():
        questions, template = bare_questions(prompts)
        if shared_lines is None and template != Template("", ""):
            raise InputError(
                f"all prompts of {place[1] or place[0]} begin with {template.before!r} and end in {template.after!r}; "
                "say --shared-lines cut if that stands around the questions, or keep if it belongs to them, or name "
                "the field of the questions (--columns question=FIELD)"
            )
        if shared_lines != "cut":
            questions, template = prompts, Template("", "")
        bare[place] = dict(zip(prompts, questions, strict=True)), template
    known = []
    for run, kind in zip(runs, kinds, strict=True):
        shown, template = bare[run.source, run.task]
        texts = tuple((record.question or "").strip() or shown[record.prompt].strip() for record in run.records)
        scores = tuple(dict.fromkeys(name for record in run.records for name in record.scores))
        known.append(AskedRun(run, kind, texts, (), template, scores))
    return _identified(known)


def kinds_of(runs: Sequence[LogRun], asked: Mapping[str, str]) -> list[str]:
    """What each run asked."""
    tasks = list(dict.fromkeys(run.task for run in runs))
    for task, kind in asked.items():
        if kind not in KINDS or (task and task not in tasks):
            raise InputError(
                f"{task}={kind} says what was asked: the tasks are {listed(tasks)}, and they asked {' or '.join(KINDS)}"
            )
    kinds = [asked.get(run.task) or asked.get("") or run.asked for run in runs]
    if unsaid := {run.task: run for run, kind in reversed([*zip(runs, kinds, strict=True)]) if kind is None}:
        first = "; ".join(f"{task or run.source}: first answer {_shown(run)}" for task, run in reversed(unsaid.items()))
        each = ",".join(f"{task}=yes-no" for task in reversed(unsaid) if task)
        raise InputError(
            "say what was asked: --asked yes-no (can you answer this?) or --asked question (the question itself)"
            f"{f', or of each task, such as --asked {each}' if len(unsaid) > 1 and each else ''} ({first})"
        )
    return [str(kind) for kind in kinds]


def _shown(run: LogRun) -> str:
    text = next((record.text for record in run.records if record.text), "")
    return repr(text if len(text) < 60 else f"{text[:60]}...")


def _identified(known: Sequence[AskedRun]) -> list[AskedRun]:
    """With the id of each question: the item's own, where it stands for one text in all logs.

    Two texts are one question where one holds the other (what is left of a prompt may still stand around it). Where
    an item stands for several, the questions of its tasks go by their texts, as those without an item do.
    """
    texts: dict[str, set[str]] = defaultdict(set)
    for one in known:
        for record, text in zip(one.run.records, one.texts, strict=True):
            texts[record.item].add(normalised_text(_whole(record, text)))
    several = {item for item, held in texts.items() if item and not _is_one(held - {""})}
    doubted = [one.run for one in known if any(record.item in several for record in one.run.records)]
    by_text = {run.task for run in doubted}
    if several:
        where = listed(sorted({run.task or run.source for run in doubted}))
        notice(
            f"{len(several)} ids of {where} stand for several texts, first {min(several)!r}; the questions there go by "
            "their texts"
        )
    return [replace(one, ids=tuple(_ids(one, one.run.task in by_text))) for one in known]


def _ids(one: AskedRun, by_text: bool) -> list[str]:
    return [
        question_id(_whole(record, text)) if text and (by_text or not record.item) else record.item
        for record, text in zip(one.run.records, one.texts, strict=True)
    ]


def _whole(record: LogRecord, text: str) -> str:
    return rendered(text, [option for option in record.options if option not in text])


def _is_one(texts: set[str]) -> bool:
    shortest = f" {min(texts, key=len, default='')} "
    return all(shortest in f" {text} " for text in texts)


def questions_of(known: Sequence[AskedRun]) -> list[Question]:
    """The questions of all runs, with what the logs accept as an answer."""
    texts: dict[str, str] = {}
    topics: dict[str, str] = {}
    accepted: dict[str, tuple[str, ...]] = defaultdict(tuple)
    options: dict[str, tuple[str, ...]] = {}
    gradings = {identity: one.run.grading for one in reversed(known) for identity in one.ids}
    for one in known:
        of_question = one.kind == "question" or one.run.scores_are_of_the_question
        for record, text, identity in zip(one.run.records, one.texts, one.ids, strict=True):
            if identity not in texts or 0 < len(text) < len(texts[identity]):
                texts[identity] = text
            if record.topic:
                topics.setdefault(identity, record.topic)
            if of_question and record.options:
                options.setdefault(identity, record.options)
            if of_question:
                accepted[identity] = tuple(dict.fromkeys(accepted[identity] + record.accepted))
    questions = []
    for identity, text in texts.items():
        shown, key, right = options.get(identity, ()), accepted[identity], None
        if shown:
            places = {_place(answer, shown) for answer in key}
            right = places.pop() if len(places) == 1 else None
            key = () if right is None else (LETTERS[right], shown[right])
            text = _before_options(text, shown)
        text = text if normalised_text(text) else f"item {identity}"
        grading = "text" if shown else gradings[identity]
        questions.append(
            Question(identity, text, key, topics.get(identity), grading=grading, options=shown, right_option=right)
        )
    return questions


def _place(answer: str, options: Sequence[str]) -> int | None:
    """The place of a multiple choice's target: its words, letter, or number from 0; None where these are not one."""
    letters = LETTERS[: len(options)]
    places = [place for place, option in enumerate(options) if answer in (option, letters[place], str(place))]
    return places[0] if len(places) == 1 else None


def _before_options(prompt: str, options: Sequence[str]) -> str:
    """A log's prompt without the options at its end, a line for each; all of it where it does not show them.

    Raises:
        InputError: it shows them otherwise, so that they would be asked twice.
    """
    lines = prompt.rstrip().splitlines()
    last = [line.strip() for line in lines[len(lines) - len(options) :]] if len(lines) > len(options) else []
    if last and all(line.endswith(option) for line, option in zip(last, options, strict=True)):
        return "\n".join(lines[: -len(options)]).strip()
    if sum(line.strip().endswith(tuple(options)) for line in lines) >= len(options):
        raise InputError(
            f"the prompt {prompt[:60]!r} shows its options before its end; name the field of the question (--columns "
            "question=FIELD), or say --shared-lines cut if what follows them stands under all"
        )
    return prompt
