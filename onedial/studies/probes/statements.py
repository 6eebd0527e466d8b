"""The facts as statements and their negations, read without labels: statements.csv."""

from onedial.asking.statements import load_statements
from onedial.core.progress import progress_bar
from onedial.panels.questions.facts import load_facts
from onedial.studies.probes.probes_study import Study
from probes.directions.contrast import CONTRAST_COLUMNS, read_without_labels
from probes.directions.statement_streams import StatementStores


def statements_stage(study: Study) -> None:
    """At some layers."""
    if not study.options.facts or study.options.read_at != "last":
        return
    options, statements = study.options, load_statements(load_facts(study.options.facts, study.options.seed))
    layers = study.spread_layers(options.statement_layers)
    with progress_bar(4 * len(statements), "activations of statements") as advance:
        stores = StatementStores.read(
            study.model,
            statements,
            study.folder("statements"),
            layers=layers,
            n_folds=options.folds,
            n_bootstrap=options.replicates,
            seed=options.seed,
            progress=advance,
        )
    parts = study.run.parts("statements", ["layer", *CONTRAST_COLUMNS], ["layer", "method"])
    done = {int(layer) for layer in parts.done("layer")}
    with progress_bar(len(layers) - len(done), "without labels") as advance:
        for layer in layers:
            if layer not in done:
                table = read_without_labels(stores.at(layer), stores.draws)
                parts.append(table.assign(layer=layer))
                advance(1)
    study.run.write_table("statements.csv", parts.read())
