"""What does the residual stream of one model know about knowing, and is it used?

    python experiments/train_probes.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/train_probes.py --n-questions 200 --layer 8-24    # a quick look
    python experiments/train_probes.py --model Qwen/Qwen2.5-7B-Instruct --panel my_panel.csv --store acts/qwen

Labels: the subject's own yes and its own correctness, the panel's shared difficulty, each target's yes, and the truth
of facts that have nothing to do with ability. Activations are read once and kept (--store, by default in the user's
cache).

    probes       each label of the questions and of the facts at      probes.csv, chosen.csv, methods.csv, facts.csv
                 each layer, topics held out
    directions   is it the same direction? at one layer; and truth    directions.csv, cross.csv, transfer.csv,
                 without labels: CCS and its controls                 erasure.csv, statements.csv
    use          does it move the answer? from which layer on does    effects.csv, patching.csv
                 the last token decide?
    own          own correctness beyond words and difficulty          own.csv
    elsewhere    while the model reasons, on --other-model            writing.csv, elsewhere.csv,
                                                                      tokens_written.parquet

--dry-run says what that takes. The run's folder holds the tables, layers/*.safetensors (probes and held-out scores),
figures/ and report.html. An interrupted run continues with --resume.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program
from onedial.core.run.run import Run
from onedial.core.run.stages import Stage, go_through
from onedial.studies.inputs import layers_by_config
from onedial.studies.options.probes import STAGES, ProbeOptions
from onedial.studies.start import Start

if TYPE_CHECKING:
    from onedial.asking.prompts import PromptTemplate
    from onedial.panels.inputs import ExperimentInputs
    from onedial.studies.probes.study import Study

PROGRAM = "train_probes"


def train_probes(options: ProbeOptions, notes: Notes) -> None:
    inputs, template = read_inputs(options)
    from onedial.models.inside.store_filling import store_activations
    from onedial.models.prompt_set import PromptSet
    from onedial.show.progress import progress_bar
    from onedial.studies.probes.study import Study
    from probes.results import write_probe_page

    start = Start(PROGRAM, options, f"probes-{options.model}")
    layers = layers_by_config(options)
    check_comparison(options, layers)
    model = start.load_subject(options)
    prompts = PromptSet.build(model, inputs.questions, template)
    if options.dry_run:
        from onedial.studies.probes.forecast import predict

        return say(predict(options, model, inputs, prompts, layers))
    with start.begin(notes, model) as run:
        with run.withdrawn_if_refused():
            run.record(seeds={"all": options.seed})
            say(f"run: {run.path}")
            with run.stage("activations"), progress_bar(len(prompts), "activations") as advance:
                store = store_activations(
                    model, prompts, options.store, layers=layers, positions=[options.read_at], progress=advance
                )
            study = Study(
                options,
                run,
                model,
                inputs.questions,
                inputs.panel,
                template,
                prompts,
                store,
                progress_bar,
            )
            study.keep_inputs()
        go_through(run, study, *stages_of(options))
        with run.stage("report"):
            report = write_probe_page(run)
    print_summary(run)
    say(f"report: {report}")


# ---- stages --------------------------------------------------------------------------------------------------------


def stages_of(options: ProbeOptions) -> "list[Stage[Study]]":
    """What is done, in order."""
    from onedial.studies.probes import STUDY_STAGES

    def all_of(name: str) -> "Callable[[Study], None]":
        def done(study: "Study") -> None:
            for part in STUDY_STAGES[name]:
                part(study)

        return done

    return [Stage(name, all_of(name), wanted=name in options.stages, once=True) for name in STAGES]


# ---- beginning and end ---------------------------------------------------------------------------------------------


def read_inputs(options: ProbeOptions) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt."""
    from onedial.asking.prompts import load_prompt
    from onedial.panels.inputs import load_inputs

    template = load_prompt(str(options.prompt))
    inputs = load_inputs(options.panel, options.questions, options.respondents, None, options.n_questions, options.seed)
    return inputs, template


def check_comparison(options: ProbeOptions, layers: Sequence[int]) -> None:
    """Raise InputError where the stages after the first could not be done with these options."""
    if options.compare_at is not None and options.compare_at not in layers:
        raise InputError(f"--compare-at {options.compare_at} is none of the layers {layers}; choose one of them")


def print_summary(run: Run) -> None:
    """The main labels at their chosen layers, on the terminal."""
    if not run.has("chosen.csv"):
        return
    table = run.read_table("chosen.csv").head(8)
    shown = table[["label", "layer", "auroc", "low", "high", "text", "shuffled", "control", "p", "n"]].round(3)
    say(shown.to_string(index=False))


main = program(ProbeOptions, train_probes, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
