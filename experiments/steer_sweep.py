"""Does one steering vector in one model reproduce the yes/no of every model of a panel?

    onedial sweep                              # embedded model, questions and panel; CPU; minutes
    onedial sweep --n-questions 200            # a quick look
    onedial sweep --questions mine.jsonl       # own questions, no panel: what the dial does to them
    onedial sweep --answer reasoned --dry-run  # what letting it reason would cost
    onedial sweep --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --n-questions 1000 --wandb online
    accelerate launch --num_processes 8 -m onedial sweep ...  # questions shared out, one result

The run's folder (default runs/<time>-<model>-<configuration>) holds everything that report.html says. An interrupted
run continues with --resume and the same options.
"""

import sys
from functools import partial

from onedial.core.command_line import run_command
from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work, say
from onedial.core.run.notes import Notes, program
from onedial.core.run.stages import go_through
from onedial.studies.inputs import forecast, layers_by_config, read_inputs, require_prospects, without_subject
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.start import Start

PROGRAM = "steer_sweep"


def steer_sweep(options: SweepOptions, notes: Notes) -> None:
    """Prepare the subject, go through the stages, judge.

    From here to a margin, and from the margins to the verdict:

        STAGES                       onedial/studies/sweep/sweep_stages.py     what a run does in order, with its cost
        sweep_questions              onedial/studies/sweep/stage_functions.py  one stage
        SweepStudy.fill              onedial/studies/sweep/sweep_study.py      asks what a table lacks, keeps each batch
        answers_along, read_along    steering/reading.py                       questions x magnitudes, in batches
        FastRunner.start, .steer     onedial/models/forward/runner.py          the model itself
        SweepRun.judge, judge        onedial/verdict                           tables to verdict.json
    """
    from onedial.asking.prompts import load_prompt
    from onedial.asking.rewording import reversed_wording

    template = load_prompt(str(options.prompt))
    inputs = read_inputs(options, hold_out_topics=options.hold_out == "topics", needs_panel=False)
    options = options.beside(inputs.has_panel)
    if not options.show_prompt:
        require_prospects(inputs, options)
    with at_work("importing PyTorch and transformers"):
        from onedial.models.processes import own_device, start_processes, told_if_lost
        from onedial.models.prompt_set import PromptSet
        from onedial.models.threads import quiet_libraries
        from onedial.studies.sweep.planning import first_prompt, prompts_beside
        from onedial.studies.sweep.sweep_stages import STAGES, judge_sweep, loads
        from onedial.studies.sweep.sweep_study import SweepStudy, begin_sweep, watch_sweep
        from steering.planning.readability import check_readability
        from steering.vectors import check_making

        quiet_libraries()
        check_making(options.contrast, options.method, len(inputs.ids("extraction")))
    if options.show_prompt:
        return say(first_prompt(options.model, options.revision, inputs, template))
    if options.dry_run:
        if is_first_process():
            turned, beside = reversed_wording(template) is not None, prompts_beside(options)
            say(forecast(options, inputs, template, partial(loads, options, turned=turned), beside))
        return

    # ---- the subject, and its run ----
    start = Start(PROGRAM, options, label=options.model, watches=True)
    if is_first_process() and options.layer != "auto":
        layers_by_config(options, options.layer)
    start_processes(options.device_map, options.tensor_parallel)
    model = start.load_subject(options, own_device())
    inputs = without_subject(inputs, options, model.identity)
    with at_work("asking a few questions, to see whether yes and no can be read"):
        readability = check_readability(model, template, inputs.questions)
        prompts = PromptSet.build(model, inputs.questions, template, inputs.splits)
    notes.tell(f"{'warning: ' if readability.warns else ''}{readability}")
    if otherwise := inputs.elicited_otherwise(options.answer):
        notes.tell(otherwise)
    sweep_run = begin_sweep(start, inputs, prompts, model, notes)

    study = SweepStudy(options, sweep_run, model, inputs, template, prompts, notes)
    with sweep_run.run as run, model.caching_prefills(), told_if_lost():
        watch_sweep(study, options.wandb)
        go_through(run, study, STAGES, options)
        judge_sweep(study)


main = program(SweepOptions, steer_sweep, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
