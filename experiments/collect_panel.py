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

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, Journal, Notes, Parts, Run, program, run_command
from onedial.studies import Start
from onedial.studies.options import SAMPLE_JUDGED, CollectOptions, part_of

if TYPE_CHECKING:
    from onedial.panels import Collection

PROGRAM = "collect_panel"


def collect_panel(options: CollectOptions, notes: Notes) -> None:
    from onedial.asking import stratified_sample
    from onedial.models import quiet_libraries
    from onedial.panels import COLLECTED, ROW, Collection, load_judge, load_questions, load_respondents
    from onedial.studies.collecting import INSPECT_LOGS, check_what_is_asked_elsewhere, keep_judge, save, show_costs

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = load_questions(options.questions)
    if options.n_questions is not None:
        questions = stratified_sample(questions, options.n_questions, options.seed)
    if part := options.shard and part_of(options.shard):
        this, of = part
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
    start = Start(PROGRAM, options, f"panel-{options.respondents.stem}")
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


def ask_everybody(collection: "Collection", run: Run, options: CollectOptions, notes: Notes) -> bool:
    """Take over what other collections have, and ask what is missing; True where the budget ended it."""
    from onedial.panels import COLLECTED_NUMBERS
    from onedial.studies.collecting import ask, ask_elsewhere

    journal = Journal(collection.parts, COLLECTED_NUMBERS)
    for other in options.merge:
        notes.tell(f"{collection.take_over(other)} answers taken over from {other}")
    exhausted = ask_elsewhere(collection, journal, run, options, notes)
    for model in collection.models:
        ask(model, collection, options)
    return exhausted


main = program(CollectOptions, collect_panel, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
