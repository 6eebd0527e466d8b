"""Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --out panels/embedded   # CPU, hours
    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --n-questions 20 --out /tmp/panel
    python experiments/collect_panel.py --respondents providers.yaml --dry-run                  # calls, tokens, money
    python experiments/collect_panel.py --respondents providers.yaml --budget 5 --out panels/mine

Models on this machine, and of providers and servers (docs/collecting.md). Writes panel.csv (long: question_id,
respondent, said_yes, margin, mass, sample, prompt_hash, answered_correctly, raw_text), respondents.csv and
closed_book.csv into a run's folder. Every answer lies in measurements/ before that: after a kill, the same command with
--resume goes on there, and it asks again what was reworded since.
A model in one of whose framings yes and no cannot be told apart is refused before it is asked; framings in which they
get little probability, and respondents that often cannot be read, are named at the end.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from common import InputError, positive, program_parser, run_command
from run_store import Journal, Notes, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from elicitation import Collection, Pending, Question, RespondentModel
    from open_models import OpenModel
    from run_store import Parts

PROGRAM = "collect_panel"
CHUNK = 64
"""Prompts whose answers are written at once: what a kill can cost."""
MAY_CHANGE = (
    *("respondents", "questions", "n_questions", "seed", "closed_book", "device", "device_map"),
    *("budget", "inspect_logs", "merge", "shard", "judge"),
)
"""Every answer is saved under what was asked of whom, so a collection may go on with more or other questions."""
INSPECT_LOGS = "inspect_logs"
SAMPLE_JUDGED = 200
N_SHOWN = 10
"""Texts that could not be read, and are shown."""


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        collect_panel(options, notes)


def collect_panel(options: argparse.Namespace, notes: Notes) -> None:
    from elicitation import COLLECTED, ROW, Collection, load_questions, load_respondents, stratified_sample
    from open_models import quiet_libraries
    from run_store import Parts

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = load_questions(options.questions)
    if options.n_questions is not None:
        questions = stratified_sample(questions, options.n_questions, options.seed)
    if options.shard is not None:
        this, of = options.shard
        questions = questions[this - 1 :: of]
    check_what_is_asked_elsewhere(models, options)

    def collection_in(parts: Parts) -> Collection:
        return Collection(models, questions, parts, options.seed, options.closed_book)

    if options.dry_run:
        folder = Path(options.out) if options.out and options.resume else Path("nowhere")
        show_costs(collection_in(Parts(folder / "measurements", COLLECTED, ROW)))
        return
    label = f"panel-{Path(options.respondents).stem}"
    run = Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, label, MAY_CHANGE)
    with run:
        notes.keep_in(run)
        collection = collection_in(run.parts("measurements", COLLECTED, ROW))
        try:
            with run.stage("asking"):
                exhausted = ask_everybody(collection, run, options, notes)
        except InputError:
            if not collection.parts.files():
                shutil.rmtree(run.path / INSPECT_LOGS, ignore_errors=True)
                run.withdraw()
            raise
        with run.stage("panel"):
            save(collection, run, options, notes, may_lack=exhausted)


def ask_everybody(collection: "Collection", run: Run, options: argparse.Namespace, notes: Notes) -> bool:
    """Take over what other collections have, and ask what is missing; True where the budget ended it."""
    from elicitation import COLLECTED_NUMBERS

    journal = Journal(collection.parts, COLLECTED_NUMBERS)
    for other in options.merge or []:
        notes.tell(f"{collection.take_over(other)} answers taken over from {other}")
    exhausted = ask_elsewhere(collection, journal, run, options, notes)
    for model in collection.models:
        ask(model, collection, options)
    return exhausted


# ---- models of providers and servers ---------------------------------------------------------------------------------


def check_what_is_asked_elsewhere(models: "list[RespondentModel]", options: argparse.Namespace) -> None:
    """Before anything is asked: libraries, keys, the judge, and prices where there is a budget.

    Raises:
        InputError: one of them is missing.
    """
    from elicitation import ProviderRespondent, load_judge

    elsewhere = [(model, model.provider) for model in models if model.provider is not None]
    for model, provider in elsewhere:
        if options.budget is not None and model.price is None:
            raise InputError(f"--budget needs the price of {model.label}; give it in {options.respondents}")
        if not options.dry_run:
            ProviderRespondent(provider)
    if options.judge is not None:
        entry = load_judge(options.respondents)
        if entry is None or entry.provider is None:
            raise InputError(f"--judge needs a model under the key `judge` of {options.respondents}")
        if options.budget is not None:
            raise InputError("--budget does not count the judge; collect with it first, and judge with --resume after")
        if not options.dry_run:
            ProviderRespondent(entry.provider)
    if options.budget is not None and not elsewhere:
        raise InputError(f"--budget was given, but {options.respondents} names no model that costs money")


def ask_elsewhere(
    collection: "Collection", journal: Journal, run: Run, options: argparse.Namespace, notes: Notes
) -> bool:
    """Ask all models of providers and servers at once; True where the budget ended it."""
    from elicitation import Budget, ask_providers, probes_for
    from reporting import progress_bar

    pending = collection.missing([model for model in collection.models if model.provider is not None])
    if not pending:
        return False
    budget = None if options.budget is None else Budget(options.budget, collection.spent())
    start = len(run.manifest.resumed)
    asked = [*probes_for([each.entry for each in pending], start), *pending]
    try:
        with progress_bar(sum(len(each.questions) for each in asked), "providers") as advance:
            ask_providers(asked, journal.add, logs=logs_of(run, options), budget=budget, advance=advance)
    finally:
        journal.fold()
    if budget is None or not budget.exhausted:
        return False
    left = sum(len(each.questions) for each in collection.missing())
    notes.tell(
        f"the budget of {options.budget:g} would have been passed: {budget.spent:.4g} is spent, {left} questions are "
        "not asked; a larger --budget with --resume goes on"
    )
    return True


def logs_of(run: Run, options: argparse.Namespace) -> Path | None:
    return run.path / INSPECT_LOGS if options.inspect_logs else None


def show_costs(collection: "Collection") -> None:
    """Print what is still to be asked of whom, in calls, tokens and money; nothing is written."""
    from elicitation import WRITTEN, expected_costs

    calls = []
    for each in collection.missing():
        kind = "closed book" if each.instrument.name == "closed book" else each.entry.instrument
        settings = each.entry.provider
        calls.append(
            {
                "respondent": each.respondent,
                "instrument": each.instrument.name,
                "prompts": [each.instrument.prompt(question.text) for question in each.questions],
                "written": WRITTEN[kind],
                "room": 0 if settings is None else settings.room(kind),
                "price": each.entry.price,
            }
        )
    print(expected_costs(calls).groupby(level=[0, 1], sort=False).sum(min_count=1).round(4).to_string())
    print("tokens are estimated, at four characters each; money is in the currency of the file's prices")
    if any(model.provider is not None and model.provider.reasoning_effort for model in collection.models):
        print("what a model thinks to itself comes on top: money_at_most counts all that it may write")


# ---- models on this machine ------------------------------------------------------------------------------------------


def ask(entry: "RespondentModel", collection: "Collection", options: argparse.Namespace) -> None:
    """Ask one model on this machine whatever it has not answered yet; it is loaded only if there is something."""
    from elicitation import CAN_YOU_ANSWER
    from open_models import load_model

    pending = [] if entry.provider is not None else collection.missing([entry])
    if not pending:
        return
    parts = collection.parts
    model = load_model(
        entry.model, revision=entry.revision, dtype=entry.dtype, device=options.device, device_map=options.device_map
    )
    known = parts.read()
    others = set(known.loc[known["model"] == entry.short_name, "model_sha256"]) - {model.identity.fingerprint, ""}
    if others:
        raise InputError(f"{parts.folder} holds answers of other weights of {entry.model}; choose another --out")
    direct = {each.instrument.template.name: each for each in pending if each.instrument.name == CAN_YOU_ANSWER.name}
    check_framings(entry, model, {name: each.questions for name, each in direct.items()})
    for each in pending:
        ask_with(each, model, parts)


def check_framings(entry: "RespondentModel", model: "OpenModel", pending: "dict[str, list[Question]]") -> None:
    """Print what keeps yes and no from being read off this model's tokens, before anything is asked.

    Raises:
        InputError: in one of the framings they cannot be told apart.
    """
    from functools import partial

    from elicitation import check_answer_tokens, findings_table
    from open_models import encode

    prompts = {
        entry.respondent(template): template.fill(pending[template.name][0].text)
        for template in entry.framings
        if pending.get(template.name)
    }
    encode_text, decode = partial(encode, model.tokenizer), model.tokenizer.decode
    findings = [
        finding
        for respondent, prompt in prompts.items()
        for finding in check_answer_tokens(respondent, model.render(prompt), encode_text, decode)
    ]
    if findings:
        print(findings_table(findings), flush=True)
    for respondent, prompt in prompts.items():
        try:
            model.answer_tokens(prompt)
        except InputError as error:
            raise InputError(f"{respondent} cannot be asked: {error}") from error


def ask_with(pending: "Pending", model: "OpenModel", parts: "Parts") -> None:
    """Ask the questions with one instrument, chunk by chunk; each chunk is saved before the next is asked."""
    from dataclasses import replace

    from elicitation import TextReader, key_of, measurements
    from open_models import LocalRespondent
    from reporting import progress_bar

    entry, instrument, sample = pending.entry, pending.instrument, pending.sample
    if isinstance(instrument.reader, TextReader) and entry.temperature is not None:
        instrument = replace(instrument, reader=replace(instrument.reader, temperature=entry.temperature))
    with progress_bar(len(pending.questions), pending.respondent) as advance:
        respondent = LocalRespondent(model, progress=advance, seed=sample)
        identity = replace(respondent.identity, model=entry.short_name)
        for start in range(0, len(pending.questions), CHUNK):
            chunk = pending.questions[start : start + CHUNK]
            prompts = [instrument.prompt(question.text) for question in chunk]
            responses = sorted(respondent.answer(prompts, instrument), key=lambda response: response.place)
            names = (instrument.name, instrument.template.name)
            rows = measurements(pending.respondent, identity, *names, [q.id for q in chunk], responses, sample)
            parts.append(
                rows.assign(
                    source=model.identity.source,
                    revision=model.identity.revision,
                    dtype=str(model.dtype).removeprefix("torch."),
                    asked=[key_of(entry, instrument, question)[2] for question in chunk],
                )
            )


# ---- the panel -------------------------------------------------------------------------------------------------------


def save(collection: "Collection", run: Run, options: argparse.Namespace, notes: Notes, *, may_lack: bool) -> None:
    """Put the parts together, grade the closed-book answers, write the files, and show how the respondents answer."""
    from elicitation import (
        CLOSED_BOOK,
        check_mass,
        failures,
        findings_table,
        often_unread,
        panel_table,
        respondents_table,
        summarise_panel,
        where_it_comes_from,
    )

    rows = collection.rows(may_lack=may_lack)
    is_closed = rows["instrument"] == CLOSED_BOOK.name
    said = rows[~is_closed].assign(answered_correctly=float("nan")).reset_index(drop=True)
    if is_closed.any():
        said["answered_correctly"] = grade(rows[is_closed], said, collection.questions, run, options)
    panel = panel_table(collection, said)
    write_csv(panel, run.file("panel.csv"))
    write_csv(respondents_table(collection, said), run.file("respondents.csv"))
    run.record(**where_it_comes_from(collection, rows, str(options.questions)))
    if len(panel):
        print(summarise_panel(panel, collection.questions).round(3).to_string())
    masses = panel.groupby("respondent", sort=False)["mass"]
    faint = [f for name, own in masses if own.notna().any() for f in check_mass(str(name), own.dropna().tolist())]
    if faint:
        print(f"\n{findings_table(faint)}")
    for sentence in failures(said):
        notes.tell(sentence)
    for sentence, unread in often_unread(said).items():
        notes.tell(sentence)
        for question, text in unread.head(N_SHOWN).to_numpy():
            print(f"  {question}: {' '.join(str(text).split())[:160]!r}")
    if any(model.provider is not None for model in collection.models):
        tell_about_providers(collection, run, notes)
    print(f"\npanel: {run.path / 'panel.csv'}")


def grade(
    closed_rows: "pd.DataFrame",
    said: "pd.DataFrame",
    questions: "list[Question]",
    run: Run,
    options: argparse.Namespace,
) -> "np.ndarray":
    """Write closed_book.csv and print what it says; whether each row of `said` comes from who answered correctly."""
    import pandas as pd

    from elicitation import accuracy_by_level, grade_closed_book, non_answers_by_level

    written = closed_rows[closed_rows["error"].fillna("") == ""].drop_duplicates(["label", "question_id"])
    closed = grade_closed_book(written.assign(model=written["label"], text=written["raw_text"]), questions)
    write_csv(closed, run.file("closed_book.csv"))
    unanswered, accuracy = non_answers_by_level(closed, questions), accuracy_by_level(closed, questions)
    print(f"share of closed-book answers that are no answer, by level:\n{unanswered.round(3).to_string()}")
    print(f"\nshare of the others that is correct, by level:\n{accuracy.round(3).to_string()}\n")
    correct = closed.set_index(["model", "question_id"])["correct"]
    if options.judge is not None:
        judged = judge(closed, questions, run, options).set_index(["model", "question_id"])["judged_right"]
        correct = judged.reindex(correct.index) if options.judge == "all" else correct
    return correct.reindex(pd.MultiIndex.from_frame(said[["label", "question_id"]])).to_numpy()


def judge(closed: "pd.DataFrame", questions: "list[Question]", run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    """Put closed-book answers before the file's judge, those that it has not judged; write and print what it says."""
    import pandas as pd

    from elicitation import JUDGED, JUDGED_KEY, agreement, answers_to_judge, judge_answers, load_judge
    from reporting import progress_bar

    entry = load_judge(options.respondents)
    assert entry is not None
    rows = answers_to_judge(closed, questions, SAMPLE_JUDGED if options.judge == "sample" else None)
    parts = run.parts("judged", JUDGED, JUDGED_KEY)
    with progress_bar(len(rows), f"judge {entry.label}") as advance:
        judged = judge_answers(rows, questions, entry, parts, logs=logs_of(run, options), advance=advance)
    table = pd.DataFrame([agreement(judged)], index=[entry.label])
    write_csv(judged.drop(columns="error"), run.file("judged.csv"))
    write_csv(table.rename_axis("judge").reset_index(), run.file("judge_agreement.csv"))
    print(f"judge and grader on {len(rows)} closed-book answers:\n{table.round(3).to_string()}\n")
    return judged


