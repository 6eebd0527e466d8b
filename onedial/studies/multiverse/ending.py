"""Every universe judged from the files of the run: table, figure, page and the sentence."""

from collections.abc import Sequence

from onedial.core.pulse import say
from onedial.report.multiverse import write_multiverse
from onedial.show.progress import progress_bar
from onedial.show.terminal import print_results
from onedial.stats.remembered import fits_remembered
from onedial.studies.multiverse.study import MultiverseStudy
from onedial.verdict.comparing.multiverse import (
    Universe,
    judge_universe,
    multiverse_summary,
    multiverse_table,
    no_result,
)


def finish(study: MultiverseStudy, universes: Sequence[Universe]) -> None:
    """Judge every universe from the files of the run, and write tables, figure, page and the sentence."""
    run, options = study.run, study.options
    wordings = {template.name: number for number, template in enumerate(study.templates)}
    plans = {name: run.read_json(f"plans/wording-{number}.json") for name, number in wordings.items()}
    turns = {name: study.turns(number).read() for name, number in wordings.items()}
    questions, rows = study.inputs.frame(), []
    with progress_bar(len(universes), "verdicts") as advance, fits_remembered():
        for each in universes:
            entry, own = plans[each.wording]["entries"].get(each.universe_id), turns[each.wording]
            if entry is None:
                rows.append(no_result() | {"n_yes": 0, "n_no": 0})
            else:
                ends = entry["magnitudes"][0], entry["magnitudes"][-1]
                found = judge_universe(
                    own[own["intervention_id"] == each.universe_id],
                    ends,
                    entry["norms_per_unit"],
                    study.inputs.panel,
                    questions,
                    options.seed,
                    options.replicates,
                )
                rows.append(found | {"n_yes": entry["n_yes"], "n_no": entry["n_no"]})
            advance(1)
    table = multiverse_table(universes, rows)
    summary = multiverse_summary(table)
    summary |= {"model": study.model.identity.name, "asked": asked(study, universes)}
    stored, page = write_multiverse(run, table, summary)
    print_results(stored, str(summary["sentence"]))
    say(f"written to {run.path}; page: {page}")


def asked(study: MultiverseStudy, universes: Sequence[Universe]) -> str:
    """What was varied, for the page."""
    options, base = study.options, universes[0]
    layers = sorted({each.layer for each in universes})
    how = "Every combination of" if options.cross else "One thing at a time is changed, of"
    return (
        f"{how} {len(layers)} layer(s) ({', '.join(map(str, layers))}), {len(options.contrasts)} contrast(s), "
        f"{len(study.templates)} wording(s) and {options.resamples} further draw(s) of the extraction questions, with "
        f"replacement. As run: layer {base.layer}, {base.contrast} contrast, {base.wording}, every question once; "
        f"{len(study.inputs.questions)} questions in all. Each vector has a range of its own."
    )
