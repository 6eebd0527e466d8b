"""Turn a dial, and ask every instrument at each setting, beside random directions: `experiments/ask.py profile`.

written/  what the subject answers to the questions themselves      answers/  every score, of vector and controls

What is on disk is not asked again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.asking.asks import Ask
from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.prompts import PromptTemplate, load_prompt
from onedial.asking.providers.costs import CHARACTERS_PER_TOKEN, WRITTEN
from onedial.asking.questions import Question, questions_frame, questions_from_frame, sample_questions
from onedial.asking.sweep_tables import VECTOR
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import progress_bar
from onedial.core.pulse import say
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.models.model import OpenModel, load_model
from onedial.panels.grading.closed_book import grade_closed_book
from onedial.panels.splits import TEST, wordings_of
from onedial.report.profile import PROFILE_RESULTS, WORDS, sentences_of
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport
from onedial.selfreport.battery import BATTERY_REPORTS
from onedial.serving.dial import fitting_answers, intervention_of
from onedial.show.ending import Opening, end
from onedial.show.results import Stored
from onedial.stats.shares import wilson_interval
from onedial.studies.bill import tell_what_is_asked
from onedial.studies.options.profile import ProfileOptions
from onedial.studies.start import Start
from onedial.verdict.comparing.dial_profile import PROFILE_COLUMNS, profile_of
from onedial.verdict.sweep_run import SweepRun
from steering.asking import ask_settings
from steering.interventions import Intervention, SteeringVector
from steering.planning.magnitudes import swept_at, yes_rates
from steering.respondent import ask_along
from steering.vectors import random_vector

WRITTEN_KEY = ["question_id", "magnitude"]
ANSWER_KEY = ["report", "form", "question_id", "intervention_id", "magnitude"]


@dataclass(frozen=True)
class TurnedSubject:
    """What is turned, and how far.

    Attributes:
        weights: name_or_path, revision and dtype, as `load_model` takes them.
        settings: magnitude -> its name, ascending, without 0.
        questions: whose ability is asked for. template: of "can you answer".
    """

    weights: Mapping[str, Any]
    intervention: Intervention
    settings: dict[float, str]
    questions: list[Question]
    template: PromptTemplate

    @cached_property
    def model(self) -> OpenModel:
        """Loaded where it is first needed.

        Raises:
            InputError: as `load_model`; or the intervention belongs to another model.
        """
        model = load_model(**self.weights)
        self.intervention.check_model(model)
        return model


def profile_dial(program: str, options: ProfileOptions, notes: Notes) -> None:
    """Everything that `--instruments` wants, without it what is about the subject itself, put at each setting."""
    reports = SELF_REPORTS | BATTERY_REPORTS
    names = list(reports) if "all" in options.instruments else list(options.instruments) or list(SELF_REPORTS)
    start = Start(program, options, "profile")
    subject = of_run(options) if options.run else of_vector(options)
    if options.dry_run:
        tell_what_is_asked(foreseen(subject, [reports[name] for name in names], options), {})
        return
    start.set_threads()
    settings = ", ".join(f"{magnitude:+.3g}" for magnitude in subject.settings)
    named = f"{subject.model.identity.name}, {subject.intervention.intervention_id}"
    say(f"{named} at {settings}; {len(subject.questions)} questions")
    with start.begin(notes, subject.model) as run:
        with start.writing(subject.model):
            with run.stage("answers"):
                written = closed_book(run, subject, options)
            with run.stage("instruments"):
                answers = ask_everything(run, subject, [reports[name] for name in names], written, options)
        with run.stage("profile"):
            tables = tables_of(subject, answers, written, options)
        question = f"What does the dial of {subject.model.identity.name} move besides the yes?"
        lead = (
            f"{len(subject.questions)} questions; settings {', '.join(subject.settings.values())}; {options.controls} "
            "random directions of the same length beside each."
        )
        end(Stored(run, PROFILE_RESULTS, WORDS), Opening(question, tables["summary"]["sentence"], lead), tables)


def foreseen(subject: TurnedSubject, reports: Sequence[SelfReport], options: ProfileOptions) -> list[Ask]:
    """What the subject is asked at all settings, of the vector and of its controls, at most, since an answer that is
    not written is not asked about.
    """
    who, n_settings = str(subject.weights["name_or_path"]), len(subject.settings)
    questions = [CLOSED_BOOK.prompt(each.rendered) for each in subject.questions]
    asks = [Ask(who, None, questions * (1 if options.no_answers else 1 + n_settings), CLOSED_BOOK)]
    text = "x" * CHARACTERS_PER_TOKEN * WRITTEN["closed book"]
    written = pd.DataFrame({"question_id": [each.id for each in subject.questions], "text": text})
    for report in reports:
        items = items_of(report, subject.questions, written.assign(magnitude=0.0, correct=float("nan")), options.seed)
        asks += report.asks(who, items * (1 + n_settings * (1 + options.controls)))
    return asks


# ---- what is turned --------------------------------------------------------------------------------------------------


def of_run(options: ProfileOptions) -> TurnedSubject:
    """Vector, prompt, questions (of the test split) and settings of a finished sweep.

    Raises:
        InputError: a vector's file is missing or broken, or no setting is left.
    """
    assert options.run is not None
    sweep_run = SweepRun.open(options.run)
    intervention = intervention_of(sweep_run)
    settings = settings_of(sweep_run, intervention.intervention_id, options)
    frame, config = sweep_run.questions(), sweep_run.config
    test = questions_from_frame(frame[frame["split"] == TEST].reset_index(drop=True))
    questions = sample_questions(test, min(options.n_questions, len(test)), options.seed)
    weights = {"name_or_path": options.model or config["model"], "revision": config.get("revision")}
    weights["dtype"] = config.get("dtype") or "auto"
    return TurnedSubject(weights, intervention, settings, questions, load_prompt(config["prompt"]))


def settings_of(sweep_run: SweepRun, intervention_id: str, options: ProfileOptions) -> dict[float, str]:
    """Magnitudes as given, or those swept at which the fitting questions' yes rate is nearest to those wanted; named by
    the rate that was measured there.
    """
    fitting = fitting_answers(sweep_run, intervention_id)
    rates = yes_rates(fitting)["yes_rate"].dropna()
    magnitudes = list(options.magnitudes) or swept_at(fitting, options.yes_rates)["setting"].tolist()
    chosen = sorted(set(magnitudes) - {0.0})
    if not chosen:
        raise InputError("no setting other than 0 is left; give others with --yes-rates or --magnitudes")
    # The yes rate of a magnitude that was not swept is not known, and its own name says enough.
    return {each: f"yes {rates[each]:.2f}" if each in rates.index else f"{each:+.3g}" for each in chosen}


def of_vector(options: ProfileOptions) -> TurnedSubject:
    """A vector's file, a model and magnitudes; the embedded questions."""
    assert options.vector is not None
    assert options.model is not None
    intervention = Intervention.of(SteeringVector.load(options.vector))
    questions = options.read_questions(options.questions)
    magnitudes = sorted(set(options.magnitudes) - {0.0})
    if not magnitudes:
        raise InputError("--magnitudes holds nothing but 0; give at least one other")
    drawn = sample_questions(questions, min(options.n_questions, len(questions)), options.seed)
    settings = {each: f"{each:+.3g}" for each in magnitudes}
    return TurnedSubject({"name_or_path": options.model}, intervention, settings, drawn, load_prompt(options.prompt))


