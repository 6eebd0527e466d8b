"""What a run will cost is told before it begins, from the config and a few random layers."""

import pytest
import torch
from shared_runs import seven_batches, whole_run
from tiny_experiment import STEER_SWEEP, assert_bounded, foretold
from tiny_models import tiny_model

from onedial.studies.options.sweep import SweepOptions
from onedial.studies.sweep.sweep_stages import loads
from steering.causes import MEDIATION_DRAWN
from steering.effects.side_effects import REVERSED_SETTINGS
from steering.planning.forecast import Size, sketch_of
from steering.planning.magnitudes import COARSE_POINTS, doubling

PLAN = "vectors, layer and magnitudes"
FOUR = "-1,-0.5,0.5,1"
LENGTHS = {"extraction": [60] * 40, "fitting": [60] * 40, "test": [60] * 80}
LENGTHS |= {"facts": [40] * 60}


@pytest.mark.parametrize("made", [whole_run, seven_batches])
def test_each_stage_of_a_sweep_asks_what_was_foretold_without_weights(made, monkeypatch):
    shared = made()
    asked = shared.asked
    monkeypatch.setattr("onedial.models.checkpoints.weights.load_weights", None)
    forecast = foretold(STEER_SWEEP, shared.options, timed=made is whole_run)
    assert_bounded(
        forecast, asked, *({"sweep", "facts", "reversed wording", "interchange"} & set(asked)), searched=["controls"]
    )


def forecast(layer="auto", **more):
    options = SweepOptions(layer=layer, **({"reversed": 0, "facts": 0} | more))
    size = Size.of(tiny_model("llama").hf.config)
    return loads(options, LENGTHS, size, torch.float32)


def rows(result, stage):
    return sum(load.n_rows for load in result[stage])


@pytest.mark.parametrize("architecture", ["qwen2", "gemma3", "gpt_neox"])
def test_a_sketch_has_the_first_layers_of_any_decoder(architecture):
    whole = tiny_model(architecture)
    sketch = sketch_of(whole.hf.config, whole.tokenizer, torch.float32, "cpu", Size.of(whole.hf.config))
    assert (sketch.n_layers, sketch.d_model) == (3, whole.d_model)
    assert whole.hf.config.num_hidden_layers == 5


def test_stages_that_the_options_make_needless_are_left_out():
    placed, scanned, neither = (
        rows(forecast(layer, **more), PLAN)
        for layer, more in (("2", {}), ("1-3", {"magnitudes": FOUR}), ("2", {"magnitudes": FOUR}))
    )
    n_fitting = len(LENGTHS["fitting"])
    assert placed == n_fitting * (len(doubling()) + COARSE_POINTS + 1)
    assert scanned == n_fitting * 3 * len(doubling())
    assert neither == 0


def test_the_sweep_has_a_row_for_each_question_and_magnitude():
    """The sweep has a row for each question and magnitude and more with controls."""
    assert rows(forecast("2", magnitudes=FOUR), "sweep") == 160 * 5
    assert list(forecast("2", controls=3, facts=60))[2:6] == ["sweep", "controls", "neutral text", "facts"]
    result = forecast("2", reversed=20)
    n_asked = 2 * 20
    assert sum(load.n_read for load in result["reversed wording"]) == n_asked
    assert rows(result, "reversed wording") == n_asked * (REVERSED_SETTINGS + len(doubling()))
    tested = forecast("2", tests=["interchange", "mediation"])
    assert rows(tested, "interchange") > rows(tested, "sweep") / 8
    assert rows(tested, "mediation") == 96 * (3 + 4 * (5 + 2 * MEDIATION_DRAWN))
    assert "mediation" not in forecast("2", tests=["interchange"])
    few, many = (rows(forecast("2", controls=number), "controls") for number in (3, 99))
    assert few < rows(forecast("2"), "sweep") * 8 < many  # the drawn ones, and five contrasts of their own
