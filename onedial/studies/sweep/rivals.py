"""What a push at one token is set beside: being told how sure to be, and reasoning before the answer.

instructed/part-*.parquet    reasoned/part-*.parquet
"""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from onedial.asking import CAN_YOU_ANSWER, Instrument, Question
from onedial.core import InputError, at_work, is_first_process
from onedial.models import process_index, wait_for_all
from onedial.show import progress_bar
from onedial.studies.sweep.study import SweepStudy
from steering import (
    Engine,
    Intervention,
    LocalEngine,
    check_parity,
    instructed_threshold,
    load_engine,
    reasoned_instrument,
    reasoned_sweep,
    short_grid,
)


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
    done = {(str(question), float(magnitude)) for _, question, magnitude in run.reasoned_parts.done_keys()}
    wait_for_all()

    def save(part: pd.DataFrame) -> None:
        run.reasoned_parts.append(part, process=process_index())

    instrument = reasoned_instrument(study.template, options.reasoned_tokens)
    left = len(questions) * len(magnitudes) - len(done)
    engine = proven_engine(study, intervention, questions, magnitudes, instrument) if left and options.engine else None
    with progress_bar(left, f"reasoned answers at {len(magnitudes)} settings") as advance:
        reasoned_sweep(
            study.model,
            questions,
            intervention,
            magnitudes,
            instrument,
            sink=save,
            done=done,
            engine=engine,
            progress=advance,
        )
    wait_for_all()


def proven_engine(
    study: SweepStudy,
    intervention: Intervention,
    questions: Sequence[Question],
    magnitudes: Sequence[float],
    instrument: Instrument,
) -> Engine:
    """The engine that --engine names, shown to steer this model as the local one does; what was found is recorded.

    Raises:
        InputError: it cannot be made, or steers otherwise.
    """
    spec = str(study.options.engine)
    with at_work(f"trying {spec} beside the model's own forwards"):
        try:
            engine = load_engine(spec)(study.model, intervention)
        except Exception as error:
            raise InputError(f"--engine {spec} cannot be started on this model: {error!r}") from error
        direct = CAN_YOU_ANSWER.framed(study.template)
        own = LocalEngine(study.model, intervention)
        parity = check_parity(engine, own, questions, magnitudes, direct, instrument)
    study.run.run.record(engine=parity.as_dict())
    if not parity.holds:
        raise InputError(f"{parity}; mend it, or leave --engine out: the same command with --resume goes on from there")
    study.notes.tell(str(parity))
    return engine
