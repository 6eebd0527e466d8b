"""Check a file of questions, or a prompt, before a model is asked.

    python -m onedial.panels.questions.lint questions.jsonl
    python -m onedial.panels.questions.lint embedded
    python -m onedial.panels.questions.lint --prompt my_prompt.txt
    python -m onedial.panels.questions.lint questions.jsonl --prompt p.yaml --tokenizer Qwen/Qwen2.5-0.5B-Instruct

A tokenizer tells whether yes and no are single tokens after the assistant prefix, and which questions are long in
tokens. The prefix is looked at without the model's chat template: `experiments/collect_panel.py` checks the whole
prompt, with the model that it has loaded.

Ends with 0 where nothing was found, 1 where something was, 2 where a file cannot be used.
"""

import argparse
import sys
from collections.abc import Sequence

from onedial.asking import (
    Finding,
    TokenizerFile,
    check_answer_tokens,
    check_prompt_wording,
    findings_table,
    read_prompt_file,
)
from onedial.core import InputError, program_parser, run_command
from onedial.panels.questions.question_checks import MAX_TEMPLATE_SHARE, check_lengths_in_tokens, check_questions
from onedial.panels.questions.question_files import read_questions


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names; 0 is clean, 1 means findings."""
    options = _parse(arguments)
    tokenizer = options.tokenizer and TokenizerFile(options.tokenizer)
    findings: list[Finding] = []
    checked = []
    if options.file is not None:
        questions = read_questions(options.file)
        findings += check_questions(questions, options.max_template_share)
        if tokenizer:
            findings += check_lengths_in_tokens(questions, tokenizer.encode)
        checked.append(f"{len(questions)} questions")
    for path in options.prompt:
        fields = read_prompt_file(path)
        prefix = fields.get("assistant_prefix", "")
        findings += check_prompt_wording(fields["name"], fields["user"], prefix)
        if tokenizer:
            findings += check_answer_tokens(fields["name"], prefix, tokenizer.encode, tokenizer.decode)
    if options.prompt:
        checked.append(f"{len(options.prompt)} prompts")
    if findings:
        print(findings_table(findings))
    n_faults = sum(not finding.is_note for finding in findings)
    print(f"{', '.join(checked)}: {n_faults or 'no'} findings")
    return 1 if n_faults else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = program_parser(__doc__, prog="python -m onedial.panels.questions.lint")
    parser.add_argument("file", nargs="?", help="questions: a JSONL, CSV or Parquet file, `embedded` or `development`")
    parser.add_argument("--prompt", action="append", default=[], metavar="FILE", help="a prompt; may be repeated")
    parser.add_argument(
        "--tokenizer",
        metavar="FOLDER_OR_ID",
        help="also check lengths and answers in tokens: a folder that holds tokenizer.json, or a hub id",
    )
    parser.add_argument(
        "--max-template-share",
        type=float,
        default=MAX_TEMPLATE_SHARE,
        help="largest share of questions that may begin or end with the same three words (default %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.file is None and not options.prompt:
        raise InputError("nothing to check: give a file of questions, or a prompt with --prompt FILE")
    if not 0 < options.max_template_share <= 1:
        raise InputError(
            f"--max-template-share {options.max_template_share} is no share; give a number above 0, up to 1"
        )
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))
