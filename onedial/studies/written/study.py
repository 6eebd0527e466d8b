"""What a model writes, and every sign of its being right: tokens, samples, meanings, and being asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, TextReader
from onedial.asking.measuring import MEASUREMENT_COLUMNS, ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question, stratified_sample
from onedial.asking.store import ANSWERS, Store
from onedial.confidence.samples import ZONES, certainty_zones
from onedial.confidence.signals import signal_table
from onedial.confidence.tokens import SURER, TokenStatistics, question_lift, shown_lift, token_scores
from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.respondent import LocalRespondent
from onedial.models.written_scores import read_written
from onedial.panels.grading.closed_book import grade_closed_book
from onedial.panels.grading.grading import answer_spans
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.same_meaning import SAME_MEANING
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.show import figures as draw
from onedial.selfreport.show.self_report_page import AnswerLog, write_self_report_page
from onedial.show.progress import progress_bar
from onedial.show.results import save_results
from onedial.studies.battery.respondents import models_elsewhere
from onedial.studies.bill import bill_of, tell_costs
from onedial.studies.options.asked import WrittenOptions
from onedial.studies.start import Start
from onedial.studies.written.agreement import agreement_of_samples
from onedial.studies.written.meaning import (
    MEANING_SURER,
    MOST_PLANTED,
    MeaningJudge,
    agreement_of_meanings,
    check_of_judge,
    judge_meanings,
    read_samples,
)

CHANCE = 0.5
WRITTEN = ["model", "question_id", "sample", "text", "outcome", "correct"]
STATISTICS = ["log_p", "entropy", "self_certainty", "margin"]
TOKENS = (
    ["model", "question_id", "prompt", "token", "start", "end", *STATISTICS],
    ["model", "question_id", "prompt", "token"],
)
ASKED = ["model", "report", "question_id", "score"]
PROMPTS = ("question", "without", "shown")


def score_written(program: str, options: WrittenOptions, notes: Notes) -> None:
    """Everything that is written, read, asked and judged; or, with `--dry-run`, how much that would be."""
    reports = [name for name in options.instruments if name != "none"]
    start = Start(program, options, "written")
    answerable = [each for each in load_questions(options.questions) if each.answers]
    if not answerable:
        raise InputError(f"none of the questions {options.questions!r} has an accepted answer; give some that have")
    questions = stratified_sample(answerable, min(options.n_questions, len(answerable)), options.seed)
    if options.dry_run:
        print(how_much(len(questions), reports, options).to_string())
        return
    start.set_threads()
    judges = [options.same_meaning] if options.same_meaning else []
    bill = bill_of(options, judges or options.model, models_elsewhere(judges))
    judge = MeaningJudge(options.same_meaning, bill) if options.same_meaning else None
    loaded = start.load_in_turn(options.model)
    with start.begin(notes) as run:
        bill.opens(run.file(ANSWERS))
        tables, reported = [], []
        for name, model in loaded:
            with run.stage(name):
                with start.writing(model):
                    tables.append(answer(bill, name, model, questions, options))
                texts = first_answers(tables[-1])
                read(run, name, model, questions, texts)
                if judge:
                    read_samples(run, name, model, questions, tables[-1])
                reported.append(ask(bill, name, model, questions, texts, reports, notes))
        written = pd.concat(tables).sort_values(WRITTEN[:3], kind="stable", ignore_index=True)
        asked = pd.concat(reported).sort_values(ASKED[:3], kind="stable", ignore_index=True)
        if judge:
            with run.stage(f"{judge.name}, as judge"):
                judge_meanings(run, judge, questions, written, answerable, options.seed)
        run.write_table("written.csv", written)
        finish(run, written, asked, options.model, questions, options, judge)
        tell_costs(bill.costs(), run)


def how_much(n: int, reports: Sequence[str], options: WrittenOptions) -> pd.DataFrame:
    """Prompts of each model: at most so many, since what is not written is not read."""
    n_forms = sum(len(SELF_REPORTS[name].forms) for name in reports)
    counts = {"answers written": n * (1 + options.samples), "answers read": n * len(PROMPTS), "asked": n * n_forms}
    if options.same_meaning:
        n_pairs = n * math.comb(1 + options.samples, 2) + 2 * MOST_PLANTED
        counts |= {"samples read": n * options.samples, "asked of the judge": n_pairs * len(SAME_MEANING.forms)}
    return pd.DataFrame({"prompts at most": counts}).rename_axis("of each model")


# ---- asking and reading ----------------------------------------------------------------------------------------------


def answer(
    store: Store, name: str, model: OpenModel, questions: Sequence[Question], options: WrittenOptions
) -> pd.DataFrame:
    """The likeliest answer to each question (sample 0), and samples of it at temperature 1, graded: `WRITTEN`."""
    reader = CLOSED_BOOK.reader
    assert isinstance(reader, TextReader)
    drawn = replace(CLOSED_BOOK, reader=replace(reader, temperature=1.0))
    slots, tables = [{"question": question.text} for question in questions], []
    with progress_bar(len(questions) * (options.samples + 1), f"{name}: answers") as advance:
        for sample in range(options.samples + 1):
            respondent = store.respondent(name, LocalRespondent(model, seed=options.seed * 1000 + sample), sample)
            with store.occasion("written", advance):
                given = ask_table(respondent, drawn if sample else CLOSED_BOOK, slots)
            about = {"model": name, "question_id": [question.id for question in questions], "sample": sample}
            table = pd.DataFrame({**about, "text": given["text"].str.strip()})
            graded = grade_closed_book(table, questions)
            tables.append(table.assign(outcome=graded["outcome"], correct=graded["correct"].astype(float)))
    return pd.concat(tables, ignore_index=True)[WRITTEN]


def read(run: Run, name: str, model: OpenModel, questions: Sequence[Question], texts: Mapping[str, str]) -> None:
    """Token statistics of each likeliest answer: after its question, without it, and after being shown the answer."""
    parts = run.parts("tokens", *TOKENS)
    done = {prompt for model_name, _, prompt, _ in parts.done_keys() if model_name == name}
    asked = [question for question in questions if texts.get(question.id)]
    template = CLOSED_BOOK.template
    shown = PromptTemplate(
        f"Somebody else answered the question below like this: {{answer}}\n\n{template.user}",
        template.assistant_prefix,
        "answer shown",
        ("question", "answer"),
    )
    ways = {
        "question": lambda each: CLOSED_BOOK.prompt(each.text),
        "without": lambda each: CLOSED_BOOK.prompt("..."),
        "shown": lambda each: shown.fill(each.text, answer=texts[each.id]),
    }
    with progress_bar(len(ways), f"{name}: tokens") as advance:
        for way, prompt in ways.items():
            if way not in done and asked:
                found = read_written(model, [prompt(each) for each in asked], [texts[each.id] for each in asked])
                rows = [
                    [name, each.id, way, place, start, end, *numbers]
                    for each, written in zip(asked, found, strict=True)
                    for place, (start, end, *numbers) in enumerate(
                        zip(
                            written.starts,
                            written.ends,
                            *(getattr(written.statistics, column) for column in STATISTICS),
                            strict=True,
                        )
                    )
                ]
                parts.append(pd.DataFrame(rows, columns=TOKENS[0]))
            advance(1)


def ask(
    store: Store,
    name: str,
    model: OpenModel,
    questions: Sequence[Question],
    texts: Mapping[str, str],
    reports: Sequence[str],
    notes: Notes,
) -> pd.DataFrame:
    """Self-reports about the same questions and answers: `ASKED`."""
    found = []
    respondent = store.respondent(name, LocalRespondent(model))
    with progress_bar(None, f"{name}: asked") as advance, store.occasion("asked", advance):
        for report in reports:
            about = SELF_REPORTS[report].about
            items = [
                Item(each.id, {"question": each.text} | ({"answer": texts[each.id]} if about == "answers" else {}))
                for each in questions
                if about == "questions" or texts.get(each.id)
            ]
            try:
                scores = ask_self_report(respondent, SELF_REPORTS[report], items)["score"] if items else pd.Series()
            except InputError as error:
                notes.tell(f"{report} is left out for {name}: {error}")
                continue
            found.append(
                scores.rename("score").rename_axis("question_id").reset_index().assign(model=name, report=report)
            )
    return pd.concat(found, ignore_index=True)[ASKED] if found else pd.DataFrame(columns=ASKED)


def first_answers(written: pd.DataFrame) -> dict[str, str]:
    """Question id -> the likeliest answer of one model; blank ones are left out."""
    own = written[(written["sample"] == 0) & (written["text"] != "")]
    return dict(zip(own["question_id"], own["text"], strict=True))


# ---- what comes out --------------------------------------------------------------------------------------------------


def finish(
    run: Run,
    written: pd.DataFrame,
    asked: pd.DataFrame,
    models: Sequence[str],
    questions: Sequence[Question],
    options: WrittenOptions,
    judge: MeaningJudge | None,
) -> None:
    """Scores, their worth, votes and zones; tables and figure."""
    tokens = run.parts("tokens", *TOKENS).read()
    topics = pd.Series({question.id: str(question.topic) for question in questions})
    signals, votes, zones, rows, sentences, meanings = {}, {}, {}, [], [], {}
    check, told_of_judge, tells = check_of_judge(run, judge) if judge else (None, "", False)
    for name in models:
        own = written[written["model"] == name]
        first = own[own["sample"] == 0].set_index("question_id").reindex(topics.index)
        scores, told = scores_of_tokens(tokens[tokens["model"] == name], first, questions)
        agreed, votes[name] = agreement_of_samples(own, questions)
        meant = agreed[[]]
        if judge:
            meant, meanings[name] = agreement_of_meanings(run, name, questions, own)
            meant = meant if tells else meant[[]]
        said = asked[asked["model"] == name].pivot(index="question_id", columns="report", values="score")
        said = said.reindex(index=topics.index, columns=list(dict.fromkeys(asked["report"])))
        surer = pd.concat([scores, agreed, meant * pd.Series(MEANING_SURER).reindex(meant.columns), said], axis=1)
        signals[name] = signal_table(surer, first["correct"], topics, None, options.replicates, options.seed)
        zones[name] = zones_of(said, agreed, first)
        rows.append(as_measurements(name, pd.concat([told, agreed, meant, said], axis=1), first))
    table = pd.concat(signals, names=["model"])
    tables = {
        "signals": table,
        "votes": pd.DataFrame.from_dict(votes, orient="index").rename_axis("model"),
        "zones": pd.concat(zones, names=["model"]),
        "measurements": pd.concat(rows, ignore_index=True)[MEASUREMENT_COLUMNS].set_index("respondent"),
    }
    if check is not None:
        sentences.append(told_of_judge)
        print(f"\n{told_of_judge}")
        tables |= {"judge": check, "meanings": pd.DataFrame.from_dict(meanings, orient="index").rename_axis("model")}
    save_results(run, tables, {"signals": draw.signals(table)})
    for name in models:
        graded = int(written[(written["model"] == name) & (written["sample"] == 0)]["correct"].notna().sum())
        known = signals[name].dropna(subset=["low"])
        telling = ", ".join(map(str, known.index[known["low"] > CHANCE])) or "none"
        sentences.append(
            f"{name}: of {len(known)} signs that could be judged these tell right answers from wrong ones: {telling} "
            f"({graded} of {len(questions)} answers graded; one sign in forty does by chance)"
        )
        print(f"\n{sentences[-1]}\n{signals[name].round(3).to_string()}")
    print(f"\nvotes of {options.samples} samples against the likeliest answer\n{tables['votes'].round(3).to_string()}")
    print(f"\nsure and consistent?\n{tables['zones'].round(3).to_string()}")
    asked_about = written.assign(question=written["question_id"].map({each.id: each.text for each in questions}))
    shown = {name: each for name, each in tables.items() if name != "measurements"}
    answers = {"written": AnswerLog(asked_about, "written.csv")}
    report = write_self_report_page(run, "What tells right answers from wrong ones?", sentences, shown, answers)
    print(f"\nreport: {report}")


def scores_of_tokens(
    tokens: pd.DataFrame, first: pd.DataFrame, questions: Sequence[Question]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Question x score: turned so that higher = surer, and as they are."""
    texts = {question.id: question.text for question in questions}
    answers = first["text"].to_dict()
    rows = {}
    for question_id, own in tokens.groupby("question_id", sort=False):
        by = {way: own[own["prompt"] == way].sort_values("token") for way in PROMPTS}
        read = {way: TokenStatistics(*(part[column].to_numpy() for column in STATISTICS)) for way, part in by.items()}
        spans = answer_spans(str(answers[question_id]), texts[str(question_id)])
        marks = [
            any(start < stop and end > begin for begin, stop in spans)
            for start, end in by["question"][["start", "end"]].to_numpy()
        ]
        rows[question_id] = (
            token_scores(read["question"], marks)
            | question_lift(read["question"], read["without"])
            | {"stays when shown": shown_lift(read["question"], read["shown"])}
        )
    told = pd.DataFrame.from_dict(rows, orient="index").reindex(index=first.index, columns=list(SURER))
    return told * pd.Series(SURER), told


