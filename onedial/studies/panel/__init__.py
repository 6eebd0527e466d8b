"""The stages of `experiments/study_panel.py`: a panel, and no model.

overview    the study's questions on one page        scale         everything that can be asked of its scale
confidence  what its confidence is worth             readings, worth, study_page    of which they are made
"""

from onedial.studies.panel.confidence import study_confidence
from onedial.studies.panel.overview import study_overview
from onedial.studies.panel.readings import readings_table
from onedial.studies.panel.scale import study_scale
from onedial.studies.panel.study_page import sentences_of, write_study_report
from onedial.studies.panel.worth import print_table, rate_tables

__all__ = [
    "print_table",
    "rate_tables",
    "readings_table",
    "sentences_of",
    "study_confidence",
    "study_overview",
    "study_scale",
    "write_study_report",
]
