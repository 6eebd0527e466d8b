"""The subject and what it is asked: options that several programs share, said once, and what they stand for."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, at_work, positive

if TYPE_CHECKING:
    from onedial.asking import Question
    from onedial.panels import ExperimentInputs

SUBJECT = "smollm2-135m-instruct"
PROMPT = "neutral"
PROMPT_OF_EMBEDDED = "examples YN"
"""The embedded model knows little of itself when asked without examples (docs/experiment_log.md)."""


def add_subject_options(
    parser: argparse.ArgumentParser, *, drawn: str = "all", choose_targets: bool = True
) -> argparse._ArgumentGroup:
    """Add the options of the subject, and those of questions, panel and prompt.

    Args:
        drawn: how many questions are asked where --n-questions does not say, for the help.
        choose_targets: whether the program can leave targets out.

    Returns:
        The group of questions, panel and prompt, for what a program has besides.
    """
    subject = parser.add_argument_group("subject")
    subject.add_argument(
        "--model", default=SUBJECT, help="built-in name, hub id, local folder or GGUF file (%(default)s)"
    )
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument(
        "--dtype",
        choices=("auto", "float32", "bfloat16", "float16"),
        default="auto",
        help="auto: the checkpoint's own on CUDA, float32 on the CPU",
    )
    subject.add_argument("--device-map", help="auto spreads a large model over several GPUs")
    asked = parser.add_argument_group("questions, panel, prompt")
    asked.add_argument(
        "--questions",
        help="embedded, squad, nq_open, trivia_qa, a folder or a file; by default the "
        "panel's own texts, or the embedded ones",
    )
    asked.add_argument(
        "--n-questions", type=positive, help=f"draw this many of the questions that the panel answers ({drawn})"
    )
    asked.add_argument(
        "--panel",
        default="embedded",
        help="yes/no of the targets: CSV, JSONL or Parquet, or embedded, frontier, frontier-confidence (%(default)s)",
    )
    asked.add_argument("--respondents", help="what is known of the targets (default: respondents.csv beside the panel)")
    if choose_targets:
        asked.add_argument("--target", help="only these respondents, separated by commas")
        asked.add_argument("--keep-own", action="store_true", help="keep targets that are the subject's own model")
    asked.add_argument(
        "--prompt",
        help="a .txt or .yaml file with one {question}, or a framing's name "
        f"(what the panel was asked; else {PROMPT}, for the embedded model {PROMPT_OF_EMBEDDED})",
    )
    return asked


def add_panel_options(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the panel that a program reads, which asks no model, and what is known of its respondents.

    Args:
        default: the panel where none is named; None where one must be.
    """
    parser.add_argument(
        "panel",
        nargs="?" if default else None,
        default=default,
        metavar="PANEL",
        help="CSV, JSONL or Parquet; or embedded, frontier (refusal, not ability), frontier-confidence (cut at 70; "
        ":90, :median elsewhere)",
    )
    parser.add_argument("--respondents", type=Path, help="table with respondent, model, framing, family")


def model_names(given: str) -> list[str]:
    """Names of models between commas, as `--model` takes them.

    Raises:
        InputError: none, or one twice.
    """
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise InputError(f"--model {given!r} names no model, or one twice; separate names by commas")
    return names


def prompt_of(options: argparse.Namespace) -> str:
    """`--prompt`, or what the panel brings along, or what suits the model."""
    from onedial.asking import prompt_of_panel

    suited = PROMPT_OF_EMBEDDED if options.model == SUBJECT else PROMPT
    return str(options.prompt or prompt_of_panel(options.panel) or suited)


def read_inputs(
    options: argparse.Namespace, *, hold_out_topics: bool = False, judged: bool = False
) -> "ExperimentInputs":
    """Questions and panel, by the options of `add_subject_options`.

    The subject's own answers are left out where its name tells them. Where the subject is asked otherwise than the
    panel was, this is noticed.

    Args:
        hold_out_topics: see `onedial.panels.load_inputs`.
        judged: a verdict is to come of it; where the panel is too small for one, this is noticed.

    Raises:
        InputError: as `onedial.panels.load_inputs`.
    """
    with at_work(f"reading {options.questions or 'the questions'} and the panel {options.panel}"):
        return _inputs_of(options, hold_out_topics, judged)


def _inputs_of(options: argparse.Namespace, hold_out_topics: bool, judged: bool) -> "ExperimentInputs":
    from onedial.asking import load_prompt
    from onedial.core import notice
    from onedial.panels import load_inputs
    from onedial.verdict import prospects_of

    inputs = load_inputs(
        options.panel,
        options.questions,
        options.respondents,
        options.target and [name.strip() for name in options.target.split(",")],
        options.n_questions,
        options.seed,
        hold_out_topics=hold_out_topics,
    )
    if not options.keep_own:
        inputs = inputs.without_own(options.model)
    if said := inputs.asked_otherwise(load_prompt(options.prompt)):
        notice(f"asked otherwise: {'; '.join(said)}")
    if judged:
        prospects = prospects_of(inputs)
        if not prospects.suffices:
            notice(f"warning: {prospects}")
    return inputs


def layers_by_config(options: argparse.Namespace) -> list[int]:
    """The candidate layers that `--layer` names, by the subject's config alone.

    Raises:
        InputError: the subject has not all of them; or as `steering.candidate_layers`.
    """
    from onedial.models import load_config, resolve_weights
    from steering import candidate_layers

    candidate_layers(str(options.layer), 10**6)  # what is written wrongly is wrong in any model
    config, _ = load_config(resolve_weights(options.model, options.revision, convert=False))
    return candidate_layers(str(options.layer), config.get_text_config().num_hidden_layers)


def questions_by_split(inputs: "ExperimentInputs") -> "dict[str, list[Question]]":
    """Split -> its questions, in their order."""
    return {split: inputs.in_splits(split) for split in inputs.splits.values()}


def numbers_of(text: str, option: str) -> list[float]:
    """A list such as -1,0.5, as an option gives it.

    Raises:
        InputError: anything else.
    """
    try:
        found = [float(piece) for piece in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(math.isfinite(each) for each in found):
        raise InputError(f"{option} {text!r} is no list of numbers; write it like -0.2,0.2")
    return found
