"""What each run asked, and which questions those were, however its prompts were written.

A run is taken to have asked for a yes or no where its answers are one outright, or where at least half of its texts
read so; else it asked the questions themselves.

The question within a prompt: what is left when the lines that all prompts of a task share are taken away.

    You are taking a quiz.                                  shared
    Question: Which metal is liquid at room temperature?    -> Which metal is liquid at room temperature?
    Can you answer this question? Yes or No?                shared

Only whole lines are taken, and a label such as "Question:" before what remains. Where fewer than three prompts differ,
nothing can be known to be shared, and the prompts stay as they are.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from onedial.asking import Question, normalised_text, parse_yes_no
from onedial.panels.formats.records import LogRun
from onedial.panels.grading.choice_grading import LETTERS, with_options

_FEWEST = 3
_MARKUP = r"(?:<[^<>]{1,40}>|\[[^\[\]]{1,40}\]|\s)*"
_LABEL = re.compile(rf"^{_MARKUP}(?:(?:question|query|problem|request|prompt)|q)\s*:\s*(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class Template:
    """The lines that all prompts of a task begin and end with."""

    before: str
    after: str


def bare_questions(prompts: Sequence[str]) -> tuple[list[str], Template]:
    """The question of each prompt, and what was taken away.

    Returns:
        One text per prompt, in their order; and the template (both parts "" where nothing is shared).
    """
    lines = {prompt: prompt.strip().splitlines() for prompt in dict.fromkeys(prompts)}
    shortest = min((len(own) for own in lines.values()), default=0)
    n_before = n_after = 0
    if len(lines) >= _FEWEST:
        while n_before < shortest - 1 and len({own[n_before] for own in lines.values()}) == 1:
            n_before += 1
        while n_after < shortest - 1 - n_before and len({own[-1 - n_after] for own in lines.values()}) == 1:
            n_after += 1
    bare = {
        prompt: _LABEL.sub("", "\n".join(own[n_before : len(own) - n_after]).strip()) for prompt, own in lines.items()
    }
    first = next(iter(lines.values()), [])
    template = Template("\n".join(first[:n_before]).strip(), "\n".join(first[len(first) - n_after :]).strip())
    return [bare[prompt] for prompt in prompts], template


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


def decide(run: LogRun, asked: Asked) -> AskedRun:
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
    bare, template = bare_questions([record.question or record.prompt for record in run.records])
    given = [record.question.strip() if record.question else "" for record in run.records]
    texts_of_questions = tuple(own or text for own, text in zip(given, bare, strict=True))
    scores = tuple(dict.fromkeys(name for record in run.records for name in record.scores))
    return AskedRun(run, kind, why, texts_of_questions, template, scores)


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
        shown = options.get(identity, ())
        key = accepted[identity]
        if shown:
            key = tuple(dict.fromkeys(_letter(answer, shown) for answer in key))
            text = with_options(text, list(shown)) if shown[0] not in text else text
        text = text if normalised_text(text) else f"item {identity}"
        questions.append(Question(identity, text, key, topics.get(identity), grading="choice" if shown else "text"))
    return questions


def _letter(answer: str, options: Sequence[str]) -> str:
    """A target of a multiple choice as a letter: it may be one, an option's number from 0, or the option's words."""
    if answer in options:
        return LETTERS[options.index(answer)]
    return LETTERS[int(answer)] if answer.isdigit() and int(answer) < len(options) else answer
