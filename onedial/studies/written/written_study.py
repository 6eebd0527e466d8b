"""Set beside each other every sign that a written answer is right: tokens, samples, meanings, and being asked."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from onedial.asking.asks import Ask
from onedial.asking.instruments import CLOSED_BOOK, TEXT, Instrument, TextReader, TokenReader
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.providers.costs import CHARACTERS_PER_TOKEN
from onedial.asking.providers.costs import WRITTEN as TOKENS_WRITTEN
from onedial.asking.questions import Question, stratified_sample
from onedial.asking.store import ANSWERS, Store
from onedial.confidence.samples import habits, sample_agreement
from onedial.confidence.signals import signal_table
from onedial.confidence.tokens import SURER, TokenStatistics, question_lift, shown_lift, token_scores
from onedial.core.errors import InputError
from onedial.core.progress import progress_bar
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.respondent import LocalRespondent
from onedial.models.written_scores import read_written
from onedial.panels.grading.closed_book import grade_closed_book
from onedial.panels.grading.grading import answer_label, answer_spans
from onedial.selfreport.ask.same_meaning import SAME_MEANING
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.score.revision import answer_changes
from onedial.selfreport.show import figures as draw
from onedial.selfreport.show.self_report_page import AnswerLog, end_self_report
from onedial.stats.arrays import number
from onedial.studies.battery.respondents import models_elsewhere, provider_model
from onedial.studies.bill import bill_of, tell_costs, tell_what_is_asked
from onedial.studies.options.asked import WrittenOptions
from onedial.studies.start import Start
from onedial.studies.written.meaning import (
    MEANING_SURER,
    MOST_PLANTED,
    agreement_of_meanings,
    check_of_judge,
    judge_meanings,
    judge_of,
)

CHANCE = 0.5
WRITTEN = ["model", "question_id", "sample", "text", "outcome", "correct", "mean_log_p"]
"""mean_log_p: mean log-probability of a sample's tokens after its question, in nats; of samples that are compared by
meaning alone."""
STATISTICS = ["log_p", "entropy", "self_certainty", "margin"]
TOKENS = ["model", "question_id", "prompt", "token", "start", "end", *STATISTICS]
ASKED = ["model", "report", "question_id", "score"]
_SHOWN = PromptTemplate(
    f"Somebody else answered the question below like this: {{answer}}\n\n{CLOSED_BOOK.template.user}",
    CLOSED_BOOK.template.assistant_prefix,
    "answer shown",
    ("question", "answer"),
)
PROMPTS: dict[str, Callable[[str, str], Prompt]] = {
    "question": lambda asked, answer: CLOSED_BOOK.prompt(asked),
    "without": lambda asked, answer: CLOSED_BOOK.prompt("..."),
    "shown": lambda asked, answer: _SHOWN.fill(asked, answer=answer),
}
"""What an answer's tokens are read after: its question, none, and its question with the answer shown."""
_READ = Instrument("tokens of answers", CLOSED_BOOK.template, TEXT, TokenReader({}))


def score_written(program: str, options: WrittenOptions, notes: Notes) -> None:
    """Everything that is written, read, asked and judged; or, with `--dry-run`, how much that would be."""
    reports = [name for name in options.instruments if name != "none"]
    start = Start(program, options, "written")
    answerable = [each for each in options.read_questions(options.questions) if each.answers]
    if not answerable:
        raise InputError(f"none of the questions {options.questions!r} has an accepted answer; give some that have")
    questions = stratified_sample(answerable, min(options.n_questions, len(answerable)), options.seed)
    named = options.same_meaning
    store = bill_of(options, models_elsewhere([named] if named else []))
    if options.dry_run:
        tell_what_is_asked(foreseen(questions, reports, options), store.prices)
        return
    start.set_threads()
    judge = judge_of(named, store) if named else None
    loaded = start.load_in_turn(options.model)
    with start.begin(notes) as run:
        store.opens(run.file(ANSWERS))
        by_model: list[tuple[pd.DataFrame, ...]] = []
        for name, model in loaded:
            with run.stage(name):
                with start.writing(model):
                    written = answer(store, name, model, questions, options)
                texts = first_answers(written)
                tokens = read(name, model, questions, texts)
                written = written.assign(mean_log_p=read_samples(name, model, questions, written) if judge else np.nan)
                by_model.append((written, tokens, ask(store, name, model, questions, texts, reports, notes)))
        written, tokens, asked = (pd.concat(each) for each in zip(*by_model, strict=True))
        written = written.sort_values(WRITTEN[:3], kind="stable", ignore_index=True)
        judged = None
        if judge and named:
            with run.stage(f"{named}, as judge"):
                judged = judge_meanings(judge, named, store, written, answerable, options.seed)
                run.write_table("meant.parquet", judged)
        run.write_table("written.csv", written.drop(columns="mean_log_p"))
        run.write_table("tokens.parquet", tokens)
        finish(run, Answered(questions, written, tokens, asked, judged), options)
        tell_costs(store.costs(), run)


