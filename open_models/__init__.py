"""Open-weight models: load one, render and tokenise prompts for it, read and edit its residual stream."""

from open_models.identity import ModelIdentity
from open_models.model import DEFAULT_MODEL, OpenModel, load_model
from open_models.readout import AnswerTokens
from open_models.tokens import TokenBatch

__all__ = ["DEFAULT_MODEL", "AnswerTokens", "ModelIdentity", "OpenModel", "TokenBatch", "load_model"]
