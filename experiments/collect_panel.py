"""Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --out panels/embedded   # CPU, hours
    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --n-questions 20 --out /tmp/panel

Writes panel.csv (long: question_id, respondent, said_yes, margin, mass, sample, prompt_hash, answered_correctly,
raw_text), respondents.csv and closed_book.csv into a run's folder. Every answer lies in measurements/ before that:
after a kill, the same command with --resume goes on there, and it asks again what was reworded since.
A model in one of whose framings yes and no cannot be told apart is refused before it is asked; framings in which they
get little probability are named at the end.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import InputError, positive, program_parser, run_command
from run_store import Notes, Parts, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import Instrument, Question, RespondentModel
    from open_models import OpenModel

PROGRAM = "collect_panel"
CHUNK = 64
"""Prompts whose answers are written at once: what a kill can cost."""
ABOUT = ["source", "revision", "dtype", "asked"]
"""Columns beside those of a measurement: where the weights came from, and a hash of what was asked of whom."""
KEY = ["respondent", "question_id", "asked"]
MAY_CHANGE = ("respondents", "questions", "n_questions", "seed", "closed_book", "device", "device_map")
"""Every answer is saved under what was asked of whom, so a collection may go on with more or other questions."""
PANEL_COLUMNS = [
    *("question_id", "respondent", "said_yes", "margin", "mass"),
    *("sample", "prompt_hash", "answered_correctly", "raw_text"),
]


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        collect_panel(options, notes)


def collect_panel(options: argparse.Namespace, notes: Notes) -> None:
    from elicitation import MEASUREMENT_COLUMNS, load_questions, load_respondents
    from open_models import quiet_libraries

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = load_questions(options.questions, options.n_questions, options.seed)
    label = f"panel-{Path(options.respondents).stem}"
    run = Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, label, MAY_CHANGE)
    with run:
        notes.keep_in(run)
        parts = run.parts("measurements", [*MEASUREMENT_COLUMNS, *ABOUT], KEY)
        try:
            with run.stage("asking"):
                for model in models:
                    ask(model, drawn(model, questions, options.seed), parts, options)
        except InputError:
            if not parts.files():
                run.withdraw()
            raise
        with run.stage("panel"):
            save(models, questions, parts, options, run)


def drawn(entry: "RespondentModel", questions: "list[Question]", seed: int) -> "list[Question]":
    """The questions that one model is asked."""
    from elicitation import sample_questions

    return questions if entry.n_questions is None else sample_questions(questions, entry.n_questions, seed)


def ask(entry: "RespondentModel", questions: "list[Question]", parts: Parts, options: argparse.Namespace) -> None:
    """Ask one model whatever it has not answered yet; it is loaded only if there is something."""
    from open_models import load_model

    done = parts.done_keys()
    pending = {
        instrument.template.name: [q for q in questions if key(entry, instrument, q) not in done]
        for instrument in instruments(entry, options.closed_book)
    }
    if not any(pending.values()):
        return
    model = load_model(
        entry.model, revision=entry.revision, dtype=entry.dtype, device=options.device, device_map=options.device_map
    )
    known = parts.read()
    others = set(known.loc[known["model"] == entry.short_name, "model_sha256"]) - {model.identity.fingerprint}
    if others:
        raise InputError(f"{parts.folder} holds answers of other weights of {entry.model}; choose another --out")
    check_framings(entry, model, pending)
    for instrument in instruments(entry, options.closed_book):
        ask_with(entry, model, instrument, pending[instrument.template.name], parts)


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
        if pending[template.name]
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


def ask_with(
    entry: "RespondentModel", model: "OpenModel", instrument: "Instrument", questions: "list[Question]", parts: Parts
) -> None:
    """Ask the questions with one instrument, chunk by chunk; each chunk is saved before the next is asked."""
    from dataclasses import replace

    from elicitation import measurements
    from open_models import LocalRespondent
    from reporting import progress_bar

    if not questions:
        return
    name = entry.respondent(instrument.template)
    with progress_bar(len(questions), name) as advance:
        respondent = LocalRespondent(model, progress=advance)
        identity = replace(respondent.identity, model=entry.short_name)
        for start in range(0, len(questions), CHUNK):
            chunk = questions[start : start + CHUNK]
            prompts = [instrument.prompt(question.text) for question in chunk]
            responses = sorted(respondent.answer(prompts, instrument), key=lambda response: response.place)
            rows = measurements(
                name, identity, instrument.name, instrument.template.name, [q.id for q in chunk], responses
            )
            parts.append(
                rows.assign(
                    source=model.identity.source,
                    revision=model.identity.revision,
                    dtype=str(model.dtype).removeprefix("torch."),
                    asked=[key(entry, instrument, question)[2] for question in chunk],
                )
            )


def instruments(entry: "RespondentModel", closed_book: bool) -> "list[Instrument]":
    """The metacognitive question in each of the model's framings, and the closed-book question last."""
    from elicitation import CAN_YOU_ANSWER, CLOSED_BOOK

    framed = [CAN_YOU_ANSWER.framed(template) for template in entry.framings]
    return [*framed, *([CLOSED_BOOK] if closed_book and entry.closed_book else [])]


def key(entry: "RespondentModel", instrument: "Instrument", question: "Question") -> tuple[str, str, str]:
    """What an answer is saved under: respondent, question, and a hash of what was asked of whom."""
    from common import sha256_of_text
    from elicitation import prompt_key

    asked = [prompt_key(instrument.prompt(question.text), instrument), entry.model, entry.revision, entry.dtype]
    return (
        entry.respondent(instrument.template),
        question.id,
        sha256_of_text("\x1f".join(each or "" for each in asked)),
    )


