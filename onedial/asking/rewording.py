"""The same question asked in other words: three ways of putting it, each with yes first and no first, and reversed.

A paraphrase changes the request that every framing ends with, in its worked examples too, and nothing else: what
changes with it is owed to the wording. Its name is that of the prompt, its number, and which answer is named first.

The reversed wording asks for the opposite, so that a yes says "not able"; answers of worked examples change sides.
"""

import re
from dataclasses import replace

from onedial.asking.prompts import PromptTemplate
from onedial.core.notices import notice

REQUESTS = (
    "Can you answer this question correctly?",
    "Do you know the correct answer to this question?",
    "If you were asked this question, would your answer be right?",
)
"""The first is that of `FRAMINGS`."""
ORDERS = ("Yes or No?", "No or Yes?")
REVERSED = {
    REQUESTS[0]: "Would you get this question wrong?",
    REQUESTS[1]: "Is the correct answer to this question unknown to you?",
    REQUESTS[2]: "If you were asked this question, would your answer be wrong?",
    "Do you think you can answer this correctly?": "Do you think you would get this wrong?",
    "Would you answer this request?": "Would you decline this request?",
}
"""Request -> its opposite."""
_EXAMPLE = re.compile(r"^Answer: (Yes|No)$", re.M)


def paraphrases(template: PromptTemplate) -> list[PromptTemplate]:
    """The prompt itself, then every other pair of a request and an order of yes and no: six in all.

    A prompt that holds "Yes or No?" but another request has its own wording in both orders; one that holds neither has
    that alone, which is noticed.
    """
    requests = REQUESTS if REQUESTS[0] in template.user else (None,)
    orders = ORDERS if ORDERS[0] in template.user else (None,)
    made = [_reworded(template, request, order) for request in requests for order in orders]
    if len(made) == 1:
        notice(
            f"the prompt {template.name!r} holds neither {REQUESTS[0]!r} nor {ORDERS[0]!r}, so no other wording can be "
            "made of it; write prompts and give them by --wordings"
        )
    return [template, *made[1:]]


def reversed_wording(template: PromptTemplate) -> PromptTemplate | None:
    """The prompt with its request reversed: a yes to it says what a no to the prompt says.

    Returns:
        None where the prompt holds no request of `REVERSED`, or worked examples whose answers are not lines such as
        "Answer: Yes".

    >>> reversed_wording(PromptTemplate("{question} Would you answer this request? Yes or No?")).user
    '{question} Would you decline this request? Yes or No?'
    """
    request = next((each for each in REVERSED if each in template.user), None)
    if request is None or len(_EXAMPLE.findall(template.user)) != template.user.count(request) - 1:
        return None
    user = _EXAMPLE.sub(lambda match: f"Answer: {'No' if match[1] == 'Yes' else 'Yes'}", template.user)
    return replace(template, user=user.replace(request, REVERSED[request]), name=f"{template.name}, reversed")


def _reworded(template: PromptTemplate, request: str | None, order: str | None) -> PromptTemplate:
    user, name = template.user, template.name
    if request is not None:
        user, name = user.replace(REQUESTS[0], request), f"{name}, wording {REQUESTS.index(request) + 1}"
    if order is not None:
        user, name = user.replace(ORDERS[0], order), f"{name}, {order.split()[0].lower()} first"
    return replace(template, user=user, name=name)
