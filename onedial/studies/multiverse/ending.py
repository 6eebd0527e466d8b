"""Every universe judged from the files of the run: table, figure, page and the sentence."""

from collections.abc import Sequence

from onedial.core.pulse import say
from onedial.report.multiverse import write_multiverse
from onedial.show.progress import progress_bar
from onedial.show.terminal import print_results
from onedial.studies.multiverse.study import MultiverseStudy
from onedial.verdict.comparing.multiverse import (
    Universe,
    case_of_crossings,
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
    about, rows = study.inputs.frame().set_index("id"), []
    with progress_bar(len(universes), "verdicts") as advance:
        for each in universes:
            entry, own = plans[each.wording]["entries"].get(each.universe_id), turns[each.wording]
            if entry is None:
                rows.append(no_result() | {"n_yes": 0, "n_no": 0})
            else:
                ends, here = entry["magnitudes"], own[own["intervention_id"] == each.universe_id]
                case = case_of_crossings(here, (ends[0], ends[-1]), about["split"]).beside(
                    study.inputs.panel,
                    about=about,
                    norms_per_unit=entry["norms_per_unit"],
                    n_resamples=options.replicates,
                    seed=options.seed,
                )
                rows.append(judge_universe(case) | {"n_yes": entry["n_yes"], "n_no": entry["n_no"]})
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
    varied = (
        f"{len(layers)} layer(s) ({', '.join(map(str, layers))}), {len(options.contrasts)} contrast(s), "
        f"{len(study.templates)} wording(s) and {options.resamples} further draw(s) of the extraction questions"
    )
    return (
        f"One thing at a time is changed, of {varied}, with replacement. As run: layer {base.layer}, {base.contrast} "
        f"contrast, {base.wording}, every question once; {len(study.inputs.questions)} questions in all. Each vector "
        "has a range of its own."
    )
