"""Which dial is best, at equal yes rates? Directions, operators, layers, a threshold shift, instructions, personas.

    onedial dials                                              # embedded model and panel; CPU; minutes
    onedial dials --dry-run                                    # what that would cost
    onedial dials --n-questions 533 --facts 200 --passages 64  # all of both; hours
    onedial dials --n-questions 160 --layer 15,21 --facts 40 \\
           --methods mean_difference,lda,gradient,random --operators add,rotate              # a quick look
    onedial dials --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv

Directions are made on the extraction split; layer, settings and the best method are chosen on the fitting split, and
everything is reported on the test split, beside a threshold shift at the same yes rates. Writes directions.csv and
cosines.csv, placed.csv (setting of each dial at each yes rate), dials.csv (the table), targets.csv, rates.csv (with
side effects), figures/ and comparison.json with the sentence. An interrupted run continues with --resume
and the same options.
"""

import sys
from functools import partial

from onedial.core.command_line import run_command
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program
from onedial.core.run.stages import go_through
from onedial.studies.inputs import forecast, read_inputs
from onedial.studies.options.dials import DialOptions
from onedial.studies.start import Start

PROGRAM = "compare_dials"


def compare(options: DialOptions, notes: Notes) -> None:
    from onedial.asking.prompts import load_prompt

    template = load_prompt(str(options.prompt))
    inputs = read_inputs(options)
    from onedial.report.dials import DIAL_RESULTS, WORDS
    from onedial.show.ending import Opening, end
    from onedial.show.results import Stored
    from onedial.studies.dials.dials_stages import STAGES, loads
    from onedial.studies.dials.dials_study import DialStudy
    from steering.vectors import check_making

    if options.dry_run:
        return say(forecast(options, inputs, template, partial(loads, options)))

    check_making(options.contrast, options.methods[0], len(inputs.ids("extraction")))
    start = Start(PROGRAM, options, "dials")
    model = start.load_subject(options)
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    with start.begin(notes, model) as run:
        run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
        study = DialStudy(run, model, inputs, template, options)
        go_through(run, study, STAGES, options)
        question = f"Which dial of {model.identity.name} orders the questions as the targets do?"
        end(Stored(run, DIAL_RESULTS, WORDS), Opening(question, study.comparison.sentence()), study)


main = program(DialOptions, compare, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
