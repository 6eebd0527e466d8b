"""Tests of the battery that stand in one file each; a line below makes one known to every program."""

from onedial.selfreport.battery.debate import DEBATE
from onedial.selfreport.battery.guesses import GUESSES
from onedial.selfreport.battery.line import BatteryTest
from onedial.selfreport.battery.reasoning import REASONING

BATTERY_TESTS: dict[str, BatteryTest] = {"guesses": GUESSES, "reasoning": REASONING, "debate": DEBATE}
