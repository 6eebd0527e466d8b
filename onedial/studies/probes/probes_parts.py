"""Do what a study of probes does at its one layer, part by part, once each label's layer is known.

directions.csv   cosines with intervals, nulls and reliabilities      cross.csv     each probe on each label
transfer.csv     probes of the questions on the facts, and back       erasure.csv   one label out, the others read
statements.csv   the facts as statements and their negations, read without labels
effects.csv      is what reads also used? pushes along the directions
patching.csv     from which layer on does the last token decide?
own.csv          own correctness beyond words and difficulty, and other models' beside it
elsewhere.csv    the probes read on another checkpoint, the same questions
writing.csv      the probes of the main labels while the model reasons; token by token: tokens_written.parquet
"""

import numpy as np
import pandas as pd
import torch

from onedial.asking.instruments import reasoned
from onedial.asking.statements import load_statements
from onedial.asking.yes_no import is_read
from onedial.core.progress import progress_bar
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.model import load_model
from onedial.models.prompt_set import PromptSet
from onedial.panels.questions.facts import load_facts
from onedial.studies.probes.probes_study import Floats, ProbeStudy
from probes.directions.contrast import CONTRAST_COLUMNS, read_without_labels
from probes.directions.erasure import erasure_table
from probes.directions.geometry import LabelledRows, cross_evaluation, direction_table, transfer_table
from probes.directions.statement_streams import StatementStores
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.labels import OWN_CORRECT, OWN_MARGIN, OWN_YES, correct_label
from probes.fitting.linear import Probe
from probes.fitting.measure import ProbeTask
from probes.other_checkpoint import read_elsewhere
from probes.own_correctness import own_or_shared
from probes.while_writing import TOKEN_COLUMNS, course_of, read_while_writing
from steering.causes import Chance, effects_of, patched_margins, patching_table

BEST_ESTIMATED = "mean_difference"
"""The direction with the least noise (docs/probes.md), beside that of the method which reads best."""


def directions_stage(study: ProbeStudy) -> None:
    """Compare the directions of all labels at the study's one layer."""
    layer, task, method = study.one_layer, study.task, study.options.methods[0]
    rows, main, nulls = study.rows(layer), study.main_labels, study.options.nulls
    of_questions = LabelledRows(rows, task, study.penalties(layer), main)
    tables = {
        "directions": pd.concat(
            direction_table(of_questions, name, n_null=nulls).assign(method=name)
            for name in dict.fromkeys([method, BEST_ESTIMATED])
        ),
        "cross": cross_evaluation(study.fitted(layer)[method], task.draws, main, task.labels),
    }
    if (asked := study.measured_facts) is not None:
        facts, fitted = asked.task, study.fitted(layer, facts=True)[method]
        among = cross_evaluation(fitted, facts.draws, facts.labels, facts.labels)
        tables["cross"] = pd.concat([tables["cross"], among])
        penalties = study.penalties(layer, facts=True)
        of_facts = LabelledRows(study.rows(layer, asked.store), facts, penalties, facts.labels)
        tables["transfer"] = pd.concat(
            transfer_table(here, there, method, n_null=nulls)
            for here, there in ((of_questions, of_facts), (of_facts, of_questions))
        )
    before = study.fitted(layer).get("ridge")
    if before is None:
        before = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    tables["erasure"] = erasure_table(rows, task, before, main, main)
    for name, table in tables.items():
        study.run.write_table(f"{name}.csv", table.assign(layer=layer))


def statements_stage(study: ProbeStudy) -> None:
    """Read the truth of statements without labels, at some layers: statements.csv."""
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


PUSHED = ("logistic", "mean_difference")


def use_stage(study: ProbeStudy) -> None:
    """Push the directions, as they are read and as the difference of means, on some of the questions."""
    options, layer, probes = study.options, study.one_layer, study.probes_at(study.one_layer)
    methods = [name for name in options.methods if name in PUSHED] or list(options.methods[:1])
    known: dict[tuple[str, str], Probe] = {
        (label, method): probes[method][label] for method in methods for label in study.main_labels
    }
    if study.measured_facts is not None:
        of_facts = study.probes_at(layer, facts=True)[options.methods[0]]
        known |= {(label, options.methods[0]): probe for label, probe in of_facts.items()}
    asked = study.spread_over_topics(options.n_pushed)
    with progress_bar(len(asked), "pushes") as advance:
        table = effects_of(
            study.model,
            study.prompts.subset(asked),
            {f"{label} | {method}": probe.direction for (label, method), probe in known.items()},
            layer,
            study.store.read(layer),
            step=options.step,
            chance=Chance(options.controls, options.replicates, options.seed),
            progress=advance,
        )
    split = table["direction"].str.split(" | ", regex=False, n=1)
    table = table.assign(label=split.str[0], method=split.str[1].fillna(""), layer=layer, step=options.step)
    first = [probe for (label, _), probe in known.items() if label == study.main_labels[0]][-1].direction
    pushed = [known.get((label, method)) for label, method in table[["label", "method"]].to_numpy()]
    table["auroc"] = [probe.auroc if probe else float("nan") for probe in pushed]
    table["cosine_with_own"] = [float(torch.dot(probe.direction, first)) if probe else float("nan") for probe in pushed]
    study.run.write_table("effects.csv", table)


