"""The next version of some embedded questions, which no model has been asked yet.

    python -m elicitation.rewordings --out next.jsonl

writes all embedded questions as they will stand. `rewordings.jsonl` holds those that change, whole, each with the id of
the question that it takes the place of and `why`. They stand beside questions.jsonl, not in it, since what a panel says
belongs to the wording that was asked.
"""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from common import InputError, program_parser, run_command, write_text
from elicitation.named_data import embedded_file
from elicitation.question_files import load_questions
from elicitation.questions import Question


def load_rewordings() -> list[Question]:
    """The changed questions, in the order of their file."""
    with ExitStack() as stack:
        return load_questions(embedded_file("rewordings.jsonl", stack))


def reworded(questions: Sequence[Question], rewordings: Sequence[Question]) -> list[Question]:
    """The questions with each reworded one in the place of the one whose id it has.

    Raises:
        InputError: a rewording of no question, or one that changes topic, level or whether anybody can know.
    """
    new = {question.id: question for question in rewordings}
    known = {question.id: question for question in questions}
    for identity, question in new.items():
        if identity not in known:
            raise InputError(f"there is no question {identity!r} to reword; give the questions that were reworded")
        old = known[identity]
        if (question.topic, question.level, question.unknowable) != (old.topic, old.level, old.unknowable):
            raise InputError(f"the rewording of {identity} changes its topic, level or unknowable; keep them")
    return [new.get(question.id, question) for question in questions]


def question_line(question: Question) -> str:
    """A question as a line of questions.jsonl: what is at its default is left out, but for the answers."""
    row: dict[str, object] = {
        "id": question.id,
        "question": question.text,
        "answers": list(question.answers),
        "topic": question.topic,
        "level": question.level,
    }
    if question.unknowable:
        row["unknowable"] = True
    if question.exact_answers:
        row["exact_answers"] = list(question.exact_answers)
    return json.dumps(row, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the embedded questions with their rewordings."""
    parser = program_parser(__doc__, prog="python -m elicitation.rewordings")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a JSONL file to write")
    options = parser.parse_args(arguments)
    rewordings = load_rewordings()
    questions = reworded(load_questions("embedded"), rewordings)
    write_text(options.out, "".join(f"{question_line(question)}\n" for question in questions))
    print(f"{options.out}: {len(questions)} questions, {len(rewordings)} of them reworded")


if __name__ == "__main__":
    sys.exit(run_command(main))
