"""What the battery asks about: questions with accepted answers, and the same with options."""

from onedial.asking.questions import stratified_sample
from onedial.core.errors import InputError
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.frame import Material
from onedial.studies.options.asked import BatteryOptions

FEWEST = 8


def material_of(options: BatteryOptions) -> Material:
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
    with_options = choice_items(pool, pool, options.seed)
    kept = {each.question_id for each in with_options}
    of_items = [each for each in pool if each.id in kept]
    n = min(options.n_questions, len(of_items))
    drawn = {each.id for each in stratified_sample(of_items, n, options.seed)} if n else set()
    items = [each for each in with_options if each.question_id in drawn]
    topics = {each.id: str(each.topic) for each in [*questions, *of_items]}
    return Material(questions, items, topics, options.seed, options.samples, options.n_each)
