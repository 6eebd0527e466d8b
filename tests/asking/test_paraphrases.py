"""Other wordings of a prompt change the request and nothing else."""

from onedial.asking.prompts import FRAMINGS, PromptTemplate
from onedial.asking.rewording import ORDERS, REQUESTS, REVERSED, paraphrases, reversed_wording
from onedial.core.notices import noticed


def test_six_wordings_differ_in_request_and_order_alone():
    """Six wordings differ in the request and the order alone in worked examples too."""
    template = FRAMINGS["examples YN"]
    made = paraphrases(template)
    assert made[0] == template
    assert len({each.name for each in made}) == len({each.user for each in made}) == len(REQUESTS) * len(ORDERS)
    for each in made[1:]:
        (request,) = [text for text in REQUESTS if text in each.user]
        (order,) = [text for text in ORDERS if text in each.user]
        assert each.user.count(f"{request} {order}") == 3  # two examples, and the question
        assert each.user.replace(f"{request} {order}", f"{REQUESTS[0]} {ORDERS[0]}") == template.user
        assert each.assistant_prefix == template.assistant_prefix
    assert made[1].name == "examples YN, wording 1, no first"


def test_ones_own_prompt_is_asked_in_both_orders():
    """A prompt of ones own is asked in both orders and one without yes or no as it is."""
    template = PromptTemplate("{question} Known to you? Yes or No?", name="own")
    assert [each.name for each in paraphrases(template)] == ["own", "own, no first"]
    notices = []
    with noticed(notices.append):
        assert paraphrases(PromptTemplate("{question} Known?", name="bare")) == [
            PromptTemplate("{question} Known?", name="bare")
        ]
    assert len(notices) == 1
    assert "--wordings" in notices[0]


def test_the_reversed_wording_turns_request_and_examples():
    """The reversed wording turns request and examples round and leaves all else."""
    for template in FRAMINGS.values():
        turned = reversed_wording(template)
        assert REQUESTS[0] not in turned.user
        assert turned.user.count(REVERSED[REQUESTS[0]]) == template.user.count(REQUESTS[0])
        back = turned.user.replace(REVERSED[REQUESTS[0]], REQUESTS[0])
        swapped = back.replace("Answer: Yes", "Answer: ?").replace("Answer: No", "Answer: Yes")
        assert swapped.replace("Answer: ?", "Answer: No") == template.user
    assert "dog have?\n\nWould you get this question wrong? Yes or No?\n\nAnswer: No" in (
        reversed_wording(FRAMINGS["examples YN"]).user
    )


def test_a_prompt_that_cannot_be_turned_round_has_no_reversed_wording():
    assert reversed_wording(PromptTemplate("{question} Known to you?")) is None
    with_examples = f"A dog? {REQUESTS[0]} So: yes\n\n{{question}} {REQUESTS[0]}"
    assert reversed_wording(PromptTemplate(with_examples)) is None
