"""The proof of an engine: the local one passes, and every way of steering otherwise is found out."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tiny_models import vectors_at

from onedial.asking import CAN_YOU_ANSWER, METACOGNITIVE, Question
from onedial.core import InputError
from steering import Intervention, LocalEngine, check_parity, load_engine, reasoned_instrument, reasoned_sweep
from steering.effects.engines import outer_settings

QUESTIONS = [Question(f"q{i}", f"Who sang {'of the river ' * (i % 3)}in {1900 + i}?") for i in range(40)]
SETTINGS = (-0.5, 0.0, 0.25, 0.5)
WRITTEN = reasoned_instrument(METACOGNITIVE, 6)
DIRECT = CAN_YOU_ANSWER.framed(METACOGNITIVE)


class StandIn:
    """Another engine in every respect but one: it computes by the model here. Faults are planted by what inherits."""

    name = "stand-in"

    def __init__(self, model, intervention):
        self.model, self.intervention = model, intervention

    def at(self, magnitude):
        """(engine, magnitude) that answer in its place."""
        return LocalEngine(self.model, self.intervention, 8), magnitude

    def log_probs(self, prompts, magnitude, tokens):
        engine, magnitude = self.at(magnitude)
        return engine.log_probs(prompts, magnitude, tokens)

    def write(self, prompts, magnitude, max_new_tokens, stop=None):
        engine, magnitude = self.at(magnitude)
        return engine.write(prompts, magnitude, max_new_tokens, stop)


class OtherScale(StandIn):
    scale = 0.97

    def at(self, magnitude):
        return LocalEngine(self.model, self.intervention), magnitude * self.scale


class OtherSign(OtherScale):
    scale = -1.0


class Unsteered(OtherScale):
    scale = 0.0


class OtherLayer(StandIn):
    def at(self, magnitude):
        vectors = tuple(replace(vector, layer=vector.layer + 1) for vector in self.intervention.vectors)
        return LocalEngine(self.model, replace(self.intervention, vectors=vectors)), magnitude


class OtherPositions(StandIn):
    def at(self, magnitude):
        return LocalEngine(self.model, replace(self.intervention, positions="last")), magnitude


class FirstTokenOnly(StandIn):
    """The prompt is steered, and what is written after it is not."""

    def write(self, prompts, magnitude, max_new_tokens, stop=None):
        prompt = LocalEngine(self.model, replace(self.intervention, positions="prompt"))
        return prompt.write(prompts, magnitude, max_new_tokens, stop)


class CacheAcrossSettings(StandIn):
    """What was computed for a prompt at the first setting comes back at every other, as of an unsteered prefix."""

    def __init__(self, model, intervention):
        super().__init__(model, intervention)
        self.kept = {}

    def at(self, magnitude):
        return LocalEngine(self.model, self.intervention), self.kept.setdefault("prefix", magnitude)


class CacheOfTexts(CacheAcrossSettings):
    def log_probs(self, prompts, magnitude, tokens):
        return LocalEngine(self.model, self.intervention).log_probs(prompts, magnitude, tokens)


class HookThatStays(StandIn):
    """Where no push is asked for, the last one is still in force."""

    last = 0.0

    def at(self, magnitude):
        self.last = magnitude or self.last
        return LocalEngine(self.model, self.intervention), self.last


class WrongOrder(StandIn):
    """Answers come back as they were finished."""

    def write(self, prompts, magnitude, max_new_tokens, stop=None):
        return super().write(prompts, magnitude, max_new_tokens, stop)[::-1]


class RowsBeyond32(StandIn):
    """More prompts than the project's own writer is compared on, and the rest of the batch is written unsteered."""

    def write(self, prompts, magnitude, max_new_tokens, stop=None):
        first = super().write(prompts[:32], magnitude, max_new_tokens, stop)
        return first + super().write(prompts[32:], 0.0, max_new_tokens, stop)


class LastRow(StandIn):
    """The last of a batch is left unsteered where margins are read."""

    def log_probs(self, prompts, magnitude, tokens):
        parts = [super(LastRow, self).log_probs(prompts, each, tokens) for each in (magnitude, 0.0)]
        return np.concatenate([parts[0][:-1], parts[1][-1:]])


FAULTS = [
    RowsBeyond32,
    LastRow,
    OtherScale,
    OtherSign,
    Unsteered,
    OtherLayer,
    OtherPositions,
    FirstTokenOnly,
    CacheAcrossSettings,
    CacheOfTexts,
    HookThatStays,
    WrongOrder,
]


