"""What does the residual stream of one model know about knowing, and is it used?

    onedial probe                                 # embedded model, questions and panel; CPU; minutes
    onedial probe --n-questions 200 --layer 8-24  # a quick look
    onedial probe --model Qwen/Qwen2.5-7B-Instruct --panel my_panel.csv --store acts/qwen

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

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program
from onedial.core.run.run import Run
from onedial.core.run.stages import go_through
from onedial.studies.inputs import layers_by_config, read_inputs
from onedial.studies.options.probes import ProbeOptions
from onedial.studies.start import Start

PROGRAM = "train_probes"


def train_probes(options: ProbeOptions, notes: Notes) -> None:
    from onedial.asking.prompts import load_prompt

    template = load_prompt(str(options.prompt))
    inputs = read_inputs(options)
    from onedial.models.prompt_set import PromptSet
    from onedial.show.ending import end
    from onedial.show.results import Stored
    from onedial.studies.probes.probes_stages import STAGES, predict
    from onedial.studies.probes.probes_study import ProbeStudy
    from probes.results import PROBE_RESULTS, WORDS, opening_of

    start = Start(PROGRAM, options, f"probes-{options.model}")
    layers = layers_by_config(options, options.layer)
    if options.compare_at is not None and options.compare_at not in layers:
        raise InputError(f"--compare-at {options.compare_at} is none of the layers {layers}; choose one of them")
    if options.dry_run:
        return say(predict(options, inputs, template, layers))
    model = start.load_subject(options)
    prompts = PromptSet.build(model, inputs.questions, template)
    with start.begin(notes, model) as run:
        say(f"run: {run.path}")
        run.record(seeds={"all": options.seed})
        study = ProbeStudy(options, run, model, inputs, template, prompts, layers)
        go_through(run, study, STAGES, options)
        print_summary(run)
        stored = Stored(run, PROBE_RESULTS, WORDS)
        end(stored, opening_of, stored)


def print_summary(run: Run) -> None:
    """The main labels at their chosen layers, on the terminal."""
    if not run.has("chosen.csv"):
        return
    table = run.read_table("chosen.csv").head(8)
    shown = table[["label", "layer", "auroc", "low", "high", "p_reads", "text", "p_adds", "n"]].round(3)
    say(shown.to_string(index=False))


main = program(ProbeOptions, train_probes, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
