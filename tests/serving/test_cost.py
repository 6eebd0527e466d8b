"""A planted drop is recovered with an interval, and no drop is reported where there is none."""

import runpy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate
from tiny_experiment import ROOT

from onedial.core.errors import InputError
from onedial.models.model import load_model
from onedial.serving import cost
from onedial.serving.cost import COLUMNS, dial_cost
from steering.interventions import SteeringVector
from steering.vectors import random_vector


@scorer(metrics=[accuracy()])
def as_before(texts):
    """Right where the text is the unsteered model's."""

    async def score(state, target):
        return Score(value=float(state.output.completion == texts[state.sample_id]))

    return score


def test_a_drop_is_the_share_of_changed_texts(folder):
    model = load_model(str(folder / "model"))
    questions = {f"q{number}": f"What is {number} and {number}?" for number in range(12)}
    texts = {name: model.generate(question, max_new_tokens=6) for name, question in questions.items()}
    task = Task(
        dataset=[Sample(id=name, input=question, target="") for name, question in questions.items()],
        solver=generate(max_tokens=6),
        scorer=as_before(texts),
        name="same",
    )
    arguments = {"vector": str(folder / "vector.safetensors")}
    dial_costs = dial_cost(
        task, str(folder / "model"), [0.001, 3.0], model_args=arguments, display="none", log_dir=str(folder / "logs")
    )
    table = dial_costs.to_frame().set_index("magnitude")
    assert tuple(dial_costs.table.columns) == COLUMNS
    assert table.loc[0.0, ["score", "change"]].tolist() == [1.0, 0.0]
    changed = np.mean([sample.output.completion != texts[sample.id] for sample in dial_costs.logs[-1].samples])
    assert table.loc[3.0, "change"] == pytest.approx(-changed)
    assert table.loc[3.0, "change_high"] < 0 < changed
    assert table.loc[0.001, "change_low"] <= 0 <= table.loc[0.001, "change_high"]
    assert table["n"].tolist() == [12, 12, 12]
    assert dial_costs.plot().get_xlabel() == "magnitude"


@pytest.mark.long
def test_a_direction_that_breaks_sums_costs_what_it_breaks(tmp_path):
    """Of a few candidates the one that breaks most of some sums is put to the others, with an interval for all sums."""
    model, strength = load_model("smollm2-135m-instruct"), 1.0
    recipe = runpy.run_path(str(ROOT / "docs" / "recipes" / "dial_cost.py"))
    pairs = recipe["PAIRS"]
    (file,) = (ROOT / "tests" / "reference" / "golden" / "default" / "vectors").iterdir()
    candidates = [random_vector(SteeringVector.load(file), seed) for seed in range(3)]

    def right(push, some):
        texts = model.generate([sample.input for sample in recipe["sums"](some).dataset], push, max_new_tokens=10)
        last = [[word.strip(".*") for word in text.split()][-1:] for text in texts]
        return np.array([word == [str(a + b)] for word, (a, b) in zip(last, some, strict=True)], dtype=float)

    search, others = pairs[::3], [pair for place, pair in enumerate(pairs) if place % 3]
    breaking = min(candidates, key=lambda vector: right(vector * strength, search).mean())
    breaking.save(tmp_path / "breaking.safetensors")
    table = dial_cost(
        recipe["sums"](others),
        "smollm2-135m-instruct",
        [strength],
        model_args={"vector": str(tmp_path / "breaking.safetensors")},
        display="none",
        log_dir=str(tmp_path / "logs"),
    ).table.set_index("magnitude")
    steered, plain = right(breaking * strength, pairs), right(None, pairs)
    assert plain.mean() - steered.mean() > 0.3
    assert table.loc[strength, "change_low"] < (steered - plain).mean() < table.loc[strength, "change_high"] < 0
    of_others = np.arange(len(pairs)) % 3 > 0
    assert table.loc[strength, "change"] == pytest.approx((steered - plain)[of_others].mean(), abs=1e-9)


def test_yes_rates_are_placed_by_the_fitting_questions_of_the_run(monkeypatch):
    """Of two, one says yes from .2 on and one from .4 on; the test question says yes everywhere."""
    settings = [0.0, 0.2, 0.4]
    margins = {"one": [-3, 1, 3], "two": [-5, -1, 1], "three": [5, 5, 5]}
    table = pd.DataFrame([(q, m, x) for q in margins for m, x in zip(settings, margins[q], strict=True)])
    table = table.set_axis(["question_id", "magnitude", "margin"], axis=1).assign(mass=1.0, intervention_id="dial")
    swept = SimpleNamespace(
        sweep=lambda: table,
        splits=lambda: {"one": "fitting", "two": "fitting", "three": "test"},
        under_test=lambda: "dial",
    )
    monkeypatch.setattr(cost.SweepRun, "open", lambda run: swept)
    asked = []
    monkeypatch.setattr(cost, "evaluate", lambda tasks, model_args, **_: asked.append(model_args["magnitude"]) or [])
    dial_cost([], "x", yes_rates=[0.5, 1.0], model_args={"run": "mine"})
    assert asked == settings
    assert cost._placed("mine", [0.5, 1.0]) == {0.2: 0.5, 0.4: 1.0}


@pytest.mark.parametrize(("rates", "words"), [([], "at least one"), ([0.5], "those of a sweep")])
def test_a_setting_is_needed(rates, words):
    with pytest.raises(InputError, match=words):
        dial_cost([], "x", yes_rates=rates, model_args={})
