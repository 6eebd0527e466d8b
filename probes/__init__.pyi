from .beyond import beyond_known, beyond_shared
from .directions.concordance import Area, Concordance, difference_interval, topic_draws
from .directions.contrast import (
    CONTRAST_COLUMNS,
    CONTRASTS,
    StatementStreams,
    contradiction,
    contrast_loss,
    opposite,
    polar_gap,
    read_without_labels,
)
from .directions.erasure import Eraser, erasure_table
from .directions.geometry import cross_evaluation, direction_table, transfer_table
from .directions.lens import lens_table
from .directions.statement_streams import StatementStores
from .directions.where import MappedQuestions, direct_effects, patching_table, position_map
from .during import TOKEN_COLUMNS, course_of, read_while_writing
from .fitting.choice import ChosenLayer, choose_layer
from .fitting.controls import control_labels, shuffled_within
from .fitting.crossfit import LEAST_OF_A_KIND, CrossFitted, best_penalties, cross_fit, of_rows, platt
from .fitting.folds import TopicFolds
from .fitting.labels import (
    EASY,
    FACT_LABELS,
    FACT_TRUE,
    FACT_YES,
    MAIN_LABELS,
    OWN_CORRECT,
    OWN_MARGIN,
    OWN_YES,
    ProbeLabels,
    correct_label,
    fact_labels,
    labels_of,
    shared_difficulty,
    target_label,
)
from .fitting.linear import Probe, fit_probe, probe_layers
from .fitting.measure import PROBE_COLUMNS, LayerReading, ProbeTask, measure_layer, words_of
from .fitting.nested import added_test, what_is_added
from .fitting.reads_at_all import N_COPIES, Readers, auroc_of_copies, readers_of, reads_by_chance
from .fitting.solvers import METHODS, PENALTIES, Training
from .layer_files import load_layer, save_layer
from .own import ITS_OWN, MEASURED_BADLY, NOTHING_FOUND, OWN_COLUMNS, own_or_shared
from .reading import Surroundings, read_elsewhere, read_with_distance
from .results import PROBE_RESULTS, write_probe_page

__all__ = [
    "Area",
    "CONTRASTS",
    "CONTRAST_COLUMNS",
    "ChosenLayer",
    "Concordance",
    "CrossFitted",
    "EASY",
    "Eraser",
    "FACT_LABELS",
    "FACT_TRUE",
    "FACT_YES",
    "ITS_OWN",
    "LEAST_OF_A_KIND",
    "LayerReading",
    "MAIN_LABELS",
    "MEASURED_BADLY",
    "METHODS",
    "MappedQuestions",
    "NOTHING_FOUND",
    "N_COPIES",
    "OWN_COLUMNS",
    "OWN_CORRECT",
    "OWN_MARGIN",
    "OWN_YES",
    "PENALTIES",
    "PROBE_COLUMNS",
    "PROBE_RESULTS",
    "Probe",
    "ProbeLabels",
    "ProbeTask",
    "Readers",
    "StatementStores",
    "StatementStreams",
    "Surroundings",
    "TOKEN_COLUMNS",
    "TopicFolds",
    "Training",
    "added_test",
    "auroc_of_copies",
    "best_penalties",
    "beyond_known",
    "beyond_shared",
    "choose_layer",
    "contradiction",
    "contrast_loss",
    "control_labels",
    "correct_label",
    "course_of",
    "cross_evaluation",
    "cross_fit",
    "difference_interval",
    "direct_effects",
    "direction_table",
    "erasure_table",
    "fact_labels",
    "fit_probe",
    "labels_of",
    "lens_table",
    "load_layer",
    "measure_layer",
    "of_rows",
    "opposite",
    "own_or_shared",
    "patching_table",
    "platt",
    "polar_gap",
    "position_map",
    "probe_layers",
    "read_elsewhere",
    "read_while_writing",
    "read_with_distance",
    "read_without_labels",
    "readers_of",
    "reads_by_chance",
    "save_layer",
    "shared_difficulty",
    "shuffled_within",
    "target_label",
    "topic_draws",
    "transfer_table",
    "what_is_added",
    "words_of",
    "write_probe_page",
]
