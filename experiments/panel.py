"""A panel of yes and no: asked of models, read from other people's logs, written in other people's formats.

    onedial panel collect --respondents providers.yaml --dry-run
    onedial panel import logs/ --out panels/mine
    onedial panel export panels/mine/panel.csv --to py-irt --out mine.jsonl

Each word has a --help of its own.
"""

import sys

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.notices import noticed
from onedial.core.run.notes import Notes, program, programs
from onedial.studies.options.collecting import (
    INSPECT_LOG,
    CollectOptions,
    ExportOptions,
    ImportOptions,
    part_of,
)
from onedial.studies.start import Start

COLLECT = "collect_panel"
COLLECTING = """
Ask models, in several framings, whether they can answer each question; then, closed book, the question itself.

    onedial panel collect --respondents onedial/panels/data/panel.yaml --out panels/embedded  # CPU, hours
    onedial panel collect --respondents onedial/panels/data/panel.yaml --n-questions 20 --out /tmp/panel
    onedial panel collect --respondents providers.yaml --dry-run                              # calls, tokens, money
    onedial panel collect --respondents providers.yaml --budget 5 --out panels/mine

Models on this machine, and of providers and servers (docs/collecting.md). Writes panel.csv (long: question_id,
respondent, said_yes, margin, mass, sample, prompt_hash, answered_correctly, raw_text), respondents.csv and
closed_book.csv into a run's folder. Every answer lies in answers.jsonl before that: after a kill, the same command with
--resume goes on there, and it asks again what was reworded since.
A model in one of whose framings yes and no cannot be told apart is refused before it is asked; framings in which they
get little probability, and respondents that often cannot be read, are named at the end.
"""
IMPORTING = """
Turn logs that somebody else's evaluation wrote into a panel: Inspect, lm-eval, Every Eval Ever, plain tables.

    onedial panel import logs/ --out panels/mine                           # format found from the files
    onedial panel import can_you.eval closed_book.eval --out panels/mine   # yes/no, and what was then right
    onedial panel import samples_gsm8k_*.jsonl --score strict-match/exact_match --out panels/gsm8k
    onedial panel import answers.csv --columns said_yes=verdict,respondent=llm --out panels/table
    onedial panel import panel.csv --yes Ja --no Nein --out panels/german  # a column per model

A log asked either "can you answer this?" (then said_yes is read from its answers) or the questions themselves (then it
tells what was answered correctly); --asked says which. What cannot be read as yes or no, and what failed, is blank,
never no. Writes panel.csv (for --panel), questions.jsonl (for --questions), respondents.csv (complete `family` by hand)
and import_report.json into a run's folder. Needs no model; Inspect's logs need its library.
"""
EXPORTING = """
Write a panel in other people's formats.

    onedial panel export embedded --to every-eval-ever --out embedded_samples.jsonl
    onedial panel export embedded --to py-irt --value answered_correctly --out embedded.jsonl
    onedial panel export panels/mine/panel.csv --to py-irt --respondent gpt-x --out responses.jsonl

What `ask.py` has asked becomes a log of its own, a sample per answer:

    onedial panel export runs/my-battery --to inspect-log --out logs/battery.eval
    inspect view --log-dir logs

What is not known is left out and counted, never written as 0.
"""


def collect(options: CollectOptions, notes: Notes) -> None:
    """Ask here and elsewhere what is missing, and write the panel."""
    from onedial.asking.questions import stratified_sample
    from onedial.asking.store import ANSWERS
    from onedial.models.threads import quiet_libraries
    from onedial.panels.collecting.collection import Collection
    from onedial.panels.collecting.judging import JUDGE
    from onedial.panels.collecting.respondent_files import load_judge, load_respondents
    from onedial.studies.bill import priced_store
    from onedial.studies.collecting.asking import ask_missing, check_who_is_asked, foretell, keep_judge
    from onedial.studies.collecting.panel import save

    quiet_libraries()
    models = load_respondents(options.respondents)
    questions = options.read_questions(options.questions)
    if options.n_questions is not None:
        questions = stratified_sample(questions, options.n_questions, options.seed)
    if part := options.shard and part_of(options.shard):
        this, of = part
        questions = questions[this - 1 :: of]
    judge = load_judge(options.respondents)
    prices = {model.label: model.price for model in models if model.provider is not None}
    if judge is not None and options.judge is not None:
        prices[judge.respondent_for(JUDGE)] = judge.price
    store = priced_store(prices, options.budget, f"in {options.respondents}")
    collection = Collection(models, questions, store, options.seed, options.closed_book, judge)
    check_who_is_asked(collection, options)
    if options.dry_run:
        if options.out and options.resume:
            store.opens(options.out / ANSWERS)
        foretell(collection, options)
        return
    start = Start(COLLECT, options, f"panel-{options.respondents.stem}")
    with start.begin(notes) as run:
        store.opens(run.file(ANSWERS))
        try:
            keep_judge(collection, run, options)
            with run.stage("asking"):
                for other in options.merge:
                    notes.tell(f"{collection.take_over(other)} answers taken over from {other}")
                exhausted = ask_missing(collection, options)
        except InputError:
            if all(line.get("error") for line in store.lines()) and not store.spent() > 0:
                run.withdraw()
            raise
        with run.stage("panel"):
            save(collection, run, options, notes, may_lack=exhausted)


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
