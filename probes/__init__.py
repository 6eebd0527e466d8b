"""What can be read out of activations, along which directions, and how far a number can be trusted.

store = store_activations(model, prompts)                     # open_models: activations on disk
labels = labels_of(store, load_panel("embedded"))             # what is to be read
task = ProbeTask(labels.truth, texts, TopicFolds.of(topics))  # whole topics are held out
found = measure_layer(store.read(12).double().numpy(), task)  # one layer: table, scores, probes
"""

from probes.beyond_shared import beyond_known, beyond_shared
from probes.choice import ChosenLayer, choose_layer
from probes.concordance import Area, Concordance, difference_interval, topic_draws
from probes.contrast import (
    CONTRASTS,
    StatementStreams,
    contradiction,
    contrast_loss,
    distraction_table,
    opposite,
    polar_gap,
    read_without_labels,
    with_distraction,
)
from probes.controls import control_labels, shuffled_within
from probes.crossfit import LEAST_OF_A_KIND, PENALTIES, CrossFitted, cross_fit, of_rows, platt
from probes.during import course_of, read_while_writing
from probes.erasure import Eraser, erasure_table
from probes.folds import TopicFolds
from probes.geometry import (
    cross_evaluation,
    direction_table,
    principal_angles,
    subspace_table,
    transfer_table,
)
from probes.labels import (
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
from probes.layer_files import load_layer, save_layer
from probes.lens import lens_table
from probes.linear import Probe, fit_probe, probe_layers
from probes.measure import PROBE_COLUMNS, LayerReading, ProbeTask, measure_layer
from probes.nested import added_test, likelihood_ratio, what_is_added
from probes.own_or_shared import ITS_OWN, MEASURED_BADLY, NOTHING_FOUND, OWN_COLUMNS, own_or_shared
from probes.patching import patching_table
from probes.reading import Surroundings, distance_table, read_elsewhere, read_with_distance
from probes.reads_at_all import auroc_of_copies, readers_of, reads_by_chance
from probes.solvers import METHODS, Training
from probes.statement_streams import StatementStores
from probes.study import STUDY_STAGES, Study, StudyOptions
from probes.text import sentence_embeddings, words_of
from probes.where import MappedQuestions, direct_effects, position_map

__all__ = [
    "auroc_of_copies",
    "readers_of",
    "reads_by_chance",
    "ITS_OWN",
    "MEASURED_BADLY",
    "NOTHING_FOUND",
    "beyond_known",
    "beyond_shared",
    "CONTRASTS",
    "EASY",
    "FACT_LABELS",
    "FACT_TRUE",
    "FACT_YES",
    "LEAST_OF_A_KIND",
    "MAIN_LABELS",
    "METHODS",
    "OWN_COLUMNS",
    "OWN_CORRECT",
    "OWN_MARGIN",
    "OWN_YES",
    "PENALTIES",
    "PROBE_COLUMNS",
    "STUDY_STAGES",
    "Area",
    "ChosenLayer",
    "Concordance",
    "CrossFitted",
    "Eraser",
    "LayerReading",
    "MappedQuestions",
    "Probe",
    "ProbeLabels",
    "ProbeTask",
    "StatementStores",
    "StatementStreams",
    "Study",
    "StudyOptions",
    "Surroundings",
    "TopicFolds",
    "Training",
    "added_test",
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
    "distance_table",
    "distraction_table",
    "erasure_table",
    "fact_labels",
    "fit_probe",
    "labels_of",
    "lens_table",
    "likelihood_ratio",
    "load_layer",
    "measure_layer",
    "of_rows",
    "opposite",
    "own_or_shared",
    "patching_table",
    "platt",
    "polar_gap",
    "position_map",
    "principal_angles",
    "probe_layers",
    "read_elsewhere",
    "read_while_writing",
    "read_with_distance",
    "read_without_labels",
    "save_layer",
    "sentence_embeddings",
    "shared_difficulty",
    "shuffled_within",
    "subspace_table",
    "target_label",
    "topic_draws",
    "transfer_table",
    "what_is_added",
    "with_distraction",
    "words_of",
]
