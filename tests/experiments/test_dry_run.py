"""What a run will cost is told before it begins, from the config and a few random layers."""

import pytest
import torch
from tiny_experiment import STEER_SWEEP, as_arguments, call, write_experiment
from tiny_models import tiny_model

from onedial.models.forward import runner
from onedial.studies.options.sweep import SweepOptions
from onedial.studies.sweep.asking import N_WRITTEN, WRITTEN, WRITTEN_RATES, WRITTEN_TOKENS
from onedial.studies.sweep.stages import loads
from onedial.verdict.sweep_run import SweepRun
from steering.causes import MEDIATION_DRAWN
from steering.effects.side_effects import N_PREFERENCES, REVERSED_SETTINGS
from steering.planning.forecast import Size, sketch_of
from steering.planning.magnitudes import doubling

__all__ = ["call"]

FOUR = "-1,-0.5,0.5,1"
LENGTHS = {"extraction": [60] * 40, "fitting": [60] * 40, "test": [60] * 80}
LENGTHS |= {"facts": [40] * 60, "preferences": [40] * N_PREFERENCES}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return write_experiment(tmp_path_factory.mktemp("experiment"), n=80, n_targets=6) | {"without_verdict": True}


def forecast(layer="auto", **more):
    options = SweepOptions(layer=layer, **({"reversed": 0, "facts": 0} | more))
    size = Size.of(tiny_model("llama").hf.config)
    return loads(options, LENGTHS, size, torch.float32)


def rows(found, stage):
    return sum(load.n_rows for load in found[stage])


@pytest.mark.slow
def test_a_dry_run_counts_the_rows_that_the_run_then_has(options, tmp_path, call):
    given = options | {"layer": "2", "magnitudes": "-1,-0.5,0.5,1", "out": tmp_path / "run", "facts": 12}
    told = call(STEER_SWEEP, *as_arguments(given | {"dry_run": True}))
    assert told.code == 0, told.err
    assert not (tmp_path / "run").exists()
    (total,) = [line.split() for line in told.out.splitlines() if line.startswith("total")]
    assert call(STEER_SWEEP, *as_arguments(given)).code == 0
    run = SweepRun.open(tmp_path / "run")
    written = WRITTEN_TOKENS * len(run.run.read_table(WRITTEN))
    steered = len(run.sweep()) + len(run.parts["facts"].read()) + written
    assert 1 / 1.5 < int(total[2].replace(",", "")) / steered < 1.5
    assert total[-1] != "unknown"


@pytest.mark.slow
def test_a_dry_run_counts_the_prompts_that_are_run_and_those_that_are_kept_once(options, tmp_path, call, monkeypatch):
    given = options | {"layer": "1,3", "out": tmp_path / "run", "facts": 0, "reversed": 0}
    told, counts, own = call(STEER_SWEEP, *as_arguments(given | {"dry_run": True})), [], runner.prefill

    def counted(stack, sequences, *more, **named):
        counts.append(len(sequences))
        return own(stack, sequences, *more, **named)

    monkeypatch.setattr(runner, "prefill", counted)
    assert call(STEER_SWEEP, *as_arguments(given)).code == 0
    (total,) = [line.split() for line in told.out.splitlines() if line.startswith("total")]
    assert int(total[1]) == pytest.approx(sum(counts) + N_WRITTEN * len(WRITTEN_RATES), rel=0.1)
    assert sum(counts) < 80 + 40  # each question once, and a few to see whether yes and no can be read


def test_a_dry_run_loads_no_weights_and_tells_the_time_by_a_few_random_layers(options, call, monkeypatch):
    monkeypatch.setattr("onedial.models.checkpoints.weights.load_weights", None)
    told = call(STEER_SWEEP, *as_arguments(options | {"dry_run": True}))
    assert told.code == 0, told.err
    assert "unknown" not in told.out


def test_where_layers_are_too_large_to_try_no_time_is_told(options, call, monkeypatch):
    monkeypatch.setattr("steering.planning.forecast.SKETCH_WEIGHTS", 10)
    told = call(STEER_SWEEP, *as_arguments(options | {"dry_run": True}))
    assert told.code == 0, told.err
    assert "unknown" in told.out
    assert "too large to be tried" in told.out


@pytest.mark.parametrize("architecture", ["qwen2", "gemma3", "gpt_neox"])
def test_a_sketch_has_the_first_layers_of_any_decoder(architecture):
    whole = tiny_model(architecture)
    sketch = sketch_of(whole.hf.config, whole.tokenizer, torch.float32, "cpu", Size.of(whole.hf.config))
    assert (sketch.n_layers, sketch.d_model) == (3, whole.d_model)
    assert whole.hf.config.num_hidden_layers == 5


def test_the_prompt_is_shown_without_the_weights(options, call, monkeypatch):
    monkeypatch.setattr("onedial.models.model.load_model", None)
    shown = call(STEER_SWEEP, *as_arguments(options | {"show_prompt": True}))
    assert shown.code == 0, shown.err
    assert "Can you tell?" in shown.out


def test_stages_that_the_options_make_needless_are_left_out():
    assert list(forecast()) == ["reading", "scanning", "placing", "sweep", "texts"]
    assert list(forecast("2")) == ["reading", "scanning", "placing", "sweep", "texts"]
    assert list(forecast("1-3", magnitudes=FOUR)) == ["reading", "scanning", "sweep", "texts"]
    assert list(forecast("2", magnitudes=FOUR)) == ["reading", "sweep", "texts"]


def test_the_sweep_has_a_row_for_each_question_and_magnitude_and_more_with_controls():
    assert rows(forecast("2", magnitudes=FOUR), "sweep") == 160 * 5
    assert list(forecast("2", controls=3, facts=60))[-4:] == ["ranges", "controls", "facts", "texts"]
    found = forecast("2", reversed=20)
    n_asked = 2 * 20 + N_PREFERENCES
    assert sum(load.n_read for load in found["reversed"]) == n_asked
    assert rows(found, "reversed") == n_asked * (REVERSED_SETTINGS + len(doubling()))
    tested = forecast("2", tests=["interchange", "mediation"])
    assert rows(tested, "interchange") > rows(tested, "sweep") / 8
    assert rows(tested, "mediation") == 96 * (3 + 4 * (5 + 2 * MEDIATION_DRAWN))
    assert "mediation" not in forecast("2", tests=["interchange"])
    few, many = (rows(forecast("2", controls=number), "controls") for number in (3, 99))
    assert few < rows(forecast("2"), "sweep") * 8 < many  # the drawn ones, and five contrasts of their own
