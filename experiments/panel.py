"""A panel of yes and no: asked of models, read from other people's logs, written in other people's formats.

    python experiments/panel.py collect --respondents providers.yaml --dry-run
    python experiments/panel.py import logs/ --out panels/mine
    python experiments/panel.py export panels/mine/panel.csv --to py-irt --out mine.jsonl

Each word has a --help of its own.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.notices import noticed
from onedial.core.run.notes import Notes, program, programs
from onedial.core.run.run import Run
from onedial.studies.options.collecting import (
    INSPECT_LOG,
    SAMPLE_JUDGED,
    CollectOptions,
    ExportOptions,
    ImportOptions,
    part_of,
)
from onedial.studies.start import Start

if TYPE_CHECKING:
    from onedial.panels.collecting.collection import Collection

COLLECT = "collect_panel"
COLLECTING = """
Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    python experiments/panel.py collect --respondents onedial/panels/data/panel.yaml --out panels/embedded  # CPU, hours
    python experiments/panel.py collect --respondents onedial/panels/data/panel.yaml --n-questions 20 --out /tmp/panel
    python experiments/panel.py collect --respondents providers.yaml --dry-run                  # calls, tokens, money
    python experiments/panel.py collect --respondents providers.yaml --budget 5 --out panels/mine

Models on this machine, and of providers and servers (docs/collecting.md). Writes panel.csv (long: question_id,
respondent, said_yes, margin, mass, sample, prompt_hash, answered_correctly, raw_text), respondents.csv and
closed_book.csv into a run's folder. Every answer lies in answers.jsonl before that: after a kill, the same command with
--resume goes on there, and it asks again what was reworded since.
A model in one of whose framings yes and no cannot be told apart is refused before it is asked; framings in which they
get little probability, and respondents that often cannot be read, are named at the end.
"""
IMPORTING = """
Turn logs that somebody else's evaluation wrote into a panel: Inspect, lm-eval, Every Eval Ever, plain tables.

    python experiments/panel.py import logs/ --out panels/mine                         # format found from the files
    python experiments/panel.py import can_you.eval closed_book.eval --out panels/mine # yes/no, and what was then right
    python experiments/panel.py import samples_gsm8k_*.jsonl --score strict-match/exact_match --out panels/gsm8k
    python experiments/panel.py import answers.csv --columns said_yes=verdict,respondent=llm --out panels/table
    python experiments/panel.py import panel.csv --yes Ja --no Nein --out panels/german     # a column per model

A log asked either "can you answer this?" (then said_yes is read from its answers) or the questions themselves (then it
tells what was answered correctly); which of the two is found from its answers and said. What cannot be read as yes or
no, and what failed, is blank, never no. Writes panel.csv (for --panel), questions.jsonl (for --questions),
respondents.csv (complete `family` by hand) and import_report.json into a run's folder. Needs no model;
Inspect's logs need its library.
"""
EXPORTING = """
Write a panel in other people's formats.

    python experiments/panel.py export embedded --to every-eval-ever --out embedded_samples.jsonl
    python experiments/panel.py export embedded --to py-irt --value answered_correctly --out embedded.jsonl
    python experiments/panel.py export panels/mine/panel.csv --to py-irt --respondent gpt-x --out responses.jsonl

What `ask.py` has asked becomes a log of its own, a sample per answer:

    python experiments/panel.py export runs/my-battery --to inspect-log --out logs/battery.eval
    inspect view --log-dir logs

What is not known is left out and counted, never written as 0.
"""


def collect(options: CollectOptions, notes: Notes) -> None:
    """Ask here and elsewhere what is missing, and write the panel."""
    from onedial.asking.questions import stratified_sample
    from onedial.asking.store import ANSWERS
    from onedial.models.threads import quiet_libraries
    from onedial.panels.collecting.collection import Collection
    from onedial.panels.collecting.respondent_files import load_judge, load_respondents
    from onedial.panels.questions.question_files import load_questions
    from onedial.studies.collecting.elsewhere import check_what_is_asked_elsewhere, keep_judge, show_costs, store_of
    from onedial.studies.collecting.panel import save

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

    def collection_in(folder: Path) -> Collection:
        store = store_of(folder / ANSWERS, models, judge, options.budget)
        return Collection(models, questions, store, options.seed, options.closed_book, judge)

    if options.dry_run:
        folder = options.out if options.out and options.resume else Path("nowhere")
        show_costs(collection_in(folder), options, SAMPLE_JUDGED)
        return
    start = Start(COLLECT, options, f"panel-{options.respondents.stem}")
    with start.begin(notes) as run:
        collection = collection_in(run.file(ANSWERS).parent)
        try:
            keep_judge(collection, run, options)
            with run.stage("asking"):
                exhausted = ask_everybody(collection, run, options, notes)
        except InputError:
            if all(line.get("error") for line in collection.store.lines()) and not collection.store.spent() > 0:
                run.withdraw()
            raise
        with run.stage("panel"):
            save(collection, run, options, notes, may_lack=exhausted, sample=SAMPLE_JUDGED)


def ask_everybody(collection: "Collection", run: Run, options: CollectOptions, notes: Notes) -> bool:
    """Take over what other collections have, and ask what is missing; True where the budget ended it."""
    from onedial.studies.collecting.elsewhere import ask_elsewhere
    from onedial.studies.collecting.here import ask

    for other in options.merge:
        notes.tell(f"{collection.take_over(other)} answers taken over from {other}")
    exhausted = ask_elsewhere(collection)
    for model in collection.models:
        ask(model, collection, options)
    return exhausted


def import_logs(options: ImportOptions, notes: Notes) -> None:
    """Somebody else's logs as a panel."""
    from onedial.studies.importing import import_panel

    import_panel(options, notes)


def export(options: ExportOptions, _: Notes) -> None:
    """A panel, or what a run asked, in another format."""
    from onedial.studies.exporting import export_panel, export_run

    with noticed(print):
        return export_run(options) if options.to == INSPECT_LOG else export_panel(options)


main = programs(
    {
        "collect": program(CollectOptions, collect, COLLECTING),
        "import": program(ImportOptions, import_logs, IMPORTING),
        "export": program(ExportOptions, export, EXPORTING),
    },
    __doc__,
)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
