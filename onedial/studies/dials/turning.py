"""What the dials are put to: their settings at each yes rate, the answers there, and what they do besides.

placing-*/  placed.csv    answers-*/    facts-*/  texts.csv
"""

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
from steering.effects.side_effects import fact_effects, kl_on_text


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
    """Facts at the settings that are reached, and of the dials that push neutral text."""
    facts, run = load_facts(study.options.facts, study.options.seed), study.run
    settings = {name: sorted({0.0, *own}) for name, own in reached_settings(dials, placed).items()}
    asked = ask_all(study, "facts", dials, facts, FACT.template, settings)
    truth = pd.Series(truth_of(facts))
    pushed = [dial for dial in dials if isinstance(dial, InterventionDial)]
    if not run.has("texts.csv"):
        passages = load_passages()[: study.options.passages]
        wanted = {dial.intervention.intervention_id: settings[dial.name] for dial in pushed}
        with progress_bar(len(passages), f"neutral passages under {len(pushed)} interventions") as advance:
            interventions = [dial.intervention for dial in pushed]
            run.write_table(
                "texts.csv", kl_on_text(study.model, interventions, wanted, passages=passages, progress=advance)
            )
    names = {dial.intervention.intervention_id: dial.name for dial in pushed}
    texts = run.read_table("texts.csv").rename(columns={"magnitude": "setting"})
    texts = (
        texts.assign(dial=texts["intervention_id"].map(names))
        .drop(columns="intervention_id")
        .astype({"setting": float})
    )
    effects = [fact_effects(asked[asked["dial"] == dial.name], truth).assign(dial=dial.name) for dial in dials]
    return pd.concat(effects, ignore_index=True).merge(texts, on=["dial", "setting"], how="left")


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
