"""A chat template is looked at once: answers are read where the template puts them, or it is refused."""

import pytest
import torch
from tiny_models import byte_tokenizer, tiny_hf, tiny_model

from onedial.asking.instruments import CAN_YOU_ANSWER
from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.chat_turns import ChatTurns
from onedial.models.prompt_set import PromptSet
from onedial.models.respondent import LocalRespondent

TURN = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
THINKING = TURN.replace(
    "{{ m['content'] }}", "{% if m['role'] == 'assistant' %}<T>\n\n</T>{% endif %}{{ m['content'] }}"
)
INSTRUCTION = (
    "{% for m in messages %}{% if m['role'] == 'user' %}<s>[INST] {{ m['content'] }} [/INST]{% else %}"
    " {{ m['content'] }}</s>{% endif %}{% endfor %}"
)
CHANNELS = (
    "{% for m in messages %}<|start|>{{ m['role'] }}{% if m['role'] == 'assistant' %}<|channel|>final{% endif %}"
    "<|message|>{{ m['content'] }}<|end|>{% endfor %}<|start|>assistant"
)
RESPONSE = TURN.replace("{{ m['content'] }}", "{% if m['role'] == 'assistant' %}<|begin|>{% endif %}{{ m['content'] }}")


def begun(more="", turn=TURN):
    return turn + "{% if add_generation_prompt %}<|im_start|>assistant\n" + more + "{% endif %}"


def look(template):
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = template
    return ChatTurns.of(tokenizer, "tiny")


@pytest.mark.parametrize(
    "template",
    [
        None,
        begun(),
        begun("<think>\n"),
        begun("<think>\n\n</think>\n\n"),
        begun("<think>\n", THINKING.replace("T>", "think>")),
        INSTRUCTION,
        CHANNELS,
        "{{ messages[0]['content'] }}",
    ],
    ids=["base", "ChatML", "open", "closed", "thinking before answers", "instructions", "channels", "no history"],
)
def test_right_templates_pass(template):
    turns = look(template)
    assert (turns.unfinished, turns.needed) == ("", "")
    turns.check(Prompt("Who?", "Answer:"), reads=True)


@pytest.mark.parametrize("template", [TURN, begun("<|im_end|>\n"), begun("</s>")])
def test_no_turn_or_a_closed_one_is_refused(template):
    with pytest.raises(InputError, match="assistant"):
        look(template)


def test_what_a_refused_template_lacks_is_named():
    """The template passes once what the refusal names was added."""
    with pytest.raises(InputError) as refused:
        look(TURN)
    addition = str(refused.value).split("add ", 1)[1].split(" to its end")[0]
    assert look(TURN + addition).unfinished == ""


@pytest.mark.parametrize(
    ("template", "needed"),
    [
        (begun("<ponder>\n"), "</ponder>"),
        (begun("<|ponder|>"), "<|/ponder|>"),
        (begun("<ponder>\n", THINKING.replace("T>", "ponder>")), "</ponder>"),
        (begun("", RESPONSE), "<|begin|>"),
    ],
)
def test_an_answer_begins_where_the_template_puts_it(template, needed):
    turns = look(template)
    for prompt in (Prompt("Who?", "Answer:"), Prompt("Who?")):
        with pytest.raises(InputError) as refused:
            turns.check(prompt, reads=True)
        assert repr(needed) in str(refused.value)
    turns.check(Prompt("Who?", f"{needed}\n\nAnswer:"), reads=True)
    turns.check(Prompt("Who?"))  # it may write from there


def test_another_header_is_said():
    template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}ASSISTANT:"
    with pytest.warns(Notice):
        look(template)


def test_control_tokens_in_a_question_are_refused():
    for chat in (True, False):
        model = tiny_model(chat=chat)
        with pytest.raises(InputError, match="'</s>'"):
            PromptSet.build(model, ["Who sang?", "What does </s> mean?"], METACOGNITIVE)
    model = tiny_model()
    for user in ("Is <s> a tag?", "</s>"):
        with pytest.raises(InputError, match="control token"):
            model.generate(user)
        with pytest.raises(InputError, match="control token"):
            list(LocalRespondent(model).answer([Prompt(user)], CAN_YOU_ANSWER))


def test_float16_that_overflows_is_refused_when_loaded():
    from onedial.models.model import OpenModel

    hf = tiny_hf(initializer_range=0.05).half()
    ids = byte_tokenizer().encode(" question", add_special_tokens=False)
    with torch.no_grad():
        hf.get_input_embeddings().weight[ids, 0] = 6e4
        for layer in hf.model.layers:
            layer.mlp.down_proj.weight[0] += 600.0
    with pytest.raises(InputError, match=r"float16.*bfloat16 or float32"):
        OpenModel(hf, byte_tokenizer(), name="tiny")


def test_logits_that_are_not_finite_are_no_text():
    model = tiny_model()
    model.hf.get_output_embeddings().weight.data[7] = torch.nan
    with pytest.raises(InputError, match="no finite logits"):
        model.generate("Who?")