@pytest.fixture(scope="module")
def intervention(model):
    return Intervention.of(*vectors_at(model, [2]), positions="all")


class Remembered(LocalEngine):
    """Ours, which need not compute for each engine what it is held against."""

    @cache  # noqa: B019 (it lives as long as the module)
    def _margins(self, prompts, magnitude, tokens):
        return super().log_probs(prompts, magnitude, tokens)

    def log_probs(self, prompts, magnitude, tokens):
        return self._margins(tuple(map(tuple, prompts)), magnitude, tuple(tokens))

    @cache  # noqa: B019 (it lives as long as the module)
    def _texts(self, prompts, magnitude, max_new_tokens, stop):
        return super().write(prompts, magnitude, max_new_tokens, stop)

    def write(self, prompts, magnitude, max_new_tokens, stop=None):
        return self._texts(tuple(map(tuple, prompts)), magnitude, max_new_tokens, stop)


@pytest.fixture(scope="module")
def own(model, intervention):
    return Remembered(model, intervention)


def parity(engine, own, settings=SETTINGS):
    return check_parity(engine, own, QUESTIONS, settings, DIRECT, WRITTEN)


def test_an_engine_that_steers_as_the_local_one_passes(model, intervention, own):
    found = parity(StandIn(model, intervention), own)
    assert found.holds, str(found)
    assert (found.n_margins, found.n_texts) == (4 * 40, 3 * 32)
    assert found.push_off < 1e-3


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_planted_fault_is_found(model, intervention, own, fault):
    found = parity(fault(model, intervention), own)
    print(found)
    assert not found.holds


def test_one_question_of_400_or_a_step_of_two_percent_too_little_is_enough_to_refuse_an_engine(
    model, intervention, own
):
    found = replace(parity(StandIn(model, intervention), own), n_margins=1600, n_alike=1600)
    assert found.holds
    assert not replace(found, push_off=0.05, one_off=1.0).holds
    assert not replace(found, push_off=0.02, step=0.98).holds


def test_settings_that_change_no_text_prove_nothing(model, intervention, own):
    with pytest.raises(InputError, match="further out"):
        parity(StandIn(model, intervention), own, (0.0, 1e-6))


def test_two_outer_settings_and_0_are_compared():
    assert outer_settings([0.3, -0.2, 0.0, 0.1]) == (0.0, -0.2, 0.3)
    assert outer_settings([0.0, -0.4]) == (0.0, -0.2, -0.4)
    with pytest.raises(InputError, match="only setting is 0"):
        outer_settings([0.0])


def test_margins_of_the_local_engine_are_those_of_the_sweep(model, intervention):
    from steering import ask_settings

    prompts = [DIRECT.prompt(question.text) for question in QUESTIONS[:6]]
    tokens = model.answer_tokens(prompts[0])
    log_p = LocalEngine(model, intervention, 4).log_probs(model.token_ids(prompts), 0.5, tokens.every)
    n_yes = len(tokens.yes)
    margins = np.logaddexp.reduce(log_p[:, :n_yes], axis=1) - np.logaddexp.reduce(log_p[:, n_yes:], axis=1)
    names = [question.id for question in QUESTIONS[:6]]
    swept = ask_settings(model, prompts, names, DIRECT, intervention, [0.5])
    np.testing.assert_allclose(margins, swept.set_index("question_id").loc[names, "margin"], atol=2e-5)


def test_a_sweep_by_another_engine_keeps_the_same_texts(model, intervention):
    def texts(**more):
        parts = []
        reasoned_sweep(model, QUESTIONS[:7], intervention, [0.0, 0.5], WRITTEN, sink=parts.append, **more)
        rows = [row for part in parts for row in part.itertuples(index=False)]
        return sorted((row.question_id, row.magnitude, row.text, row.tokens_out) for row in rows)

    assert texts(engine=StandIn(model, intervention)) == texts(batch_size=3)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("Engine", "such as my_engine.py:Engine"),
        ("nowhere.py:Engine", "no such Python file"),
        ("{}:Other", "holds nothing of the name Other"),
        ("{}:number", "holds nothing of the name number"),
    ],
)
def test_what_names_no_engine_is_refused_in_one_sentence(tmp_path, spec, words):
    file = tmp_path / "an_engine.py"
    file.write_text("number = 3\nclass Engine: ...\n")
    assert load_engine(f"{file}:Engine").__name__ == "Engine"
    with pytest.raises(InputError, match=words):
        load_engine(spec.format(file))
