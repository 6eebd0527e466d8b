"""Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    python experiments/collect_panel.py --respondents onedial/panels/data/panel.yaml --out panels/embedded  # CPU, hours
    python experiments/collect_panel.py --respondents onedial/panels/data/panel.yaml --n-questions 20 --out /tmp/panel
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

from onedial.core import (
    InputError,
    Journal,
    Notes,
    Parts,
    Run,
    add_run_options,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
)
from onedial.studies import Start, money

if TYPE_CHECKING:
    from onedial.panels import Collection

PROGRAM = "collect_panel"
MAY_CHANGE = (
    *("respondents", "questions", "n_questions", "seed", "closed_book", "device", "device_map"),
    *("budget", "inspect_logs", "merge", "shard", "judge"),
)
"""Every answer is saved under what was asked of whom, so a collection may go on with more or other questions."""
SAMPLE_JUDGED = 200


def collect_panel(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.asking import stratified_sample
    from onedial.models import quiet_libraries
    from onedial.panels import COLLECTED, ROW, Collection, load_judge, load_questions, load_respondents
    from onedial.studies.collecting import INSPECT_LOGS, check_what_is_asked_elsewhere, keep_judge, save, show_costs

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = load_questions(options.questions)
    if options.n_questions is not None:
        questions = stratified_sample(questions, options.n_questions, options.seed)
    if options.shard is not None:
        this, of = options.shard
        questions = questions[this - 1 :: of]
    judge = load_judge(options.respondents)
    check_what_is_asked_elsewhere(models, judge, options)

    def collection_in(parts: Parts) -> Collection:
        return Collection(models, questions, parts, options.seed, options.closed_book, judge)

    if options.dry_run:
        folder = Path(options.out) if options.out and options.resume else Path("nowhere")
        collection = collection_in(Parts(folder / "measurements", COLLECTED, ROW))
        show_costs(collection, options, SAMPLE_JUDGED)
        return
    start = Start(PROGRAM, options, f"panel-{Path(options.respondents).stem}", MAY_CHANGE)
    with start.begin(notes) as run:
        collection = collection_in(run.parts("measurements", COLLECTED, ROW))
        try:
            keep_judge(collection, run, options)
            with run.stage("asking"):
                exhausted = ask_everybody(collection, run, options, notes)
        except InputError:
            if not collection.parts.files() and not collection.spent() > 0:
                shutil.rmtree(run.path / INSPECT_LOGS, ignore_errors=True)
                run.withdraw()
            raise
        with run.stage("panel"):
            save(collection, run, options, notes, may_lack=exhausted, sample=SAMPLE_JUDGED)


def ask_everybody(collection: "Collection", run: Run, options: argparse.Namespace, notes: Notes) -> bool:
    """Take over what other collections have, and ask what is missing; True where the budget ended it."""
    from onedial.panels import COLLECTED_NUMBERS
    from onedial.studies.collecting import ask, ask_elsewhere

    journal = Journal(collection.parts, COLLECTED_NUMBERS)
    for other in options.merge or []:
        notes.tell(f"{collection.take_over(other)} answers taken over from {other}")
    exhausted = ask_elsewhere(collection, journal, run, options, notes)
    for model in collection.models:
        ask(model, collection, options)
    return exhausted


# ---- options ---------------------------------------------------------------------------------------------------------


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
    add_run_options(parser, seed="of the draw", dry_run="print calls, tokens and money")
    return parse_run_options(parser)


main = noted(parse_options, collect_panel)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
