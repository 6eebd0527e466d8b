"""Turning the dial: the vector under test at its magnitudes, where answers turn along controls, what each push costs.

sweep/part-*.parquet    crossings/part-*.parquet    texts.csv
"""

from onedial.core.processes import is_first_process
from onedial.models.processes import process_index, wait_for_all
from onedial.panels.questions.facts import load_passages
from onedial.show.progress import progress_bar
from onedial.studies.sweep.study import SweepStudy
from steering.critical import crossings_along
from steering.effects.side_effects import kl_on_text
from steering.sweeping import sweep


def sweep_questions(study: SweepStudy) -> None:
    """Ask every question at every magnitude of the intervention under test."""
    run, prompts, plan = study.run, study.prompts, study.plan
    done = run.parts.done("question_id")
    wait_for_all()
    save = study.keep(run.parts, "sweep", len(done), len(prompts))
    with progress_bar(len(prompts) - len(done), "sweep") as advance:
        sweep(study.model, plan.intervention, prompts, plan.magnitudes, sink=save, done=done, progress=advance)
    wait_for_all()
    if is_first_process() and len(lost := run.overflowed()):
        unsteered = int((lost["magnitude"] == 0).sum())
        study.notes.tell(
            f"warning: {len(lost)} answers, {unsteered} of them unsteered, overflowed in {study.model.dtype} and "
            "count as unread; choose another --dtype, such as bfloat16 or float32, or smaller --magnitudes"
        )


def cross_controls(study: SweepStudy) -> None:
    """Find where the answers turn along each control."""
    run, prompts, plan = study.run, study.prompts, study.plan
    done = run.crossing_parts.done("question_id")
    wait_for_all()
    save = study.keep(run.crossing_parts, "controls", len(done), len(prompts))
    with progress_bar(len(prompts) - len(done), f"{len(plan.controls)} controls") as advance:
        crossings_along(study.model, prompts, plan.ranges, plan.controls, sink=save, done=done, progress=advance)
    wait_for_all()


def measure_texts(study: SweepStudy) -> None:
    """What each push does to neutral text where it takes the yes rate to .1 and to .9."""
    known, settings, passages = study.run.texts(), study.run.settings_on_text(), load_passages()
    wait_for_all()
    if known is None:
        with progress_bar(len(passages), "neutral text") as advance:
            found = kl_on_text(study.model, study.plan.interventions, settings, passages=passages, progress=advance)
        if process_index() == 0:
            study.run.write_texts(found)
    wait_for_all()
