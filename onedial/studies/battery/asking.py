"""Every test of the battery: what it asks a respondent, and what it leaves in answers/TEST/."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256

import pandas as pd

from onedial.asking import CLOSED_BOOK, Respondent, answers_in_order, load_statements
from onedial.asking.store import BudgetSpent, Store
from onedial.core import InputError, Notes, Run
from onedial.panels import grade_answer, load_facts, outcome_as_number
from onedial.selfreport import (
    DONT_KNOW,
    SELF_REPORTS,
    BatteryTest,
    Item,
    WithTests,
    ask_beliefs,
    ask_beside_passages,
    ask_choices,
    ask_confidence_ways,
    ask_correction,
    ask_failing,
    ask_hedges,
    ask_honesty,
    ask_pairs,
    ask_pressure,
    ask_properties,
    ask_self_report,
    ask_unknowable,
    paired_design,
)
from onedial.show import progress_bar
from onedial.studies.battery.answer_log import kept
from onedial.studies.battery.material import Material
from onedial.studies.battery.recorded import NotRecorded
from onedial.studies.battery.respondents import Make

ABSOLUTE = ("can you answer", "confidence in numbers", "P(IK)")
MOST_FACTS = 200
CRITICS = "critics"
"""Asked of answers that the test of correction has left, so it comes last."""


def ask(run: Run, bill: Store, test: str, name: str, make: Make, material: Material, notes: Notes) -> None:
    """One of `TESTS` put to one respondent, unless it is on disk."""
    _ask(run, bill, test, name, make, lambda own: TESTS[test](own, material), notes)


def ask_critic(run: Run, bill: Store, name: str, make: Make, material: Material, notes: Notes) -> None:
    """P(True) of every author's answers by one respondent, unless it is on disk or nobody has answered."""
    if authors := known_answers(run):
        _ask(run, bill, CRITICS, name, make, lambda own: critic_of(own(0), authors, material), notes)


def _ask(
    run: Run, bill: Store, test: str, name: str, make: Make, asked: Callable[[Make], pd.DataFrame], notes: Notes
) -> None:
    file = f"answers/{test}/{file_name(name)}.parquet"
    if (run.path / file).is_file() and not bill.failed(name, test):
        return
    try:
        with bill.occasion(test), progress_bar(None, f"{name}, {test}: answers") as advance:
            answers = asked(kept(make, run, test, name, advance))
            bill.tell_failed(name)
    except (BudgetSpent, NotRecorded):
        raise
    except InputError as error:
        notes.tell(f"{test} is left out for {name}: {error}")
        return
    run.write_table(file, answers.assign(respondent=name))


def file_name(name: str) -> str:
    """A respondent's name as part of a path; two names never share one."""
    plain = "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in name.rsplit("/", 1)[-1])
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def answers_to(run: Run, test: str) -> pd.DataFrame:
    """Every respondent's answers to one test, in the order of the files' names."""
    files = sorted((run.path / "answers" / test).glob("*.parquet"))
    return pd.concat([run.read_table(str(file.relative_to(run.path))) for file in files]) if files else pd.DataFrame()


# ---- the tests -------------------------------------------------------------------------------------------------------


def choices(make: Make, material: Material) -> pd.DataFrame:
    """The options alone, and with "I do not know" among them."""
    tables = {kind: ask_choices(make(0), material.items, more=more) for kind, more in (("", ()), ("idk", (DONT_KNOW,)))}
    table = pd.concat(tables, names=["kind"]).reset_index()
    return table.assign(chosen=pd.to_numeric(table["chosen"]))


def pairs(make: Make, material: Material) -> pd.DataFrame:
    """Pairs, and the absolute confidence and correctness of the same questions in rows of their own."""
    design = paired_design(len(material.questions), material.n_each, material.seed)
    asked = ask_pairs(make(0), material.questions, design)
    items = [Item(each.id, {"question": each.text}) for each in material.questions]
    given = answers_in_order(make(0), [CLOSED_BOOK.prompt(each.text) for each in material.questions], CLOSED_BOOK)
    absolute = pd.DataFrame(
        {
            "first_id": [each.id for each in material.questions],
            "first": range(len(material.questions)),
            "second": -1,
            "correct": [
                outcome_as_number(grade_answer(each, answer.raw_text).outcome)
                for each, answer in zip(material.questions, given, strict=True)
            ],
        }
    )
    for name in ABSOLUTE:
        absolute[name] = ask_self_report(make(0), SELF_REPORTS[name], items)["score"].to_numpy()
    return pd.concat([asked, absolute], ignore_index=True)


def correction(make: Make, material: Material) -> pd.DataFrame:
    """Several samples, each of a seed of its own."""
    samples = [
        ask_correction(make(material.seed * 1000 + sample), material.questions).assign(sample=sample)
        for sample in range(material.samples)
    ]
    return pd.concat(samples, ignore_index=True)


def n_facts(material: Material) -> int:
    """As many facts as questions; they come in pairs."""
    n = len(material.questions)
    return min(MOST_FACTS, max(2, n - n % 2))


def _whole(test: BatteryTest, make: Make, material: Material) -> pd.DataFrame:
    return test.ask(make(0), material.questions)


TESTS: Mapping[str, Callable[[Make, Material], pd.DataFrame]] = WithTests(
    lambda test: partial(_whole, test),
    {
        "choices": choices,
        "pairs": pairs,
        "pressure": lambda make, material: ask_pressure(make(0), material.items),
        "correction": correction,
        "confidence": lambda make, material: ask_confidence_ways(make(0), material.questions),
        "properties": lambda make, material: ask_properties(make(0), material.questions, make(1)),
        "failing": lambda make, material: ask_failing(
            make(0), list(dict.fromkeys(str(each.topic) for each in material.questions)), make(0)
        ),
        "passages": lambda make, material: ask_beside_passages(make(0), material.items),
        "beliefs": lambda make, material: ask_beliefs(
            make(0), load_statements(load_facts(n_facts(material), material.seed))
        ),
        "honesty": lambda make, material: ask_honesty(make(0), load_facts(n_facts(material), material.seed)),
        "unknowable": lambda make, material: ask_unknowable(make(0)),
        "hedges": lambda make, material: ask_hedges(make(0), material.questions),
    },
)
"""Of one respondent each; `critics` is of all of them."""


def critic_of(respondent: Respondent, authors: dict[str, pd.DataFrame], material: Material) -> pd.DataFrame:
    """P(True) of every author's answers: author, question_id, margin, first (whether the answer is right), goes_by."""
    texts = {each.id: each.text for each in material.questions}
    tables = []
    for author, own in authors.items():
        said = own[own["first_text"].fillna("").str.strip() != ""]
        items = [
            Item(key, {"question": texts[key], "answer": text})
            for key, text in said[["question_id", "first_text"]].to_numpy()
        ]
        if items:
            found = ask_self_report(respondent, SELF_REPORTS["P(True)"], items)
            said = said.assign(author=author, margin=found["score"].to_numpy(), goes_by=found["goes_by"].to_numpy())
            tables.append(said[["author", "question_id", "margin", "first", "goes_by"]])
    return pd.concat(tables, ignore_index=True)


def known_answers(run: Run) -> dict[str, pd.DataFrame]:
    """Author -> its first drawn answers, of the test of correction."""
    table = answers_to(run, "correction")
    if table.empty:
        return {}
    return {str(name): own[own["sample"] == 0] for name, own in table.groupby("respondent", sort=True)}