def foreseen(questions: Sequence[Question], reports: Sequence[str], options: WrittenOptions) -> list[Ask]:
    """What each model is asked, and its answers' tokens read after, at most, since what is not written is not read;
    and what a judge of meanings is asked.
    """
    text = "x" * CHARACTERS_PER_TOKEN * TOKENS_WRITTEN["closed book"]
    drawn = [CLOSED_BOOK.prompt(each.rendered) for each in questions] * options.samples
    read = [prompt(each.rendered, text) for prompt in PROMPTS.values() for each in questions]
    read += drawn if options.same_meaning else []
    items = [Item(each.id, {"question": each.rendered, "answer": text}) for each in questions]
    asks = []
    for name in options.model:
        asks.append(Ask(name, None, [CLOSED_BOOK.prompt(each.rendered) for each in questions] + drawn, CLOSED_BOOK))
        asks.append(Ask(name, None, read, _READ))
        for report in reports:
            shown = [replace(each, slots={"question": each.slots["question"]}) for each in items]
            of_answers = SELF_REPORTS[report].about == "answers"
            asks += SELF_REPORTS[report].asks(name, items if of_answers else shown)
    if options.same_meaning:
        n_pairs = len(options.model) * math.comb(1 + options.samples, 2)
        pairs = [Item(each.id, {"question": each.rendered, "one": text, "other": text}) for each in questions] * n_pairs
        pairs += pairs[:1] * 2 * MOST_PLANTED
        asks += SAME_MEANING.asks(options.same_meaning, pairs, provider_model(options.same_meaning))
    return asks


# ---- asking and reading ----------------------------------------------------------------------------------------------


def answer(
    store: Store, name: str, model: OpenModel, questions: Sequence[Question], options: WrittenOptions
) -> pd.DataFrame:
    """The likeliest answer to each question (sample 0), and samples of it at temperature 1, graded."""
    reader = CLOSED_BOOK.reader
    assert isinstance(reader, TextReader)
    drawn = replace(CLOSED_BOOK, reader=replace(reader, temperature=1.0))
    slots, tables = [{"question": question.rendered} for question in questions], []
    with progress_bar(len(questions) * (options.samples + 1), f"{name}: answers") as advance:
        for sample in range(options.samples + 1):
            respondent = store.respondent(name, LocalRespondent(model, seed=options.seed * 1000 + sample), sample)
            with store.occasion("written", advance):
                given = ask_table(respondent, drawn if sample else CLOSED_BOOK, slots)
            about = {"model": name, "question_id": [question.id for question in questions], "sample": sample}
            table = pd.DataFrame({**about, "text": given["text"].str.strip()})
            graded = grade_closed_book(table, questions)
            tables.append(table.assign(outcome=graded["outcome"], correct=graded["correct"].astype(float)))
    return pd.concat(tables, ignore_index=True)


def read(name: str, model: OpenModel, questions: Sequence[Question], texts: Mapping[str, str]) -> pd.DataFrame:
    """Token statistics of each likeliest answer after each of `PROMPTS`: `TOKENS`."""
    asked = [question for question in questions if texts.get(question.id)]
    rows = []
    with progress_bar(len(PROMPTS), f"{name}: tokens") as advance:
        for way, prompt in PROMPTS.items():
            shown_texts = [texts[each.id] for each in asked]
            prompts = [prompt(each.rendered, text) for each, text in zip(asked, shown_texts, strict=True)]
            for each, reading in zip(asked, read_written(model, prompts, shown_texts) if asked else [], strict=True):
                numbers = (getattr(reading.statistics, column) for column in STATISTICS)
                tokens = zip(reading.starts, reading.ends, *numbers, strict=True)
                rows += [[name, each.id, way, place, *token] for place, token in enumerate(tokens)]
            advance(1)
    return pd.DataFrame(rows, columns=TOKENS)


