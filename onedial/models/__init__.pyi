from .checkpoints.embedded import ensure_converted, is_converted
from .checkpoints.folders import attention_for, auto_class
from .checkpoints.pieces import OFFLINE_MODELS, find_offline_model
from .checkpoints.weights import load_config, resolve_weights, weights_are_here
from .decoder import Decoder
from .entailment import EntailmentModel, classifies_texts
from .families import FAMILIES, Family
from .forward.activations import Activations, read_activations
from .forward.batches import (
    QUESTIONS_PER_BATCH,
    batches_by_length,
    halving_on_out_of_memory,
    map_batches,
    questions_per_batch,
)
from .forward.prefill import TOKENS_AT_ONCE
from .forward.prefill_cache import CACHE_BYTES
from .forward.readout import VOCABULARY_CHUNK, AnswerTokens
from .forward.residual import Edits, StreamEdit
from .forward.runner import Runner, Started, plainly_edited
from .forward.sites import POSITIONS, Site
from .forward.widening import widened
from .identity import ModelIdentity
from .inside.activation_store import ActivationStore, StoreKey
from .inside.gradients import margin_gradients
from .inside.lens import Lens, lens_of, tokens_along
from .inside.store_filling import key_of, store_activations
from .model import DTYPES, OpenModel, load_model
from .processes import (
    as_first,
    everyone,
    gather,
    is_split,
    own_device,
    own_share,
    process_count,
    process_index,
    start_processes,
    told_if_lost,
    wait_for_all,
)
from .prompt_set import PromptSet
from .questions import Questions
from .respondent import LocalRespondent
from .threads import choose_threads, quiet_libraries
from .tokens import TokenBatch, common_prefix_length, encode, pad_batch, render
from .writing import Generated, check_room, generate, handing_on, write_after
from .written_scores import read_written, read_written_in_ways

__all__ = [
    "Questions",
    "ActivationStore",
    "Activations",
    "AnswerTokens",
    "DTYPES",
    "Decoder",
    "Edits",
    "EntailmentModel",
    "FAMILIES",
    "Family",
    "Generated",
    "CACHE_BYTES",
    "Lens",
    "LocalRespondent",
    "ModelIdentity",
    "OFFLINE_MODELS",
    "OpenModel",
    "POSITIONS",
    "PromptSet",
    "QUESTIONS_PER_BATCH",
    "Runner",
    "Site",
    "Started",
    "StoreKey",
    "StreamEdit",
    "TOKENS_AT_ONCE",
    "TokenBatch",
    "VOCABULARY_CHUNK",
    "as_first",
    "attention_for",
    "auto_class",
    "batches_by_length",
    "check_room",
    "choose_threads",
    "classifies_texts",
    "common_prefix_length",
    "encode",
    "ensure_converted",
    "everyone",
    "find_offline_model",
    "gather",
    "generate",
    "halving_on_out_of_memory",
    "handing_on",
    "is_converted",
    "is_split",
    "key_of",
    "lens_of",
    "load_config",
    "load_model",
    "map_batches",
    "margin_gradients",
    "own_device",
    "own_share",
    "pad_batch",
    "plainly_edited",
    "process_count",
    "process_index",
    "questions_per_batch",
    "quiet_libraries",
    "read_activations",
    "read_written",
    "read_written_in_ways",
    "render",
    "resolve_weights",
    "start_processes",
    "store_activations",
    "told_if_lost",
    "tokens_along",
    "wait_for_all",
    "weights_are_here",
    "widened",
    "write_after",
]
