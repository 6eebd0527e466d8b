"""Load open-weight models, render and tokenise prompts for them, read and edit their residual stream."""

from onedial.models.families import FAMILIES, Family
from onedial.models.forward.activations import read_activations
from onedial.models.inside.lens import logits_along
from onedial.models.inside.store_filling import store_activations
from onedial.models.model import OpenModel, load_model
from onedial.models.prompt_set import PromptSet
from onedial.models.respondent import LocalRespondent
from onedial.models.threads import quiet_libraries

__all__ = [
    "FAMILIES",
    "Family",
    "LocalRespondent",
    "OpenModel",
    "PromptSet",
    "load_model",
    "logits_along",
    "quiet_libraries",
    "read_activations",
    "store_activations",
]