def tell_about_providers(collection: "Collection", run: Run, notes: Notes) -> None:
    """Say what was spent, and which models may have changed on the way."""
    costs = collection.costs()
    if costs is not None:
        print(f"\nwhat it did cost, failed requests and all starts included:\n{costs.round(4).to_string()}")
        write_csv(costs.rename_axis(["respondent", "instrument"]).reset_index(), run.file("costs.csv"))
    for sentence in collection.changed_models():
        notes.tell(sentence)


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    from run_store import write_table

    write_table(path, table, float_format="%.6g")


def money(text: str) -> float:
    """For argparse: a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def shard(text: str) -> tuple[int, int]:
    """For argparse: which of how many parts, such as 2/3."""
    this, _, of = text.partition("/")
    if not (this.isdigit() and of.isdigit() and 1 <= int(this) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of a whole such as 2/3")
    return int(this), int(of)


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument(
        "--respondents", type=Path, required=True, metavar="FILE", help="YAML: who is asked (docs/collecting.md)"
    )
    parser.add_argument("--questions", default="embedded", help="a name or a file (default embedded)")
    parser.add_argument(
        "--n-questions", type=positive, metavar="N", help="draw N of them, each topic and level by its share"
    )
    parser.add_argument(
        "--closed-book",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also ask each question itself, and grade the answers",
    )
    parser.add_argument("--device", help="cpu, cuda, cuda:N (default: CUDA where there is one)")
    parser.add_argument("--device-map", help="auto: spread each model over several GPUs")
    parser.add_argument("--dry-run", action="store_true", help="print calls, tokens and money, and ask nobody")
    parser.add_argument("--budget", type=money, metavar="MONEY", help="ask nothing that could pass it; needs prices")
    parser.add_argument(
        "--inspect-logs",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep inspect_ai's logs of providers and servers",
    )
    parser.add_argument(
        "--judge",
        choices=("sample", "all"),
        help=f"let the file's judge grade {SAMPLE_JUDGED} closed-book answers, to compare; or all, and take its grades",
    )
    parser.add_argument("--shard", type=shard, metavar="I/N", help="ask the I-th of N parts of the questions alone")
    parser.add_argument(
        "--merge", type=Path, action="append", metavar="DIR", help="first take over the answers of another collection"
    )
    add_run_options(parser, seed="of the draw")
    return parse_run_options(parser)


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
