"""Share a run, a model, its activations, and all that is made of them once, among the stages of a study of probes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.asking.instruments import FACT
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question, normalised_text, questions_frame
from onedial.core.cards import one_line
from onedial.core.notices import notice
from onedial.core.progress import progress_bar
from onedial.core.run.run import Run
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.inside.store_filling import store_activations
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.questions.facts import load_facts, truth_of
from onedial.stats.arrays import Floats
from onedial.studies.options.probes import ProbeOptions
from probes.fitting.crossfit import CrossFitted, best_penalties
from probes.fitting.folds import TopicFolds
from probes.fitting.labels import MAIN_LABELS, ProbeLabels, fact_labels, labels_of
from probes.fitting.linear import Probe
from probes.fitting.measure import ProbeTask
from probes.layer_files import load_layer

YES_OR_NO = {"", "yes", "no", "true", "false"}


def wordings_of(questions: Sequence[Question]) -> list[tuple[str, str] | None] | None:
    """Which questions are taken for wordings of one: those of one topic whose best accepted answer is the same.

    Held out together and shuffled as one (`probes.TopicFolds`), questions that merely share an answer cost a little
    power; wordings that are taken for so many questions make findings. Answers yes and no tell nothing.

    Returns:
        A name for each group, None for a question that is like no other; None in all where there is no group.
    """
    named = [
        (question.topic, answer)
        if question.topic and question.answers and (answer := normalised_text(question.answers[0])) not in YES_OR_NO
        else None
        for question in questions
    ]
    times = Counter(named)
    groups = [name if name is not None and times[name] > 1 else None for name in named]
    if not any(groups):
        return None
    n = sum(name is not None for name in groups)
    notice(f"{n} of {len(groups)} questions count as wordings of {len(set(groups) - {None})}: one topic, one answer")
    return groups


@dataclass(frozen=True)
class Facts:
    """Facts that have nothing to do with ability: their activations, labels and folds."""

    store: ActivationStore
    task: ProbeTask


@dataclass
class ProbeStudy:
    """What the stages share.

    Attributes:
        run: where the tables go. template, prompts: of the questions. layers: that are read.

    Everything else is made of these when first asked for.
    """

    options: ProbeOptions
    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    prompts: PromptSet
    layers: list[int]

    __repr__ = one_line

    # ---- labels and folds ------------------------------------------------------------------------------------------

    @property
    def questions(self) -> list[Question]:
        """In the order of the panel's rows."""
        return self.inputs.questions

    @cached_property
    def labels(self) -> ProbeLabels:
        """Labels of the questions."""
        return labels_of(self.store, self.inputs.panel)

    @cached_property
    def task(self) -> ProbeTask:
        """Labels, folds, texts: what does not depend on a layer."""
        return self._task(self.labels.truth, self.questions, wordings_of(self.questions))

    def _task(
        self, truth: pd.DataFrame, questions: Sequence[Question], groups: list[tuple[str, str] | None] | None = None
    ) -> ProbeTask:
        options, topics = self.options, [question.topic for question in questions]
        return ProbeTask(
            truth,
            tuple(question.rendered for question in questions),
            TopicFolds.of(topics, options.folds, options.seed, groups),
            n_shuffled=options.shuffles,
            n_control=options.shuffles,
            n_bootstrap=options.replicates,
            seed=options.seed,
        )

    @cached_property
    def facts(self) -> Facts | None:
        """Unrelated facts with their activations and labels; None where there are to be none."""
        if not self.options.facts:
            return None
        facts = load_facts(self.options.facts, self.options.seed)
        store = self.read(PromptSet.build(self.model, facts, FACT.template), "facts")
        return Facts(store, self._task(fact_labels(store, truth_of(facts)), facts))

    @property
    def measured_facts(self) -> Facts | None:
        """The facts where they were asked for and have been measured."""
        return self.facts if self.options.facts and self.run.has("chosen_facts.csv") else None

    @property
    def main_labels(self) -> list[str]:
        """Those of the subject and of the panel as a whole; where there are none, the first of the others."""
        return [label for label in MAIN_LABELS if label in self.task.labels] or self.task.labels[:2]

    # ---- activations, scores, probes -------------------------------------------------------------------------------

    @cached_property
    def store(self) -> ActivationStore:
        """Activations of the questions."""
        return self.read(self.prompts)

    def read(
        self, prompts: PromptSet, name: str = "", model: OpenModel | None = None, layers: Sequence[int] = ()
    ) -> ActivationStore:
        """Activations of prompts at the study's layers, or others, of the subject or another checkpoint.

        Args:
            name: see `folder`.
        """
        with progress_bar(len(prompts), f"activations of {name}" if name else "activations") as advance:
            return store_activations(
                model or self.model,
                prompts,
                self.folder(name),
                layers=layers or self.layers,
                positions=[self.options.read_at],
                progress=advance,
            )

    def folder(self, name: str = "") -> str | None:
        """Where activations go: the questions' into `--store`, others beside it; None: all into the user's cache."""
        return self.options.store and self.options.store + f"-{name}" * bool(name)

    def rows(self, layer: int, store: ActivationStore | None = None) -> Floats:
        """(question, d_model) activations of one layer, float64."""
        activations: Floats = (store or self.store).read(layer, position=self.options.read_at).double().numpy()
        return activations

    def layer_file(self, layer: int, name: str = "probes") -> str:
        """The name of a layer's file within the run; name: "probes" or "facts"."""
        return f"layers/{'' if name == 'probes' else f'{name}-'}L{layer:03d}.safetensors"

    def fitted(self, layer: int, facts: bool = False) -> dict[str, CrossFitted]:
        """Method -> held-out scores of one layer."""
        return self._loaded(layer, facts)[0]

    def probes_at(self, layer: int, facts: bool = False) -> dict[str, dict[str, Probe]]:
        """Method -> label -> the probe of all questions, or of all facts."""
        return self._loaded(layer, facts)[1]

    def penalties(self, layer: int, facts: bool = False) -> dict[str, float]:
        """Label -> the penalty that the folds chose, for a probe of all questions by the first method."""
        fitted = self.fitted(layer, facts)[self.options.methods[0]]
        return dict(zip(fitted.labels, best_penalties(fitted).tolist(), strict=True))

    def _loaded(self, layer: int, facts: bool) -> tuple[dict[str, CrossFitted], dict[str, dict[str, Probe]]]:
        if (layer, facts) not in self._layers:
            task = self.facts.task if facts and self.facts is not None else self.task
            path = self.run.path / self.layer_file(layer, "facts" if facts else "probes")
            self._layers[layer, facts] = load_layer(path, task)
        return self._layers[layer, facts]

    @cached_property
    def _layers(self) -> dict[tuple[int, bool], tuple[dict[str, CrossFitted], dict[str, dict[str, Probe]]]]:
        return {}

    @cached_property
    def one_layer(self) -> int:
        """The layer at which directions are compared: the median of the main labels' chosen layers."""
        if self.options.compare_at is not None:
            return self.options.compare_at
        chosen = self.run.read_table("chosen.csv").set_index("label")["layer"]
        layers = sorted(int(chosen[label]) for label in self.main_labels)
        return layers[len(layers) // 2]

    def spread_layers(self, n: int) -> list[int]:
        """At most so many of the layers, evenly spread, the last among them and the embedding's neighbours left out."""
        layers = self.store.layers
        step = len(layers) / min(n, len(layers))
        return [layers[round((place + 1) * step) - 1] for place in range(min(n, len(layers)))]

    # ---- some of the questions -------------------------------------------------------------------------------------

    def spread_over_topics(self, n: int) -> list[str]:
        """Ids of n questions, topic by topic in turn."""
        order = np.random.default_rng(self.options.seed).permutation(len(self.prompts))
        topic, seen = self.task.folds.topic, dict.fromkeys(range(self.task.folds.n_topics), 0)
        turns = []
        for place in order:
            turns.append((seen[int(topic[place])], int(place)))
            seen[int(topic[place])] += 1
        return [self.prompts.question_ids[place] for place in sorted(place for _, place in sorted(turns)[:n])]

    def places(self, question_ids: Sequence[str]) -> NDArray[np.intp]:
        """Places of some questions among all."""
        place = {question: number for number, question in enumerate(self.prompts.question_ids)}
        return np.array([place[question] for question in question_ids], dtype=np.intp)

    def keep_inputs(self) -> None:
        """Keep questions, labels and prompt; on resume they must be the same."""
        frame = questions_frame(self.questions)
        self.run.keep_table("questions.parquet", frame.assign(fold=self.task.folds.fold), ["id", "question"])
        truth = self.labels.truth.reset_index().assign(difficulty=self.labels.difficulty.round(6).to_numpy())
        self.run.keep_table("labels.parquet", truth, ["question_id"])
        self.run.write_text("prompt.txt", self.prompts.example)
        self.run.record(activations=str(self.store.folder))
