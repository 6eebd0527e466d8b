"""Check a file of questions before a model is asked.

    python -m onedial.panels.questions.lint questions.jsonl
    python -m onedial.panels.questions.lint embedded

Ends with 0 where nothing was found, 1 where something was, 2 where the file cannot be used.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from onedial.asking import findings_table
from onedial.core import Options, option, parse_options, run_command
from onedial.panels.questions.question_checks import check_questions
from onedial.panels.questions.question_files import read_questions


@dataclass(frozen=True, kw_only=True)
class LintOptions(Options):
    """What is checked."""

    file: str = option(..., "questions: a JSONL, CSV or Parquet file, `embedded` or `development`", positional=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names; 0 is clean, 1 means findings."""
    options = parse_options(LintOptions, __doc__, arguments, "python -m onedial.panels.questions.lint")
    questions = read_questions(options.file)
    findings = check_questions(questions)
    if findings:
        print(findings_table(findings))
    print(f"{len(questions)} questions: {len(findings) or 'no'} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
