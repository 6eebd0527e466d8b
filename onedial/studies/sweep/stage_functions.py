"""Ask the subject, stage by stage; each writes its batches into the run's table of its own name.

sweep         every question at every magnitude of the intervention under test
controls      every question at a few magnitudes of each control; texts.csv: what each push does to neutral text
instructed    the unsteered subject, told how sure to be
facts         unrelated facts at all magnitudes
wordings      a few questions as they are and reversed
written.csv   what it writes to eight questions at three settings
reasoned      its reasons before the answer at a few settings
"""

from functools import partial

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, FACT
from onedial.asking.rewording import reversed_wording
from onedial.asking.sweep_tables import AS_ASKED, REVERSED_WORDING
from onedial.core.files import sha256_of_text
from onedial.core.processes import is_first_process
from onedial.core.progress import progress_bar
from onedial.models.processes import process_index, wait_for_all
from onedial.models.prompt_set import PromptSet
from onedial.models.writing import write_after
from onedial.panels.questions.facts import load_facts, load_passages, truth_of
from onedial.panels.splits import FITTING, TEST
from onedial.studies.start import engine_of
from onedial.studies.sweep.sweep_study import SweepStudy
from steering.controls import word_push
from steering.dials.dials import Put, instructed_threshold
from steering.effects.reasoned import reasoned_instrument, reasoned_sweep
from steering.effects.side_effects import REVERSED_SETTINGS, kl_on_text
from steering.planning.magnitudes import doubling
from steering.reading import answers_along

WRITTEN = "written.csv"
WRITTEN_RATES, N_WRITTEN, WRITTEN_TOKENS = (0.1, 0.5, 0.9), 8, 20
"""Yes rates at whose settings the subject writes, to so many questions, and how much at most."""


def sweep_questions(study: SweepStudy) -> None:
    """Ask every question at every magnitude of the intervention under test."""
    ask = partial(answers_along, study.model, [study.intervention], study.prompts, study.plan.magnitudes)
    study.fill(study.sweep_run.parts["sweep"], "sweep", len(study.prompts), ask)
    if is_first_process() and len(lost := study.sweep_run.overflowed()):
        unsteered = int((lost["magnitude"] == 0).sum())
        study.notes.tell(
            f"warning: {len(lost)} answers, {unsteered} of them unsteered, overflowed in {study.model.dtype} and "
            "count as unread; choose another --dtype, such as bfloat16 or float32, or smaller --magnitudes"
        )


def sweep_controls(study: SweepStudy) -> None:
    """Ask every question at the magnitudes of each control."""
    controls = study.plan.controls
    ask = partial(answers_along, study.model, controls, study.prompts, study.plan.magnitudes)
    study.fill(study.sweep_run.parts["controls"], f"{len(controls)} controls", len(study.prompts), ask)


def measure_texts(study: SweepStudy) -> None:
    """What each push does to neutral text where it takes the yes rate to .1 and to .9."""
    sweep_run, passages = study.sweep_run, load_passages()
    known, settings = sweep_run.table("texts"), sweep_run.tables().settings_on_text
    wait_for_all()
    if known is None:
        with progress_bar(len(passages), "neutral text") as advance:
            texts = kl_on_text(study.model, study.plan.interventions, settings, passages=passages, progress=advance)
        if process_index() == 0:
            sweep_run.write_table("texts", texts)
    wait_for_all()


def ask_instructed(study: SweepStudy) -> None:
    """Ask the unsteered subject to say yes only if it is so sure, level by level; the first process writes."""
    parts, dial = study.sweep_run.parts["instructed"], instructed_threshold()
    done = {float(level) for level in parts.done("level")}
    wait_for_all()
    asked = study.inputs.in_splits(FITTING, TEST)
    todo = [level for level in dial.first_settings() if level and level not in done]
    with progress_bar(len(todo) * len(asked), "instructed thresholds") as advance:
        for level in todo:
            answers = dial.ask(Put(study.model, asked, study.template, advance), [level])
            if is_first_process():
                parts.append(answers.rename(columns={"setting": "level"}))
    wait_for_all()


