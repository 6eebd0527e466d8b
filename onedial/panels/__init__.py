"""Questions and what models answered: files, other people's logs, grading, collecting, the built-in panels."""

from onedial.panels.collecting.respondent_files import RespondentModel
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.imported_panel import panel_from_logs
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import correctness_of, rates_of_respondents
from onedial.panels.panels import ResponseMatrix, panel_from_long
from onedial.panels.questions.facts import load_facts, truth_of
from onedial.panels.questions.question_files import load_questions
from onedial.panels.questions.question_table import choice_question

__all__ = [
    "RespondentModel",
    "ResponseMatrix",
    "choice_question",
    "correctness_of",
    "load_facts",
    "load_panel",
    "load_questions",
    "panel_from_logs",
    "panel_from_long",
    "rates_of_respondents",
    "read_logs",
    "truth_of",
]