def zones_of(said: pd.DataFrame, agreed: pd.DataFrame, first: pd.DataFrame) -> pd.DataFrame:
    """Number of answers and share right in each zone of certainty (of P(True)) and consistency (of samples)."""
    if "P(True)" not in said:
        return pd.DataFrame({"n": 0, "right": float("nan")}, index=pd.Index(ZONES, name="zone"))
    certainty = np.tanh(said["P(True)"].abs() / 2)  # |p - (1 - p)| for log-odds
    zones = certainty_zones(certainty, agreed["sample agreement"])
    grouped = first["correct"].groupby(zones)
    return pd.DataFrame({"n": grouped.count(), "right": grouped.mean()}).reindex(list(ZONES)).rename_axis("zone")


def as_measurements(name: str, scores: pd.DataFrame, first: pd.DataFrame) -> pd.DataFrame:
    """Every score as a measurement: the instrument is the score's name, its value stands as it is."""
    wide = scores.rename_axis(index="question_id").reset_index()
    long = wide.melt("question_id", var_name="instrument", value_name="value").dropna(subset=["value"])
    long = long.assign(respondent=name, model=name, setting="", framing="closed book", sample=0)
    long["answered_correctly"] = long["question_id"].map(first["correct"])
    long["raw_text"] = long["question_id"].map(first["text"])
    return long.reindex(columns=MEASUREMENT_COLUMNS)
