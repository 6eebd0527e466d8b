"""Ask in every way: choices, pairs, guesses, pressure, second looks, predictions, steps, beliefs, hedges, debates.

    python experiments/ask_battery.py                                       # embedded model, every test, 40 questions
    python experiments/ask_battery.py --model MODEL,MODEL,MODEL --n-questions 120
    python experiments/ask_battery.py --instruments pairs,pressure --n-questions 16    # a quick look
    python experiments/ask_battery.py --vector FILE --magnitudes=-0.1,0,0.1 # the same of a steered subject, per setting

Each respondent (a model, or a subject at a setting of its dial) is put through each test (docs/instruments.md). Writes
asked/TEST/ (every single answer, with what was asked), answers/TEST/ (a row for each question), TEST.csv (its scores),
overview.csv (what each says first) and two figures. What cannot be read in more than half of the answers gets no
number. An interrupted run continues with --resume and the same options.
"""

import sys
from dataclasses import replace
from itertools import chain

from onedial.core import Notes, program, run_command
from onedial.studies import Start, bill_of, tell_costs
from onedial.studies.options import BatteryOptions

PROGRAM = "ask_battery"


def ask_battery(options: BatteryOptions, notes: Notes) -> None:
    from onedial.selfreport import BATTERY

    tests = [name for name in BATTERY if name in options.instruments or not options.instruments]
    models = options.model
    start = Start(PROGRAM, options, "battery")
    from onedial.studies.battery import ask, authors_of, finish, material_of, models_elsewhere, respondents_of

    bill = bill_of(options, models, models_elsewhere(models))
    material = material_of(options)
    start.set_threads()
    subjects = respondents_of(models, bill, options.vector, options.magnitudes)
    first = next(subjects)
    with start.begin(notes) as run:
        bill.opens(run.file("answers.jsonl"))
        for name, make in chain([first], subjects):
            with run.stage(name):
                for test in tests:
                    if not BATTERY[test].after:
                        ask(run, bill, test, name, make, material, notes)
        later = {
            test: replace(material, authors=authors_of(run, BATTERY[test].after))
            for test in tests
            if BATTERY[test].after
        }
        if any(each.authors for each in later.values()):  # of everybody's answers: everybody once more
            for name, make in respondents_of(models, bill, options.vector, options.magnitudes):
                with run.stage(f"{name}, once more"):
                    for test, answered in later.items():
                        if answered.authors:
                            ask(run, bill, test, name, make, answered, notes)
        finish(run, tests, material, options)
        tell_costs(bill.costs(), run)


main = program(BatteryOptions, ask_battery, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
