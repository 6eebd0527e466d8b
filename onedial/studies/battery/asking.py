"""Every test of the battery put to respondents; what the run's store holds is not asked again."""

from dataclasses import replace
from hashlib import sha256

import pandas as pd

from onedial.asking.store import BudgetSpent, Store
from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.selfreport.battery import BATTERY
from onedial.selfreport.frame import Make, Material
from onedial.show.progress import progress_bar
from onedial.studies.battery.ending import answers_to, finish
from onedial.studies.battery.everybody import ask_everybody
from onedial.studies.battery.material import material_of
from onedial.studies.battery.recorded import NotRecorded
from onedial.studies.options.asked import BatteryOptions


def ask_battery(program: str, options: BatteryOptions, notes: Notes) -> None:
    """Every test that is wanted put to everybody; those that need everybody's answers in a second round."""
    tests = [name for name in BATTERY if name in options.instruments or not options.instruments]
    material = material_of(options)

    def first(run: Run, bill: Store, name: str, make: Make) -> None:
        for test in tests:
            if not BATTERY[test].after:
                ask(run, bill, test, name, make, material, notes)

    def then(run: Run, bill: Store, name: str, make: Make) -> None:
        for test in tests:
            if (before := BATTERY[test].after) and (authors := authors_of(run, before)):
                ask(run, bill, test, name, make, replace(material, authors=authors), notes)

    rounds = [first, then] if any(BATTERY[test].after for test in tests) else [first]
    ask_everybody(program, "battery", options, notes, rounds, lambda run: finish(run, tests, material, options))


def ask(run: Run, bill: Store, test: str, name: str, make: Make, material: Material, notes: Notes) -> None:
    """A test of the battery put to one respondent."""
    try:
        with progress_bar(None, f"{name}, {test}: answers") as advance, bill.occasion(test, advance):
            answers = BATTERY[test].ask(make, material)
            bill.tell_failed(name)
    except (BudgetSpent, NotRecorded):
        raise
    except InputError as error:
        notes.tell(f"{test} is left out for {name}: {error}")
        return
    run.write_table(f"answers/{test}/{file_name(name)}.parquet", answers.assign(respondent=name))


def file_name(name: str) -> str:
    """A respondent's name as part of a path; two names never share one."""
    plain = "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in name.rsplit("/", 1)[-1])
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def authors_of(run: Run, test: str) -> dict[str, pd.DataFrame]:
    """Respondent -> its answers to a test."""
    table = answers_to(run, test)
    return {} if table.empty else {str(name): own for name, own in table.groupby("respondent", sort=True)}
