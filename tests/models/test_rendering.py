"""Templates of all kinds give the same prompt every day, and an answer never begins within a thought."""

import re

import pytest
from tiny_models import byte_tokenizer, tiny_hf, tiny_model
from tokenizers import normalizers, processors

from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.asking.questions import Question
from onedial.asking.replies import without_thoughts
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import HARMONY_ANSWER, THOUGHT_MARKS, encode, open_thought, render

TURN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
HARMONY = (
    "{% for m in messages %}<|start|>{{ m['role'] }}<|message|>{{ m['content'] }}<|end|>{% endfor %}<|start|>assistant"
)
PARTS = "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}"
OF_PICTURES = {
    "SmolVLM": "{% for m in messages %}{{ m['role'] | capitalize }}{% if m['content'][0]['type'] == 'image' %}:{% "
    "else %}: {% endif %}" + PARTS + "<end_of_utterance>\n{% endfor %}Assistant:",
    "LLaVA": "{% for m in messages %}<|im_start|>{{ m['role'] }} {% for c in m['content'] | selectattr('type', "
    "'equalto', 'image') %}<image>{% endfor %}{% for c in m['content'] | selectattr('type', 'equalto', 'text') %}\n{{ "
    "c['text'] }}{% endfor %}<|im_end|>{% endfor %}<|im_start|>assistant\n",
    "fails at a text": "{% for m in messages %}<{{ m['role'] }}>{{ m['content'][0].text + '' }}\n{% endfor %}",
    "answers as text": "{% for m in messages %}<{{ m['role'] }}>{% if m['role'] == 'user' %}"
    + PARTS
    + "{% else %}{{ m['content'] + '' }}{% endif %}\n{% endfor %}",
    "questions as text": "{% for m in messages %}<{{ m['role'] }}>{% if m['role'] == 'assistant' %}"
    + PARTS
    + "{% else %}{{ m['content'] + '' }}{% endif %}\n{% endfor %}",
}


def tokenizer(template):
    made = byte_tokenizer()
    made.chat_template = template
    return made


@pytest.mark.parametrize(
    "dated",
    [
        "{{ date_string }}",
        "{{ strftime_now('%d %b %Y') }}",
        "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}{% else %}none{% endif %}",
        "{% if not date_string is defined %}{% set date_string = strftime_now('%d') %}{% endif %}{{ date_string }}",
    ],
)
def test_a_template_that_prints_the_date_prints_the_same_one_every_day(dated):
    text = render(tokenizer(f"{dated} {TURN}"), Prompt("How many?", "Answer:"))
    assert text.startswith("01 Jan 2025 ")


@pytest.mark.parametrize("mark", THOUGHT_MARKS)
def test_an_open_thought_is_closed_by_its_own_mark(mark):
    """An open thought is closed by its own mark before the answer begins."""
    text = render(tokenizer(f"{TURN}<assistant>{mark}\n"), Prompt("How many?", "Answer:"))
    assert open_thought(text) is None
    assert text.count(THOUGHT_MARKS[mark]) == 1
    assert re.search(r"[ >]Answer:$|\nAnswer:$", text)


def test_the_official_form_of_an_empty_thought_is_kept():
    text = render(tokenizer(TURN + "<assistant><think>\n"), Prompt("How many?", "Answer:"))
    assert text.endswith("<assistant><think>\n\n</think>\n\nAnswer:")


@pytest.mark.parametrize("mark", THOUGHT_MARKS)
def test_whoever_writes_freely_may_think_first(mark):
    assert open_thought(render(tokenizer(f"{TURN}<assistant>{mark}\n"), Prompt("How many?", ""))) == mark


@pytest.mark.parametrize("mark", THOUGHT_MARKS)
def test_a_mark_within_a_question_opens_no_thought(mark):
    asked, earlier = f"What does {mark} mean?", (("How many?", "Two."), (f"Is {mark} a word?", "No."))
    text = render(tokenizer(TURN + "<assistant>"), Prompt(asked, "Answer:", earlier))
    assert text.endswith(f"<user>{asked}\n<assistant> Answer:")


@pytest.mark.parametrize("begun", ["", "<|channel|>analysis<|message|>", "<|channel|>analysis<|message|>Hm."])
def test_an_answer_in_channels_stands_in_the_final_one(begun):
    text = render(tokenizer(HARMONY + begun), Prompt("How many?", "Answer:"))
    assert text.endswith("<|start|>assistant<|channel|>final<|message|>Answer:")
    assert text.count("<|end|>") == 1 + bool(begun)


def test_a_thought_that_was_closed_in_an_earlier_turn_changes_nothing():
    made = tokenizer(TURN + "<assistant>")
    prompt = Prompt("And now?", "Answer:", (("How many?", "<think>two</think>Two."),))
    assert render(made, prompt) == render(tokenizer(TURN + "<assistant>"), prompt)
    assert render(made, prompt).endswith("<assistant> Answer:")


@pytest.mark.parametrize("template", OF_PICTURES.values(), ids=OF_PICTURES)
def test_a_template_that_loops_over_parts_is_given_parts(template):
    prompt = Prompt("How  many?\nSay a number.", "Answer:", (("Who was it?", "Nobody."),))
    text = render(tokenizer(template), prompt)
    places = [text.index(part) for part in ("Who was it?", "Nobody.", "How  many?\nSay a number.", "Answer:")]
    assert places == sorted(places)
    assert "{" not in text


