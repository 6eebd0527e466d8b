"""Neutral text: short passages about nothing in particular, on which a dial should change nothing."""

from contextlib import ExitStack

from onedial.asking import embedded_file


def load_passages() -> list[str]:
    """64 passages of two sentences each, 21 to 34 words, written for this purpose (CC0).

    >>> len(load_passages())
    64
    """
    with ExitStack() as stack:
        return embedded_file("passages.txt", stack).read_text(encoding="utf-8").splitlines()
