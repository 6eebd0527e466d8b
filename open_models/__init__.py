"""Open-weight models: load one, render and tokenise prompts for it, read and edit its residual stream."""

from open_models.activation_store import ActivationStore, StoreKey
from open_models.activations import Activations, read_activations
from open_models.batches import (
    QUESTIONS_PER_BATCH,
    batches_by_length,
    halving_on_out_of_memory,
    questions_per_batch,
)
from open_models.checkpoints import (
    OFFLINE_MODELS,
    ensure_converted,
    find_offline_model,
    is_converted,
    load_config,
    resolve_weights,
    weights_are_here,
)
from open_models.decoder import Decoder
from open_models.gradients import margin_gradients
from open_models.identity import ModelIdentity
from open_models.lens import Lens, lens_of, tokens_along
from open_models.model import DTYPES, OpenModel, load_model
from open_models.patching import patched_margins
from open_models.prefill import TOKENS_AT_ONCE
from open_models.processes import (
    gather,
    own_device,
    own_share,
    process_count,
    process_index,
    start_processes,
    wait_for_all,
)
from open_models.prompt_set import PromptSet
from open_models.quiet import quiet_libraries
from open_models.readout import VOCABULARY_CHUNK, AnswerTokens
from open_models.residual import Edits, StreamEdit
from open_models.respondent import LocalRespondent
from open_models.runner import Runner, Started, plainly_edited
from open_models.sites import POSITIONS, Site
from open_models.store_filling import key_of, store_activations
from open_models.threads import choose_threads
from open_models.tokens import TokenBatch, common_prefix_length, encode, pad_batch, render
from open_models.writing import Generated, check_room, generate, handing_on
from open_models.written_scores import read_written, read_written_in_ways

__all__ = [
    "DTYPES",
    "OFFLINE_MODELS",
    "POSITIONS",
    "QUESTIONS_PER_BATCH",
    "TOKENS_AT_ONCE",
    "VOCABULARY_CHUNK",
    "ActivationStore",
    "Activations",
    "AnswerTokens",
    "Decoder",
    "Edits",
    "Generated",
    "Lens",
    "LocalRespondent",
    "ModelIdentity",
    "OpenModel",
    "PromptSet",
    "Runner",
    "Site",
    "Started",
    "StoreKey",
    "StreamEdit",
    "TokenBatch",
    "batches_by_length",
    "check_room",
    "choose_threads",
    "common_prefix_length",
    "encode",
    "ensure_converted",
    "find_offline_model",
    "gather",
    "generate",
    "halving_on_out_of_memory",
    "handing_on",
    "is_converted",
    "key_of",
    "lens_of",
    "load_config",
    "load_model",
    "margin_gradients",
    "own_device",
    "own_share",
    "pad_batch",
    "patched_margins",
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
    "tokens_along",
    "wait_for_all",
    "weights_are_here",
]
