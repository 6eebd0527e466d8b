"""The ways in which the field asks a model about itself: what is asked, how it is scored, how it is drawn."""

from onedial.selfreport.ask.self_reports import SELF_REPORTS, SelfReport

__all__ = [
    "SELF_REPORTS",
    "SelfReport",
]
