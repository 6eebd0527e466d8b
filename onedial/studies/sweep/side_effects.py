"""What the dial does besides: to facts that have nothing to do with ability, to the question reversed, and to neutral
text; where it is usable.

facts/part-*.parquet  wordings/part-*.parquet  texts/part-*.parquet    side_effects.csv    side_effects.json
"""

from typing import Any

import pandas as pd

from onedial.asking.instruments import FACT
from onedial.asking.rewording import reversed_wording
from onedial.asking.sweep_tables import AS_ASKED, PREFERENCE, REVERSED_WORDING
from onedial.core.files import sha256_of_text
from onedial.core.run.parts import Parts
from onedial.models.processes import process_index, wait_for_all
from onedial.models.prompt_set import PromptSet
from onedial.panels.questions.facts import load_facts, load_passages, truth_of
from onedial.panels.questions.question_files import load_questions
from onedial.show.progress import progress_bar
from onedial.studies.sweep.study import SweepStudy
from onedial.verdict.criteria.usable import usable_range
from steering.controls import word_push
from steering.effects.reasoned import short_grid
from steering.effects.side_effects import REVERSED_SETTINGS, TEXT_COLUMNS, effects_on_text, fact_effects
from steering.planning.magnitudes import doubling
from steering.sweeping import sweep

SETTINGS_AT_ONCE = 8
"""Magnitudes whose effects on text are written at once: what a kill can cost."""


def ask_facts(study: SweepStudy) -> None:
    """Ask the facts at all magnitudes."""
    run, plan = study.run, study.plan
    facts = load_facts(study.options.facts, study.options.seed)
    truth, done = truth_of(facts), run.facts_parts.done("question_id")
    wait_for_all()
    keep = study.keep(run.facts_parts, "facts", len(done), len(facts))

    def save(part: pd.DataFrame) -> None:
        keep(part.assign(truth=part["question_id"].map(truth)))

    prompts = PromptSet.build(study.model, facts, FACT.template)
    with progress_bar(len(facts) - len(done), "facts") as advance:
        sweep(study.model, plan.intervention, prompts, plan.magnitudes, sink=save, done=done, progress=advance)
    wait_for_all()


def ask_reversed(study: SweepStudy) -> None:
    """Ask a few fitting questions as they are and reversed, and preferences, along the dial and along Yes minus No."""
    run, plan, model = study.run, study.plan, study.model
    own, turned = plan.intervention, reversed_wording(study.template)
    if turned is None:
        return study.notes.tell(
            f"the prompt {study.template.name!r} has no reversed wording, so that whether the dial is a yes-bias is "
            "told from the yes rates of unrelated facts alone"
        )
    fitting = sorted(
        study.inputs.in_splits("fitting"), key=lambda each: sha256_of_text(f"{study.options.seed} {each.id}")
    )
    questions = fitting[: study.options.reversed]
    words = word_push(model, study.prompts.tokens, own)
    swept = run.sweep()
    grids = {
        own.intervention_id: short_grid(
            swept[swept["question_id"].isin({each.id for each in fitting})], REVERSED_SETTINGS
        ),
        words.intervention_id: doubling(words.units_per_norm),
    }
    keys = run.wording_parts.done_keys()
    kinds = {
        AS_ASKED: (study.template, questions),
        REVERSED_WORDING: (turned, questions),
        PREFERENCE: (FACT.template, load_questions("preferences")),
    }
    done = {kind: {key[1] for key in keys if key[-1] == kind} for kind in kinds}
    left = sum(len(asked) for _, asked in kinds.values()) - sum(map(len, done.values()))
    wait_for_all()
    with progress_bar(left, "reversed wording, preferences") as advance:
        for wording, (template, asked) in kinds.items():

            def save(part: pd.DataFrame, wording: str = wording) -> None:
                run.wording_parts.append(part.assign(wording=wording), process=process_index())

            prompts = PromptSet.build(model, asked, template)
            sweep(model, [own, words], prompts, grids, sink=save, done=done[wording], progress=advance)
    wait_for_all()


def run_on_text(study: SweepStudy) -> None:
    """Run neutral passages at every magnitude; the first process writes."""
    parts, plan = text_parts(study), study.plan
    done, passages = parts.done("setting"), load_passages()[: study.options.passages]
    left = [m for m in plan.magnitudes[plan.intervention.intervention_id] if m not in done]
    wait_for_all()
    with progress_bar(len(left), f"{len(passages)} neutral passages at each magnitude") as advance:
        for start in range(0, len(left), SETTINGS_AT_ONCE):
            few = left[start : start + SETTINGS_AT_ONCE]
            found = effects_on_text(study.model, few, plan.intervention, passages=passages)
            if process_index() == 0:
                parts.append(found)
            advance(len(few))
    wait_for_all()


def weigh_side_effects(study: SweepStudy, matches: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table of side effects and the usable range, from facts, texts and matches."""
    run, limit = study.run, study.options.limit
    facts = run.facts_parts.read().rename(columns={"magnitude": "setting"})
    truth = facts.drop_duplicates("question_id").set_index("question_id")["truth"]
    effects = fact_effects(facts, truth, limit=limit).merge(text_parts(study).read(), on="setting")
    found = usable_range(effects, matches, limit)
    return effects, {**vars(found), "outside": list(found.outside), "sentence": found.sentence(len(matches))}


def text_parts(study: SweepStudy) -> Parts:
    """The effects on neutral text, as they grow."""
    return study.run.run.parts("texts", TEXT_COLUMNS, ["setting"])
