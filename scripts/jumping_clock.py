"""Run a program whose clock of the day jumps back and forth, by up to years, at every look at it.

    python scripts/jumping_clock.py 7 experiments/steer_sweep.py --out /tmp/run      # 7 is the seed

Durations are measured by another clock, which the system promises never to jump, and are as they are.
"""

import random
import runpy
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from onedial.core import Options, option, parse_options, run_command

FURTHEST = 3 * 365 * 86400.0
PACKAGES = ("onedial", "steering", "probes")
_drawn = random.Random()
_now = datetime.now
_seconds = time.time


class JumpingDatetime(datetime):
    """A datetime that says at each look another now."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "JumpingDatetime":
        jump = timedelta(seconds=_drawn.choice([0.0, _drawn.uniform(-FURTHEST, FURTHEST)]))
        return cls.fromtimestamp((_now(UTC) + jump).timestamp(), tz)


def jump(seed: int) -> None:
    """From now on this process's clock jumps."""
    _drawn.seed(seed)
    time.time = lambda: _seconds() + _drawn.uniform(-FURTHEST, FURTHEST)
    sys.modules["datetime"].datetime = JumpingDatetime  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in PACKAGES and getattr(module, "datetime", None) is datetime:
            module.datetime = JumpingDatetime  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    seed: int = option(..., "of the jumps", at_least=0, positional=True)
    program: tuple[str, ...] = option((), "the program and its options", leading_hyphen=True, positional=True)


def main() -> None:
    options = parse_options(ScriptOptions, __doc__)
    jump(options.seed)
    sys.argv = list(options.program)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    sys.exit(run_command(main))
