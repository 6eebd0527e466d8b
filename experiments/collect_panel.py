"""Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --out panels/embedded   # CPU, hours
    python experiments/collect_panel.py --respondents elicitation/data/panel.yaml --n-questions 20 --out /tmp/panel

Writes panel.csv (long: question_id, respondent, said_yes, margin, mass, sample, prompt_hash, answered_correctly,
raw_text), respondents.csv, closed_book.csv and panel_manifest.json. What was answered lies in DIR/parts before that:
after a kill, the same command with --resume goes on there, and it asks again what was reworded since.
A model in one of whose framings yes and no cannot be told apart is refused before it is asked; framings in which they
get little probability are named at the end.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import InputError
from common.command_line import run_command

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate, Question
    from elicitation.panel_parts import PanelParts
    from elicitation.respondent_files import RespondentModel
    from open_models import OpenModel

CHUNK = 64
"""Prompts whose answers are written at once: what a kill can cost."""
NEW_TOKENS = 24
PANEL_COLUMNS = [
    *("question_id", "respondent", "said_yes", "margin", "mass"),
    *("sample", "prompt_hash", "answered_correctly", "raw_text"),
]


def main() -> None:
    options = parse_options()
    from elicitation import load_questions
    from elicitation.panel_parts import PanelParts
    from elicitation.respondent_files import load_respondents

    models = load_respondents(options.respondents)
    questions = load_questions(options.questions, options.n_questions, options.seed)
    prepare_folder(options.out, options.resume)
    parts = PanelParts(options.out / "parts")
    for model in models:
        ask(model, drawn(model, questions, options.seed), parts, options)
    save(models, questions, parts, options)


def drawn(entry: "RespondentModel", questions: "list[Question]", seed: int) -> "list[Question]":
    """The questions that one model is asked."""
    from elicitation import sample_questions

    return questions if entry.n_questions is None else sample_questions(questions, entry.n_questions, seed)


def ask(
    entry: "RespondentModel", questions: "list[Question]", parts: "PanelParts", options: argparse.Namespace
) -> None:
    """Ask one model whatever it has not answered yet; it is loaded only if there is something."""
    from open_models import load_model

    done = parts.done()
    pending = {
        template.name: [q for q in questions if key(entry, template, q) not in done]
        for template in templates(entry, options.closed_book)
    }
    if not any(pending.values()):
        return
    model = load_model(
        entry.model, revision=entry.revision, dtype=entry.dtype, device=options.device, device_map=options.device_map
    )
    known = parts.read()
    if "model" in known.columns:
        others = set(known.loc[known["model"] == entry.short_name, "model_sha256"]) - {model.identity.fingerprint}
        if others:
            raise InputError(f"{parts.folder} holds answers of other weights of {entry.model}; choose another --out")
    check_framings(entry, model, pending)
    for template in templates(entry, options.closed_book):
        ask_in_framing(entry, model, template, pending[template.name], parts)


def check_framings(entry: "RespondentModel", model: "OpenModel", pending: "dict[str, list[Question]]") -> None:
    """Print what keeps yes and no from being read off this model's tokens, before anything is asked.

    Raises:
        InputError: in one of the framings they cannot be told apart.
    """
    from functools import partial

    from elicitation.lint import findings_table
    from elicitation.prompt_checks import check_answer_tokens
    from open_models.tokens import encode

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


def ask_in_framing(
    entry: "RespondentModel",
    model: "OpenModel",
    template: "PromptTemplate",
    questions: "list[Question]",
    parts: "PanelParts",
) -> None:
    """Ask the questions in one framing, chunk by chunk; each chunk is saved before the next is asked."""
    import pandas as pd

    from elicitation import CLOSED_BOOK
    from open_models.respondent import LocalRespondent
    from reporting.terminal import progress_bar

    if not questions:
        return
    with progress_bar(len(questions), entry.respondent(template)) as advance:
        respondent = LocalRespondent(model, progress=advance)
        for start in range(0, len(questions), CHUNK):
            chunk = questions[start : start + CHUNK]
            prompts = [template.fill(question.text) for question in chunk]
            if template is CLOSED_BOOK:
                answers = [{"raw_text": text} for text in respondent.write(prompts, NEW_TOKENS)]
            else:
                answers = [vars(response) for response in respondent.answer(prompts)]
            rows = pd.DataFrame(answers).reindex(columns=["said_yes", "margin", "mass", "prompt_hash", "raw_text"])
            rows["said_yes"] = rows["said_yes"].astype("float64")
            keys = [key(entry, template, question) for question in chunk]
            rows[["respondent", "question_id", "asked"]] = keys
            parts.append(
                rows.assign(
                    model=entry.short_name,
                    model_sha256=model.identity.fingerprint,
                    source=model.identity.source,
                    revision=model.identity.revision,
                    dtype=str(model.dtype).removeprefix("torch."),
                )
            )


def templates(entry: "RespondentModel", closed_book: bool) -> "list[PromptTemplate]":
    """The framings of a model, and the closed-book prompt last."""
    from elicitation import CLOSED_BOOK

    return [*entry.framings, *([CLOSED_BOOK] if closed_book and entry.closed_book else [])]


def key(entry: "RespondentModel", template: "PromptTemplate", question: "Question") -> tuple[str, str, str]:
    """What an answer is saved under: respondent, question, and a hash of what was asked of whom."""
    from elicitation.panel_parts import asked

    prompt = template.fill(question.text)
    return entry.respondent(template), question.id, asked(prompt, entry.model, entry.revision, entry.dtype)


def save(
    models: "list[RespondentModel]", questions: "list[Question]", parts: "PanelParts", options: argparse.Namespace
) -> None:
    """Put the parts together, grade the closed-book answers, write the files, and show how the respondents answer."""
    import pandas as pd

    from common import write_json
    from elicitation import CLOSED_BOOK
    from elicitation.lint import findings_table
    from elicitation.panel_summary import accuracy_by_level, summarise_panel
    from elicitation.prompt_checks import check_mass

    asked = [(entry, drawn(entry, questions, options.seed)) for entry in models]
    rows = parts.wanted(key(entry, t, q) for entry, own in asked for t in entry.framings for q in own)
    rows = rows.assign(sample=0, answered_correctly=float("nan"))
    accuracy = None
    if options.closed_book and any(entry.closed_book for entry in models):
        written = parts.wanted(key(entry, CLOSED_BOOK, q) for entry, own in asked if entry.closed_book for q in own)
        closed = graded(written, questions)
        correct = closed.set_index(["model", "question_id"])["correct"]
        rows["answered_correctly"] = correct.reindex(
            pd.MultiIndex.from_frame(rows[["model", "question_id"]])
        ).to_numpy()
        write_csv(closed, options.out / "closed_book.csv")
        accuracy = accuracy_by_level(closed, questions)
    panel = rows[PANEL_COLUMNS]
    summary = summarise_panel(panel, questions)
    write_csv(panel, options.out / "panel.csv")
    write_csv(respondents_table(models, rows), options.out / "respondents.csv")
    write_json(options.out / "panel_manifest.json", manifest(models, questions, rows, options))
    print(summary.round(3).to_string())
    masses = panel.groupby("respondent", sort=False)["mass"]
    faint = [finding for name, own in masses for finding in check_mass(str(name), own.tolist())]
    if faint:
        print(f"\n{findings_table(faint)}")
    if accuracy is not None:
        print(f"\nshare of closed-book answers that are correct, by level:\n{accuracy.round(3).to_string()}")
    print(f"\npanel: {options.out / 'panel.csv'}")


def graded(written: "pd.DataFrame", questions: "list[Question]") -> "pd.DataFrame":
    """Columns model, question_id, text, exact, f1, correct; blank where the question has no accepted answer."""
    import pandas as pd

    from elicitation import grade

    by_id = {question.id: question for question in questions}
    closed = written[["model", "question_id", "raw_text"]].rename(columns={"raw_text": "text"})
    answers = zip(closed["question_id"], closed["text"], strict=True)
    grades = [grade(text, by_id[name].answers, by_id[name].text) for name, text in answers]
    for column in ("exact", "f1", "correct"):
        closed[column] = pd.Series([getattr(each, column) for each in grades], dtype="float64")
    return closed


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


def manifest(
    models: "list[RespondentModel]", questions: "list[Question]", rows: "pd.DataFrame", options: argparse.Namespace
) -> dict[str, Any]:
    """Where the panel comes from."""
    from common import sha256_of_text
    from elicitation import CLOSED_BOOK
    from reporting.provenance import command_line, git_state, library_versions, machine, utc_now

    said = rows.drop_duplicates("model").set_index("model")
    about = ["source", "revision", "model_sha256", "dtype"]
    asked = {template.name: template for entry in models for template in templates(entry, options.closed_book)}
    return {
        "finished": utc_now(),
        "command": command_line(),
        **git_state(),
        "versions": library_versions(),
        "machine": machine(),
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
        "closed_book": {"decoding": "greedy, first line", "new_tokens": NEW_TOKENS}
        if CLOSED_BOOK.name in asked
        else None,
    }


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    from common import atomic_path

    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")


def prepare_folder(out: Path, resume: bool) -> None:
    """Make the folder.

    Raises:
        InputError: it is taken and this is no resumption, or it is empty and this is one.
    """
    holds_parts = any(out.glob("parts/part-*.parquet"))
    if not resume and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is taken; go on with --resume, or choose a new or empty folder with --out")
    if resume and not holds_parts:
        raise InputError(f"{out} holds no answers to go on from; leave --resume out")
    out.mkdir(parents=True, exist_ok=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--respondents", type=Path, required=True, metavar="FILE", help="YAML: models and framings (see docs/data.md)"
    )
    parser.add_argument("--questions", default="embedded", help="a name or a file (default embedded)")
    parser.add_argument("--n-questions", type=int, metavar="N", help="draw N of them")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the panel goes")
    parser.add_argument("--resume", action="store_true", help="go on with what lies in DIR")
    parser.add_argument(
        "--closed-book",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also ask each question itself, and grade the answers",
    )
    parser.add_argument("--device", help="cpu, cuda, cuda:N (default: CUDA where there is one)")
    parser.add_argument("--device-map", help="auto: spread each model over several GPUs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
