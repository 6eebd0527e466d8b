"""Templates of all kinds give the same prompt every day, and an answer never begins within a thought."""

import pytest
from tiny_models import byte_tokenizer

from onedial.asking import Prompt
from onedial.models import render
from onedial.models.tokens import opens_a_thought

TURN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"


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


def test_an_open_thought_is_closed_before_the_answer_begins():
    made = tokenizer(TURN + "<assistant><think>\n")
    text = render(made, Prompt("How many?", "Answer:"))
    assert text.endswith("<think>\n\n</think>\n\nAnswer:")
    assert not opens_a_thought(text)


def test_whoever_writes_freely_may_think_first():
    made = tokenizer(TURN + "<assistant><think>\n")
    assert opens_a_thought(render(made, Prompt("How many?", "")))


def test_a_thought_that_was_closed_in_an_earlier_turn_changes_nothing():
    made = tokenizer(TURN + "<assistant>")
    prompt = Prompt("And now?", "Answer:", (("How many?", "<think>two</think>Two."),))
    assert render(made, prompt) == render(tokenizer(TURN + "<assistant>"), prompt)
    assert render(made, prompt).endswith("<assistant> Answer:")
