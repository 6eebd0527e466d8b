"""What moves together with the yes when the dial is turned: confidence, P(True), refusals, self-efficacy, any yes?

    python experiments/dial_profile.py runs/MY-SWEEP     # vector, prompt and settings of a finished sweep
    python experiments/dial_profile.py runs/MY-SWEEP --items 16 --controls 3 --no-answers        # a quick look
    python experiments/dial_profile.py runs/MY-SWEEP --yes-rates .2,.8 --instruments "can you answer,P(True)"
    python experiments/dial_profile.py --model MODEL --vector FILE --magnitudes=-0.2,0.2

Puts every instrument (docs/instruments.md) to the subject at every setting, beside random directions of the vector's
length at the same layer and magnitudes. Writes answers/ (every score), cells.csv, reports.csv, orders.csv, truths.csv,
accuracy.csv, a figure and report.html. A run that was broken off goes on with --resume and the same options.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import InputError, natural, positive, program_parser, run_command, say
from run_store import Notes, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import Item, PromptTemplate, Question, SelfReport
    from open_models import OpenModel
    from steering import Intervention

PROGRAM = "dial_profile"
YES_RATES = ".1,.3,.7,.9"
WRITTEN_KEY = ["question_id", "magnitude"]


@dataclass(frozen=True)
class Dial:
    """What is turned, and how far.

    Attributes:
        magnitudes: ascending, without 0. names: of each setting, for the figure.
        questions: whose ability is asked for. template: of "can you answer".
    """

    model: "OpenModel"
    intervention: "Intervention"
    magnitudes: list[float]
    names: dict[float, str]
    questions: "list[Question]"
    template: "PromptTemplate"


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        dial_profile(options, notes)


def dial_profile(options: argparse.Namespace, notes: Notes) -> None:
    wanted = chosen_reports(options.instruments)
    check_options(options)
    begun = Run.check(configuration_of(options), options.out, options.resume)
    from open_models import choose_threads, quiet_libraries

    quiet_libraries()
    threads = choose_threads(begun.get("threads"))
    dial = dial_of_run(options) if options.run else dial_of_vector(options)
    say(
        f"{dial.model.identity.name}, {dial.intervention.intervention_id} at "
        + ", ".join(f"{magnitude:+.3g}" for magnitude in dial.magnitudes)
        + f"; {len(dial.questions)} questions"
    )
    with Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, "profile") as run:
        run.record_once("model", dial.model.identity.as_dict(), "load the same model or choose another --out")
        run.record(threads=threads)
        notes.keep_in(run)
        with run.stage("answers"):
            written = closed_book(run, dial, options)
        with run.stage("instruments"):
            answers = ask_everything(run, dial, wanted, written, options, notes)
        with run.stage("profile"):
            finish(run, dial, answers, written, options)


# ---- what is turned --------------------------------------------------------------------------------------------------


def dial_of_run(options: argparse.Namespace) -> Dial:
    """Vector, prompt, questions (of the test split) and settings of a finished sweep."""
    from elicitation import load_prompt, questions_from_frame, sample_questions
    from matching import SweepRun
    from open_models import load_model
    from steering import Intervention, SteeringVector

    swept = SweepRun.open(options.run)
    entry = swept.interventions().set_index("intervention_id", drop=False).loc[swept.under_test()]
    vectors = {name: SteeringVector.load(swept.path / swept.vector_file(name)) for name in entry["vectors"]}
    intervention = Intervention.from_dict(entry.to_dict(), vectors)
    magnitudes, names = settings_of(swept, intervention.intervention_id, options)
    frame = swept.questions()
    test = questions_from_frame(frame[frame["split"] == "test"].reset_index(drop=True))
    questions = sample_questions(test, min(options.items, len(test)), options.seed)
    config = swept.config
    model = load_model(
        options.model or config["model"], revision=config.get("revision"), dtype=config.get("dtype") or "auto"
    )
    intervention.check_model(model)
    return Dial(model, intervention, magnitudes, names, questions, load_prompt(config["prompt"]))


def settings_of(swept: Any, intervention_id: str, options: argparse.Namespace) -> tuple[list[float], dict[float, str]]:
    """Magnitudes as given, or those swept at which the fitting questions' yes rate is nearest to those wanted."""
    from steering import yes_rates

    table, splits = swept.sweep(), swept.splits()
    own = table[(table["intervention_id"] == intervention_id) & (table["question_id"].map(splits) == "fitting")]
    if own.empty:
        raise InputError(f"{swept.path} holds no sweep of its fitting questions; finish it with --resume")
    rates = yes_rates(own)["yes_rate"].dropna()
    if options.magnitudes:
        magnitudes = numbers(options.magnitudes, "--magnitudes")
    else:
        wanted = numbers(options.yes_rates, "--yes-rates")
        if not all(0 < rate < 1 for rate in wanted):
            raise InputError(f"--yes-rates {options.yes_rates} goes beyond 0 and 1; give rates such as {YES_RATES}")
        turned = rates.drop(0.0, errors="ignore")
        magnitudes = [float(turned.index[int((turned - rate).abs().argmin())]) for rate in wanted]
    chosen = sorted({magnitude for magnitude in magnitudes if magnitude != 0})
    if not chosen:
        raise InputError("no setting other than 0 is left; give others with --yes-rates or --magnitudes")
    # The yes rate of a magnitude that was not swept is not known, and its own name says enough.
    return chosen, {each: f"yes {rates[each]:.2f}" if each in rates.index else f"{each:+.3g}" for each in chosen}


