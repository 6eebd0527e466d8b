"""What each run asked, and which questions those were, however its prompts were written.

A run is taken to have asked for a yes or no where its answers are one outright, or where at least half of its texts
read so; else it asked the questions themselves.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from onedial.asking.questions import LETTERS, Question, normalised_text, question_id
from onedial.asking.yes_no import parse_yes_no
from onedial.panels.formats.records import LogRun
from onedial.panels.questions.prompts import Template, bare_questions, say_what_may_be_shared

Asked = Literal["auto", "yes-no", "question"]
ASKED = get_args(Asked)
_READABLE = 0.5


@dataclass(frozen=True)
class AskedRun:
    """A run with what it asked.

    Attributes:
        run: the run.
        kind: "yes-no" or "question".
        why: what that was told from.
        texts: the question of each record.
        template: what stood around them.
        scores: names of the run's scores.
    """

    run: LogRun
    kind: str
    why: str
    texts: tuple[str, ...]
    template: Template
    scores: tuple[str, ...]


def decide_all(runs: Sequence[LogRun], asked: Asked) -> list[AskedRun]:
    """What each run asked; the prompts of one task in one file tell together which lines they share."""
    together: dict[tuple[str, str], list[str]] = defaultdict(list)
    for run in runs:
        together[run.source, run.task] += [record.question or record.prompt for record in run.records]
    bare = {}
    for (source, task), prompts in together.items():
        texts, template = bare_questions(prompts)
        say_what_may_be_shared(source, texts)
        bare[source, task] = dict(zip(prompts, texts, strict=True)), template
    return [_decide(run, asked, *bare[run.source, run.task]) for run in runs]


def _decide(run: LogRun, asked: Asked, bare: Mapping[str, str], template: Template) -> AskedRun:
    texts = [record.text for record in run.records if record.text and record.failed is None]
    outright = sum(record.said_yes is not None for record in run.records)
    readable = sum(parse_yes_no(text) is not None for text in texts)  # cut off or not: what was asked is the same
    share = readable / len(texts) if texts else 0.0
    if asked != "auto":
        kind, why = asked, "as chosen"
    elif outright:
        kind, why = "yes-no", f"{outright} of {len(run.records)} answers are a yes or no outright"
    elif share >= _READABLE:
        kind, why = "yes-no", f"{readable} of {len(texts)} texts read as yes or no"
    else:
        kind, why = "question", f"only {readable} of {len(texts)} texts read as yes or no"
    questions = tuple((record.question or "").strip() or bare[record.prompt] for record in run.records)
    scores = tuple(dict.fromkeys(name for record in run.records for name in record.scores))
    items = [record.item or question_id(text) for record, text in zip(run.records, questions, strict=True)]
    records = tuple(replace(record, item=item) for record, item in zip(run.records, items, strict=True))
    return AskedRun(replace(run, records=records), kind, why, questions, template, scores)


def question_ids(known: Sequence[AskedRun]) -> dict[tuple[str, str], str]:
    """(task, item) to question id: the item's own where it stands for one question in all tasks, else with its task.

    Two texts are one question where one holds the other (what is left of a prompt may still stand around it).
    """
    texts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in known:
        for record, text in zip(one.run.records, one.texts, strict=True):
            texts[record.item][one.run.task].add(normalised_text(text))
    ids = {}
    for item, by_task in texts.items():
        shortest = min((text for own in by_task.values() for text in own), key=len)
        is_one = all(shortest in text for own in by_task.values() for text in own)
        for task in by_task:
            ids[task, item] = item if is_one or len(by_task) == 1 else f"{task}/{item}"
    return ids


def questions_of(known: Sequence[AskedRun], ids: Mapping[tuple[str, str], str]) -> list[Question]:
    texts: dict[str, str] = {}
    topics: dict[str, str] = {}
    accepted: dict[str, tuple[str, ...]] = defaultdict(tuple)
    options: dict[str, tuple[str, ...]] = {}
    for one in known:
        of_question = one.kind == "question" or one.run.scores_are_of_the_question
        for record, text in zip(one.run.records, one.texts, strict=True):
            identity = ids[one.run.task, record.item]
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
        questions.append(Question(identity, text, key, topics.get(identity), options=shown, right_option=right))
    return questions


def _place(answer: str, options: Sequence[str]) -> int | None:
    """The place of a multiple choice's target: it may be the option's words, its letter, or its number from 0."""
    if answer in options:
        return options.index(answer)
    letters = LETTERS[: len(options)]
    if len(answer) == 1 and answer in letters:
        return letters.index(answer)
    return int(answer) if answer.isdigit() and int(answer) < len(options) else None


def _before_options(prompt: str, options: Sequence[str]) -> str:
    """A log's prompt up to the lines that end in the options, where it shows them so; else all of it."""
    lines = prompt.splitlines()
    shown = [place for place, line in enumerate(lines) if line.strip().endswith(tuple(options))]
    return "\n".join(lines[: shown[-len(options)]]).strip() if len(shown) >= len(options) else prompt
