"""Ask in every way: choices, pairs, pressure, second looks, foretold answers, passages, beliefs, hedges, abstention.

    python experiments/ask_battery.py                                       # embedded model, every test, 40 questions
    python experiments/ask_battery.py --models MODEL,MODEL,MODEL --items 120
    python experiments/ask_battery.py --tests pairs,pressure --items 16     # a quick look
    python experiments/ask_battery.py --vector FILE --magnitudes=-0.1,0,0.1 # the same of a steered subject, per setting

Each respondent (a model, or a subject at a setting of its dial) is put through each test (docs/instruments.md). Writes
answers/TEST/ (everything that was said), TEST.csv (its scores) and two figures. What cannot be read in more than
half of the answers gets no number. A run that was broken off goes on with --resume and the same options.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from common import InputError, positive, program_parser, run_command
from run_store import Notes, Run, add_run_options, parse_run_options
from studies import Start, model_names

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import ChoiceItem, Question, Respondent

PROGRAM = "ask_battery"
MODEL = "smollm2-135m-instruct"
ABSOLUTE = ("can you answer", "confidence in numbers", "P(IK)")


@dataclass(frozen=True)
class Material:
    """What is asked about.

    Attributes:
        questions: with accepted answers. items: the same with options, where there are enough. topics: by question.
        seed, samples: of the draws. n_each: comparisons of each question.
    """

    questions: "list[Question]"
    items: "list[ChoiceItem]"
    topics: dict[str, str]
    seed: int
    samples: int
    n_each: int


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        ask_battery(options, notes)


def ask_battery(options: argparse.Namespace, notes: Notes) -> None:
    tests = chosen_tests(options.tests)
    models = model_names(options.models)
    check_options(options, models)
    start = Start(PROGRAM, options, "battery")
    material = material_of(options)
    from reporting import progress_bar

    start.set_threads()
    subjects = respondents_of(models, options)
    first = next(subjects)
    with start.begin(notes) as run:
        own = [test for test in tests if test != "critics"]
        for name, make in chain([first], subjects):
            with run.stage(name), progress_bar(len(own), name) as advance:
                for test in own:
                    ask(run, test, name, make, material, notes)
                    advance(1)
        if "critics" in tests:
            for name, make in respondents_of(models, options):  # once more, since all answers must be there
                with run.stage(f"{name}, as critic"):
                    ask(run, "critics", name, make, material, notes)
        finish(run, tests, material, options)


def chosen_tests(names: str) -> list[str]:
    wanted = list(ASKS) if names == "all" else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in ASKS:
            raise InputError(f"--tests names {name!r}, which is none of {', '.join(ASKS)}; check it, or give all")
    return [name for name in ASKS if name in wanted]


def check_options(options: argparse.Namespace, models: Sequence[str]) -> None:
    if (options.vector is None) != (options.magnitudes is None):
        raise InputError("--vector and --magnitudes go together; give both, or neither")
    if options.vector and len(models) > 1:
        raise InputError(
            f"a vector belongs to one model, but --models names {len(models)}; give the one it was made on"
        )
    if options.magnitudes:
        magnitudes_of(options.magnitudes)
    if options.n_each % 2 or options.n_each >= options.items:
        raise InputError(f"--n-each {options.n_each}: give an even number below the {options.items} questions")


def material_of(options: argparse.Namespace) -> Material:
    from elicitation import choice_items, load_questions, stratified_sample

    pool = [each for each in load_questions(options.questions) if each.answers]
    if len(pool) < 8:
        raise InputError(f"{len(pool)} of the questions {options.questions!r} have accepted answers; give 8 or more")
    questions = stratified_sample(pool, min(options.items, len(pool)), options.seed)
    topics = {each.id: str(each.topic) for each in questions}
    items = choice_items(questions, pool, options.seed)
    return Material(questions, items, topics, options.seed, options.samples, options.n_each)


def respondents_of(models: Sequence[str], options: argparse.Namespace) -> "Iterator[tuple[str, Callable[[int], Any]]]":
    """Name of each respondent, and what makes it with a seed; one model is in memory at a time."""
    from functools import partial

    from open_models import load_model
    from steering import SteeringVector

    for name in models:
        model = load_model(name)
        if options.vector is None:
            yield name, partial(unsteered, model)
        else:
            vector = SteeringVector.load(options.vector)
            for magnitude in magnitudes_of(options.magnitudes):
                yield f"{name} at {magnitude:+.3g}", partial(at_setting, model, vector, magnitude)


def unsteered(model: Any, seed: int) -> "Respondent":
    from open_models import LocalRespondent

    return LocalRespondent(model, seed=seed)


def at_setting(model: Any, vector: Any, magnitude: float, seed: int) -> "Respondent":
    from steering import SteeredRespondent

    return SteeredRespondent(model, vector, magnitude, seed=seed)


def magnitudes_of(text: str) -> list[float]:
    import math

    try:
        found = [float(piece) for piece in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(math.isfinite(each) for each in found) or len(set(found)) < len(found):
        raise InputError(f"--magnitudes {text!r} is no list of different numbers; write it like -0.2,0,0.2")
    return found


# ---- asking ----------------------------------------------------------------------------------------------------------


def ask(run: Run, test: str, name: str, make: "Callable[[int], Respondent]", material: Material, notes: Notes) -> None:
    """One test of one respondent, unless it is on disk."""
    import pandas as pd

    file = f"answers/{test}/{file_name(name)}.parquet"
    if (run.path / file).is_file() or (test == "critics" and not known_answers(run)):
        return
    try:
        table = ASKS[test](run, make, material)
    except InputError as error:
        notes.tell(f"{test} is left out for {name}: {error}")
        return
    assert isinstance(table, pd.DataFrame)
    run.write_table(file, table.assign(respondent=name))


def file_name(name: str) -> str:
    """A respondent's name as part of a path; two names never share one."""
    from hashlib import sha256

    plain = "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in name.rsplit("/", 1)[-1])
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def ask_choices_twice(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    """The options alone, and with "I do not know" among them."""
    import pandas as pd

    from elicitation import DONT_KNOW, ask_choices

    tables = {kind: ask_choices(make(0), material.items, more=more) for kind, more in (("", ()), ("idk", (DONT_KNOW,)))}
    table = pd.concat(tables, names=["kind"]).reset_index()
    return table.assign(chosen=pd.to_numeric(table["chosen"]))


def ask_the_pairs(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    """Pairs, and the absolute confidence and correctness of the same questions in rows of their own."""
    import pandas as pd

    from elicitation import CLOSED_BOOK, SELF_REPORTS, Item, answers_in_order, ask_pairs, ask_self_report, grade_answer
    from psychometrics import paired_design

    design = paired_design(len(material.questions), material.n_each, material.seed)
    pairs = ask_pairs(make(0), material.questions, design)
    items = [Item(each.id, {"question": each.text}) for each in material.questions]
    given = answers_in_order(make(0), [CLOSED_BOOK.prompt(each.text) for each in material.questions], CLOSED_BOOK)
    absolute = pd.DataFrame(
        {
            "first_id": [each.id for each in material.questions],
            "first": range(len(material.questions)),
            "second": -1,
            "correct": [
                {"right": 1.0, "wrong": 0.0}.get(grade_answer(each, answer.raw_text).outcome, float("nan"))
                for each, answer in zip(material.questions, given, strict=True)
            ],
        }
    )
    for name in ABSOLUTE:
        absolute[name] = ask_self_report(make(0), SELF_REPORTS[name], items)["score"].to_numpy()
    return pd.concat([pairs, absolute], ignore_index=True)


def ask_the_correction(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    import pandas as pd

    from elicitation import ask_correction

    samples = [
        ask_correction(make(material.seed * 1000 + sample), material.questions).assign(sample=sample)
        for sample in range(material.samples)
    ]
    return pd.concat(samples, ignore_index=True)


def ask_the_failing(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    from elicitation import ask_failing

    return ask_failing(make(0), list(dict.fromkeys(material.topics.values())), make(0))


def ask_the_beliefs(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    from elicitation import ask_beliefs, load_facts, load_statements

    return ask_beliefs(make(0), load_statements(load_facts(n_facts(material), material.seed)))


def ask_the_honesty(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    from elicitation import ask_honesty, load_facts

    return ask_honesty(make(0), load_facts(n_facts(material), material.seed))


def n_facts(material: Material) -> int:
    n = len(material.questions)
    return min(200, max(2, n - n % 2))


def ask_as_critic(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
    """P(True) of every author's answers."""
    import pandas as pd

    from elicitation import SELF_REPORTS, Item, ask_self_report

    texts = {each.id: each.text for each in material.questions}
    tables = []
    for author, own in known_answers(run).items():
        said = own[own["first_text"].fillna("").str.strip() != ""]
        items = [
            Item(key, {"question": texts[key], "answer": text})
            for key, text in said[["question_id", "first_text"]].to_numpy()
        ]
        if items:
            margins = ask_self_report(make(0), SELF_REPORTS["P(True)"], items)["score"]
            tables.append(
                said.assign(author=author, margin=margins.to_numpy())[["author", "question_id", "margin", "first"]]
            )
    return pd.concat(tables, ignore_index=True)


def known_answers(run: Run) -> "dict[str, pd.DataFrame]":
    """Author -> its first drawn answers, of the test of correction."""
    table = read(run, "correction")
    if table.empty:
        return {}
    return {str(name): own[own["sample"] == 0] for name, own in table.groupby("respondent", sort=True)}


def _plain(name: str, about: str) -> Callable[..., "pd.DataFrame"]:
    """An asking of elicitation that takes a respondent and one part of the material."""

    def asked(run: Run, make: "Callable[[int], Respondent]", material: Material) -> "pd.DataFrame":
        import elicitation

        ask_it = getattr(elicitation, name)
        return ask_it(make(0), *([getattr(material, about)] if about else []))

    return asked


ASKS: dict[str, Callable[..., "pd.DataFrame"]] = {
    "choices": ask_choices_twice,
    "pairs": ask_the_pairs,
    "pressure": _plain("ask_pressure", "items"),
    "correction": ask_the_correction,
    "confidence": _plain("ask_confidence_ways", "questions"),
    "properties": _plain("ask_properties", "questions"),
    "failing": ask_the_failing,
    "passages": _plain("ask_beside_passages", "items"),
    "beliefs": ask_the_beliefs,
    "honesty": ask_the_honesty,
    "unknowable": _plain("ask_unknowable", ""),
    "hedges": _plain("ask_hedges", "questions"),
    "critics": ask_as_critic,
}


# ---- scores ----------------------------------------------------------------------------------------------------------


def read(run: Run, test: str) -> "pd.DataFrame":
    """Every respondent's answers to one test, in the order of the files' names."""
    import pandas as pd

    files = sorted((run.path / "answers" / test).glob("*.parquet"))
    return pd.concat([run.read_table(str(file.relative_to(run.path))) for file in files]) if files else pd.DataFrame()


def finish(run: Run, tests: Sequence[str], material: Material, options: argparse.Namespace) -> None:
    """Scores of every test, and the figures."""
    from psychometrics import battery_scores
    from reporting import battery_figures, save_results

    tables: dict[str, pd.DataFrame] = {}
    for test in tests:
        tables |= battery_scores(test, read(run, test), material.topics, options.replicates, options.seed)
    draw = {"pressure": battery_figures.pressure, "passages": battery_figures.passages}
    save_results(run, tables, {name: figure(tables[name]) for name, figure in draw.items() if name in tables})
    print(f"{len(material.questions)} questions, {len(material.items)} of them with options")
    for name, table in tables.items():
        print(f"\n{name}\n{table.astype(object).map(shown).to_string()}")
    print(f"\nwritten to {run.path}")


def shown(value: Any) -> Any:
    """Three digits, and a dash for what could not be read."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
    return value


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--models", default=MODEL, help="names or folders, separated by commas (%(default)s)")
    parser.add_argument("--vector", metavar="FILE", help="a .safetensors file that a run has saved: steer the model")
    parser.add_argument("--magnitudes", help="settings of the vector, such as -0.1,0,0.1")
    parser.add_argument("--tests", default="all", help="only these, separated by commas (docs/instruments.md)")
    parser.add_argument("--questions", default="embedded", help="a name or a file with accepted answers (%(default)s)")
    parser.add_argument("--items", type=positive, default=40, help="questions, drawn by topic and level (%(default)s)")
    parser.add_argument("--samples", type=positive, default=3, help="of each answer that is corrected (%(default)s)")
    parser.add_argument("--n-each", type=positive, default=6, help="comparisons of each question (%(default)s)")
    parser.add_argument("--replicates", type=positive, default=1999, help="of the bootstrap (%(default)s)")
    add_run_options(parser, seed="of questions, options, pairs, samples and resamples")
    return parse_run_options(parser, arguments, lists=("--magnitudes",))


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
