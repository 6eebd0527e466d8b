"""What a push at one token is set beside: being told how sure to be, and reasoning before the answer.

instructed/part-*.parquet    reasoned/part-*.parquet
"""

from contextlib import nullcontext
from dataclasses import replace

import pandas as pd

from onedial.core.processes import is_first_process
from onedial.models.processes import process_index, wait_for_all
from onedial.show.progress import progress_bar
from onedial.studies.start import engine_of
from onedial.studies.sweep.study import SweepStudy
from steering.dials.dials import instructed_threshold
from steering.effects.reasoned import reasoned_cost, reasoned_instrument, reasoned_sweep, short_grid


def ask_instructed(study: SweepStudy) -> None:
    """Ask the unsteered subject to say yes only if it is so sure, level by level."""
    parts = study.run.instructed_parts
    dial, done = instructed_threshold(), {float(level) for level in parts.done("level")}
    wait_for_all()
    asked = study.inputs.in_splits("fitting", "test")
    todo = [level for level in dial.first_settings() if level and level not in done]
    with progress_bar(len(todo) * len(asked), "instructed thresholds") as advance:
        for level in todo:
            answers = dial.ask(study.model, asked, study.template, [level], advance)
            if is_first_process():
                parts.append(answers.rename(columns={"setting": "level"}))
    wait_for_all()


def write_reasons(study: SweepStudy) -> None:
    """Let the subject reason at a few settings that the direct sweep places."""
    intervention, run, options = study.plan.intervention, study.run, study.options
    swept = run.sweep()
    own = swept[swept["intervention_id"] == intervention.intervention_id]
    fitting = own[own["question_id"].isin(set(study.inputs.ids("fitting")))]
    magnitudes = short_grid(fitting, options.reasoned_settings)
    if options.reasoned_positions != "same":
        intervention = replace(intervention, positions=options.reasoned_positions)
    questions = study.inputs.in_splits("fitting", "test")
    done = run.reasoned_parts.read()
    wait_for_all()

    def save(part: pd.DataFrame) -> None:
        run.reasoned_parts.append(part, process=process_index())

    instrument = reasoned_instrument(study.template, options.reasoned_tokens)
    n_each = reasoned_cost(len(magnitudes), options.reasoned_search) * options.reasoned_samples
    left, engine = max(0, len(questions) * n_each - len(done)), engine_of(options) or nullcontext
    with engine(study.model), progress_bar(left, f"reasoned answers at {len(magnitudes)} settings") as advance:
        reasoned_sweep(
            study.model,
            questions,
            intervention,
            magnitudes,
            instrument,
            sink=save,
            done=done,
            search=options.reasoned_search,
            samples=options.reasoned_samples,
            seed=options.seed,
            progress=advance,
        )
    wait_for_all()