def patching_stage(study: ProbeStudy) -> None:
    """Patch the last token's stream of the easiest questions into the hardest, and the other way round."""
    options = study.options
    if study.options.read_at != "last" or not options.n_patched:
        return
    pairs, tables = easy_and_hard(study.labels.difficulty, options.n_patched, options.seed), []
    with progress_bar(sum(len(donors) for donors, _ in pairs.values()), "patches") as advance:
        for kind, (donors, receivers) in pairs.items():
            margins = patched_margins(
                study.model,
                study.prompts,
                study.places(donors).tolist(),
                study.places(receivers).tolist(),
                study.store.layers,
                progress=advance,
            )
            table = patching_table(margins.double().numpy(), study.store.layers, options.replicates, options.seed)
            tables.append(table.assign(kind=kind))
    study.run.write_table("patching.csv", pd.concat(tables))


def easy_and_hard(difficulty: pd.Series, n: int, seed: int = 0) -> dict[str, tuple[list[str], list[str]]]:
    """Kind -> donors and receivers for patching: the n easiest and the n hardest questions, paired at random.

    Args:
        difficulty: index question_id, higher = harder; nan takes no part.
    """
    order = difficulty.dropna().sort_values(kind="stable").index.tolist()
    n = min(n, len(order) // 2)
    drawn = np.random.default_rng(seed).permutation(n)
    easy, hard = order[:n], [order[len(order) - n + place] for place in drawn]
    return {"easy into hard": (easy, hard), "hard into easy": (hard, easy)}


def own_stage(study: ProbeStudy) -> None:
    """Ask whose correctness is read, at the one layer and where it reads best; nothing where nobody's is known."""
    respondents = study.labels.panel.respondents["model"]
    if not {OWN_CORRECT, *(correct_label(str(model)) for model in respondents)} & set(study.task.labels):
        return
    method, tables = study.options.methods[0], []
    chosen = study.run.read_table("chosen.csv").set_index("label")["layer"]
    places = {"where all are compared": study.one_layer}
    if OWN_CORRECT in chosen.index:
        places["where own correctness reads best"] = int(chosen[OWN_CORRECT])
    for where, layer in places.items():
        table = own_or_shared(study.rows(layer), study.fitted(layer)[method], study.task, study.labels)
        tables.append(table.assign(layer=layer, where=where))
    study.run.write_table("own.csv", pd.concat(tables))


def elsewhere_stage(study: ProbeStudy) -> None:
    """Read the probes of the one layer on another checkpoint; nothing where none is named."""
    if study.options.other_model:
        table = read_on_other_model(study, study.options.other_model, study.one_layer)
        study.run.write_table("elsewhere.csv", table)


def read_on_other_model(study: ProbeStudy, name: str, layer: int) -> pd.DataFrame:
    """The probes of one layer on the same layer of another checkpoint, whose own answers are its own labels there."""
    options = study.options
    other = load_model(name, dtype=options.dtype, device_map=options.device_map)
    store = study.read(PromptSet.build(other, study.questions, study.template), "other", other, [layer])
    fitted = study.fitted(layer)[options.methods[0]]
    truth = own_labels_there(study.task, store)
    table = read_elsewhere(study.rows(layer), study.rows(layer, store), study.task, fitted, truth, options.methods[0])
    return table.assign(model=name, layer=layer)


def own_labels_there(task: ProbeTask, store: ActivationStore) -> Floats:
    """(question, label) the task's labels, with the other checkpoint's own yes in the place of the subject's."""
    margin, truth = store.margin.double().numpy(), task.values.copy()
    read = is_read(store.mass.numpy())
    for label in {OWN_YES, OWN_MARGIN} & set(task.labels):
        cut = 0.0 if label == OWN_YES else float(np.median(margin[read]))
        truth[:, task.labels.index(label)] = np.where(read, margin > cut, np.nan)
    return truth


AT_ONCE = 32
"""Questions that are answered, and kept, together."""


def writing_stage(study: ProbeStudy) -> None:
    """Some questions of all topics, answered with reasons before the yes or no; what is kept is not written again."""
    if not study.options.n_reasoned:
        return
    layer = study.one_layer
    rows, fitted = study.rows(layer), study.probes_at(layer)[study.options.methods[0]]
    probes = {label: fitted[label] for label in study.main_labels}
    by_id = {question.id: question for question in study.questions}
    asked = [by_id[question] for question in study.spread_over_topics(study.options.n_reasoned)]
    parts = study.run.parts("written", TOKEN_COLUMNS, ["question_id", "place", "label"])
    done = parts.done("question_id")
    shares = [asked[first : first + AT_ONCE] for first in range(0, len(asked), AT_ONCE)]
    left = [share for share in shares if not any(question.id in done for question in share)]
    with progress_bar(sum(map(len, left)), "reasoned answers") as advance:
        for share in left:
            instrument = reasoned(study.template)
            parts.append(read_while_writing(study.model, share, probes, layer, rows, instrument, progress=advance))
    tokens = parts.read()
    study.run.write_table("tokens_written.parquet", tokens)
    course = course_of(tokens, n_bootstrap=study.options.replicates, seed=study.options.seed)
    study.run.write_table("writing.csv", course.assign(layer=layer))