# ---- what is asked ---------------------------------------------------------------------------------------------------


def closed_book(run: Run, subject: TurnedSubject, options: ProfileOptions) -> pd.DataFrame:
    """What the subject answers to the questions themselves, unsteered and (but for --no-answers) at every setting."""
    parts = run.parts("written", [*WRITTEN_KEY, "text"], WRITTEN_KEY)
    done = {float(magnitude) for magnitude in parts.read()["magnitude"]}
    left = [m for m in ([0.0] if options.no_answers else [0.0, *subject.settings]) if m not in done]
    with progress_bar(len(left), "answers") as advance:
        for magnitude in left:
            rows = ask_along(subject.model, subject.intervention, [magnitude], subject.questions, CLOSED_BOOK)
            parts.append(rows.rename(columns={"raw_text": "text"})[[*WRITTEN_KEY, "text"]])
            advance(1)
    table = parts.read()
    graded = grade_closed_book(table.assign(model=subject.model.identity.name), subject.questions)
    return table.assign(outcome=graded["outcome"].to_numpy(), correct=graded["correct"].to_numpy(float))


def items_of(report: SelfReport, questions: list[Question], written: pd.DataFrame, seed: int) -> list[Item]:
    """What the report is about; the answers proposed to P(True) are the subject's own, unsteered at every setting."""
    if report.items is not None:
        return report.items(questions, seed)
    unsteered = written[written["magnitude"] == 0].set_index("question_id")
    right = unsteered["correct"].to_dict()
    if report.about == "questions":
        able = {key: 1 - value if report.right_if_unable else value for key, value in right.items()}
        return [Item(each.id, {"question": each.rendered}, truth=able.get(each.id, float("nan"))) for each in questions]
    texts = unsteered["text"].fillna("").str.strip()
    return [
        Item(each.id, {"question": each.rendered, "answer": texts[each.id]}, truth=right[each.id])
        for each in questions
        if texts.get(each.id)
    ]


