"""A gate is chosen on one split, counted on another, saved, and answers as the sweep did."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.prompt_set import PromptSet
from steering.dials.gate import Gate, choose_gate, expected_share
from steering.interventions import Intervention, SteeringVector
from steering.sweeping import sweep
from steering.vectors import extract_vector

QUESTIONS = [Question(f"q{i:02d}", f"What is the {'very ' * (i % 4)}first of {i}?") for i in range(60)]
SPLITS = pd.Series(["extraction", "fitting", "test"] * 20, index=[question.id for question in QUESTIONS])
MAGNITUDES = np.linspace(-1, 1, 21)


@pytest.fixture(scope="module")
def swept(model):
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = extract_vector(model, prompts.subset([q.id for q in QUESTIONS[::3]]), [2])
    intervention = Intervention.of(vector, positions="last")
    return intervention, sweep(model, [intervention], prompts, MAGNITUDES.tolist()).table


@pytest.fixture(scope="module")
def correct(swept):
    """Planted: the subject is right where its unsteered margin is in the upper half."""
    table = swept[1]
    plain = table[table["magnitude"] == 0.0].set_index("question_id")["margin"]
    return (plain > plain.median()).astype(float)


def chosen(swept, **how):
    intervention, table = swept
    return choose_gate(table, SPLITS, intervention, METACOGNITIVE, **how)


def test_low_beta_says_yes_seldom_and_high_beta_often(swept, correct):
    careful, bold = (chosen(swept, beta=beta, correct=correct) for beta in (0.1, 10.0))
    assert careful.expected["yes rate"].share <= bold.expected["yes rate"].share
    assert careful.expected["precision"].share >= bold.expected["precision"].share
    assert careful.expected["recall"].share <= bold.expected["recall"].share
    for gate in (careful, bold):
        for expected in gate.expected.values():
            assert expected.low <= expected.share <= expected.high
        assert gate.expected["yes rate"].n + gate.n_unread == 20


def test_a_yes_rate_is_met_on_the_fitting_split_or_refused(swept):
    fitting = swept[1][swept[1]["question_id"].map(SPLITS) == "fitting"]
    rates = (fitting["margin"] > 0).groupby(fitting["magnitude"]).mean()
    wanted = rates[(rates > 0.1) & (rates < 0.9)].iloc[0] + 0.03
    gate = chosen(swept, yes_rate=wanted)
    assert rates[gate.magnitude] == pytest.approx(wanted - 0.03)
    assert list(gate.expected) == ["yes rate"]
    assert f"yes rate {wanted:g}, {rates[gate.magnitude]:.2f} on the 20 fitting questions" in gate.lines()[0]
    apart = np.diff(np.sort(rates))
    jump = np.sort(rates)[apart.argmax()] + apart.max() / 2
    with pytest.raises(InputError, match="no magnitude of the sweep has the yes rate"):
        chosen(swept, yes_rate=jump)


def test_a_saved_gate_answers_as_the_sweep_did(model, swept, correct, tmp_path):
    gate = chosen(swept, beta=1.0, correct=correct)
    gate.save(tmp_path / "gate")
    back = Gate.load(tmp_path / "gate")
    assert back.lines() == gate.lines()
    asked = QUESTIONS[2::3]
    answers = back.answer(model, asked).set_index("question_id")
    table = swept[1][swept[1]["magnitude"] == gate.magnitude].set_index("question_id")
    np.testing.assert_allclose(answers["margin"], table.loc[answers.index, "margin"], atol=1e-4)
    assert answers["said_yes"].mean() == pytest.approx(gate.expected["yes rate"].share)
    assert back.answer(model, ["Who was first?"])["question"].tolist() == ["Who was first?"]
    with pytest.raises(InputError, match="holds a gate already"):
        gate.save(tmp_path / "gate")
    with pytest.raises(InputError, match="there is no gate at"):
        Gate.load(tmp_path)
    with pytest.raises(InputError, match="no question"):
        back.answer(model, [])


HOSTILE = [None, True, 1e300, "", "../gate/vector-0.safetensors", [None], {}]


def places_in(value, way=()):
    yield way
    for name, below in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places_in(below, (*way, name))


def with_value(value, way, other):
    if not way:
        return other
    held = dict(value) if isinstance(value, dict) else list(value)
    held[way[0]] = with_value(held[way[0]], way[1:], other)
    return held


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
def test_a_strangers_gate_is_read_or_refused(swept, correct, tmp_path, step):
    """A gate of a stranger is read or refused whatever stands in its place; of all such gates every fourth."""
    chosen(swept, beta=1.0, correct=correct).save(tmp_path / "gate")
    file = tmp_path / "gate" / "gate.safetensors"
    with safe_open(file, framework="pt") as opened:
        header, tensors = opened.metadata(), {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    whole, n_refused = {name: json.loads(text) for name, text in header.items() if name != "format"}, 0
    headers = [with_value(whole, way, other) for way in places_in(whole) if way for other in HOSTILE][::step]
    texts = [{name: json.dumps(value) for name, value in each.items()} for each in headers]
    texts += [{**header, name: bad} for name in whole for bad in ("[" * 100_000, "9" * 5000, "")]
    for each in texts:
        save_file(tensors, file, metadata=each | {"format": header["format"]})
        try:
            Gate.load(tmp_path / "gate")
        except InputError:
            n_refused += 1
    assert n_refused > 100 / step


def test_a_strangers_vector_is_read_or_refused(swept, tmp_path):
    """A vector of a stranger is read or refused whatever stands in its header."""
    vector, file = swept[0].vectors[0], tmp_path / "v.safetensors"
    vector.save(file)
    with safe_open(file, framework="pt") as opened:
        facts = opened.metadata()
    refused = set()
    for name in facts:
        for other in [*map(json.dumps, HOSTILE), "[" * 100_000, "9" * 5000]:
            save_file({"direction": vector.direction}, file, metadata=facts | {name: other})
            try:
                SteeringVector.load(file)
            except InputError:
                refused.add(name)
    assert refused == set(facts)
    others = {kind: vector.direction.to(getattr(torch, kind)) for kind in ("float16", "bfloat16", "float64", "int32")}
    for kind, direction in {**others, "no steering vector of this project": torch.ones(2, 2)}.items():
        save_file({"direction": direction}, file, metadata=facts)
        with pytest.raises(InputError, match=kind):
            SteeringVector.load(file)


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("p", [0.03, 0.5, 0.9])
def test_predictive_intervals_hold_for_what_comes_next(n, p):
    """Coverage over 400 simulated test sets with the next 100 cases; 95% is promised."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        expected = expected_share(rng.random(n) < p)
        inside += expected.low <= rng.binomial(100, p) / 100 <= expected.high
    assert inside >= 0.93 * 400