def dial_of_vector(options: argparse.Namespace) -> Dial:
    """A vector's file, a model and magnitudes; the embedded questions."""
    from elicitation import load_prompt, load_questions, sample_questions
    from open_models import load_model
    from steering import Intervention, SteeringVector

    vector = SteeringVector.load(options.vector)
    questions = load_questions(options.questions)
    model = load_model(options.model)
    intervention = Intervention.of(vector)
    intervention.check_model(model)
    magnitudes = sorted(set(numbers(options.magnitudes, "--magnitudes")) - {0.0})
    if not magnitudes:
        raise InputError("--magnitudes holds nothing but 0; give at least one other")
    drawn = sample_questions(questions, min(options.items, len(questions)), options.seed)
    names = {each: f"{each:+.3g}" for each in magnitudes}
    return Dial(model, intervention, magnitudes, names, drawn, load_prompt(options.prompt))


def numbers(text: str, option: str) -> list[float]:
    """A list such as -1,0.5."""
    import math

    try:
        found = [float(piece) for piece in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(math.isfinite(each) for each in found):
        raise InputError(f"{option} {text!r} is no list of numbers; write it like -0.2,0.2")
    return found


# ---- what is asked ---------------------------------------------------------------------------------------------------


def chosen_reports(names: str | None) -> "list[SelfReport]":
    """The self-reports of these names, or all of them."""
    from elicitation import SELF_REPORTS

    if not names:
        return list(SELF_REPORTS.values())
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in SELF_REPORTS:
            raise InputError(f"--instruments names {name!r}, which is none of {', '.join(SELF_REPORTS)}; check it")
    return [SELF_REPORTS[name] for name in dict.fromkeys(wanted)]


def closed_book(run: Run, dial: Dial, options: argparse.Namespace) -> "pd.DataFrame":
    """What the subject answers to the questions themselves, unsteered and (but for --no-answers) at every setting."""
    from elicitation import CLOSED_BOOK, grade_closed_book
    from reporting import progress_bar
    from steering import ask_along

    parts = run.parts("written", [*WRITTEN_KEY, "text"], WRITTEN_KEY)
    done = {float(magnitude) for magnitude in parts.read()["magnitude"]}
    settings = [0.0] if options.no_answers else [0.0, *dial.magnitudes]
    with progress_bar(len(settings), "answers") as advance:
        for magnitude in settings:
            if magnitude not in done:
                rows = ask_along(dial.model, dial.intervention, [magnitude], dial.questions, CLOSED_BOOK)
                parts.append(rows.rename(columns={"raw_text": "text"})[[*WRITTEN_KEY, "text"]])
            advance(1)
    table = parts.read()
    graded = grade_closed_book(table.assign(model=dial.model.identity.name), dial.questions)
    return table.assign(outcome=graded["outcome"].to_numpy(), correct=graded["correct"].to_numpy(float))


def items_of(report: "SelfReport", dial: Dial, written: "pd.DataFrame", options: argparse.Namespace) -> "list[Item]":
    """What the report is about; the answers proposed to P(True) are the subject's own, unsteered at every setting."""
    from elicitation import Item, load_facts, load_questions, sample_questions, self_efficacy_items, truth_of

    n, seed = options.items, options.seed
    own = written[written["magnitude"] == 0].set_index("question_id")
    right = own["correct"].to_dict()
    if report.about == "questions":
        return [
            Item(each.id, {"question": each.text}, truth=right.get(each.id, float("nan"))) for each in dial.questions
        ]
    if report.about == "answers":
        texts = own["text"].fillna("").str.strip()
        return [
            Item(each.id, {"question": each.text, "answer": texts[each.id]}, truth=right[each.id])
            for each in dial.questions
            if texts.get(each.id)
        ]
    if report.about == "statements":
        return self_efficacy_items()
    if report.about == "facts":
        facts = load_facts(max(2, n - n % 2), seed)
        truth = truth_of(facts)
        return [Item(each.id, {"question": each.text}, truth=truth[each.id]) for each in facts]
    requests = load_questions("frontier")
    return [Item(each.id, {"question": each.text}) for each in sample_questions(requests, min(n, len(requests)), seed)]


def ask_everything(
    run: Run,
    dial: Dial,
    reports: "Sequence[SelfReport]",
    written: "pd.DataFrame",
    options: argparse.Namespace,
    notes: Notes,
) -> "pd.DataFrame":
    """Ask what is not on disk yet; every score, of the vector and of random directions."""
    from dataclasses import replace

    from elicitation import VECTOR
    from matching import PROFILE_COLUMNS
    from reporting import progress_bar
    from steering import Intervention, ask_settings, random_vector

    of = dial.intervention
    directions = [
        Intervention.of(
            *(random_vector(vector, options.seed * 1000 + number + 1) for vector in of.vectors),
            role="random",
            operator=of.operator,
            positions=of.positions,
            unit=of.unit,
        )
        for number in range(options.controls)
    ]
    interventions = [of, *directions]
    roles = {each.intervention_id: each.role for each in interventions} | {of.intervention_id: VECTOR}
    grids = {each.intervention_id: list(dial.magnitudes) for each in directions}
    grids[of.intervention_id] = [0.0, *dial.magnitudes]
    key = ["report", "form", "question_id", "intervention_id", "magnitude"]
    parts = run.parts("answers", [*PROFILE_COLUMNS, "spread", "mass"], key)
    known = parts.read()
    forms = [(report, form) for report in reports for form in report.forms]
    items_by_report = {report.name: items_of(report, dial, written, options) for report in reports}
    with progress_bar(len(forms), "instruments") as advance:
        for report, form in forms:
            asked = known[(known["report"] == report.name) & (known["form"] == form)]
            items = items_by_report[report.name]
            instrument = report.forms[form]
            own = report
            if report.name == "can you answer":
                instrument = instrument.framed(dial.template)
                own = replace(report, forms={form: instrument})
            truth = {item.item_id: item.truth for item in items if instrument.scale.kind == "yes/no"}

            def keep(
                rows: "pd.DataFrame", own: Any = own, form: str = form, items: Any = items, truth: Any = truth
            ) -> None:
                parts.append(
                    rows.assign(
                        report=own.name,
                        form=form,
                        role=rows["intervention_id"].map(roles),
                        score=own.scores(form, rows, items),
                        truth=rows["question_id"].map(truth).astype(float),
                    )
                )

            try:
                ask_settings(
                    dial.model,
                    [own.prompt(form, item) for item in items],
                    [item.item_id for item in items],
                    instrument,
                    interventions,
                    grids,
                    sink=keep,
                    done=set(asked["question_id"]),
                )
            except InputError as error:
                notes.tell(f"{report.name} ({form}) is left out: {error}")
            advance(1)
    return parts.read()


# ---- what comes out --------------------------------------------------------------------------------------------------


def finish(run: Run, dial: Dial, answers: "pd.DataFrame", written: "pd.DataFrame", options: argparse.Namespace) -> None:
    """Tables, figure, page and sentences."""
    from elicitation import SELF_REPORTS
    from matching import profile_of
    from reporting import profile_figure, save_results, write_profile_report

    order = {name: place for place, name in enumerate(SELF_REPORTS)}
    answers = answers.sort_values("report", key=lambda names: names.map(order), kind="stable")
    profile = profile_of(answers, max(options.replicates, 1), options.seed)
    accuracy, sentence = accuracy_of(written)
    sentences = [*profile.sentences(), sentence]
    asked = (
        f"{len(dial.questions)} questions; settings {', '.join(dial.names.values())}; {options.controls} random "
        "directions of the same length beside each."
    )
    summary = {"model": dial.model.identity.name, "sentences": sentences, "asked": asked}
    save_results(
        run,
        {
            "cells": profile.cells.set_index(["report", "intervention_id", "magnitude"]),
            "reports": profile.reports,
            "orders": profile.orders.set_index(["report", "effect"]),
            "truths": profile.truths.set_index(["report", "magnitude"]),
            "accuracy": accuracy,
            "summary": summary,
        },
        {"dial_profile": profile_figure.dial_profile(profile.cells, profile.reports, dial.names)},
    )
    page = write_profile_report(run)
    shown = ["n", "n_unread", "mean", "sd", "together", "low", "high", "p", "verdict"]
    print(profile.reports[shown].round(3).to_string())
    print("\n" + "\n".join(sentences))
    print(f"\nwritten to {run.path}; page: {page}")


def accuracy_of(written: "pd.DataFrame") -> "tuple[pd.DataFrame, str]":
    """Share right among the graded answers at each setting, and whether the dial changes it."""
    from psychometrics import wilson_interval

    grouped = written.groupby("magnitude")["correct"]
    n, right = grouped.count(), grouped.sum()
    low, high = wilson_interval(right, n)
    table = (right / n.where(n > 0)).to_frame("right").assign(low=low, high=high, n=n)
    table["n_no_answer"] = grouped.size() - n
    cells = [f"{row['right']:.2f} of {int(row['n'])} at {magnitude:+.3g}" for magnitude, row in table.iterrows()]
    return table, f"The answers themselves are right: {', '.join(cells)}."


# ---- options ---------------------------------------------------------------------------------------------------------


def check_options(options: argparse.Namespace) -> None:
    """Raise InputError where the options do not say what is to be turned."""
    if options.run is None and not (options.vector and options.model and options.magnitudes):
        raise InputError("give the folder of a finished sweep, or --model, --vector and --magnitudes together")
    if options.run is not None and options.vector:
        raise InputError(
            "RUN has a vector of its own; leave out --vector, or give --model and --magnitudes without RUN"
        )


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("run", metavar="RUN", nargs="?", type=Path, help="folder of a finished run of steer_sweep.py")
    parser.add_argument("--model", help="the subject, where no RUN names it")
    parser.add_argument("--vector", metavar="FILE", help="a .safetensors file that a run has saved")
    parser.add_argument("--questions", default="embedded", help="beside --vector: a name or a file (%(default)s)")
    parser.add_argument("--prompt", default="neutral", help="beside --vector: a framing's name or a file (%(default)s)")
    parser.add_argument(
        "--yes-rates",
        default=YES_RATES,
        help="settings, by the yes rate of the sweep's fitting questions (%(default)s)",
    )
    parser.add_argument("--magnitudes", help="settings by magnitude instead, such as -0.2,0.2")
    parser.add_argument("--instruments", help="only these, separated by commas (docs/instruments.md)")
    parser.add_argument("--items", type=positive, default=40, help="questions, facts, requests asked (%(default)s)")
    parser.add_argument(
        "--controls", type=natural, default=19, help="random directions; 19 for a verdict (%(default)s)"
    )
    parser.add_argument("--no-answers", action="store_true", help="answer the questions unsteered only: quicker")
    parser.add_argument("--replicates", type=positive, default=1999, help="of the bootstrap (%(default)s)")
    add_run_options(parser, seed="of questions, directions and resamples")
    return parse_run_options(parser, arguments, lists=("--magnitudes",))


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