def test_a_template_that_takes_texts_is_given_texts():
    either = (
        "{% for m in messages %}{% if m['content'] is string %}{{ m['content'] }}{% else %}parts{% endif %}{% endfor %}"
    )
    assert render(tokenizer(either), Prompt("How many?")) == "How many?"


def test_a_template_that_trims_holds_its_question_all_the_same():
    assert render(tokenizer("{{ messages[0]['content'] | trim }}<a>"), Prompt(" How many?\n")) == "How many?<a>"
    wrapped = tokenizer("{{ messages[0]['content'] | replace('\n', ' ') }}<a>")
    assert render(wrapped, Prompt("How\nmany?")) == "How many?<a>"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Hello!", "leaves out .* of a prompt with 'How many.' it makes 'Hello!'"),
        ("{{ messages[0]['content'] }}", "leaves out"),  # the earlier turn alone
        ("{{ messages[-1]['content'] }}", "leaves out"),  # the last alone
        ("{{ messages[-1]['content'][:5] }}", "leaves out"),
        ("{% for m in messages %}{{ m['content'] | upper }}{% endfor %}", "leaves out"),
        ("{{ raise_exception('no such role') }}", "the chat template of this tokenizer fails .no such role"),
        ("{{ messages", "fails"),
        ({"tool_use": TURN, "rag": TURN}, "the chat templates tool_use, rag, and none is called default"),
    ],
)
def test_a_prompt_that_does_not_hold_its_question_is_refused(template, message):
    with pytest.raises(InputError, match=message):
        render(tokenizer(template), Prompt("How many?", "Answer:", (("Who was it?", "Nobody."),)))


def test_of_named_templates_the_default_is_taken_or_the_only_one():
    plain = render(tokenizer(TURN), Prompt("How many?"))
    for templates in ({"default": TURN, "rag": "{{ documents }}"}, {"chat": TURN}):
        assert render(tokenizer(templates), Prompt("How many?")) == plain


def based(single, normalizer=None):
    """A base model's tokenizer that puts special tokens around a text, and maybe writes the text otherwise."""
    made = byte_tokenizer(chat=False)
    specials = [(token, made.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    made.backend_tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=specials)
    if normalizer is not None:
        made.backend_tokenizer.normalizer = normalizer
    return made


@pytest.mark.parametrize("single", ["$A", "<s> $A", "</s> $A", "<s> </s> $A"])
@pytest.mark.parametrize("normalizer", [None, normalizers.Prepend("\u2581")])
def test_a_base_models_prompt_is_what_its_tokenizer_makes_of_the_text(single, normalizer):
    made = based(single, normalizer)
    text = "Who sang </s> of it?\n\nAnswer:"
    assert encode(made, render(made, Prompt("Who sang </s> of it?", "Answer:"))) == made(text).input_ids


@pytest.mark.parametrize("single", ["$A </s>", "<s> $A <s> </s>"])
def test_what_a_tokenizer_puts_after_a_text_is_left_out(single):
    made = based(single)
    whole, ended = made("Who sang?</s>").input_ids, made("Who sang?").input_ids
    n_after = 2 if single.startswith("<s>") else 1
    assert encode(made, "Who sang?") == ended[:-n_after]
    assert encode(made, "Who sang?</s>") == whole[:-n_after]  # what the text itself says stays


def test_the_last_letter_of_a_question_is_found_behind_a_first_token():
    plain, begun = (OpenModel(tiny_hf(), based(single), name="tiny") for single in ("$A", "<s> $A"))
    questions = [Question("a", "Who sang?"), Question("b", "Why is it so?")]
    ends, later = (PromptSet.build(each, questions, METACOGNITIVE).question_ends for each in (plain, begun))
    assert later == tuple(end + 1 for end in ends)


def test_a_padding_token_without_an_embedding_is_not_used():
    made = byte_tokenizer()
    made.add_special_tokens({"pad_token": "[PAD]"})
    hf = tiny_hf(vocab_size=len(byte_tokenizer()))
    plain, padded = (OpenModel(hf, each, name="tiny") for each in (byte_tokenizer(), made))
    prompts = [METACOGNITIVE.fill("Who?"), METACOGNITIVE.fill("Who sang of the river?")]
    assert padded.stack.pad_id == plain.stack.pad_id
    assert (padded.tokenise(prompts).input_ids == plain.tokenise(prompts).input_ids).all()
    assert padded.generate([each.user for each in prompts]) == plain.generate([each.user for each in prompts])


def test_a_prompt_of_tokens_without_an_embedding_is_refused():
    model = tiny_model(vocab_size=len(byte_tokenizer()))
    model.tokenizer.add_tokens(["<|im_start|>"])
    with pytest.raises(InputError, match=r"'<\|im_start\|>'.*but the model's embedding has \d+ rows"):
        model.token_ids([Prompt("<|im_start|>Who?")])


@pytest.mark.parametrize(("mark", "close"), THOUGHT_MARKS.items())
def test_closing_marks_are_known_to_the_reader_of_replies(mark, close):
    """Whatever closes an opened thought is known to the reader of replies."""
    answer = HARMONY_ANSWER if "channel|>analysis" in mark else ""
    assert without_thoughts(f"{mark}\nIt may be no.") == ""
    assert without_thoughts(f"{mark}\nIt may be no.{close}{answer}Yes") == "Yes"
