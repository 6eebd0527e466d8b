"""Inspect's tasks put to a steered model: texts equal the model's own, and what is not had is refused."""

import tomllib

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import choice, match
from inspect_ai.solver import generate, multiple_choice, use_tools
from inspect_ai.tool import bash
from tiny_experiment import ROOT
from tiny_models import vectors_at

from onedial.models.model import load_model
from onedial.serving import inspect_provider

QUESTIONS = [f"What is {number} and {number}?" for number in range(5)]


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder / "model"))


def evaluated(folder, task, magnitude=0.0, **more):
    arguments = {"vector": str(folder / "vector.safetensors"), "magnitude": magnitude}
    (log,) = eval(
        task,
        model=f"onedial/{folder / 'model'}",
        model_args=arguments,
        display="none",
        log_dir=str(folder / "logs"),
        **more,
    )
    return log


def test_inspect_is_told_where_the_provider_lies():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    assert entries == {"onedial": inspect_provider.__name__}


@pytest.mark.parametrize("magnitude", [0.0, 2.0])
def test_an_evaluation_reads_what_the_model_writes(folder, model, magnitude):
    samples = [Sample(input=question, target="4") for question in QUESTIONS]
    log = evaluated(folder, Task(dataset=samples, solver=generate(max_tokens=8), scorer=match()), magnitude)
    assert log.status == "success", log.error
    (vector,) = vectors_at(model, [2])
    push = vector * magnitude if magnitude else None
    wanted = [model.generate(question, push, max_new_tokens=8) for question in QUESTIONS]
    assert [sample.output.completion for sample in log.samples] == wanted
    metadata = log.samples[0].output.metadata
    assert (metadata["magnitude"], metadata["weights"]) == (magnitude, model.identity.fingerprint)


def test_the_unsteered_model_is_inspects_own(folder, monkeypatch):
    """The same template and, at temperature 0, the same texts as its `hf/` provider."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # theirs looks for the folder on the hub too
    samples = [Sample(input=question, target="4") for question in QUESTIONS]
    task = Task(dataset=samples, solver=generate(max_tokens=8), scorer=match())
    ours = evaluated(folder, task)
    (theirs,) = eval(
        task,
        model="hf/local",
        model_args={"model_path": str(folder / "model"), "do_sample": False, "device": "cpu"},
        display="none",
        log_dir=str(folder / "logs"),
    )
    assert [s.output.completion for s in ours.samples] == [s.output.completion for s in theirs.samples]


def test_a_multiple_choice_and_stop_sequences_are_answered(folder):
    samples = [Sample(input="Which?", choices=["one", "two"], target="A")]
    log = evaluated(folder, Task(dataset=samples, solver=multiple_choice(max_tokens=6), scorer=choice()))
    assert log.status == "success", log.error
    plain = Task(dataset=[Sample(input=QUESTIONS[0], target="4")], solver=generate(max_tokens=8), scorer=match())
    whole = evaluated(folder, plain).samples[0].output
    stopped = evaluated(folder, plain, stop_seqs=[whole.completion[2:4]]).samples[0].output
    assert stopped.completion == whole.completion[: whole.completion.index(whole.completion[2:4])]
    assert stopped.stop_reason == "stop"


def test_log_probabilities_come_with_the_tokens(folder):
    plain = Task(dataset=[Sample(input=QUESTIONS[0], target="4")], solver=generate(max_tokens=4), scorer=match())
    output = evaluated(folder, plain, logprobs=True, top_logprobs=3).samples[0].output
    content = output.choices[0].logprobs.content
    assert len(content) == output.usage.output_tokens
    assert all(each.logprob == pytest.approx(each.top_logprobs[0].logprob) for each in content)


@pytest.mark.parametrize(
    ("solver", "config", "words"),
    [
        ([use_tools(bash()), generate()], {}, "tools were offered"),
        ([generate()], {"top_p": 0.5}, "top_p"),
        ([generate()], {"frequency_penalty": 1.0}, "frequency_penalty"),
    ],
)
def test_what_is_not_had_is_refused(folder, solver, config, words):
    samples = [Sample(input=QUESTIONS[0], target="4")]
    log = evaluated(folder, Task(dataset=samples, solver=solver, scorer=match()), **config)
    assert log.status == "error"
    assert words in log.error.message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"magnitude": 0.2}, "without -M vector"),
        ({"vectro": "x"}, "-M vectro is not known"),
        ({"engine": "x"}, "-M engine=x is not known"),
        ({"vector": "no.st"}, "no.st"),
    ],
)
def test_a_wrong_model_argument_is_one_sentence(folder, arguments, words):
    with pytest.raises(Exception, match=words):
        get_model(f"onedial/{folder / 'model'}", config=GenerateConfig(), memoize=False, **arguments)