def read_samples(name: str, model: OpenModel, questions: Sequence[Question], written: pd.DataFrame) -> pd.Series:
    """`mean_log_p` of every sample, in the rows of one model's answers."""
    prompts = {each.id: CLOSED_BOOK.prompt(each.rendered) for each in questions}
    means = pd.Series(np.nan, written.index)
    drawn = written[(written["sample"] > 0) & (written["text"] != "")]
    with progress_bar(drawn["sample"].nunique(), f"{name}: samples read") as advance:
        for _, of_sample in drawn.groupby("sample"):
            readings = read_written(
                model, [prompts[key] for key in of_sample["question_id"]], of_sample["text"].tolist()
            )
            likely = [float(each.statistics.log_p.mean()) if len(each.statistics) else np.nan for each in readings]
            means.loc[of_sample.index] = np.array(likely)
            advance(1)
    return means


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
    tables = [pd.DataFrame(columns=ASKED)]
    respondent = store.respondent(name, LocalRespondent(model))
    with progress_bar(None, f"{name}: asked") as advance, store.occasion("asked", advance):
        for report in reports:
            of_answers = SELF_REPORTS[report].about == "answers"
            items = [
                Item(each.id, {"question": each.rendered} | ({"answer": texts[each.id]} if of_answers else {}))
                for each in questions
                if not of_answers or texts.get(each.id)
            ]
            try:
                scores = ask_self_report(respondent, SELF_REPORTS[report], items)["score"] if items else pd.Series()
            except InputError as error:
                notes.tell(f"{report} is left out for {name}: {error}")
                continue
            table = scores.rename("score").rename_axis("question_id").reset_index()
            tables.append(table.assign(model=name, report=report)[ASKED])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def first_answers(written: pd.DataFrame) -> dict[str, str]:
    """Question id -> the likeliest answer of one model; blank ones are left out."""
    answered = written[(written["sample"] == 0) & (written["text"] != "")]
    return dict(zip(answered["question_id"], answered["text"], strict=True))