def ask_facts(study: SweepStudy) -> None:
    """Ask the facts at all magnitudes."""
    facts = load_facts(study.options.facts, study.options.seed)
    truth, prompts = truth_of(facts), PromptSet.build(study.model, facts, FACT.template)
    ask = partial(answers_along, study.model, [study.intervention], prompts, study.plan.magnitudes)
    parts = study.sweep_run.parts["facts"]
    study.fill(parts, "facts", len(facts), ask, truth=lambda part: part["question_id"].map(truth))


def ask_reversed(study: SweepStudy) -> None:
    """Ask a few fitting questions as they are and reversed, along the dial and along Yes minus No."""
    parts, turned = study.sweep_run.parts["wordings"], reversed_wording(study.template)
    if turned is None:
        return study.notes.tell(
            f"the prompt {study.template.name!r} has no reversed wording, so that whether the dial is a yes-bias is "
            "told from the yes rates of unrelated facts alone"
        )
    fitting = sorted(
        study.inputs.in_splits(FITTING), key=lambda each: sha256_of_text(f"{study.options.seed} {each.id}")
    )
    questions, words = (
        fitting[: study.options.reversed],
        word_push(study.model, study.prompts.tokens, study.intervention),
    )
    grids = {
        study.intervention.intervention_id: study.spread(REVERSED_SETTINGS),
        words.intervention_id: doubling(words.units_per_norm),
    }
    keys = parts.done_keys()
    for wording, template in ((AS_ASKED, study.template), (REVERSED_WORDING, turned)):
        done = {key[1] for key in keys if key[-1] == wording}
        prompts = PromptSet.build(study.model, questions, template)
        ask = partial(answers_along, study.model, [study.intervention, words], prompts, grids)
        study.fill(parts, f"wording {wording}", len(questions), ask, done, wording=wording)


def write_texts(study: SweepStudy) -> None:
    """Let the subject go on writing at three settings, steered as it was swept; every process, and the first one keeps.
    Each is named by the yes rate that was measured there on the fitting questions.

    The questions are test questions, evenly from the least to the most often yes unsteered. Each is put alone, without
    asking whether it can be answered.
    """
    order = study.unsteered["margin"].reindex(study.inputs.ids(TEST)).sort_values(kind="stable").index
    places = np.unique(np.linspace(0, len(order) - 1, N_WRITTEN).round().astype(int))
    texts = {question.id: question.rendered for question in study.inputs.questions}
    prompts = [CLOSED_BOOK.template.fill(texts[name]) for name in order[places]]
    settings, tables = study.settings_at(WRITTEN_RATES).drop_duplicates("setting"), []
    with progress_bar(len(settings), f"texts to {len(places)} questions") as advance:
        for magnitude, yes_rate in settings[["setting", "rate_found"]].to_numpy(float):
            push = study.intervention * float(magnitude)
            written = write_after(study.model, prompts, max_new_tokens=WRITTEN_TOKENS, push=push)
            rows = {"question_id": order[places], "text": [each.text for each in written]}
            tables.append(pd.DataFrame(rows).assign(magnitude=magnitude, yes_rate=yes_rate))
            advance(1)
    if is_first_process():
        study.sweep_run.run.write_table(WRITTEN, pd.concat(tables)[["question_id", "yes_rate", "magnitude", "text"]])
    wait_for_all()


def write_reasons(study: SweepStudy) -> None:
    """Let the subject reason at settings that the direct sweep places."""
    options, parts = study.options, study.sweep_run.parts["reasoned"]
    magnitudes = study.spread(options.reasoned_settings)
    questions = study.inputs.in_splits(FITTING, TEST)
    instrument = reasoned_instrument(study.template, options.reasoned_tokens)
    ask = partial(reasoned_sweep, study.model, questions, study.intervention, magnitudes, instrument)
    what, done = f"reasoned answers at {len(magnitudes)} settings", {key[1:] for key in parts.done_keys()}
    with engine_of(options)(study.model):
        study.fill(parts, what, len(questions) * len(magnitudes), ask, done)
        if study.model.writer is not None:
            study.sweep_run.run.record(writer=study.model.writer.told())