def ask_everything(
    run: Run, subject: TurnedSubject, reports: list[SelfReport], written: pd.DataFrame, options: ProfileOptions
) -> pd.DataFrame:
    """Ask what is not on disk yet; every score, of the vector and of random directions."""
    vector = subject.intervention
    directions = [
        Intervention.of(
            *(random_vector(each, options.seed * 1000 + number + 1) for each in vector.vectors),
            role="random",
            operator=vector.operator,
            positions=vector.positions,
            unit=vector.unit,
        )
        for number in range(options.controls)
    ]
    roles = {each.intervention_id: each.role for each in directions} | {vector.intervention_id: VECTOR}
    grids = {each.intervention_id: list(subject.settings) for each in directions}
    grids[vector.intervention_id] = [0.0, *subject.settings]
    parts = run.parts("answers", [*PROFILE_COLUMNS, "spread", "mass"], ANSWER_KEY)
    known = parts.read()
    forms = [(report, form) for report in reports for form in report.forms]
    with progress_bar(len(forms), "instruments") as advance:
        for report, form in forms:
            if report.name == "can you answer":
                report = replace(report, forms={form: report.forms[form].framed(subject.template)})
            items = items_of(report, subject.questions, written, options.seed)
            scale = report.forms[form].scale.kind
            truth = {item.item_id: item.truth for item in items if scale == "yes/no"}

            def keep(
                rows: pd.DataFrame, kept_report: SelfReport = report, form: str = form, items: list[Item] = items,
                truth: dict[str, float] = truth,
            ) -> None:  # fmt: skip
                role, right = rows["intervention_id"].map(roles), rows["question_id"].map(truth).astype(float)
                score = kept_report.scores(form, rows, items)
                parts.append(rows.assign(report=kept_report.name, form=form, role=role, score=score, truth=right))

            asked = known[(known["report"] == report.name) & (known["form"] == form)]
            try:
                ask_settings(
                    subject.model,
                    {item.item_id: report.prompt(form, item) for item in items},
                    report.forms[form],
                    [vector, *directions],
                    grids,
                    sink=keep,
                    done=set(asked["question_id"]),
                )
            except InputError as error:
                notice(f"{report.name} ({form}) is left out: {error}")
            advance(1)
    return parts.read()


# ---- what came out ---------------------------------------------------------------------------------------------------


def tables_of(
    subject: TurnedSubject, answers: pd.DataFrame, written: pd.DataFrame, options: ProfileOptions
) -> dict[str, Any]:
    """What `PROFILE_RESULTS` are computed of."""
    order = {name: place for place, name in enumerate(SELF_REPORTS | BATTERY_REPORTS)}
    answers = answers.sort_values("report", key=lambda names: names.map(order), kind="stable")
    wordings = wordings_of(questions_frame(subject.questions))
    profile, accuracy = profile_of(answers, options.replicates, options.seed, wordings), accuracy_of(written)
    sentences = sentences_of(profile, accuracy)
    summary = {
        "model": subject.model.identity.name,
        "sentence": sentences[0],
        "sentences": sentences,
        "settings": {str(magnitude): name for magnitude, name in subject.settings.items()},
    }
    return {**vars(profile), "accuracy": accuracy, "summary": summary}


def accuracy_of(written: pd.DataFrame) -> pd.DataFrame:
    """Share right among the graded answers at each setting."""
    grouped = written.groupby("magnitude")["correct"]
    n, right = grouped.count(), grouped.sum()
    low, high = wilson_interval(right, n)
    table = (right / n.where(n > 0)).to_frame("right").assign(low=low, high=high, n=n)
    return table.assign(n_no_answer=grouped.size() - n)