# ---- what comes out --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """Everything that was written and asked, of all models; of one, what it comes to.

    Attributes:
        written: `WRITTEN`. tokens: `TOKENS`. asked: `ASKED`. judged: of `judge_meanings`; None where nobody judged.
    """

    questions: Sequence[Question]
    written: pd.DataFrame
    tokens: pd.DataFrame
    asked: pd.DataFrame
    judged: pd.DataFrame | None

    def of(self, model: str) -> "Answered":
        """What is of one model."""
        written, tokens, asked = (table[table["model"] == model] for table in (self.written, self.tokens, self.asked))
        return Answered(self.questions, written, tokens, asked, self.judged)

    @cached_property
    def topics(self) -> pd.Series:
        """By question."""
        return pd.Series({question.id: str(question.topic) for question in self.questions})

    @cached_property
    def first(self) -> pd.DataFrame:
        """The likeliest answer to each question."""
        return self.written[self.written["sample"] == 0].set_index("question_id").reindex(self.topics.index)

    @cached_property
    def said(self) -> pd.DataFrame:
        """Question x self-report."""
        table = self.asked.pivot(index="question_id", columns="report", values="score")
        return table.reindex(index=self.topics.index, columns=list(dict.fromkeys(self.asked["report"])))


def finish(run: Run, every: Answered, options: WrittenOptions) -> None:
    """Scores, their worth, and votes; tables and figure."""
    signals, votes, sentences, meanings = {}, {}, [], {}
    judge, tells = str(options.same_meaning), False
    tables: dict[str, pd.DataFrame] = {}
    if every.judged is not None:
        tables["judge"], sentence, tells = check_of_judge(every.judged, judge)
        sentences.append(sentence)
    for name in options.model:
        of_model = every.of(name)
        token_scores = scores_of_tokens(of_model)
        agreed, votes[name] = agreement_of_samples(of_model)
        meant = agreed[[]]
        if every.judged is not None:
            meaning, meanings[name] = agreement_of_meanings(every.judged, of_model.questions, of_model.written)
            meant = meaning if tells else meant
        turned = meant * pd.Series(MEANING_SURER).reindex(meant.columns)
        surer = pd.concat([token_scores * pd.Series(SURER), agreed, turned, of_model.said], axis=1)
        correct = of_model.first["correct"]
        signals[name] = signal_table(surer, correct, of_model.topics, None, options.replicates, options.seed)
        known = signals[name].dropna(subset=["low"])
        telling = ", ".join(map(str, known.index[known["low"] > CHANCE])) or "none"
        sentences.append(
            f"{name}: of {len(known)} signs that could be judged these tell right answers from wrong ones: {telling} "
            f"({correct.notna().sum()} of {len(correct)} answers graded; one sign in forty does by chance)"
        )
    tables = {
        "signals": pd.concat(signals, names=["model"]),
        "votes": pd.DataFrame.from_dict(votes, orient="index").rename_axis("model"),
    } | tables
    if meanings:
        tables["meanings"] = pd.DataFrame.from_dict(meanings, orient="index").rename_axis("model")
    texts = {each.id: each.rendered for each in every.questions}
    asked = every.written.drop(columns="mean_log_p").assign(question=every.written["question_id"].map(texts))
    answers = {"written": AnswerLog(asked, "written.csv")}
    drawn = {"signals": draw.signals(tables["signals"])}
    end_self_report(run, "What tells right answers from wrong ones?", sentences, tables, answers, drawn)


def scores_of_tokens(of_model: Answered) -> pd.DataFrame:
    """Question x `SURER` of one model, as they are."""
    texts = {question.id: question.rendered for question in of_model.questions}
    rows = {}
    for key, some in of_model.tokens.groupby("question_id", sort=False):
        by = {way: some[some["prompt"] == way].sort_values("token") for way in PROMPTS}
        statistics = {
            way: TokenStatistics(*(part[column].to_numpy() for column in STATISTICS)) for way, part in by.items()
        }
        spans = answer_spans(str(of_model.first.at[key, "text"]), texts[str(key)])
        marks = [
            any(start < stop and end > begin for begin, stop in spans)
            for start, end in by["question"][["start", "end"]].to_numpy()
        ]
        lifts = question_lift(statistics["question"], statistics["without"])
        stays = {"stays when shown": shown_lift(statistics["question"], statistics["shown"])}
        rows[key] = token_scores(statistics["question"], marks) | lifts | stays
    return pd.DataFrame.from_dict(rows, orient="index").reindex(index=of_model.first.index, columns=list(SURER))


def agreement_of_samples(of_model: Answered) -> tuple[pd.DataFrame, dict[str, float]]:
    """Agreement of the samples (of the likeliest answer with them, too), and what voting corrects and spoils."""
    texts = {question.id: question.rendered for question in of_model.questions}
    pairs = of_model.written[["text", "question_id"]].to_numpy()
    labels = of_model.written.assign(label=[answer_label(text, texts[key]) or "" for text, key in pairs])
    drawn = labels[labels["sample"] > 0].sort_values(["question_id", "sample"])
    columns = ["sample agreement", "beyond chance", "agrees with the likeliest"]
    if drawn.empty:
        return pd.DataFrame(np.nan, index=list(texts), columns=columns), {"samples": 0}
    by = {key: part for key, part in drawn.groupby("question_id", sort=False)}
    samples = [[str(each) if each else None for each in by[key]["label"]] for key in texts]
    first = labels[labels["sample"] == 0].set_index("question_id")
    rows, before, after = {}, [], []
    for key, labels_drawn, habit in zip(texts, samples, habits(samples), strict=True):
        agreement, likeliest = sample_agreement(labels_drawn, habit=habit), first.at[key, "label"]
        same = sum(each == likeliest for each in labels_drawn) / len(labels_drawn) if likeliest else float("nan")
        rows[key] = [agreement.agreement, agreement.beyond_chance, same]
        voted = by[key].loc[by[key]["label"] == agreement.answer, "correct"]
        before.append(number(first, key, "correct"))
        after.append(float(voted.iloc[0]) if len(voted) else float("nan"))
    votes: dict[str, float] = {"samples": len(samples[0])}
    known = np.isfinite(before) & np.isfinite(after)
    votes |= asdict(answer_changes(before, after)) if known.any() else {}
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns), votes
