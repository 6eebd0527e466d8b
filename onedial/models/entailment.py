"""Ask a published classifier of natural language inference whether one text follows from another.

    entails(premise, hypothesis)    the likeliest of its labels is its entailment

Two answers to one question say the same where each entails the other in the light of the question (`same_meaning`),
as in Farquhar et al. (Nature 2024, "Detecting hallucinations in large language models using semantic entropy").
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from onedial.core.errors import InputError
from onedial.core.files import json_value
from onedial.models.checkpoints.folders import check_folder
from onedial.models.checkpoints.hub import hub_commit, hub_folder
from onedial.stats.arrays import Floats

ENTAILMENT = ("entailment", "entails", "entail")
BATCH = 32
_SUFFIX = "ForSequenceClassification"


def classifies_texts(name: str) -> bool:
    """Whether a folder or hub id is of a model that classifies texts, by its config.json.

    Raises:
        InputError: no such model.

    >>> classifies_texts("smollm2-135m-instruct")
    False
    """
    path = Path(name).expanduser()
    if not path.is_dir():
        if path.exists() or "/" not in name:
            return False
        path = hub_folder(name, hub_commit(name, None), weights=False)
    if not (path / "config.json").is_file():
        return False
    named = json_value((path / "config.json").read_text(encoding="utf-8")).get("architectures") or []
    return any(name.endswith(_SUFFIX) for name in named)


def entailment_label(labels: dict[int, str], where: str) -> int:
    """The id of the label that means entailment, by its name in the model's configuration.

    Raises:
        InputError: none or several do.

    >>> entailment_label({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, "here")
    2
    """
    places = [number for number, name in labels.items() if name.lower() in ENTAILMENT]
    if len(places) != 1:
        names = ", ".join(labels.values())
        raise InputError(
            f"{where} has no one label for entailment, but {names}; give a model of natural language inference whose "
            "config.json names the labels (id2label)"
        )
    return int(places[0])


class EntailmentModel:
    """A classifier of (premise, hypothesis), in evaluation mode.

    Args:
        name: a folder with safetensors, or a hub id.

    Raises:
        InputError: no such model, no label for entailment, weights that are missing or lie in a pickle.
    """

    def __init__(self, name: str) -> None:
        path = Path(name).expanduser()
        if not path.is_dir():
            path = hub_folder(name, hub_commit(name, None))
        check_folder(path, classifies=True)
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
        self.name, self.label = name, entailment_label(config.id2label, name)
        loaded: Any = AutoModelForSequenceClassification.from_pretrained(
            path, config=config, use_safetensors=True, trust_remote_code=False, output_loading_info=True
        )
        model, report = loaded
        if missing := sorted(report["missing_keys"]):  # transformers fills them with random numbers
            raise InputError(f"{name} lacks {len(missing)} weights ({missing[0]} first); download the model again")
        self._model = model.eval().requires_grad_(False)
        self._model.to("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer: Any = AutoTokenizer.from_pretrained(path, trust_remote_code=False)

    @torch.inference_mode()
    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """(pair, label) probabilities of the labels, in their order; each pair alone decides its own."""
        rows = []
        for start in range(0, len(premises), BATCH):
            one, other = (list(texts[start : start + BATCH]) for texts in (premises, hypotheses))
            tokens = self._tokenizer(one, other, padding=True, truncation=True, return_tensors="pt")
            logits = self._model(**tokens.to(self._model.device)).logits
            rows.append(logits.float().softmax(dim=-1).double().cpu().numpy())
        return np.concatenate(rows) if rows else np.empty((0, self._model.config.num_labels))

    def same_meaning(self, questions: Sequence[str], one: Sequence[str], other: Sequence[str]) -> Floats:
        """(pair,) 1 where two answers to a question entail each other, else 0; each is read after the question."""
        texts = [
            [f"{asked} {answer}" for asked, answer in zip(questions, answers, strict=True)] for answers in (one, other)
        ]
        ways = (self.probabilities(*texts), self.probabilities(*reversed(texts)))
        forward, backward = (way.argmax(axis=1) == self.label for way in ways)
        return (forward & backward).astype(float)
