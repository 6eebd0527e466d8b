"""What the dials are put to: their settings at each yes rate, the answers there, and what they do besides.

placing-*/  placed.csv    answers-*/    facts-*/  texts/
"""

import time
from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import FACT
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.models.prompt_set import PromptSet
from onedial.panels.questions.facts import load_facts, load_passages, truth_of
from onedial.show.progress import progress_bar
from onedial.studies.dials.study import DialStudy
from onedial.verdict.comparing.dial_comparison import CUT
from steering.dials.dials import DIAL_COLUMNS, Dial, InterventionDial, ask_together, place_settings
from steering.effects.side_effects import fact_effects

TIMED_QUESTIONS = 16


def place(study: DialStudy, dials: Sequence[Dial]) -> pd.DataFrame:
    """The setting of each dial at each yes rate, found on the fitting split."""
    if study.run.has("placed.csv"):
        return study.run.read_table("placed.csv")
    settings = {dial.name: dial.first_settings() for dial in dials}
    table = ask_all(study, "placing", dials, study.inputs.in_splits("fitting"), study.template, settings)
    placed = pd.concat(
        [place_settings(dial, table[table["dial"] == dial.name]).assign(dial=dial.name) for dial in dials],
        ignore_index=True,
    )
    study.run.write_table("placed.csv", placed)
    return placed


def ask(study: DialStudy, dials: Sequence[Dial], placed: pd.DataFrame) -> pd.DataFrame:
    """The answers on fitting and test split, by rate; those of the threshold shift at 0 stand at rate nan."""
    settings = reached_settings(dials, placed)
    settings[CUT] = sorted({0.0, *settings[CUT]})
    table = ask_all(study, "answers", dials, study.inputs.in_splits("fitting", "test"), study.template, settings)
    there = placed.loc[placed["reached"].astype(bool), ["dial", "setting", "rate"]]
    plain = table[(table["dial"] == CUT) & (table["setting"] == 0.0)].assign(rate=float("nan"))
    return pd.concat([table.merge(there, on=["dial", "setting"]), plain], ignore_index=True)


def side_effects(study: DialStudy, dials: Sequence[Dial], placed: pd.DataFrame) -> pd.DataFrame:
    """Facts and neutral text at the settings that are reached, and what an answer costs."""
    facts = load_facts(study.options.facts, study.options.seed)
    passages = load_passages()[: study.options.passages]
    settings = {name: sorted({0.0, *own}) for name, own in reached_settings(dials, placed).items()}
    asked = ask_all(study, "facts", dials, facts, FACT.template, settings)
    truth = pd.Series(truth_of(facts))
    timed, frames = study.inputs.in_splits("fitting")[:TIMED_QUESTIONS], []
    files = {dial.name: f"texts/{slug(dial.name)}.csv" for dial in dials}
    left = [dial for dial in dials if not study.run.has(files[dial.name])]
    with progress_bar(len(left), f"{len(passages)} neutral passages under each dial") as advance:
        for dial in left:
            begun = time.perf_counter()
            dial.ask(study.model, timed, study.template, settings[dial.name])
            each = (time.perf_counter() - begun) / (TIMED_QUESTIONS * len(settings[dial.name]))
            own = dial.on_text(study.model, settings[dial.name], passages).assign(seconds_per_answer=each)
            study.run.write_table(files[dial.name], own)
            advance(1)
    limit = study.options.limit
    for dial in dials:
        text = study.run.read_table(files[dial.name])
        own = fact_effects(asked[asked["dial"] == dial.name], truth, limit=limit).drop(columns="n")
        frames.append(own.assign(setting=own["setting"]).merge(text, on="setting").assign(dial=dial.name))
    return pd.concat(frames, ignore_index=True)


def ask_all(
    study: DialStudy,
    stage: str,
    dials: Sequence[Dial],
    questions: list[Question],
    template: PromptTemplate,
    settings: dict[str, list[float]],
) -> pd.DataFrame:
    """Every dial at its settings, what is on disk left out: interventions batch by batch, others one by one."""
    columns, key = ["dial", *DIAL_COLUMNS], ["dial", "question_id", "setting"]
    together = study.run.parts(f"{stage}-interventions", columns, key)
    alone = study.run.parts(f"{stage}-others", columns, key)

    def keep(part: pd.DataFrame) -> None:
        together.append(part)

    pushed = [dial for dial in dials if isinstance(dial, InterventionDial) and settings[dial.name]]
    if pushed:
        prompts, done = PromptSet.build(study.model, questions, template), together.done("question_id")
        with progress_bar(len(prompts) - len(done), f"{stage}: {len(pushed)} interventions") as advance:
            ask_together(
                study.model, pushed, prompts, settings, sink=keep, done=done,
                progress=advance,
            )  # fmt: skip
    done = alone.done("dial")
    for dial in dials:
        if dial in pushed or dial.name in done or not settings[dial.name]:
            continue
        anew = 1 if dial.name == CUT else len(settings[dial.name])
        with progress_bar(anew * len(questions), f"{stage}: {dial.name}") as advance:
            alone.append(
                dial.ask(study.model, questions, template, settings[dial.name], advance).assign(dial=dial.name)
            )
    return pd.concat([together.read(), alone.read()], ignore_index=True)


def reached_settings(dials: Sequence[Dial], placed: pd.DataFrame) -> dict[str, list[float]]:
    """Of each dial, those at which it reaches a yes rate."""
    there = placed[placed["reached"].astype(bool)]
    return {dial.name: sorted({float(s) for s in there.loc[there["dial"] == dial.name, "setting"]}) for dial in dials}


def slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)
