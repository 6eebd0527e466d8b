"""What the battery asks about: questions with accepted answers, and the same with options."""

import argparse
from dataclasses import dataclass

from onedial.asking import Question, stratified_sample
from onedial.core import InputError
from onedial.panels import load_questions
from onedial.selfreport import ChoiceItem, choice_items

FEWEST = 8


@dataclass(frozen=True)
class Material:
    """What is asked about.

    Attributes:
        questions: with accepted answers. items: the same with options, where there are enough. topics: by question.
        seed, samples: of the draws. n_each: comparisons of each question.
    """

    questions: list[Question]
    items: list[ChoiceItem]
    topics: dict[str, str]
    seed: int
    samples: int
    n_each: int


def material_of(options: argparse.Namespace) -> Material:
    """Questions drawn by topic and level, and their options.

    Raises:
        InputError: too few questions have accepted answers.
    """
    pool = [each for each in load_questions(options.questions) if each.answers]
    if len(pool) < FEWEST:
        raise InputError(
            f"{len(pool)} of the questions {options.questions!r} have accepted answers; give {FEWEST} or more"
        )
    questions = stratified_sample(pool, min(options.n_questions, len(pool)), options.seed)
    topics = {each.id: str(each.topic) for each in questions}
    items = choice_items(questions, pool, options.seed)
    return Material(questions, items, topics, options.seed, options.samples, options.n_each)