def wanted(parts: Parts, keys: "list[tuple[str, str, str]]") -> "pd.DataFrame":
    """The rows of these keys, in their order; what was asked in another wording is left out.

    Raises:
        InputError: some were not answered yet.
    """
    import pandas as pd

    index = pd.MultiIndex.from_tuples(keys, names=KEY)
    rows = parts.read().set_index(KEY)
    if n_missing := int((~index.isin(rows.index)).sum()):
        raise InputError(f"{parts.folder} lacks {n_missing} of {len(index)} answers; go on with --resume")
    return rows.loc[index].reset_index()


def save(
    models: "list[RespondentModel]",
    questions: "list[Question]",
    parts: Parts,
    options: argparse.Namespace,
    run: Run,
) -> None:
    """Put the parts together, grade the closed-book answers, write the files, and show how the respondents answer."""
    import pandas as pd

    from elicitation import (
        CAN_YOU_ANSWER,
        CLOSED_BOOK,
        accuracy_by_level,
        check_mass,
        findings_table,
        grade_closed_book,
        non_answers_by_level,
        summarise_panel,
    )

    asked = [(entry, drawn(entry, questions, options.seed)) for entry in models]
    rows = wanted(
        parts, [key(entry, CAN_YOU_ANSWER.framed(t), q) for entry, own in asked for t in entry.framings for q in own]
    )
    rows = rows.assign(answered_correctly=float("nan"))
    accuracy = unanswered = None
    if options.closed_book and any(entry.closed_book for entry in models):
        written = wanted(parts, [key(entry, CLOSED_BOOK, q) for entry, own in asked if entry.closed_book for q in own])
        closed = grade_closed_book(written.rename(columns={"raw_text": "text"}), questions)
        correct = closed.set_index(["model", "question_id"])["correct"]
        rows["answered_correctly"] = correct.reindex(
            pd.MultiIndex.from_frame(rows[["model", "question_id"]])
        ).to_numpy()
        write_csv(closed, run.file("closed_book.csv"))
        accuracy, unanswered = accuracy_by_level(closed, questions), non_answers_by_level(closed, questions)
    panel = rows[PANEL_COLUMNS]
    summary = summarise_panel(panel, questions)
    write_csv(panel, run.file("panel.csv"))
    write_csv(respondents_table(models, rows), run.file("respondents.csv"))
    run.record(**where_it_comes_from(models, questions, rows, options))
    print(summary.round(3).to_string())
    masses = panel.groupby("respondent", sort=False)["mass"]
    faint = [finding for name, own in masses for finding in check_mass(str(name), own.tolist())]
    if faint:
        print(f"\n{findings_table(faint)}")
    if accuracy is not None and unanswered is not None:
        print(f"\nshare of closed-book answers that are no answer, by level:\n{unanswered.round(3).to_string()}")
        print(f"\nshare of the others that is correct, by level:\n{accuracy.round(3).to_string()}")
    print(f"\npanel: {run.path / 'panel.csv'}")


def respondents_table(models: "list[RespondentModel]", rows: "pd.DataFrame") -> "pd.DataFrame":
    """respondent, model, framing, family, model_sha256 (the fingerprint of its weights)."""
    import pandas as pd

    fingerprints = rows.drop_duplicates("respondent").set_index("respondent")["model_sha256"]
    return pd.DataFrame(
        [
            {
                "respondent": entry.respondent(template),
                "model": entry.short_name,
                "framing": template.name,
                "family": entry.family,
                "model_sha256": fingerprints[entry.respondent(template)],
            }
            for entry in models
            for template in entry.framings
        ]
    )


def where_it_comes_from(
    models: "list[RespondentModel]", questions: "list[Question]", rows: "pd.DataFrame", options: argparse.Namespace
) -> dict[str, Any]:
    """What the manifest says of the panel, beside what every run's does."""
    from common import sha256_of_text

    said = rows.drop_duplicates("model").set_index("model")
    about = ["source", "revision", "model_sha256", "dtype"]
    asked = {each.template.name: each.template for entry in models for each in instruments(entry, options.closed_book)}
    return {
        "questions": {
            "source": str(options.questions),
            "n": len(questions),
            "sha256": sha256_of_text("\n".join(f"{question.id} {question.text}" for question in questions)),
        },
        "models": {
            entry.short_name: said.loc[entry.short_name, about].to_dict()
            | {"n_questions": entry.n_questions or len(questions)}
            for entry in models
        },
        "prompts": {name: {"user": t.user, "assistant_prefix": t.assistant_prefix} for name, t in asked.items()},
    }


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    from run_store import write_table

    write_table(path, table, float_format="%.6g")


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument(
        "--respondents", type=Path, required=True, metavar="FILE", help="YAML: models and framings (see docs/data.md)"
    )
    parser.add_argument("--questions", default="embedded", help="a name or a file (default embedded)")
    parser.add_argument("--n-questions", type=positive, metavar="N", help="draw N of them")
    parser.add_argument(
        "--closed-book",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also ask each question itself, and grade the answers",
    )
    parser.add_argument("--device", help="cpu, cuda, cuda:N (default: CUDA where there is one)")
    parser.add_argument("--device-map", help="auto: spread each model over several GPUs")
    add_run_options(parser, seed="of the draw")
    return parse_run_options(parser)


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
