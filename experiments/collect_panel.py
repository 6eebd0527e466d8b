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
from typing import TYPE_CHECKING, Any

from common import InputError, positive, program_parser, run_command
from run_store import Journal, Notes, Parts, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import Pending, Question, RespondentModel
    from open_models import OpenModel

PROGRAM = "collect_panel"
CHUNK = 64
"""Prompts whose answers are written at once: what a kill can cost."""
MAY_CHANGE = (
    *("respondents", "questions", "n_questions", "seed", "closed_book", "device", "device_map"),
    *("budget", "inspect_logs", "merge", "shard", "judge"),
)
"""Every answer is saved under what was asked of whom, so a collection may go on with more or other questions."""
PANEL_COLUMNS = [
    *("question_id", "respondent", "said_yes", "margin", "mass"),
    *("sample", "prompt_hash", "answered_correctly", "raw_text"),
]
FROM_PROVIDERS = ["tokens_in", "tokens_out", "served_model", "answered_at", "error"]
"""Columns that a panel has besides where some of its models were asked elsewhere."""
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
    from elicitation import COLLECTED, COLLECTED_NUMBERS, ROW, load_questions, load_respondents, stratified_sample
    from open_models import quiet_libraries

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = load_questions(options.questions)
    if options.n_questions is not None:
        questions = stratified_sample(questions, options.n_questions, options.seed)
    if options.shard is not None:
        this, of = options.shard
        questions = questions[this - 1 :: of]
    check_what_is_asked_elsewhere(models, options)
    if options.dry_run:
        show_costs(models, questions, options)
        return
    label = f"panel-{Path(options.respondents).stem}"
    run = Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, label, MAY_CHANGE)
    with run:
        notes.keep_in(run)
        parts = run.parts("measurements", COLLECTED, ROW)
        journal = Journal(parts, COLLECTED_NUMBERS)
        for other in options.merge or []:
            merge(other, parts, notes)
        try:
            with run.stage("asking"):
                exhausted = ask_elsewhere(models, questions, parts, journal, run, options, notes)
                for model in models:
                    ask(model, drawn(model, questions, options.seed), parts, options)
        except InputError:
            if not parts.files():
                shutil.rmtree(run.path / INSPECT_LOGS, ignore_errors=True)
                run.withdraw()
            raise
        with run.stage("panel"):
            save(models, questions, parts, options, run, notes, exhausted)


def merge(other: Path, parts: Parts, notes: Notes) -> None:
    """Take over the answers of another collection that this one has not.

    Raises:
        InputError: it is no collection, or holds answers of other weights under the same name.
    """
    from elicitation import ANSWER, COLLECTED, ROW, answered
    from run_store import read_table

    Run.open(other)  # refuses what is no run, or of a later version
    shards = Parts(other / "measurements", COLLECTED, ROW)
    ours = [read_table(file, [*ANSWER, "error", "model", "model_sha256"]) for file in parts.files()]
    done = answered(ours)
    weights = {(m, sha) for table in ours for m, sha in table[["model", "model_sha256"]].drop_duplicates().to_numpy()}
    n_taken = 0
    for file in shards.files():
        rows = read_table(file).reindex(columns=COLLECTED)
        for model, sha in rows[["model", "model_sha256"]].drop_duplicates().to_numpy():
            if sha and any(name == model and known not in ("", sha) for name, known in weights):
                raise InputError(
                    f"{other} holds answers of other weights of {model} than {parts.folder}; keep them apart"
                )
            weights.add((model, sha))
        fine = rows["error"].fillna("") == ""
        keys = rows[ANSWER].astype({"sample": int}).itertuples(index=False, name=None)
        new = rows[[is_fine and key not in done for is_fine, key in zip(fine, keys, strict=True)]]
        if len(new):
            parts.append(new)
            done |= answered([new])
            n_taken += len(new)
    notes.tell(f"{n_taken} answers taken over from {other}")


