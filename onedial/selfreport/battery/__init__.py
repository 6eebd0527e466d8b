"""Tests of the battery that stand in one file each; a line below makes one known to every program."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from onedial.selfreport.battery.debate import DEBATE
from onedial.selfreport.battery.guesses import GUESSES
from onedial.selfreport.battery.line import BatteryTest
from onedial.selfreport.battery.reasoning import REASONING

BATTERY_TESTS: dict[str, BatteryTest] = {"guesses": GUESSES, "reasoning": REASONING, "debate": DEBATE}


class WithTests(Mapping[str, Any]):
    """A dictionary by test, with a part of each of `BATTERY_TESTS` as they are when it is read.

    Args:
        part: of a test. before, after: the entries around them.
    """

    def __init__(
        self, part: Callable[[BatteryTest], Any], before: Mapping[str, Any], after: Mapping[str, Any] | None = None
    ) -> None:
        self._part, self._before, self._after = part, before, after or {}

    def _all(self) -> dict[str, Any]:
        return {**self._before, **{name: self._part(test) for name, test in BATTERY_TESTS.items()}, **self._after}

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
