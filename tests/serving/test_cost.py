"""A planted drop is recovered with an interval, and no drop is reported where there is none."""

import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate

from onedial.core.errors import InputError
from onedial.models.model import load_model
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
    cost = dial_cost(
        task, str(folder / "model"), [0.001, 3.0], model_args=arguments, display="none", log_dir=str(folder / "logs")
    )
    table = cost.to_frame().set_index("magnitude")
    assert tuple(cost.table.columns) == COLUMNS
    assert table.loc[0.0, ["score", "change"]].tolist() == [1.0, 0.0]
    changed = np.mean([sample.output.completion != texts[sample.id] for sample in cost.logs[-1].samples])
    assert table.loc[3.0, "change"] == pytest.approx(-changed)
    assert table.loc[3.0, "change_high"] < 0 < changed
    assert table.loc[0.001, "change_low"] <= 0 <= table.loc[0.001, "change_high"]
    assert table["n"].tolist() == [12, 12, 12]
    assert cost.plot().get_xlabel() == "magnitude"


def test_a_setting_is_needed(folder):
    with pytest.raises(InputError, match="at least one"):
        dial_cost([], "x", [], model_args={})
