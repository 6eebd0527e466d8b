"""Which of several processes is this? Known from the launcher's environment, before any library is loaded."""

import os
from pathlib import Path

held: list[Path] = []
"""Folders of runs that this process writes; one from which it was broken off stays, so that it can be named."""


def is_first_process() -> bool:
    """Whether this process is the one that writes and speaks; true where there is no other."""
    return process_number() == 0


def process_number() -> int:
    """Return the number of this process among those that were started together, from 0."""
    return int(os.environ.get("RANK", "0"))