def test_precision_and_recall_are_over_answers_whose_correctness_is_known(swept, correct):
    table = swept[1]
    unknown = correct.copy()
    unknown[[question.id for question in QUESTIONS[2::6]]] = np.nan
    gate = chosen(swept, yes_rate=0.35, correct=unknown)
    test = [question.id for question in QUESTIONS[2::3]]
    rows = table[table["magnitude"] == gate.magnitude].set_index("question_id").loc[test]
    read = rows[rows["mass"] >= 0.1]
    said_yes, right = read["margin"] > 0, unknown[read.index]
    coverage, precision, recall = gate.expected.values()
    assert (coverage.n, coverage.share) == (len(read), pytest.approx(said_yes.mean()))
    assert precision.n == (said_yes & right.notna()).sum() < said_yes.sum()
    assert precision.share == pytest.approx(right[said_yes].mean())
    assert recall.n == (right == 1).sum()
    assert recall.share == pytest.approx(said_yes[right == 1].mean())


def test_nothing_seen_is_unknown_and_ends_stay_open():
    assert str(expected_share(np.array([], dtype=bool))) == "unknown (no case)"
    assert expected_share(np.ones(30, dtype=bool)).high == 1.0
    assert expected_share(np.zeros(30, dtype=bool)).low == 0.0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "give either a risk attitude"),
        ({"beta": 1.0, "yes_rate": 0.5}, "give either a risk attitude"),
        ({"beta": -1.0}, "beta is -1.0"),
        ({"yes_rate": 1.5}, "the yes rate is 1.5"),
        ({"beta": 1.0}, "which questions the subject answers rightly"),
    ],
)
def test_a_bad_choice_is_said(swept, how, message):
    with pytest.raises(InputError, match=message):
        chosen(swept, **how)
