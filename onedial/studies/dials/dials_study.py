"""Make and ask what a comparison of dials takes, each thing once: what is on disk is read back.

directions.csv  cosines.csv  vectors/    layer_scan.csv  layer.json    adapter/
placing-*/  placed.csv    answers-*/    facts-*/  texts.csv
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from onedial.asking.instruments import FACT
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.core.progress import progress_bar
from onedial.core.pulse import say
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.questions.facts import load_facts, load_passages, truth_of
from onedial.studies.options.dials import DialOptions
from onedial.verdict.comparing.dial_comparison import CUT, DialComparison, compare_dials, unsteered_case
from steering.dials.adapters import ADAPTER_PASSES, FILE, Adapter, LoraDial, train_adapter
from steering.dials.comparison import compare_directions, share_by_effect
from steering.dials.dials import (
    DIAL_COLUMNS,
    RATES,
    Dial,
    InterventionDial,
    Put,
    ThresholdShift,
    ask_together,
    instructed_threshold,
    personas,
)
from steering.effects.side_effects import fact_effects, kl_on_text
from steering.interventions import Intervention, SteeringVector
from steering.planning.layers import candidate_layers, scan_layers
from steering.planning.magnitudes import seek_settings

Settings = Mapping[str, Sequence[float]]
"""Dial -> its settings."""


@dataclass
class DialStudy:
    """Everything that the stages make, when it is first asked for."""

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    options: DialOptions

    def prompts(self, split: str) -> PromptSet:
        """The questions of a split, as they are put."""
        return PromptSet.build(self.model, self.inputs.in_splits(split), self.template)

    @cached_property
    def vectors(self) -> dict[tuple[int, str], SteeringVector]:
        """Layer and method -> the direction, made on the extraction split and measured on the fitting split."""
        run, options = self.run, self.options
        if run.has("directions.csv"):
            made = run.read_table("directions.csv")[["layer", "method"]].itertuples(index=False, name=None)
            return {key: SteeringVector.load(run.path / vector_file(*key)) for key in made}
        compared = compare_directions(
            self.model,
            self.prompts("extraction"),
            self.prompts("fitting"),
            candidate_layers(options.layer, self.model.n_layers),
            methods=options.methods,
            contrast=options.contrast,
            framings=options.framings,
            seed=options.seed,
        )
        for (layer, method), vector in compared.vectors.items():
            vector.save(run.file(vector_file(layer, method)))
        run.write_table("cosines.csv", compared.cosines)
        run.write_table("directions.csv", compared.table)
        return compared.vectors

    @cached_property
    def layer(self) -> int:
        """Where the smallest push along the first method's direction turns the fitting questions both ways."""
        pushed, first = partial(Intervention.of, positions=self.options.positions), self.options.methods[0]
        made = [pushed(vector) for (_, method), vector in self.vectors.items() if method == first]
        if not self.run.has("layer.json"):
            fitting = self.prompts("fitting")
            with progress_bar(len(fitting), f"scanning {len(made)} layer(s)") as advance:
                scan = scan_layers(self.model, fitting, made, advance)
            self.run.write_table("layer_scan.csv", scan.table)
            self.run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
        return int(self.run.read_json("layer.json")["layer"])

    @cached_property
    def dials(self) -> list[Dial]:
        """All dials, in the order of the table: each method added, the first method by each operator, several layers,
        and what asks anew."""
        dials: list[Dial] = self._pushing() if "interventions" in self.options.dials else []
        if "lora" in self.options.dials:
            dials.append(LoraDial(self._adapter()))
        others = {"cut": ThresholdShift(), "threshold": instructed_threshold(), "personas": personas()}
        return dials + [dial for kind, dial in others.items() if kind in (*self.options.dials, "cut")]

    def _pushing(self) -> list[Any]:
        """Each method's direction, the first one's by every operator, and at several layers at once."""
        options, pushed = self.options, partial(Intervention.of, positions=self.options.positions)
        first, dials = options.methods[0], []
        for method in (*options.methods, *options.framings):
            if (self.layer, method) in self.vectors:
                kind = "control" if method == "random" else "intervention"
                dials.append(InterventionDial(pushed(self.vectors[self.layer, method]), f"{method}, add", kind))
        for operator in options.operators:
            if operator != "add":
                intervention = pushed(self.vectors[self.layer, first], operator=operator)
                dials.append(InterventionDial(intervention, f"{first}, {operator}"))
        table = self.run.read_table("directions.csv")
        table = table[(table["method"] == first) & (table["effect"] > 0)].sort_values("effect", ascending=False)
        effects = table.head(options.together).sort_values("layer").set_index("layer")["effect"]
        if len(effects) > 1:
            shared = share_by_effect([self.vectors[int(layer), first] for layer in effects.index], effects.tolist())
            name = f"{first}, add at {len(effects)} layers"
            dials.append(InterventionDial(pushed(*shared, unit="raw", intervention_id=name), name))
        return dials

    def _adapter(self) -> Adapter:
        """Train the adapter of `--dials lora` on the extraction split, or load it."""
        folder, options = self.run.path / "adapter", self.options
        if self.run.has(f"adapter/{FILE}"):
            return Adapter.load(folder)
        with progress_bar(ADAPTER_PASSES, "adapter, passes over the extraction split") as advance:
            adapter = train_adapter(
                self.model, self.prompts("extraction"), options.lora_rate, seed=options.seed, progress=advance
            )
        say(f"adapter: yes rate {adapter.unsteered:.2f} before, {adapter.reached:.2f} after {adapter.n_passes} passes")
        adapter.save(folder)
        return adapter

    # ---- what the dials are put to -----------------------------------------------------------------------------------

    @cached_property
    def placing(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The setting of each dial at each yes rate of the fitting split, and all answers that it was found by."""
        fitting = self.inputs.in_splits("fitting")

        def ask(number: int, settings: Mapping[str, Sequence[float]]) -> pd.DataFrame:
            return self._ask(f"placing-{number}", fitting, self.template, settings)

        first = {dial.name: dial.first_settings() for dial in self.dials}
        placed, answers = seek_settings(ask, first, RATES, {dial.name for dial in self.dials if dial.continuous})
        self.run.write_table("placed.csv", placed)
        return placed, answers

    @property
    def placed(self) -> pd.DataFrame:
        """The setting of each dial at each yes rate, found on the fitting split."""
        return self.placing[0]

    @property
    def reached(self) -> pd.DataFrame:
        """Of `placed`, where a dial reaches the yes rate."""
        return self.placed[self.placed["reached"].astype(bool)]

    def _settings(self, *with_zero: str) -> Settings:
        """Of each dial, those at which it reaches a yes rate; and 0, for dials that are named."""
        reached = {
            dial.name: set(self.reached.loc[self.reached["dial"] == dial.name, "setting"]) for dial in self.dials
        }
        return {
            name: sorted(map(float, settings | {0.0} if name in with_zero else settings))
            for name, settings in reached.items()
        }

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The answers on fitting and test split, by rate; those of the threshold shift at 0 stand at rate nan.

        Those on the fitting split are what the settings were found by.
        """
        asked = self._ask("answers", self.inputs.in_splits("test"), self.template, self._settings(CUT))
        asked = pd.concat([self.placing[1], asked], ignore_index=True)
        plain = asked[(asked["dial"] == CUT) & (asked["setting"] == 0.0)].assign(rate=float("nan"))
        at_rates = asked.merge(self.reached[["dial", "setting", "rate"]], on=["dial", "setting"])
        return pd.concat([at_rates, plain], ignore_index=True)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """Facts at the settings that are reached, and of the dials that push neutral text."""
        run, settings = self.run, self._settings(*(dial.name for dial in self.dials))
        pushed = {each.intervention.intervention_id: each for each in self.dials if isinstance(each, InterventionDial)}
        if not run.has("texts.csv"):
            passages = load_passages()[: self.options.passages]
            wanted = {name: settings[dial.name] for name, dial in pushed.items()}
            with progress_bar(len(passages), f"neutral passages under {len(pushed)} interventions") as advance:
                made = [dial.intervention for dial in pushed.values()]
                texts = kl_on_text(self.model, made, wanted, passages=passages, progress=advance)
                run.write_table("texts.csv", texts)
        texts = run.read_table("texts.csv").rename(columns={"magnitude": "setting"}).astype({"setting": float})
        texts["dial"] = texts.pop("intervention_id").map({name: dial.name for name, dial in pushed.items()})
        return self._on_facts(settings).merge(texts, on=["dial", "setting"], how="left")

    def _on_facts(self, settings: Settings) -> pd.DataFrame:
        """Dial, setting, and what it does to unrelated facts where any are asked."""
        if not self.options.facts:
            rows = [(dial, setting) for dial, each in settings.items() for setting in each]
            return pd.DataFrame(rows, columns=["dial", "setting"])
        facts = load_facts(self.options.facts, self.options.seed)
        asked, truth = self._ask("facts", facts, FACT.template, settings), pd.Series(truth_of(facts))
        tables = [fact_effects(asked[asked["dial"] == dial.name], truth).assign(dial=dial.name) for dial in self.dials]
        return pd.concat(tables, ignore_index=True)

    def _ask(self, stage: str, questions: list[Question], template: PromptTemplate, settings: Settings) -> pd.DataFrame:
        """Ask every dial at its settings, what is on disk left out: interventions batch by batch, others one by one."""
        columns, key = ["dial", *DIAL_COLUMNS], ["dial", "question_id", "setting"]
        together, alone = (self.run.parts(f"{stage}-{kind}", columns, key) for kind in ("interventions", "others"))
        wanted = [dial for dial in self.dials if settings[dial.name]]
        if pushed := [dial for dial in wanted if isinstance(dial, InterventionDial)]:
            prompts, done = PromptSet.build(self.model, questions, template), together.done("question_id")
            with progress_bar(len(prompts) - len(done), f"{stage}: {len(pushed)} interventions") as advance:
                ask_together(self.model, pushed, prompts, settings, sink=together.append, done=done, progress=advance)
        done = alone.done("dial")
        for dial in wanted:
            if not isinstance(dial, InterventionDial) and dial.name not in done:
                anew = 1 if dial.name == CUT else len(settings[dial.name])
                with progress_bar(anew * len(questions), f"{stage}: {dial.name}") as advance:
                    answers = dial.ask(Put(self.model, questions, template, advance), settings[dial.name])
                    alone.append(answers.assign(dial=dial.name))
        return pd.concat([together.read(), alone.read()], ignore_index=True)

    # ---- what came out -----------------------------------------------------------------------------------------------

    @cached_property
    def comparison(self) -> DialComparison:
        """The dials by their answers."""
        about, panel = self.inputs.frame().set_index("id"), self.inputs.panel
        kinds = pd.Series({dial.name: dial.kind for dial in self.dials})
        case = unsteered_case(self.answers, about, panel, self.options.seed)
        return compare_dials(self.answers, self.placed, kinds, case)

    @property
    def rates(self) -> pd.DataFrame:
        """One row per dial and rate: what it comes to there, and its side effects."""
        return self.comparison.rates.merge(self.effects, on=["dial", "setting"], how="left", suffixes=("", "_facts"))


def vector_file(layer: int, method: str) -> str:
    return f"vectors/L{layer}-{method}.safetensors"
