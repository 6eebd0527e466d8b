from .collecting.collected_panel import failures, often_unread, panel_table, respondents_table, where_it_comes_from
from .collecting.collection import Collection, Pending, key_of, probes_for
from .collecting.judging import JUDGE, agreement, answers_to_judge, judge_answers
from .collecting.respondent_files import RespondentModel, load_judge, load_respondents
from .formats.exporting import EXPORT_VALUES, EXPORTERS
from .formats.formats import IMPORTERS, read_logs
from .formats.panel import ImportedPanel, panel_from_logs
from .formats.records import LogChoices, LogRecord, LogRun
from .formats.writing import write_imported
from .grading.choice_grading import grade_answer
from .grading.closed_book import accuracy_by_level, grade_closed_book, non_answers_by_level, outcome_counts
from .grading.grading import answer_label, answer_spans, grade, outcome_as_number
from .inputs import ExperimentInputs, load_inputs
from .joining import drop_own, join_questions_and_panel, same_model
from .own_answers import load_answers
from .panel_files import load_panel
from .panel_scores import (
    Confidence,
    base_model_means,
    correctness_of,
    rates_of_respondents,
    stated_confidence,
    summarise_panel,
)
from .panels import ResponseMatrix, counts_of_samples, panel_from_long, panel_long
from .questions.facts import load_facts, load_passages, truth_of
from .questions.layouts import LAYOUTS, Layout
from .questions.options import choice_question
from .questions.question_files import load_questions
from .spellings import Spellings
from .splits import EXTRACTION, FITTING, SPLITS, TEST, assign_splits, wordings_of

__all__ = [
    "Collection",
    "Confidence",
    "EXPORTERS",
    "EXPORT_VALUES",
    "EXTRACTION",
    "ExperimentInputs",
    "FITTING",
    "IMPORTERS",
    "ImportedPanel",
    "JUDGE",
    "LAYOUTS",
    "Layout",
    "LogChoices",
    "LogRecord",
    "LogRun",
    "Pending",
    "RespondentModel",
    "ResponseMatrix",
    "SPLITS",
    "Spellings",
    "TEST",
    "accuracy_by_level",
    "agreement",
    "answer_label",
    "answer_spans",
    "answers_to_judge",
    "assign_splits",
    "base_model_means",
    "choice_question",
    "counts_of_samples",
    "correctness_of",
    "drop_own",
    "failures",
    "grade",
    "grade_answer",
    "grade_closed_book",
    "join_questions_and_panel",
    "judge_answers",
    "key_of",
    "load_answers",
    "load_facts",
    "load_inputs",
    "load_judge",
    "load_panel",
    "load_passages",
    "load_questions",
    "load_respondents",
    "non_answers_by_level",
    "often_unread",
    "outcome_as_number",
    "outcome_counts",
    "panel_from_logs",
    "panel_from_long",
    "panel_long",
    "panel_table",
    "probes_for",
    "rates_of_respondents",
    "read_logs",
    "respondents_table",
    "same_model",
    "stated_confidence",
    "summarise_panel",
    "truth_of",
    "where_it_comes_from",
    "wordings_of",
    "write_imported",
]
