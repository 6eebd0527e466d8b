"""Plan what will be swept: chosen once, on extraction and fitting questions, and read from files ever after."""

import math
from dataclasses import asdict
from functools import partial

from onedial.asking.instruments import FACT
from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.sweep_tables import interventions_table
from onedial.core.errors import InputError
from onedial.core.processes import is_first_process
from onedial.models.checkpoints.weights import load_config, resolve_weights
from onedial.models.tokens import render
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.questions.facts import load_facts
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.sweep.sweep_study import SweepStudy
from onedial.verdict.sweep_run import SweepRun
from steering.interventions import Intervention, SteeringVector
from steering.planning.plan import SweepPlan, make_plan
from steering.planning.reliability import Reliability
from steering.vectors import Making


def first_prompt(model: str, revision: str | None, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the subject reads first; its tokenizer is enough for that."""
    _, tokenizer = load_config(resolve_weights(model, revision))
    return render(tokenizer, template.fill(inputs.questions[0].rendered))


def prompts_beside(options: SweepOptions) -> dict[str, list[Prompt]]:
    """What is asked besides the questions: facts."""
    facts = load_facts(options.facts, options.seed) if options.facts else []
    return {"facts": [FACT.template.fill(each.rendered) for each in facts]}


def settle_plan(study: SweepStudy) -> None:
    """Give the study its plan: of a resumed run from its files, else a new one, which is saved and told.

    A vector that has gone from a resumed run is made again.

    Raises:
        InputError: nothing can be swept like this, such as a layer that is not there; or what was to be swept before a
            vector had gone is not what would be now.
    """
    if study.sweep_run.has_plan and not (gone := missing_vectors(study.sweep_run)):
        study.plan = stored_plan(study.sweep_run)
    else:
        options, inputs, prompts = study.options, study.inputs, study.prompts
        study.plan = make_plan(
            study.model,
            prompts.subset(inputs.ids("extraction")),
            prompts.subset(inputs.ids("fitting")),
            layer=options.layer,
            making=Making(options.contrast, options.method, draw=options.draw, seed=options.seed),
            pushed=partial(Intervention.of, operator=options.operator, positions=options.positions, unit=options.unit),
            magnitudes=options.settings(),
            n_controls=options.controls or 0,
        )
        now = interventions_table(study.plan.entries())
        if study.sweep_run.has_plan and study.sweep_run.interventions().to_json() != now.to_json():
            path = study.sweep_run.path
            raise InputError(f"{path} lacks {gone[0]}, and it is made otherwise now; restore it from a copy")
        if is_first_process():
            save(study.plan, study.sweep_run)
        for note in [*study.plan.notes, in_a_sentence(study.plan)]:
            study.notes.tell(note)
    for watcher in study.watchers if is_first_process() else ():
        watcher.log_plan()


def missing_vectors(run: SweepRun) -> list[str]:
    """The files of vectors that are swept and are not there."""
    files = {run.vector_file(name) for names in run.interventions()["vectors"] for name in names}
    return sorted(file for file in files if not run.run.has(file))


def save(plan: SweepPlan, run: SweepRun) -> None:
    """Vectors and layer scan first: with the interventions the plan stands."""
    for vector in plan.vectors:
        vector.save(run.run.file(run.vector_file(vector.vector_id)))
    if plan.scan is not None:
        run.write_table("layer_scan", plan.scan.table)
    run.write_interventions(plan.entries())
    if plan.reliability is not None:
        run.run.record(vector=asdict(plan.reliability))


def in_a_sentence(plan: SweepPlan) -> str:
    """The vector under test, what it was made of, and its magnitudes."""
    chosen, reliability = plan.intervention, plan.reliability
    grid, vector = plan.magnitudes[chosen.intervention_id], chosen.vectors[0]
    return (
        f"vector: {vector.vector_id} from {vector.n_yes} questions on the side of yes and {vector.n_no} "
        f"on that of no ({vector.n_unread} unread)"
        + (f"; {in_words(reliability, vector)}" if reliability is not None else "")
        + f"; {len(grid)} magnitudes from {grid[0]:.3g} to {grid[-1]:.3g}"
    )


def in_words(reliability: Reliability, vector: SteeringVector) -> str:
    """What the reliability means, and on how much it rests."""
    if math.isnan(reliability.reliability):
        return "how well it repeats is not known"
    halves = f"halves of {vector.n_yes // 2} and {vector.n_no // 2}"
    return (
        f"as many other questions would give one at a cosine of about {reliability.reliability:.2f} to it, by {halves}"
    )


def stored_plan(run: SweepRun) -> SweepPlan:
    """What an interrupted run is about, from its files."""
    entries = run.interventions().to_dict("records")
    names = {name for entry in entries for name in entry["vectors"]}
    vectors = {name: SteeringVector.load(run.path / run.vector_file(name)) for name in names}
    interventions = [Intervention.from_dict(entry, vectors) for entry in entries]
    tested = next(each for each in interventions if each.intervention_id == run.under_test())
    return SweepPlan(
        tested,
        tuple(each for each in interventions if each is not tested),
        {entry["intervention_id"]: entry["magnitudes"] for entry in entries},
        None,
    )
