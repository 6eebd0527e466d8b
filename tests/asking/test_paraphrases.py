"""Other wordings of a prompt change the request and nothing else."""

from onedial.asking.prompts import FRAMINGS, PromptTemplate
from onedial.asking.rewording import ORDERS, REQUESTS, REVERSED, paraphrases, reversed_wording
from onedial.core.notices import noticed


def test_six_wordings_differ_in_the_request_and_the_order_alone_in_worked_examples_too():
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


def test_a_prompt_of_ones_own_is_asked_in_both_orders_and_one_without_yes_or_no_as_it_is():
    own = PromptTemplate("{question} Known to you? Yes or No?", name="own")
    assert [each.name for each in paraphrases(own)] == ["own", "own, no first"]
    said = []
    with noticed(said.append):
        assert paraphrases(PromptTemplate("{question} Known?", name="bare")) == [
            PromptTemplate("{question} Known?", name="bare")
        ]
    assert len(said) == 1
    assert "--wordings" in said[0]


def test_the_reversed_wording_turns_request_and_examples_round_and_leaves_all_else():
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
