"""The predicted cost is what a sweep then takes: operations as PyTorch counts them, memory and time as measured."""

import pytest
import torch
from bench_sweep import peaks_in_child
from tiny_models import ARCHITECTURES, tiny_model
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from onedial.asking import METACOGNITIVE, Question
from onedial.core import InputError
from onedial.models import PromptSet, common_prefix_length, load_model
from steering import Intervention, ModelSize, SteeringVector, measure_speed, predict_cost, sweep

WORDS = ["river", "mountain", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "battle", "sea", "ode"]
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first {WORDS[i % 12]} of {WORDS[i // 2]}?") for i in range(20)
]


def setting(model, layer, n_questions=20):
    prompts = PromptSet.build(model, QUESTIONS[:n_questions], METACOGNITIVE)
    vector = SteeringVector(torch.eye(model.d_model)[0], layer, 1.0, 1.0, model.identity)
    shared = common_prefix_length(prompts.sequences)
    return prompts, vector, [len(sequence) for sequence in prompts.sequences], shared


@pytest.mark.slow
@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
@pytest.mark.parametrize("positions", ["last", "all"])
def test_predicted_operations_are_those_that_pytorch_counts(architecture, positions):
    model = tiny_model(architecture)
    prompts, vector, lengths, shared = setting(model, layer=1, n_questions=8)
    grid = [round(0.3 * step, 1) for step in range(-3, 4)]
    assert model.fast_paths_for(max(lengths)).allowed == {"last", "all"}  # found out before anything is counted
    # The counter knows attention as matrix products, not as the CPU's fused kernel.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        sweep(model, [Intervention.of(vector, positions=positions)], prompts, grid)
    predicted = predict_cost(model.hf.config, len(prompts), lengths, [(1, len(grid))], positions, n_shared=shared)
    assert predicted.n_rows == len(prompts) * len(grid)
    assert predicted.flops["readout"] == 2 * predicted.n_rows * model.hf.get_output_embeddings().weight.numel()
    assert predicted.total_flops == pytest.approx(counter.get_total_flops(), rel=0.15)


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_sizes_from_the_config_alone_are_those_of_the_loaded_model(architecture):
    model = tiny_model(architecture)
    size = ModelSize.of(model.hf.config)
    assert size.n_layers == model.n_layers
    assert size.n_parameters == sum(parameter.numel() for parameter in model.hf.parameters())
    linears = [module for module in model.stack.layers[0].modules() if isinstance(module, torch.nn.Linear)]
    assert size.layer_flops == 2 * sum(linear.weight.numel() for linear in linears)


def test_memory_grows_neither_with_questions_nor_with_magnitudes_beyond_a_batch():
    config = tiny_model("llama").hf.config
    small = predict_cost(config, 16, [80], [(2, 64)])
    assert predict_cost(config, 1600, [80], [(2, 64)]).peak_bytes == small.peak_bytes
    assert predict_cost(config, 16, [80], [(2, 640)]).peak_bytes == small.peak_bytes
    assert predict_cost(config, 16, [80], [(2, 64)], dtype=torch.bfloat16).weight_bytes == small.weight_bytes // 2


def test_steering_the_last_position_higher_up_costs_less_and_all_positions_more():
    config = tiny_model("llama").hf.config

    def total(layer, positions):
        return predict_cost(config, 64, [80], [(layer, 41)], positions).total_flops

    assert total(3, "last") < total(1, "last") < total(1, "all")


def test_several_vectors_cost_their_rows_and_one_prefill():
    config = tiny_model("llama").hf.config
    one, other = (predict_cost(config, 64, [80], [(layer, 41)]) for layer in (1, 3))
    both = predict_cost(config, 64, [80], [(1, 41), (3, 41)])
    assert both.flops["prefill"] == one.flops["prefill"]
    assert both.flops["rows"] == one.flops["rows"] + other.flops["rows"]
    assert both.n_rows == one.n_rows + other.n_rows
    assert predict_cost(config, 64, [80], []).flops["rows"] == 0


def test_beyond_a_batch_a_magnitude_costs_as_much_as_within_one():
    """Rows attend to those of their own batch alone."""
    config = tiny_model("llama").hf.config
    one, two = (predict_cost(config, 16, [80], [(2, n)]).flops["rows"] for n in (64, 128))
    assert two == 2 * one
    assert predict_cost(config, 16, [80], [(2, 32)]).flops["rows"] < one / 2


def test_without_measured_rates_no_time_is_made_up():
    assert predict_cost(tiny_model("llama").hf.config, 16, [80], [(2, 41)]).seconds is None


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((0, [80], [(2, 41)]), {}, "nothing to predict"),
        ((16, [], [(2, 41)]), {}, "nothing to predict"),
        ((16, [80], [(2, 0)]), {}, "nothing to predict"),
        ((16, [80], [(9, 41)]), {}, "layers 0-4"),
        ((16, [80], [(2, 41)]), {"positions": "first"}, "choose one of"),
    ],
)
def test_senseless_sizes_are_refused(arguments, options, said):
    with pytest.raises(InputError, match=said):
        predict_cost(tiny_model("llama").hf.config, *arguments, **options)


def test_only_the_wanted_stages_are_measured():
    model = tiny_model("llama")
    prompts, *_ = setting(model, layer=1)
    assert set(measure_speed(model, prompts)) == {"prefill", "rows", "whole", "readout"}
    assert set(measure_speed(model, prompts, stages=["prefill", "rows", "readout"])) == {"prefill", "rows", "readout"}


@pytest.fixture(scope="module")
def subject():
    torch.set_num_threads(1)
    return load_model(dtype="float32", device="cpu")


@pytest.mark.launched
@pytest.mark.long
@pytest.mark.parametrize(("positions", "n_magnitudes"), [("last", 11), ("all", 2)])
def test_memory_on_the_embedded_model_is_predicted_within_half_as_much_again(subject, positions, n_magnitudes):
    prompts, vector, lengths, shared = setting(subject, layer=20, n_questions=5)
    predicted = predict_cost(subject.hf.config, len(prompts), lengths, [(20, n_magnitudes)], positions, n_shared=shared)
    grid = [0.1 * k for k in range(n_magnitudes)]
    intervention = Intervention.of(vector, positions=positions)
    before, after = peaks_in_child(
        lambda: [weights.sum() for weights in subject.hf.parameters()],
        lambda: sweep(subject, [intervention], prompts, grid),
    )
    assert 1 / 1.5 < predicted.peak_bytes / (predicted.weight_bytes + (after - before) * 2**20) < 1.5