def drawn(entry: "RespondentModel", questions: "list[Question]", seed: int) -> "list[Question]":
    """The questions that one model is asked."""
    from elicitation import stratified_sample

    return questions if entry.n_questions is None else stratified_sample(questions, entry.n_questions, seed)


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
    models: "list[RespondentModel]",
    questions: "list[Question]",
    parts: Parts,
    journal: Journal,
    run: Run,
    options: argparse.Namespace,
    notes: Notes,
) -> bool:
    """Ask all models of providers and servers at once; True where the budget ended it."""
    from elicitation import Budget, ask_providers, probes_for
    from reporting import progress_bar

    pending = [each for each in missing(models, questions, parts, options) if each.entry.provider is not None]
    if not pending:
        return False
    budget = None if options.budget is None else Budget(options.budget, spent(models, parts))
    start = len(run.manifest.resumed)
    asked = [*probes_for([each.entry for each in pending], start), *pending]
    logs = run.path / INSPECT_LOGS if options.inspect_logs else None
    try:
        with progress_bar(sum(len(each.questions) for each in asked), "providers") as advance:
            ask_providers(asked, journal.add, logs=logs, budget=budget, advance=advance)
    finally:
        journal.fold()
    if budget is None or not budget.exhausted:
        return False
    left = sum(len(each.questions) for each in missing(models, questions, parts, options))
    notes.tell(
        f"the budget of {options.budget:g} would have been passed: {budget.spent:.4g} is spent, {left} questions are "
        "not asked; a larger --budget with --resume goes on"
    )
    return True


def missing(
    models: "list[RespondentModel]", questions: "list[Question]", parts: Parts, options: argparse.Namespace
) -> "list[Pending]":
    """What is to be asked and has no answer yet."""
    from elicitation import ANSWER, answered, pending_of
    from run_store import read_table

    done = answered(read_table(file, [*ANSWER, "error"]) for file in parts.files())
    entries = [(model, drawn(model, questions, options.seed)) for model in models]
    return pending_of(entries, options.closed_book, done)


def spent(models: "list[RespondentModel]", parts: Parts) -> float:
    """Money that the answers so far have cost."""
    costs = costs_so_far(models, parts)
    return 0.0 if costs is None else float(costs["money"].iloc[-1])


def costs_so_far(models: "list[RespondentModel]", parts: Parts) -> "pd.DataFrame | None":
    """What the models of providers were asked, and what it cost."""
    from elicitation import actual_costs

    prices = {model.label: model.price for model in models if model.provider is not None}
    rows = parts.read()
    label = rows["respondent"].str.rpartition(": ")[0] if len(rows) else rows["respondent"]
    own = rows.assign(respondent=label)
    own = own[own["respondent"].isin(prices)]
    return actual_costs(own, prices) if len(own) else None


def show_costs(models: "list[RespondentModel]", questions: "list[Question]", options: argparse.Namespace) -> None:
    """Print what is still to be asked of whom, in calls, tokens and money; nothing is written."""
    from elicitation import COLLECTED, ROW, WRITTEN, expected_costs

    folder = Path(options.out) if options.out and options.resume else None
    parts = Parts((folder or Path("nowhere")) / "measurements", COLLECTED, ROW)
    calls = []
    for each in missing(models, questions, parts, options):
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
    if any(model.provider is not None and model.provider.reasoning_effort for model in models):
        print("what a model thinks to itself comes on top: money_at_most counts all that it may write")


# ---- models on this machine ------------------------------------------------------------------------------------------


def ask(entry: "RespondentModel", questions: "list[Question]", parts: Parts, options: argparse.Namespace) -> None:
    """Ask one model on this machine whatever it has not answered yet; it is loaded only if there is something."""
    from elicitation import CAN_YOU_ANSWER
    from open_models import load_model

    pending = [] if entry.provider is not None else missing([entry], questions, parts, options)
    if not pending:
        return
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


def ask_with(pending: "Pending", model: "OpenModel", parts: Parts) -> None:
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


