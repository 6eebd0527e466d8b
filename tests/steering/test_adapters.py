"""An adapter is told how often to say yes, does so, and leaves the model as it was."""

import copy

import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.instruments import INSTRUMENTS
from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.asking.respondents import answers_in_order
from onedial.core.errors import InputError
from onedial.models.respondent import LocalRespondent
from steering.dials.adapters import Adapter, LoraDial, adapted, train_adapter, tuned_to_answers
from steering.dials.dials import Dial, Put
from steering.planning.magnitudes import seek_settings

pytest.importorskip("peft", reason="peft is an optional extra (onedial[adapters])")

QUESTIONS = [Question(f"q{i:02d}", f"Which river was the ode of king {i}?") for i in range(32)]


@pytest.fixture(scope="module")
def model():
    return outspoken_model(architecture="llama", seed=1)


@pytest.fixture(scope="module")
def before(model):
    return copy.deepcopy(model.hf.state_dict())


@pytest.fixture(scope="module")
def adapter(model, prompts, before):
    return train_adapter(model, prompts, 0.25)


def logits_of(model, prompts):
    return torch.cat([model.hf(input_ids=torch.tensor([ids])).logits[0, -1:] for ids in prompts.sequences[:4]])


def rate(table, setting):
    at_setting = table[table["setting"] == setting]
    return (at_setting["margin"] > 0).mean()


def test_the_training_questions_are_answered_yes_as_often_as_wanted(model, adapter):
    table = LoraDial(adapter).ask(Put(model, QUESTIONS, METACOGNITIVE), [0.0, 1.0])
    assert rate(table, 1.0) == pytest.approx(0.25, abs=0.05)
    assert rate(table, 1.0) == pytest.approx(adapter.reached)
    assert rate(table, 0.0) == pytest.approx(adapter.unsteered)
    assert abs(adapter.unsteered - 0.25) > 0.1, "the tiny model says yes as often without it, so nothing is shown"


def test_at_setting_0_the_subject_is_as_it_was_bit_for_bit(model, prompts, adapter, before):
    plain = logits_of(model, prompts)
    with adapted(model, adapter, 1.0):
        assert not torch.equal(logits_of(model, prompts), plain)
    with adapted(model, adapter, 0.0):
        assert torch.equal(logits_of(model, prompts), plain)
    assert torch.equal(logits_of(model, prompts), plain)
    after = model.hf.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert not any(tensor.requires_grad for tensor in model.hf.parameters())
    assert not hasattr(model.hf, "peft_config")


def test_it_is_a_dial_like_any_other(model, adapter):
    dial = LoraDial(adapter)
    assert isinstance(dial, Dial)

    def ask(_, settings):
        return dial.ask(Put(model, QUESTIONS, METACOGNITIVE), settings["LoRA"]).assign(dial="LoRA")

    placed, _ = seek_settings(ask, {"LoRA": dial.first_settings()}, [0.7], {"LoRA"})
    assert placed["reached"].all()


def test_it_is_saved_as_peft_reads_it(model, prompts, adapter, tmp_path):
    from peft import PeftModel

    adapter.save(tmp_path / "adapter")
    again = Adapter.load(tmp_path / "adapter")
    with adapted(model, adapter, 1.0):
        expected = logits_of(model, prompts)
    with adapted(model, again, 1.0):
        assert torch.equal(logits_of(model, prompts), expected)
    theirs = PeftModel.from_pretrained(copy.deepcopy(model.hf), tmp_path / "adapter")
    ids = torch.tensor([prompts.sequences[0]])
    assert torch.allclose(theirs(input_ids=ids).logits[0, -1], expected[0], atol=1e-5)


KNOWN = INSTRUMENTS["can you answer"]
ASKED = [KNOWN.prompt(f"Who {verb} the {which} {what}?") for verb in ("wrote", "saw", "sold", "lost")
         for which in ("first", "last", "best", "next") for what in ("king", "poem", "law", "bird", "sea")]  # fmt: skip


def margins_of(model):
    return [answer.margin for answer in answers_in_order(LocalRespondent(model), ASKED, KNOWN)]


def held_out_accuracy(model, answers):
    with tuned_to_answers(model, ASKED[::2], answers[::2], passes=4, learning_rate=3e-3):
        result = margins_of(model)
    return sum((margin > 0) == bool(answer) for margin, answer in list(zip(result, answers, strict=True))[1::2]) / 40


@pytest.mark.long
def test_each_tuned_model_predicts_its_own_leaning_best():
    """Each model's answers are its own untuned leaning, which nothing in the question shows."""
    models = [outspoken_model(architecture="llama", seed=seed) for seed in (1, 11)]
    plain = [margins_of(model) for model in models]
    leanings = [[float(margin > sorted(margins)[40]) for margin in margins] for margins in plain]
    grid = [[held_out_accuracy(model, answers) for answers in leanings] for model in models]
    assert grid[0][0] + grid[1][1] - grid[0][1] - grid[1][0] > 0.4
    coins = [float(digit) for digit in f"{0x9E3779B97F4A7C15F39CC:080b}"[-80:]]
    assert abs(held_out_accuracy(models[0], coins) - held_out_accuracy(models[1], coins)) < 0.3
    assert margins_of(models[0]) == plain[0]  # and it is as it was
    with pytest.raises(InputError, match="one answer to each"):
        held_out_accuracy(models[0], coins[:10])


def test_what_cannot_be_done_is_refused(model, prompts, adapter, tmp_path):
    with pytest.raises(InputError, match="give a share between 0 and 1"):
        train_adapter(model, prompts, 1.0)
    with pytest.raises(InputError, match="there is no adapter at"):
        Adapter.load(tmp_path)
    with (
        pytest.raises(InputError, match="was trained for tiny-outspoken, and the model is"),
        adapted(outspoken_model(architecture="llama", seed=2), adapter, 0.0),
    ):
        pass
