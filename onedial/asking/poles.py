"""Contrasts by framing: two openings that differ in one thing a subject may take itself or its situation to be.

Each contrast has pairs of openings, the first of which names the pole that the contrast is called after. A question is
put under both openings of one pair; which pair is a matter of its place, so that no wording stands for the whole
contrast.

    persona          a person who knows much and likes to be asked, or one who knows little and would rather not
    capability       the system is said to be able, or to be unable
    risk             an answer that turns out wrong costs nothing, or much
    effort           time and care are there, or haste is wanted
    audience         whoever asks is easily pleased, or an expert who will check
    evaluation       nobody keeps a score, or this is a test of the system
    intentionality   an answer is the system's own choice, or comes out of it by itself
"""

from onedial.core.files import packaged_yaml

POLES: dict[str, tuple[tuple[str, str], ...]] = {
    name: tuple((first, second) for first, second in pairs)
    for name, pairs in packaged_yaml("onedial.asking", "texts.yaml")["poles"].items()
}


def openings_of(contrast: str, n: int) -> tuple[list[str], list[str]]:
    """The openings of n questions under either pole, the pole that the contrast is called after first."""
    pairs = POLES[contrast]
    chosen = [pairs[place % len(pairs)] for place in range(n)]
    return [first for first, _ in chosen], [second for _, second in chosen]