def wanted(
    models: "list[RespondentModel]",
    questions: "list[Question]",
    parts: Parts,
    options: argparse.Namespace,
    may_lack: bool,
) -> "pd.DataFrame":
    """The rows of what is asked now, in its order, with `label`; what was asked in another wording is left out.

    Raises:
        InputError: some were not answered yet.
    """
    import pandas as pd

    from elicitation import ANSWER, instruments_of, key_of, latest, samples_of

    keys = {
        key_of(entry, instrument, question, sample): entry.label
        for entry in models
        for instrument in instruments_of(entry, options.closed_book)
        for sample in samples_of(entry, instrument)
        for question in drawn(entry, questions, options.seed)
    }
    index = pd.MultiIndex.from_tuples(list(keys), names=ANSWER)
    rows = latest(parts.read()).astype({"sample": int}).set_index(ANSWER)
    here = index.isin(rows.index)
    if not here.all() and not may_lack:
        raise InputError(f"{parts.folder} lacks {(~here).sum()} of {len(index)} answers; go on with --resume")
    found = rows.loc[index[here]].reset_index()
    return found.assign(label=[label for label, is_here in zip(keys.values(), here, strict=True) if is_here])


def save(
    models: "list[RespondentModel]",
    questions: "list[Question]",
    parts: Parts,
    options: argparse.Namespace,
    run: Run,
    notes: Notes,
    exhausted: bool,
) -> None:
    """Put the parts together, grade the closed-book answers, write the files, and show how the respondents answer."""
    from elicitation import CLOSED_BOOK, check_mass, findings_table, summarise_panel

    rows = wanted(models, questions, parts, options, may_lack=exhausted)
    is_closed = rows["instrument"] == CLOSED_BOOK.name
    said = rows[~is_closed].assign(answered_correctly=float("nan")).reset_index(drop=True)
    if is_closed.any():
        said["answered_correctly"] = grade(rows[is_closed], said, questions, run, options)
    elsewhere = {model.label for model in models if model.provider is not None}
    panel = said[[*PANEL_COLUMNS, *(FROM_PROVIDERS if elsewhere else [])]]
    write_csv(panel, run.file("panel.csv"))
    write_csv(respondents_table(models, said), run.file("respondents.csv"))
    run.record(**where_it_comes_from(models, questions, rows, options))
    if len(panel):
        print(summarise_panel(panel, questions).round(3).to_string())
    masses = panel.groupby("respondent", sort=False)["mass"]
    faint = [f for name, own in masses if own.notna().any() for f in check_mass(str(name), own.dropna().tolist())]
    if faint:
        print(f"\n{findings_table(faint)}")
    tell_what_is_missing(said, notes)
    if elsewhere:
        tell_about_providers(models, parts, run, notes)
    print(f"\npanel: {run.path / 'panel.csv'}")


def grade(
    closed_rows: "pd.DataFrame",
    said: "pd.DataFrame",
    questions: "list[Question]",
    run: Run,
    options: argparse.Namespace,
) -> Any:
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

    from elicitation import JUDGE, JUDGED, ProviderRespondent, agreement, answers_to_judge, judge_prompt, load_judge
    from reporting import progress_bar

    entry = load_judge(options.respondents)
    assert entry is not None
    assert entry.provider is not None
    by_id = {question.id: question for question in questions}
    rows = answers_to_judge(closed, questions, SAMPLE_JUDGED if options.judge == "sample" else None)
    said = Journal(run.parts("judged", JUDGED, JUDGED[:3]), ("correct", "judged_right"))
    known = run.parts("judged", JUDGED, JUDGED[:3]).done_keys()
    pending = [row for row in rows[JUDGED[:4]].to_dict("records") if tuple(row[k] for k in JUDGED[:3]) not in known]
    prompts = [judge_prompt(by_id[row["question_id"]], row["text"]) for row in pending]
    respondent = ProviderRespondent(entry.provider, logs=run.path / INSPECT_LOGS if options.inspect_logs else None)
    try:
        with progress_bar(len(pending), f"judge {entry.label}") as advance:
            for response in respondent.answer(prompts, JUDGE):
                if not response.error:  # what failed is put before it again by --resume
                    verdict = {"judged_right": response.value, "error": ""}
                    said.add({str(name): value for name, value in pending[response.place].items()} | verdict)
                advance(1)
    finally:
        said.fold()
    judged = run.parts("judged", JUDGED, JUDGED[:3]).read()
    judged = rows[JUDGED[:4]].merge(judged.drop(columns="correct"), on=JUDGED[:3], how="left")
    table = pd.DataFrame([agreement(judged)], index=[entry.label])
    write_csv(judged.drop(columns="error"), run.file("judged.csv"))
    write_csv(table.rename_axis("judge").reset_index(), run.file("judge_agreement.csv"))
    print(f"judge and grader on {len(rows)} closed-book answers:\n{table.round(3).to_string()}\n")
    return judged


