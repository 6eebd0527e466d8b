"""Put every test of the battery to respondents and score it; what the run's store holds is not asked again."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import pandas as pd

from onedial.asking.questions import stratified_sample
from onedial.asking.store import BudgetSpent, Store
from onedial.core.errors import InputError
from onedial.core.progress import progress_bar
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.battery import BATTERY, battery_scores
from onedial.selfreport.battery.overview import battery_overview, overview_sentences
from onedial.selfreport.battery.reply_screening import screen_replies
from onedial.selfreport.frame import Make, Material
from onedial.selfreport.show import figures
from onedial.selfreport.show.self_report_page import AnswerLog, end_self_report
from onedial.studies.battery.everybody import ask_everybody
from onedial.studies.battery.recorded import NotRecorded
from onedial.studies.options.asked import BatteryOptions

FEWEST = 8


def ask_battery(program: str, options: BatteryOptions, notes: Notes) -> None:
    """Put every wanted test to everybody; those that need everybody's answers in a second round."""
    tests = [name for name in BATTERY if name in options.instruments or not options.instruments]
    material = material_of(options)

    def first(run: Run, store: Store, name: str, make: Make) -> None:
        for test in tests:
            if not BATTERY[test].after:
                ask(run, store, test, name, make, material, notes)

    def then(run: Run, store: Store, name: str, make: Make) -> None:
        for test in tests:
            if (before := BATTERY[test].after) and len(table := answers_to(run, before)):
                authors = {str(author): answers for author, answers in table.groupby("respondent", sort=True)}
                ask(run, store, test, name, make, replace(material, authors=authors), notes)

    rounds = [first, then] if any(BATTERY[test].after for test in tests) else [first]
    ask_everybody(program, "battery", options, notes, rounds, lambda run, _: finish(run, tests, material, options))


def material_of(options: BatteryOptions) -> Material:
    """Questions drawn by topic and level, and the same with options.

    Raises:
        InputError: too few questions have accepted answers.
    """
    pool = [each for each in options.read_questions(options.questions) if each.answers]
    if len(pool) < FEWEST:
        raise InputError(
            f"{len(pool)} of the questions {options.questions!r} have accepted answers; give {FEWEST} or more"
        )
    questions = stratified_sample(pool, min(options.n_questions, len(pool)), options.seed)
    with_options = choice_items(pool, pool, options.seed)
    kept = {each.id for each in with_options}
    of_items = [each for each in pool if each.id in kept]
    n = min(options.n_questions, len(of_items))
    drawn = {each.id for each in stratified_sample(of_items, n, options.seed)} if n else set()
    items = [each for each in with_options if each.id in drawn]
    topics = {each.id: str(each.topic) for each in [*questions, *of_items]}
    return Material(questions, items, topics, options.seed, options.samples, options.n_each)


def ask(run: Run, store: Store, test: str, name: str, make: Make, material: Material, notes: Notes) -> None:
    """Put a test of the battery to one respondent."""
    try:
        with progress_bar(None, f"{name}, {test}: answers") as advance, store.occasion(test, advance):
            answers = BATTERY[test].ask(make, material)
            store.tell_failed(name)
    except (BudgetSpent, NotRecorded):
        raise
    except InputError as error:
        notes.tell(f"{test} is left out for {name}: {error}")
        return
    plain = "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in name.rsplit("/", 1)[-1])
    file = f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"  # two names never share one
    run.write_table(f"answers/{test}/{file}.parquet", answers.assign(respondent=name))


def answers_to(run: Run, test: str) -> pd.DataFrame:
    """Read every respondent's answers to one test, in the order of the files' names."""
    files = sorted((run.path / "answers" / test).glob("*.parquet"))
    return pd.concat([run.read_table(str(file.relative_to(run.path))) for file in files]) if files else pd.DataFrame()


def finish(run: Run, tests: Sequence[str], material: Material, options: BatteryOptions) -> None:
    """Scores of every test, and the figures."""
    answers = {test: answers_to(run, test) for test in tests}
    tables: dict[str, pd.DataFrame] = {}
    for test, table in answers.items():
        tables |= battery_scores(test, table, material.topics, options.replicates, options.seed)
    screening = screen_replies(answers)
    tables = {"overview": battery_overview(tables, screening)} | tables
    if len(screening):
        tables["screening"] = screening
    drawn = {name: figure for name in tests if name in tables and (figure := BATTERY[name].figure)}
    end_self_report(
        run,
        "What does it say of itself, and is it so?",
        overview_sentences(tables["overview"]),
        tables,
        {test: said_in(test, table, material) for test, table in answers.items() if len(table)},
        {name: getattr(figures, figure)(tables[name]) for name, figure in drawn.items()},
    )


def said_in(test: str, answers: pd.DataFrame, material: Material) -> AnswerLog:
    """The answers to one test, the question's text beside its id."""
    texts = {each.id: each.rendered for each in material.questions}
    if "question_id" in answers:
        texts_shown = answers["question_id"].map(lambda name: texts.get(name, name))
        answers = answers.drop(columns="question_id").assign(question=texts_shown)
    first = [name for name in ("respondent", "question") if name in answers]
    return AnswerLog(answers[[*first, *answers.columns.drop(first)]], f"answers/{test}/")
