"""The question within a prompt: what is left when the lines that all prompts of a task share are taken away.

    You are taking a quiz.                                  shared
    Question: Which metal is liquid at room temperature?    -> Which metal is liquid at room temperature?
    Can you answer this question? Yes or No?                shared

Only whole lines are taken, and a label such as "Question:" before what remains. What was taken away is in the report.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FEWEST = 2
"""Prompts that can be known to share a line."""
_MARKUP = r"(?:<[^<>]{1,40}>|\[[^\[\]]{1,40}\]|\s)*"
_OPTION = re.compile(r"\s*\(?[A-Ja-j1-9][).:]\s")
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
    shortest = min((len(split) for split in lines.values()), default=0)
    n_before = n_after = 0
    if len(lines) >= _FEWEST:
        while n_before < shortest - 1 and len({split[n_before] for split in lines.values()}) == 1:
            n_before += 1
        while n_after < shortest - 1 - n_before and len({split[-1 - n_after] for split in lines.values()}) == 1:
            if _OPTION.match(next(iter(lines.values()))[-1 - n_after]):
                break  # "D) none of these" is part of every question
            n_after += 1
    bare = {
        prompt: _LABEL.sub("", "\n".join(split[n_before : len(split) - n_after]).strip())
        for prompt, split in lines.items()
    }
    first = next(iter(lines.values()), [])
    template = Template("\n".join(first[:n_before]).strip(), "\n".join(first[len(first) - n_after :]).strip())
    return [bare[prompt] for prompt in prompts], template
