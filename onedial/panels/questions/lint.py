"""Check a file of questions before a model is asked.

    python -m onedial.panels.questions.lint questions.jsonl
    python -m onedial.panels.questions.lint embedded

Ends with 0 where nothing was found, 1 where something was, 2 where the file cannot be used.
"""

import sys
from collections.abc import Sequence

from onedial.asking import findings_table
from onedial.core import program_parser, run_command
from onedial.panels.questions.question_checks import check_questions
from onedial.panels.questions.question_files import read_questions


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names; 0 is clean, 1 means findings."""
    parser = program_parser(__doc__, prog="python -m onedial.panels.questions.lint")
    parser.add_argument("file", help="questions: a JSONL, CSV or Parquet file, `embedded` or `development`")
    questions = read_questions(parser.parse_args(arguments).file)
    findings = check_questions(questions)
    if findings:
        print(findings_table(findings))
    print(f"{len(questions)} questions: {len(findings) or 'no'} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
