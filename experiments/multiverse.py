"""Does the verdict hold under other choices? Layers, contrasts, wordings, and other draws of the extraction questions.

    onedial multiverse                                            # embedded model and panel; CPU; minutes
    onedial multiverse --n-questions 200 --layer 15,21 --draws 2  # a quick look
    onedial multiverse --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv

One thing is varied at a time, from the run that `onedial sweep` would have made. Each universe is such a run, in
universes/, with a vector and magnitudes of its own, and is judged by the rule of the verdict; the page sets them beside
each other as `onedial compare` does. An interrupted run continues with --resume and the same options.
"""

import sys
from functools import partial
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.core.run.configuration import configuration_hash
from onedial.core.run.notes import Notes, program
from onedial.studies.inputs import forecast, layers_by_config, read_inputs, require_prospects, without_subject
from onedial.studies.options.dials import PARAPHRASES, MultiverseOptions
from onedial.studies.start import Start

if TYPE_CHECKING:
    from onedial.asking.prompts import PromptTemplate

PROGRAM = "multiverse"


def multiverse(options: MultiverseOptions, notes: Notes) -> None:
    templates = read_wordings(options)
    inputs = read_inputs(options)
    require_prospects(inputs, options)
    from onedial.models.threads import quiet_libraries
    from onedial.report.comparison import COMPARISON_RESULTS, WORDS
    from onedial.show.ending import Opening, end
    from onedial.show.results import Stored
    from onedial.studies.multiverse import Multiverse, multiverse_loads
    from onedial.verdict.verdict import RULE
    from steering.planning.readability import check_readability
    from steering.vectors import check_making

    quiet_libraries()
    for contrast in options.contrasts:
        check_making(contrast, options.method, len(inputs.ids("extraction")))
    candidates, others = layers_by_config(options, options.layer), [template.name for template in templates[1:]]
    if options.dry_run:
        return say(forecast(options, inputs, templates[0], partial(multiverse_loads, options, others, candidates)))
    start = Start(PROGRAM, options)
    model = start.load_subject(options)
    inputs = without_subject(inputs, options, model.identity)
    with start.begin(notes, model) as run:
        with run.withdrawn_if_refused():
            run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
            digest = inputs.plan_hash(configuration_hash(run.config), RULE)
            run.record_once("plan", {"rule": RULE, "sha256": digest}, "choose another --out")
            say(f"run: {run.path}")
            notes.tell(str(check_readability(model, templates[0], inputs.questions)))
            study = Multiverse(run, model, inputs, templates, options, candidates, notes)
            with model.caching_prefills():
                comparison = study.comparison
        question = f"How much of the verdict on {model.identity.name} is owed to how the vector was made?"
        opening = Opening(question, comparison.summary["sentence"], study.lead)
        end(Stored(run, COMPARISON_RESULTS, WORDS), opening, comparison)


def read_wordings(options: MultiverseOptions) -> "list[PromptTemplate]":
    """The wordings, the run's own first."""
    from onedial.asking.prompts import load_prompt
    from onedial.asking.rewording import paraphrases

    template = load_prompt(str(options.prompt))
    if options.wordings == PARAPHRASES:
        templates = paraphrases(template)
    else:
        named = [name.strip() for name in options.wordings.split(",") if name.strip()]
        templates = [template, *(load_prompt(name) for name in named)]
    names = [each.name for each in templates]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(f"--wordings: two prompts are named {min(repeated)!r}; give each a name of its own")
    return templates


main = program(MultiverseOptions, multiverse, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
