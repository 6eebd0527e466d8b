"""Scores of every test, from the answers on disk: tables, figures, and what is printed."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from onedial.core.run.run import Run
from onedial.selfreport.battery import BATTERY, battery_scores
from onedial.selfreport.frame import Material
from onedial.selfreport.score.battery_overview import battery_overview, overview_sentences
from onedial.selfreport.score.reply_screening import screen_replies
from onedial.selfreport.show import figures
from onedial.selfreport.show.self_report_page import AnswerLog, write_self_report_page
from onedial.show.results import save_results
from onedial.studies.options.asked import BatteryOptions


def finish(run: Run, tests: Sequence[str], material: Material, options: BatteryOptions) -> None:
    """Scores of every test, and the figures."""
    tables: dict[str, pd.DataFrame] = {}
    for test in tests:
        tables |= battery_scores(test, answers_to(run, test), material.topics, options.replicates, options.seed)
    screening = screen_replies({test: answers_to(run, test) for test in tests})
    tables = {"overview": battery_overview(tables, screening)} | tables
    if len(screening):
        tables["screening"] = screening
    drawn = {name: figure for name in tests if name in tables and (figure := BATTERY[name].figure)}
    save_results(run, tables, {name: getattr(figures, figure)(tables[name]) for name, figure in drawn.items()})
    put = f"{len(material.questions)} questions, and {len(material.items)} with options"
    n = len(list((run.path / "answers" / tests[0]).glob("*.parquet")))
    run.record(sentence=f"{put}, put to {n} respondents in {len(tests)} tests")
    sentences = overview_sentences(tables["overview"])
    print(f"{put}\n{sentences[0]}")
    for name, table in tables.items():
        print(f"\n{name}\n{table.astype(object).map(shown).to_string()}")
    answered = {test: said_in(run, test, material) for test in tests}
    report = write_self_report_page(
        run,
        "What does it say of itself, and is it so?",
        sentences,
        tables,
        {test: each for test, each in answered.items() if len(each.table)},
    )
    print(f"\nreport: {report}")


def answers_to(run: Run, test: str) -> pd.DataFrame:
    """Every respondent's answers to one test, in the order of the files' names."""
    files = sorted((run.path / "answers" / test).glob("*.parquet"))
    return pd.concat([run.read_table(str(file.relative_to(run.path))) for file in files]) if files else pd.DataFrame()


def said_in(run: Run, test: str, material: Material) -> AnswerLog:
    """The answers to one test, the question's text beside its id."""
    table = answers_to(run, test)
    if "question_id" in table:
        texts = {each.id: each.text for each in material.questions}
        table.insert(0, "question", table.pop("question_id").map(lambda name: texts.get(name, name)))
    if len(table):
        table.insert(0, "respondent", table.pop("respondent"))
    return AnswerLog(table, f"answers/{test}/")


def shown(value: Any) -> Any:
    """Three digits, and a dash for what could not be read."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
    return value
