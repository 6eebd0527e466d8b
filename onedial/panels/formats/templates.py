"""The question within a prompt: what is left when the lines that all prompts of a task share are taken away.

    You are taking a quiz.                                  shared
    Question: Which metal is liquid at room temperature?    -> Which metal is liquid at room temperature?
    Can you answer this question? Yes or No?                shared

Only whole lines are taken, and a label such as "Question:" before what remains. Where fewer than three prompts differ,
nothing can be known to be shared, and the prompts stay as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FEWEST = 3
_MARKUP = r"(?:<[^<>]{1,40}>|\[[^\[\]]{1,40}\]|\s)*"
_LABEL = re.compile(rf"^{_MARKUP}(?:(?:question|query|problem|request|prompt)|q)\s*:\s*(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class Template:
    """The lines that all prompts of a task begin and end with."""

    before: str
    after: str


def bare_questions(prompts: Sequence[str]) -> tuple[list[str], Template]:
    """The question of each prompt, and what was taken away.

    Returns:
        One text per prompt, in their order; and the template (both parts "" where nothing is shared).
    """
    lines = {prompt: prompt.strip().splitlines() for prompt in dict.fromkeys(prompts)}
    shortest = min((len(own) for own in lines.values()), default=0)
    n_before = n_after = 0
    if len(lines) >= _FEWEST:
        while n_before < shortest - 1 and len({own[n_before] for own in lines.values()}) == 1:
            n_before += 1
        while n_after < shortest - 1 - n_before and len({own[-1 - n_after] for own in lines.values()}) == 1:
            n_after += 1
    bare = {
        prompt: _LABEL.sub("", "\n".join(own[n_before : len(own) - n_after]).strip()) for prompt, own in lines.items()
    }
    first = next(iter(lines.values()), [])
    template = Template("\n".join(first[:n_before]).strip(), "\n".join(first[len(first) - n_after :]).strip())
    return [bare[prompt] for prompt in prompts], template
