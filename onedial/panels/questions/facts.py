"""Yes/no facts that have nothing to do with ability: what a dial moves besides.

Neutral text: short passages about nothing in particular, on which a dial should change nothing.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from onedial.asking.named_data import embedded_file
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.panels.questions.question_files import load_questions


def load_passages() -> list[str]:
    """64 passages of two sentences each, 21 to 34 words, written for this purpose (CC0).

    >>> len(load_passages())
    64
    """
    with ExitStack() as stack:
        return embedded_file("passages.txt", stack).read_text(encoding="utf-8").splitlines()


def load_facts(n: int | None = None, seed: int = 0) -> list[Question]:
    """The built-in facts, in pairs of which one is true; each question's accepted answer is yes or no.

    Args:
        n: how many, an even number; None for all. Fewer are among more of the same seed.

    Raises:
        InputError: an odd number, or more than there are.

    >>> load_facts(2)[0].answers
    ('yes',)
    """
    facts = load_questions("facts")
    if n is None:
        return facts
    if n % 2 or not 0 < n <= len(facts):
        raise InputError(f"{n} facts requested; give an even number from 2 to {len(facts)}, since they come in pairs")
    pairs = sorted({_pair(fact) for fact in facts}, key=lambda pair: sha256_of_text(f"{seed} {pair}"))
    kept = set(pairs[: n // 2])
    return [fact for fact in facts if _pair(fact) in kept]


def truth_of(facts: Sequence[Question]) -> dict[str, float]:
    """Question id -> 1 where yes is right, 0 where no is.

    >>> from onedial.panels import load_facts
    >>> sorted(truth_of(load_facts(4)).values())
    [0.0, 0.0, 1.0, 1.0]
    """
    return {fact.id: float(fact.answers[0] == "yes") for fact in facts}


def _pair(fact: Question) -> str:
    return fact.id[:-1]