def tell_what_is_missing(said: "pd.DataFrame", notes: Notes) -> None:
    """Say which respondents failed, and which could often not be read; of those, show texts."""
    from elicitation import MANY_UNREAD

    failed = said["error"].fillna("") != ""
    for name, own in said[failed].groupby("respondent", sort=False):
        last = own["error"].iloc[-1]
        notes.tell(f"{name}: {len(own)} requests failed, the last by {last}; they are blank, and --resume asks again")
    for name, own in said[~failed].groupby("respondent", sort=False):
        unread = own[own["said_yes"].isna() & own["mass"].isna()]
        if len(unread) <= MANY_UNREAD * len(own):
            continue
        notes.tell(f"{name}: {len(unread)} of {len(own)} answers ({len(unread) / len(own):.0%}) could not be read")
        for question, text in unread[["question_id", "raw_text"]].head(N_SHOWN).to_numpy():
            print(f"  {question}: {' '.join(str(text).split())[:160]!r}")


def tell_about_providers(models: "list[RespondentModel]", parts: Parts, run: Run, notes: Notes) -> None:
    """Say what was spent, and which models may have changed on the way."""
    from elicitation import changes_of_model

    costs = costs_so_far(models, parts)
    if costs is not None:
        print(f"\nwhat it did cost, failed requests and all starts included:\n{costs.round(4).to_string()}")
        write_csv(costs.rename_axis(["respondent", "instrument"]).reset_index(), run.file("costs.csv"))
    rows = parts.read()
    names = {model.short_name for model in models if model.provider is not None}
    for sentence in changes_of_model(rows[rows["model"].isin(names)]):
        notes.tell(sentence)


def respondents_table(models: "list[RespondentModel]", rows: "pd.DataFrame") -> "pd.DataFrame":
    """respondent, model, framing, family, model_sha256 (the fingerprint of its weights, where they are here)."""
    import pandas as pd

    fingerprints = rows.drop_duplicates("respondent").set_index("respondent")["model_sha256"]
    table = [
        {
            "respondent": entry.respondent(template),
            "model": entry.short_name,
            "framing": template.name + (", reasoned" if entry.instrument == "reasoned" else ""),
            "family": entry.family,
            "model_sha256": fingerprints.get(entry.respondent(template), ""),
        }
        for entry in models
        for template in entry.framings
        if entry.instrument != "closed book"
    ]
    return pd.DataFrame(table, columns=["respondent", "model", "framing", "family", "model_sha256"])


def where_it_comes_from(
    models: "list[RespondentModel]", questions: "list[Question]", rows: "pd.DataFrame", options: argparse.Namespace
) -> dict[str, Any]:
    """What the manifest says of the panel, beside what every run's does."""
    from common import sha256_of_text
    from elicitation import instruments_of

    said = rows.drop_duplicates("label").set_index("label")
    about = ["source", "revision", "model_sha256", "dtype", "setting"]
    asked = {
        f"{each.template.name}, reasoned" if each.name == "reasoned" else each.template.name: each.template
        for entry in models
        for each in instruments_of(entry, options.closed_book)
    }
    return {
        "questions": {
            "source": str(options.questions),
            "n": len(questions),
            "sha256": sha256_of_text("\n".join(f"{question.id} {question.text}" for question in questions)),
        },
        "models": {
            entry.label: (said.loc[entry.label, about].to_dict() if entry.label in said.index else {})
            | {"n_questions": entry.n_questions or len(questions)}
            for entry in models
        },
        "prompts": {name: {"user": t.user, "assistant_prefix": t.assistant_prefix} for name, t in asked.items()},
    }


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
