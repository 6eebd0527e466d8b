"""The question within a prompt: what is left when the lines that all prompts of a task share are taken away.

    You are taking a quiz.                                  shared
    Question: Which metal is liquid at room temperature?    -> Which metal is liquid at room temperature?
    Can you answer this question? Yes or No?                shared

Only whole lines are taken, and a label such as "Question:" before what remains. What may still be shared is said: words
at the ends of all prompts, and lines around the only prompt there is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from onedial.asking.tables import listed
from onedial.core.notices import notice

PROMPTS = ("prompt", "input")
"""Columns that may hold more than the question."""
_FEWEST = 2
"""Prompts that can be known to share a line."""
_FEWEST_WORDS = 3
"""That all prompts begin or end with, to be named."""
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
    shortest = min((len(own) for own in lines.values()), default=0)
    n_before = n_after = 0
    if len(lines) >= _FEWEST:
        while n_before < shortest - 1 and len({own[n_before] for own in lines.values()}) == 1:
            n_before += 1
        while n_after < shortest - 1 - n_before and len({own[-1 - n_after] for own in lines.values()}) == 1:
            if _OPTION.match(next(iter(lines.values()))[-1 - n_after]):
                break  # "D) none of these" is part of every question
            n_after += 1
    bare = {
        prompt: _LABEL.sub("", "\n".join(own[n_before : len(own) - n_after]).strip()) for prompt, own in lines.items()
    }
    first = next(iter(lines.values()), [])
    template = Template("\n".join(first[:n_before]).strip(), "\n".join(first[len(first) - n_after :]).strip())
    return [bare[prompt] for prompt in prompts], template


def say_what_may_be_shared(source: str, bare: Sequence[str]) -> None:
    """Name whole clauses that all prompts still begin or end with, or that a single prompt may be more than a question.

    >>> say_what_may_be_shared("log", ["Who wrote Emma?", "Who wrote Dune?"])
    """
    texts = list(dict.fromkeys(bare))
    if len(texts) < _FEWEST:
        if "\n" in "".join(texts).strip():
            notice(f"{source}: one prompt alone does not tell what of its lines is the question; it is kept whole")
        return
    clauses = [re.split(r"(?<=[.?!:])\s+", text) for text in texts]
    ends = [{own[place] for own in clauses} for place in (0, -1)]
    shared = [min(own) for own in ends if len(own) == 1 and len(min(own).split()) >= _FEWEST_WORDS]
    if shared and all(len(own) > 1 for own in clauses):
        notice(
            f"{source}: all prompts hold {listed(shared)} besides their questions; name the field that holds the bare "
            "question (--columns question=COLUMN, or --question-field)"
        )
