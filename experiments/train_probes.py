"""What does the residual stream of one model know about knowing, and is it used?

    python experiments/train_probes.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/train_probes.py --n-questions 200 --layers 8-24    # a quick look
    python experiments/train_probes.py --model Qwen/Qwen2.5-7B-Instruct --panel my_panel.csv --store acts/qwen

Labels: the subject's own yes and its own correctness, the panel's shared difficulty, each target's yes, and the truth
of facts that have nothing to do with ability. Activations are read once and kept (--store, by default in the user's
cache).

    probes       each label at each layer, topics held out           probes.csv, chosen.csv, methods.csv
    facts        the same for the facts                              facts.csv
    statements   truth without labels: CCS and its controls          statements.csv, distraction.csv
    directions   is it the same direction? at one layer              directions.csv, cross.csv, transfer.csv,
                                                                     erasure.csv, angles.csv
    use          what happens when the directions are pushed         effects.csv
    own          own correctness beyond words and difficulty         own.csv
    where        layer by position; the last token patched           where.csv, patching.csv
    replacement  the words alone in the place of a dial (--dial)     replacement.csv, replacement_targets.csv
    writing      readings while the model reasons                    writing.csv, tokens_written.parquet
    elsewhere    far from home: other questions, --other-model       distance.csv, readings.csv, elsewhere.csv
    lens         what each layer would answer                        lens.csv, tokens.csv

The run's folder holds the tables, layers/*.safetensors (probes and held-out scores), figures/ and report.html. A run
that was broken off goes on with --resume.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from common import InputError, KeysOf, natural, positive, program_parser, run_command, say
from run_store import Notes, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate
    from matching import ExperimentInputs
    from open_models import ActivationStore, OpenModel, PromptSet
    from probes import CrossFitted, Probe, ProbeLabels, ProbeTask

PROGRAM = "train_probes"
MODEL = "smollm2-135m-instruct"
PROMPT, PROMPT_OF_EMBEDDED = "neutral", "examples YN"
MAY_CHANGE = ("stages", "store", "dial", "other_model", "embedding")
MAPPED_LAYERS = 10
DISTRACTIONS = (0.0, 0.5, 1.0, 2.0)
"""Strengths of a feature that has nothing to do with truth, see `probes.distraction_table`."""


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        train_probes(options, notes)


def train_probes(options: argparse.Namespace, notes: Notes) -> None:
    inputs, template = read_inputs(options)
    from open_models import PromptSet, choose_threads, load_model, quiet_libraries, store_activations
    from reporting import progress_bar, write_probe_figures, write_probe_report

    quiet_libraries()
    Run.check(configuration_of(options), options.out, options.resume, MAY_CHANGE)
    threads = choose_threads()
    model = load_model(options.model, revision=options.revision, dtype=options.dtype, device_map=options.device_map)
    layers = layers_of(options.layers, model)
    check_comparison(options, layers)
    say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}")
    prompts = PromptSet.build(model, inputs.questions, template)
    run = Run.begin(
        PROGRAM, configuration_of(options), options.out, options.resume, f"probes-{options.model}", MAY_CHANGE
    )
    with run:
        notes.keep_in(run)
        try:
            run.record_once("model", model.identity.as_dict(), "load the same model or choose another --out")
            run.record(device=str(model.device), dtype=str(model.dtype).removeprefix("torch."), threads=threads)
            run.record(seeds={"all": options.seed})
            say(f"run: {run.path}")
            with run.stage("activations"), progress_bar(len(prompts), "activations") as advance:
                store = store_activations(
                    model, prompts, options.store, layers=layers, positions=[options.position], progress=advance
                )
            work = Work(options, run, model, inputs, template, prompts, store)
            work.keep_inputs()
        except InputError:
            run.withdraw()
            raise
        for name, stage in STAGES.items():
            if name in options.stages and not is_done(run, name):
                with run.stage(name):
                    stage(work)
        with run.stage("report"):
            write_probe_figures(run)
            report = write_probe_report(run)
    print_summary(run)
    say(f"report: {report}")


def is_done(run: Run, stage: str) -> bool:
    """Whether a stage was completed when the run was last at work."""
    return any(entry["stage"] == stage and entry["completed"] for entry in run.manifest.stages)


@dataclass(frozen=True)
class Facts:
    """Facts that have nothing to do with ability: their activations, labels and folds."""

    store: "ActivationStore"
    task: "ProbeTask"


def penalties_of(fitted: "CrossFitted") -> dict[str, float]:
    """Label -> the penalty for a probe of all questions."""
    from probes import best_penalties

    return dict(zip(fitted.labels, best_penalties(fitted).tolist(), strict=True))


@dataclass
class Work:
    """What the stages share.

    Attributes:
        store: activations of the questions. Everything else is made of it and of the panel when first asked for.
    """

    options: argparse.Namespace
    run: Run
    model: "OpenModel"
    inputs: "ExperimentInputs"
    template: "PromptTemplate"
    prompts: "PromptSet"
    store: "ActivationStore"

    @cached_property
    def labels(self) -> "ProbeLabels":
        """Labels of the questions."""
        from probes import labels_of

        return labels_of(self.store, self.inputs.panel)

    @cached_property
    def task(self) -> "ProbeTask":
        """Labels, folds, texts: what does not depend on a layer."""
        from probes import ProbeTask, TopicFolds

        topics = [question.topic for question in self.inputs.questions]
        return ProbeTask(
            self.labels.truth,
            tuple(question.text for question in self.inputs.questions),
            TopicFolds.of(topics, self.options.folds, self.options.seed),
            n_shuffled=self.options.shuffles,
            n_control=self.options.shuffles,
            n_bootstrap=self.options.bootstrap,
            seed=self.options.seed,
        )

    def rows(self, layer: int, store: "ActivationStore | None" = None) -> Any:
        """(question, d_model) activations of one layer, float64."""
        return (store or self.store).read(layer, position=self.options.position).double().numpy()

    def layer_file(self, layer: int, name: str = "probes") -> str:
        """The name of a layer's file within the run."""
        return f"layers/{'' if name == 'probes' else f'{name}-'}L{layer:03d}.safetensors"

    def loaded(self, layer: int, name: str, task: "ProbeTask") -> "tuple[Any, Any]":
        """Held-out scores and probes of one layer, from its file."""
        from probes import load_layer

        return load_layer(self.run.path / self.layer_file(layer, name), task)

    @cached_property
    def by_layer(self) -> "dict[int, dict[str, CrossFitted]]":
        """Layer -> method -> held-out scores."""
        return {layer: self.loaded(layer, "probes", self.task)[0] for layer in self.store.layers}

    @cached_property
    def facts_by_layer(self) -> "dict[int, dict[str, CrossFitted]]":
        """The same of the facts."""
        assert self.facts is not None
        return {layer: self.loaded(layer, "facts", self.facts.task)[0] for layer in self.facts.store.layers}

    def probes_at(self, layer: int) -> "dict[str, dict[str, Probe]]":
        """Method -> label -> the probe of all questions."""
        found: dict[str, dict[str, Probe]] = self.loaded(layer, "probes", self.task)[1]
        return found

    def facts_probes_at(self, layer: int) -> "dict[str, dict[str, Probe]]":
        """The same of the facts."""
        assert self.facts is not None
        found: dict[str, dict[str, Probe]] = self.loaded(layer, "facts", self.facts.task)[1]
        return found

    def penalties(self, layer: int) -> dict[str, float]:
        """Label -> the penalty that the folds chose."""
        return penalties_of(self.by_layer[layer][self.options.methods[0]])

    def facts_penalties(self, layer: int) -> dict[str, float]:
        """The same of the facts."""
        return penalties_of(self.facts_by_layer[layer][self.options.methods[0]])

    @property
    def main_labels(self) -> list[str]:
        """Those of the subject and of the panel as a whole; where there are none, the first of the others."""
        from probes import MAIN_LABELS

        return [label for label in MAIN_LABELS if label in self.task.labels] or self.task.labels[:2]

    @cached_property
    def one_layer(self) -> int:
        """The layer at which directions are compared: the median of the main labels' chosen layers."""
        if self.options.compare_at is not None:
            return int(self.options.compare_at)
        chosen = self.run.read_table("chosen.csv").set_index("label")["layer"]
        layers = sorted(int(chosen[label]) for label in self.main_labels)
        return layers[len(layers) // 2]

    @property
    def facts_are_there(self) -> bool:
        """Whether facts were asked for and have been measured."""
        return bool(self.options.facts) and self.run.has("chosen_facts.csv")

    @cached_property
    def facts(self) -> "Facts | None":
        """Unrelated facts with their activations and labels; None where there are to be none."""
        if not self.options.facts:
            return None
        from elicitation import FACT, load_facts, truth_of
        from open_models import PromptSet, store_activations
        from probes import ProbeTask, TopicFolds, fact_labels
        from reporting import progress_bar

        facts = load_facts(self.options.facts, self.options.seed)
        prompts = PromptSet.build(self.model, facts, FACT.template)
        folder = f"{self.options.store}-facts" if self.options.store else None
        with progress_bar(len(facts), "activations of facts") as advance:
            store = store_activations(
                self.model,
                prompts,
                folder,
                layers=self.store.layers,
                positions=[self.options.position],
                progress=advance,
            )
        task = ProbeTask(
            fact_labels(store, truth_of(facts)),
            tuple(fact.text for fact in facts),
            TopicFolds.of([fact.topic for fact in facts], self.options.folds, self.options.seed),
            n_shuffled=self.options.shuffles,
            n_control=self.options.shuffles,
            n_bootstrap=self.options.bootstrap,
            seed=self.options.seed,
        )
        return Facts(store, task)

    def spread_over_topics(self, n: int) -> list[str]:
        """Ids of n questions, topic by topic in turn."""
        import numpy as np

        order = np.random.default_rng(self.options.seed).permutation(len(self.prompts))
        topic, seen = self.task.folds.topic, dict.fromkeys(range(self.task.folds.n_topics), 0)
        turns = []
        for place in order:
            turns.append((seen[int(topic[place])], int(place)))
            seen[int(topic[place])] += 1
        return [self.prompts.question_ids[place] for place in sorted(place for _, place in sorted(turns)[:n])]

    def places(self, question_ids: Sequence[str]) -> Any:
        """Places of some questions among all."""
        import numpy as np

        place = {question: number for number, question in enumerate(self.prompts.question_ids)}
        return np.array([place[question] for question in question_ids], dtype=np.intp)

    def easy_and_hard(self, n: int) -> dict[str, tuple[list[str], list[str]]]:
        """Kind -> donors and receivers for patching: the n easiest and the n hardest questions, paired at random."""
        import numpy as np

        order = self.labels.difficulty.dropna().sort_values(kind="stable").index.tolist()
        n = min(n, len(order) // 2)
        drawn = np.random.default_rng(self.options.seed).permutation(n)
        easy, hard = order[:n], [order[len(order) - n + place] for place in drawn]
        return {"easy into hard": (easy, hard), "hard into easy": (hard, easy)}

    def keep_inputs(self) -> None:
        """Keep questions, labels and prompt; on resume they must be the same."""
        from elicitation import questions_frame

        frame = questions_frame(self.inputs.questions)
        self.run.keep_table("questions.parquet", frame.assign(fold=self.task.folds.fold), ["id", "question"])
        truth = self.labels.truth.reset_index().assign(difficulty=self.labels.difficulty.round(6).to_numpy())
        self.run.keep_table("labels.parquet", truth, ["question_id"])
        self.run.write_text("prompt.txt", f"{self.prompts.example}\n")
        self.run.record(activations=str(self.store.folder))


# ---- stages --------------------------------------------------------------------------------------------------------


def probes_stage(work: Work) -> None:
    """Every label at every layer by every method; the best layer of each label, chosen without what judges it."""
    table = measure_layers(work, "probes", work.store, work.task, work.options.methods)
    chosen, methods = chosen_tables(work, table, work.task, work.by_layer)
    work.run.write_table("chosen.csv", chosen)
    work.run.write_table("methods.csv", methods)


def measure_layers(
    work: Work, name: str, store: "ActivationStore", task: "ProbeTask", methods: Sequence[str]
) -> "pd.DataFrame":
    """NAME.csv: every label of a task at every layer; what stands in the run already is not measured again."""
    from probes import PROBE_COLUMNS, measure_layer, save_layer
    from reporting import progress_bar

    parts = work.run.parts(name, ["layer", *PROBE_COLUMNS], ["layer", "label", "method"])
    done = {int(layer) for layer in parts.done("layer")}
    left = [layer for layer in store.layers if layer not in done]
    with progress_bar(len(left), name) as advance:
        for layer in left:
            found = measure_layer(work.rows(layer, store), task, methods, methods[:1])
            save_layer(work.run.file(work.layer_file(layer, name)), found, task.labels)
            parts.append(found.table.assign(layer=layer))
            advance(1)
    table = parts.read()
    work.run.write_table(f"{name}.csv", table)
    return table


def chosen_tables(
    work: Work, table: "pd.DataFrame", task: "ProbeTask", by_layer: "dict[int, dict[str, CrossFitted]]"
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Each label at the layer that the other topics choose, and all methods there."""
    import pandas as pd

    from probes import choose_layer

    method = work.options.methods[0]
    scores = {layer: found[method] for layer, found in by_layer.items()}
    lines, by_method = [], []
    for label in task.labels:
        chosen = choose_layer(scores, label, task.draws)
        at_layer = table[(table["layer"] == chosen.layer) & (table["label"] == label)].set_index("method")
        own = at_layer.loc[method].to_dict()
        area = {"auroc": chosen.area.auroc, "low": chosen.area.low, "high": chosen.area.high, "se": chosen.area.se}
        over = {
            "over_text": area["auroc"] - own["text"],
            "over_text_low": own["over_text_low"] + area["auroc"] - own["auroc"],
            "over_text_high": own["over_text_high"] + area["auroc"] - own["auroc"],
        }
        lines.append({"label": label, "highest": chosen.highest, **own, **area, **over, "layer": chosen.layer})
        by_method.append({"label": label, **at_layer["auroc"].to_dict()})
    return pd.DataFrame(lines), pd.DataFrame(by_method)


def facts_stage(work: Work) -> None:
    """The truth of facts, and the subject's yes to them, at every layer."""
    if work.facts is None:
        return
    asked = work.facts
    table = measure_layers(work, "facts", asked.store, asked.task, work.options.methods[:1])
    work.run.write_table("chosen_facts.csv", chosen_tables(work, table, asked.task, work.facts_by_layer)[0])


def statements_stage(work: Work) -> None:
    """The facts as statements and their negations, read without labels; and the same with a planted distraction."""
    from elicitation import NONSENSE, load_facts, load_statements
    from probes import CONTRAST_COLUMNS, StatementStores, distraction_table, read_without_labels
    from reporting import progress_bar

    if not work.options.facts or work.options.position != "last":
        return
    options, statements = work.options, load_statements(load_facts(work.options.facts, work.options.seed))
    layers = spread_layers(work.store.layers, options.statement_layers)
    with progress_bar(6 * len(statements), "activations of statements") as advance:
        stores = StatementStores.read(
            work.model,
            statements,
            f"{options.store}-statements" if options.store else None,
            layers=layers,
            n_folds=options.folds,
            n_bootstrap=options.bootstrap,
            seed=options.seed,
            progress=advance,
        )
    parts = work.run.parts("statements", ["layer", *CONTRAST_COLUMNS], ["layer", "method", "marker"])
    done = {int(layer) for layer in parts.done("layer")}
    with progress_bar(len(layers) - len(done), "without labels") as advance:
        for layer in layers:
            if layer not in done:
                table = read_without_labels(stores.at(layer), stores.at(layer, NONSENSE), stores.draws)
                parts.append(table.assign(layer=layer))
                advance(1)
    table = parts.read()
    work.run.write_table("statements.csv", table)
    supervised = table[(table["method"] == "supervised") & (table["marker"] == "negation")]
    layer = int(supervised["layer"].iloc[int(supervised["auroc"].argmax())])
    planted = distraction_table(stores.at(layer), DISTRACTIONS, stores.draws)
    work.run.write_table("distraction.csv", planted.assign(layer=layer))


def spread_layers(layers: Sequence[int], n: int) -> list[int]:
    """At most so many of the layers, evenly spread, the last among them and the embedding's neighbours left out."""
    step = len(layers) / min(n, len(layers))
    return [layers[round((place + 1) * step) - 1] for place in range(min(n, len(layers)))]


def directions_stage(work: Work) -> None:
    """Are the main labels and those of the facts read along one direction?"""
    import pandas as pd

    from probes import cross_evaluation, direction_table, erasure_table, subspace_table, transfer_table

    layer, task, method = work.one_layer, work.task, work.options.methods[0]
    rows, fitted, main = work.rows(layer), work.by_layer[layer][method], work.main_labels
    null = {"n_null": work.options.nulls}
    tables = {
        "directions": pd.concat(
            direction_table(rows, task, work.penalties(layer), main, name, **null).assign(method=name)
            for name in dict.fromkeys([method, "mean_difference"])  # what reads best, and what is estimated best
        ),
        "cross": cross_evaluation(fitted, task.draws, main, task.labels),
    }
    by_model = targets_by_model(work)
    if by_model:
        tables["angles"] = subspace_table(rows, task, work.penalties(layer), by_model, main, method, **null)
    if work.facts_are_there:
        asked = work.facts
        assert asked is not None
        own = work.facts_by_layer[layer][method]
        among = cross_evaluation(own, asked.task.draws, asked.task.labels, asked.task.labels)
        tables["cross"] = pd.concat([tables["cross"], among])
        both = (
            (rows, task, work.penalties(layer), main),
            (
                work.rows(layer, asked.store),
                asked.task,
                work.facts_penalties(layer),
                asked.task.labels,
            ),
        )
        tables["transfer"] = pd.concat(
            [
                transfer_table(*both[0], both[1][0], both[1][1], both[1][3], method, **null),
                transfer_table(*both[1], both[0][0], both[0][1], both[0][3], method, **null),
            ]
        )
    before = work.by_layer[layer].get("ridge")
    if before is None:
        from probes import cross_fit, of_rows

        before = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    tables["erasure"] = erasure_table(rows, task, before, main, main)
    for name, table in tables.items():
        work.run.write_table(f"{name}.csv", table.assign(layer=layer))


def targets_by_model(work: Work) -> dict[str, list[str]]:
    """Base model -> labels of what it says under its framings; their directions span its subspace."""
    from probes import target_label

    respondents = work.labels.panel.respondents["model"]
    found: dict[str, list[str]] = {}
    for name, model in respondents.items():
        if target_label(str(name)) in work.task.labels:
            found.setdefault(str(model), []).append(target_label(str(name)))
    return found


def use_stage(work: Work) -> None:
    """Push the directions, as they are read and as the difference of means, on some of the questions."""
    import torch

    from reporting import progress_bar
    from steering import effects_of

    layer, methods = work.one_layer, [name for name in work.options.methods if name in ("logistic", "mean_difference")]
    methods = methods or work.options.methods[:1]
    probes = work.probes_at(layer)
    known: dict[tuple[str, str], Probe] = {}
    for method in methods:
        known |= {(label, method): probes[method][label] for label in work.main_labels}
    if work.facts_are_there:
        method = work.options.methods[0]
        known |= {(label, method): probe for label, probe in work.facts_probes_at(layer)[method].items()}
    asked = work.spread_over_topics(work.options.n_pushed)
    topics = {question.id: question.topic for question in work.inputs.questions}
    with progress_bar(len(asked), "pushes") as advance:
        table = effects_of(
            work.model,
            work.prompts.subset(asked),
            {f"{label} | {method}": probe.direction for (label, method), probe in known.items()},
            layer,
            work.store.read(layer),
            [topics[question] for question in asked],
            step=work.options.step,
            n_random=work.options.n_random,
            n_bootstrap=work.options.bootstrap,
            seed=work.options.seed,
            progress=advance,
        )
    split = table["direction"].str.split(" | ", regex=False, n=1)
    table = table.assign(label=split.str[0], method=split.str[1].fillna(""), layer=layer, step=work.options.step)
    own = [probe for (label, _), probe in known.items() if label == work.main_labels[0]][-1].direction
    pushed = [known.get((label, method)) for label, method in table[["label", "method"]].to_numpy()]
    table["auroc"] = [probe.auroc if probe else float("nan") for probe in pushed]
    table["cosine_with_own"] = [float(torch.dot(probe.direction, own)) if probe else float("nan") for probe in pushed]
    work.run.write_table("effects.csv", table)


def own_stage(work: Work) -> None:
    """Own correctness beyond words and difficulty, and other models' beside it."""
    import pandas as pd

    from probes import OWN_CORRECT, correct_label, own_or_shared

    respondents = work.labels.panel.respondents["model"]
    if not {OWN_CORRECT, *(correct_label(str(model)) for model in respondents)} & set(work.task.labels):
        return
    method, tables = work.options.methods[0], []
    chosen = work.run.read_table("chosen.csv").set_index("label")["layer"]
    places = {"where all are compared": work.one_layer}
    if OWN_CORRECT in chosen.index:
        places["where own correctness reads best"] = int(chosen[OWN_CORRECT])
    for where, layer in places.items():
        found = own_or_shared(work.by_layer[layer][method], work.task, work.labels)
        tables.append(found.assign(layer=layer, where=where))
    work.run.write_table("own.csv", pd.concat(tables))


def where_stage(work: Work) -> None:
    """Where in the prompt the main labels read, and from which layer on the last token decides."""
    import pandas as pd

    from open_models import patched_margins, store_activations
    from probes import MappedQuestions, position_map
    from reporting import progress_bar

    if work.options.position != "last" or not work.options.n_mapped:
        return
    options, asked = work.options, work.spread_over_topics(work.options.n_mapped)
    layers = spread_layers(work.store.layers, MAPPED_LAYERS)
    prompts = work.prompts.subset(asked)
    with progress_bar(len(asked), "activations of each token") as advance:
        store = store_activations(
            work.model,
            prompts,
            f"{options.store}-each" if options.store else None,
            layers=layers,
            positions=["each"],
            progress=advance,
        )
    mapped = MappedQuestions(store, prompts, work.places(asked))
    probes = work.probes_at(work.one_layer)[options.methods[0]]
    directions = {label: probes[label].direction for label in work.main_labels}
    work.run.write_table("where.csv", position_map(mapped, work.store, work.task, directions, work.model))
    pairs = work.easy_and_hard(options.n_mapped // 3)
    tables = []
    with progress_bar(sum(len(donors) for donors, _ in pairs.values()), "patches") as advance:
        for kind, (donors, receivers) in pairs.items():
            margins = patched_margins(
                work.model,
                work.prompts,
                work.places(donors).tolist(),
                work.places(receivers).tolist(),
                work.store.layers,
                progress=advance,
            )
            table = patching_table(margins.double().numpy(), work.store.layers, options.bootstrap, options.seed)
            tables.append(table.assign(kind=kind))
    work.run.write_table("patching.csv", pd.concat(tables))


def patching_table(margins: Any, layers: Sequence[int], n_bootstrap: int, seed: int) -> "pd.DataFrame":
    """Share of the way from receiver to donor after each layer's patch, with 95% intervals over pairs."""
    import numpy as np
    import pandas as pd

    own, given = margins[:, [-2]], margins[:, [-1]]
    moved, whole = margins[:, :-2] - own, given - own
    draws = np.random.default_rng(seed).multinomial(len(margins), [1 / len(margins)] * len(margins), n_bootstrap)
    low, high = np.quantile((draws @ moved) / (draws @ whole), [0.025, 0.975], axis=0)
    found = {"layer": list(layers), "recovered": moved.sum(axis=0) / whole.sum(), "low": low, "high": high}
    ends = {"margin": float(own.mean()), "donor_margin": float(given.mean()), "n": len(margins)}
    return pd.DataFrame(found | {"moved": moved.mean(axis=0)} | ends)


def replacement_stage(work: Work) -> None:
    """Words and a threshold per target in the place of a dial, on topics not seen."""
    import numpy as np

    from elicitation import is_read
    from matching import SweepRun, dial_order, replacement_table
    from probes import sentence_embeddings

    panel, folds = work.labels.panel, work.task.folds
    if panel.respondents["model"].nunique() < 2:
        say("replacement: left out, since all targets are of one base model")
        return
    margin = work.store.margin.double().numpy()
    orders = {"unsteered margin": np.where(is_read(work.store.mass.numpy()), margin, np.nan)}
    if work.options.dial:
        ease = dial_order(SweepRun.open(work.options.dial))
        orders = {"dial": ease.reindex(list(work.prompts.question_ids)).to_numpy(float), **orders}
    texts = [question.text for question in work.inputs.questions]
    embedding = sentence_embeddings(texts, work.options.embedding) if work.options.embedding else None
    table, by_target = replacement_table(
        panel.answers,
        list(panel.respondents["model"]),
        texts,
        folds.fold,
        folds.topic,
        orders,
        embedding,
        n_bootstrap=work.options.bootstrap,
        seed=work.options.seed,
    )
    work.run.write_table("replacement.csv", table)
    work.run.write_table("replacement_targets.csv", by_target)


def writing_stage(work: Work) -> None:
    """The probes of the main labels, token by token while the model reasons."""
    from elicitation import reasoned
    from probes import Surroundings, course_of, read_while_writing
    from reporting import progress_bar

    if not work.options.n_reasoned:
        return
    layer, rows = work.one_layer, work.rows(work.one_layer)
    own = work.probes_at(layer)[work.options.methods[0]]
    by_id = {question.id: question for question in work.inputs.questions}
    asked = [by_id[question] for question in work.spread_over_topics(work.options.n_reasoned)]
    with progress_bar(len(asked), "reasoned answers") as advance:
        tokens = read_while_writing(
            work.model,
            asked,
            {label: own[label] for label in work.main_labels},
            layer,
            rows,
            Surroundings.of(rows, work.task),
            reasoned(work.template),
            progress=advance,
        )
    work.run.write_table("tokens_written.parquet", tokens)
    course = course_of(tokens, n_bootstrap=work.options.bootstrap, seed=work.options.seed)
    work.run.write_table("writing.csv", course.assign(layer=layer))


def elsewhere_stage(work: Work) -> None:
    """Is a reading worth less far from the training questions? And probes on the facts and another checkpoint."""
    from probes import Surroundings, distance_table, read_with_distance

    layer, method = work.one_layer, work.options.methods[0]
    rows, fitted = work.rows(layer), work.by_layer[layer][method]
    work.run.write_table("distance.csv", distance_table(rows, work.task, fitted, work.main_labels).assign(layer=layer))
    if work.facts_are_there:
        import pandas as pd

        asked, around = work.facts, Surroundings.of(rows, work.task)
        assert asked is not None
        own, names = work.rows(layer, asked.store), list(asked.store.question_ids)
        found = [
            read_with_distance(work.probes_at(layer)[method][label], around, own, names).assign(label=label)
            for label in work.main_labels
        ]
        work.run.write_table("readings.csv", pd.concat(found).rename_axis("question_id"), index=True)
    if work.options.other_model:
        table = read_on_other_model(work, layer)
        work.run.write_table("elsewhere.csv", table)


def read_on_other_model(work: Work, layer: int) -> "pd.DataFrame":
    """The probes of one layer on the same layer of another checkpoint, whose own answers are its own labels there."""
    import numpy as np

    from elicitation import is_read
    from open_models import PromptSet, load_model, store_activations
    from probes import OWN_MARGIN, OWN_YES, read_elsewhere
    from reporting import progress_bar

    options = work.options
    other = load_model(options.other_model, dtype=options.dtype, device_map=options.device_map)
    prompts = PromptSet.build(other, work.inputs.questions, work.template)
    with progress_bar(len(prompts), f"activations of {options.other_model}") as advance:
        store = store_activations(
            other,
            prompts,
            f"{options.store}-other" if options.store else None,
            layers=[layer],
            positions=[options.position],
            progress=advance,
        )
    margin, truth = store.margin.double().numpy(), work.task.values.copy()
    read = is_read(store.mass.numpy())
    for label in {OWN_YES, OWN_MARGIN} & set(work.task.labels):
        cut = 0.0 if label == OWN_YES else float(np.median(margin[read]))
        truth[:, work.task.labels.index(label)] = np.where(read, margin > cut, np.nan)
    fitted = work.by_layer[layer][options.methods[0]]
    table = read_elsewhere(work.rows(layer), work.rows(layer, store), work.task, fitted, truth, options.methods[0])
    return table.assign(model=options.other_model, layer=layer)


def lens_stage(work: Work) -> None:
    """What each layer would answer, what its answer says of each label, and which tokens the directions point at."""
    import numpy as np
    import pandas as pd

    from open_models import lens_of
    from probes import Concordance, TopicFolds, direct_effects

    if work.options.position != "last" or work.model.n_layers - 1 not in work.store.layers:
        say("lens: left out, since it needs the last position and the last layer")
        return
    lens, task = lens_of(work.model, work.store, work.prompts.tokens), work.task
    margin, mass = lens.margin.double().numpy(), lens.mass.double().numpy()
    rank = pd.DataFrame(margin).rank()
    whole = TopicFolds(np.zeros_like(task.folds.fold), task.folds.topic, task.folds.names, 1)
    settled = lens.settled.numpy()
    lines = []
    for place, layer in enumerate(lens.layers):
        line = {
            "layer": layer,
            "says_yes": float((margin[:, place] > 0).mean()),
            "agrees": float(lens.agrees[:, place].mean()),
            "settled": float((settled <= layer).mean()),
            "rank_correlation": float(rank[place].corr(rank[len(lens.layers) - 1])),
            "mass": float(np.median(mass[:, place])),
            "median_margin": float(np.median(margin[:, place])),
        }
        for label in work.main_labels:
            truth = task.values[:, task.labels.index(label)]
            area = Concordance.of(margin[:, place], truth, whole).area(task.draws)
            line |= {f"{label}": area.auroc, f"{label} low": area.low, f"{label} high": area.high}
        lines.append(line)
    work.run.write_table("lens.csv", pd.DataFrame(lines))
    layer, method = work.one_layer, work.options.methods[0]
    probes = {label: work.probes_at(layer)[method][label].direction for label in work.main_labels}
    if work.facts_are_there:
        probes |= {label: probe.direction for label, probe in work.facts_probes_at(layer)[method].items()}
    work.run.write_table("tokens.csv", pd.DataFrame(tokens_table(work, probes, layer)))
    each: list[dict[str, Any]] = []
    for place in spread_layers(work.store.layers, MAPPED_LAYERS):
        own = work.probes_at(place)[method]
        each += tokens_table(work, {label: own[label].direction for label in work.main_labels}, place)
    work.run.write_table("tokens_by_layer.csv", pd.DataFrame(each))
    norm = float(work.store.read(layer).norm(dim=-1).median())
    direct = direct_effects(work.model, work.store, work.prompts, probes, norm)
    work.run.write_table(
        "direct.csv", pd.DataFrame({"label": list(direct), "direct": list(direct.values()), "layer": layer})
    )


def tokens_table(work: Work, directions: "dict[str, Any]", layer: int) -> list[dict[str, Any]]:
    """The tokens that each direction of a layer raises and lowers most."""
    from open_models import tokens_along

    pointed = tokens_along(work.model, list(directions.values()))
    return [
        {"label": label, "layer": layer, "raised": " ".join(map(repr, up)), "lowered": " ".join(map(repr, down))}
        for label, (up, down) in zip(directions, pointed, strict=True)
    ]


STAGES = {
    "probes": probes_stage,
    "facts": facts_stage,
    "statements": statements_stage,
    "directions": directions_stage,
    "use": use_stage,
    "own": own_stage,
    "where": where_stage,
    "replacement": replacement_stage,
    "writing": writing_stage,
    "elsewhere": elsewhere_stage,
    "lens": lens_stage,
}
"""Name to what is done, in order; a stage that is done is not done again."""


# ---- beginning and end ---------------------------------------------------------------------------------------------


def read_inputs(options: argparse.Namespace) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt."""
    from elicitation import load_prompt
    from matching import load_inputs

    template = load_prompt(options.prompt)
    inputs = load_inputs(options.panel, options.questions, options.respondents, None, options.n_questions, options.seed)
    return inputs, template


def layers_of(given: str, model: "OpenModel") -> list[int]:
    """The layers to be read: `all`, or a list and ranges such as 4,8,12-20.

    Raises:
        InputError: neither, or a layer that the model has not.
    """
    if given == "all":
        return list(range(model.n_layers))
    chosen: set[int] = set()
    for piece in given.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InputError(f"--layers {given!r} is no list of layers; write all, or for example 4,8,12-20")
        chosen |= set(range(int(first), int(last if dash else first) + 1))
    model.check_layers(sorted(chosen))
    return sorted(chosen)


def check_comparison(options: argparse.Namespace, layers: Sequence[int]) -> None:
    """Raise InputError where the stages after the first could not be done with these options."""
    from elicitation import load_facts
    from probes import LEAST_OF_A_KIND

    if "probes" not in options.stages and not options.resume:
        raise InputError(f"--stages {','.join(options.stages)} rests on the probes; add probes, or pass --resume")
    if options.compare_at is not None and options.compare_at not in layers:
        raise InputError(f"--compare-at {options.compare_at} is none of the layers {layers}; choose one of them")
    if not options.step > 0:
        raise InputError(f"--step is {options.step}, but a push needs a step above 0; 0.05 is the default")
    if options.dial:
        from matching import SweepRun, dial_order

        dial_order(SweepRun.open(options.dial))
    if options.facts:
        load_facts(options.facts)
        if options.facts < 2 * LEAST_OF_A_KIND:
            raise InputError(f"--facts {options.facts} are too few; give {2 * LEAST_OF_A_KIND} or more, or 0 for none")


def several(known: Iterable[str]) -> Callable[[str], list[str]]:
    """For argparse: names among these, separated by commas."""

    def read(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        if unknown := [name for name in names if name not in list(known)]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return names

    return read


def print_summary(run: Run) -> None:
    """The main labels at their chosen layers, on the terminal."""
    if not run.has("chosen.csv"):
        return
    table = run.read_table("chosen.csv").head(8)
    shown = table[["label", "layer", "auroc", "low", "high", "text", "shuffled", "control", "p", "n"]].round(3)
    say(shown.to_string(index=False))


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command line over --config file over defaults.

    Raises:
        InputError: the config file cannot be used.
    """
    parser = program_parser(__doc__)
    subject = parser.add_argument_group("subject")
    subject.add_argument("--model", default=MODEL, help="built-in name, hub id, folder or GGUF file (%(default)s)")
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    subject.add_argument("--device-map", help="auto spreads a large model over several GPUs")
    asked = parser.add_argument_group("questions, panel, prompt")
    asked.add_argument("--questions", help="by default the panel's own texts, or the embedded ones")
    asked.add_argument("--n-questions", type=positive, help="draw this many of the questions that the panel answers")
    asked.add_argument("--panel", default="embedded", help="yes/no of the targets (%(default)s)")
    asked.add_argument("--respondents", help="what is known of the targets (default: respondents.csv beside the panel)")
    asked.add_argument("--prompt", help=f"a file, or a framing ({PROMPT}; for the embedded model {PROMPT_OF_EMBEDDED})")
    group = parser.add_argument_group("probes")
    group.add_argument("--layers", default="all", help="all, or a list such as 4,8,12-20 (%(default)s)")
    group.add_argument("--position", choices=("last", "question"), default="last", help="end of prompt or question")
    group.add_argument("--methods", type=several(KeysOf("probes", "METHODS")), help="the first one is reported (all)")
    group.add_argument("--folds", type=positive, default=5, help="topics are held out in so many parts (%(default)s)")
    group.add_argument("--shuffles", type=natural, default=5, help="meaningless labels of each kind (%(default)s)")
    group.add_argument("--bootstrap", type=positive, default=999, help="draws of the topics (%(default)s)")
    group.add_argument("--facts", type=natural, default=200, help="unrelated yes/no facts; 0: none (%(default)s)")
    group.add_argument("--statement-layers", type=positive, default=4, help="at so many: CCS and others (%(default)s)")
    group.add_argument("--compare-at", type=natural, help="layer at which directions are compared (the main labels')")
    group.add_argument("--nulls", type=natural, default=99, help="shuffled copies of a direction (%(default)s)")
    group.add_argument("--n-pushed", type=positive, default=120, help="questions that are pushed (%(default)s)")
    group.add_argument("--n-random", type=natural, default=20, help="random pushes of either kind (%(default)s)")
    group.add_argument("--step", type=float, default=0.05, help="of a push, in residual norms (%(default)s)")
    group.add_argument("--n-mapped", type=natural, default=60, help="questions read at each token (%(default)s)")
    group.add_argument("--n-reasoned", type=natural, default=24, help="questions answered with reasons (%(default)s)")
    group.add_argument("--other-model", help="a checkpoint of the same width on which the probes are read")
    group.add_argument("--dial", help="folder of a finished steer_sweep run, which the words are to replace")
    group.add_argument("--embedding", help="a sentence-transformers model, for words that see sentences too")
    group.add_argument("--stages", type=several(STAGES), default=list(STAGES), help=f"all of {', '.join(STAGES)}")
    group.add_argument("--store", help="folder of the activations (in the user's cache)")
    add_run_options(parser)
    options = parse_run_options(parser, arguments)
    options.prompt = options.prompt or (PROMPT_OF_EMBEDDED if options.model == MODEL else PROMPT)
    if options.methods is None:
        from probes import METHODS

        options.methods = list(METHODS)
    return options


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
