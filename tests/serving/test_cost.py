"""A planted drop is recovered with an interval, and no drop is reported where there is none."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate

from onedial.core.errors import InputError
from onedial.models.model import load_model
from onedial.serving import cost
from onedial.serving.cost import COLUMNS, dial_cost


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
