"""The ways in which the field asks a model about itself: what is asked, how it is scored, how it is drawn."""

from onedial.selfreport.ask.self_reports import SELF_REPORTS, SelfReport
from onedial.selfreport.battery import BATTERY
from onedial.selfreport.frame import BatteryTest, Headline

__all__ = [
    "BATTERY",
    "BatteryTest",
    "Headline",
    "SELF_REPORTS",
    "SelfReport",
]
