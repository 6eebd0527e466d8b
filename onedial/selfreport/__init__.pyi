from .ask.choices import DONT_KNOW, ChoiceItem, ask_choices, choice_instrument, choice_items
from .ask.kinds import kind_asked
from .ask.phrases import HEDGES, count_hedges, language_of
from .ask.questionnaires import (
    FOLLOW_UPS,
    NO_TASK,
    PRESENTATIONS,
    RATING_COLUMNS,
    Questionnaire,
    administer,
    conditions,
    efficacy_tasks,
    explain,
    load_questionnaire,
)
from .ask.readers import refuses
from .ask.requests import Request
from .ask.same_meaning import SAME_MEANING, judged_same
from .ask.self_prediction import ASSOCIATION, ask_association, ask_difficulty, ask_restriction, association_words
from .ask.self_reports import SELF_REPORTS, Item, SelfReport, ask_self_report, lettered, self_efficacy_items
from .battery import BATTERY, BATTERY_REPORTS, battery_scores
from .battery.beliefs import ask_beliefs
from .battery.confidence import CONFIDENCE_WAYS, ask_confidence_ways
from .battery.correction import ask_correction
from .battery.failing import ask_failing
from .battery.hedges import ask_hedges
from .battery.honesty import ask_honesty
from .battery.pairs import ask_pairs
from .battery.passages import PASSAGES, ask_beside_passages, standardised_shifts
from .battery.pressure import PRESSURES, Pressure, ask_pressure, pressure_scores
from .battery.properties import ask_properties, language_requests
from .battery.unknowable import ask_unknowable, unknowable_twins
from .frame import BatteryTest, Draws, Headline, Make, Material
from .score.battery_overview import battery_overview, overview_sentences
from .score.published import benchmark_abilities, beside_self_efficacy, beside_self_execution
from .score.questionnaires import (
    IntraclassCorrelation,
    balanced_mean,
    cronbach_alpha,
    identical_share,
    intraclass_correlation,
    rating_model,
    revisions,
)
from .score.relative_confidence import (
    CircularNull,
    bradley_terry,
    circular_null,
    circular_triads,
    paired_design,
)
from .score.reply_screening import screen_replies, screening_sentences
from .score.revision import (
    STATES,
    Changes,
    SelfCorrection,
    answer_changes,
    honesty,
    parrot_states,
    self_correction,
    state_counts,
)
from .score.self_prediction import (
    association_scores,
    cross_prediction,
    difficulty_scores,
    measured_ranks,
    pair_scores,
    prediction_matrix,
    restriction_scores,
)
from .score.tuned_prediction import tuned_prediction
from .score.wording import code_wording, wording_scores
from .show.self_report_page import AnswerLog, write_self_report_page

__all__ = [
    "ASSOCIATION",
    "AnswerLog",
    "BATTERY",
    "BATTERY_REPORTS",
    "BatteryTest",
    "CONFIDENCE_WAYS",
    "Changes",
    "ChoiceItem",
    "CircularNull",
    "DONT_KNOW",
    "FOLLOW_UPS",
    "HEDGES",
    "Draws",
    "Headline",
    "IntraclassCorrelation",
    "Item",
    "Make",
    "Material",
    "NO_TASK",
    "PASSAGES",
    "PRESENTATIONS",
    "PRESSURES",
    "Pressure",
    "Questionnaire",
    "RATING_COLUMNS",
    "Request",
    "SAME_MEANING",
    "SELF_REPORTS",
    "STATES",
    "SelfCorrection",
    "SelfReport",
    "administer",
    "ask_association",
    "ask_beliefs",
    "ask_beside_passages",
    "ask_choices",
    "ask_confidence_ways",
    "ask_correction",
    "ask_difficulty",
    "ask_failing",
    "ask_hedges",
    "ask_honesty",
    "ask_pairs",
    "ask_pressure",
    "ask_properties",
    "ask_restriction",
    "ask_self_report",
    "ask_unknowable",
    "association_scores",
    "association_words",
    "balanced_mean",
    "battery_overview",
    "battery_scores",
    "benchmark_abilities",
    "beside_self_efficacy",
    "beside_self_execution",
    "bradley_terry",
    "choice_instrument",
    "choice_items",
    "circular_null",
    "circular_triads",
    "code_wording",
    "conditions",
    "count_hedges",
    "cronbach_alpha",
    "cross_prediction",
    "difficulty_scores",
    "efficacy_tasks",
    "explain",
    "honesty",
    "identical_share",
    "intraclass_correlation",
    "judged_same",
    "kind_asked",
    "language_of",
    "language_requests",
    "lettered",
    "load_questionnaire",
    "measured_ranks",
    "answer_changes",
    "pair_scores",
    "overview_sentences",
    "paired_design",
    "parrot_states",
    "prediction_matrix",
    "pressure_scores",
    "rating_model",
    "refuses",
    "restriction_scores",
    "revisions",
    "screen_replies",
    "screening_sentences",
    "self_correction",
    "self_efficacy_items",
    "standardised_shifts",
    "state_counts",
    "tuned_prediction",
    "unknowable_twins",
    "wording_scores",
    "write_self_report_page",
]
