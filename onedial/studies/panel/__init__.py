"""The stages of `experiments/study_panel.py` and `experiments/score_confidence.py`: a panel, and no model."""

from onedial.studies.panel.readings import readings_table
from onedial.studies.panel.study_page import sentences_of, write_study_report
from onedial.studies.panel.worth import (
    attitude_tables,
    calibration_tables,
    knowledge_tables,
    line_between_models,
    print_table,
    rate_tables,
    screening_tables,
    topic_table,
)

__all__ = [
    "attitude_tables",
    "calibration_tables",
    "knowledge_tables",
    "line_between_models",
    "print_table",
    "rate_tables",
    "readings_table",
    "screening_tables",
    "sentences_of",
    "topic_table",
    "write_study_report",
]
