"""Measure what a push does besides: to text that has nothing to do with it, and to facts whose answers are known.

On neutral text, the first half of each passage as a prompt, `kl` is sum p log(p / q) of the next token in nats, p
without and q with the push. Of unrelated yes/no facts an unread answer counts as wrong:

    accuracy, yes_rate                  share answered rightly; share of yes among those that were read
    negative_flips, positive_flips      share right before and wrong after; the other way round
    mass, unread                        mean probability of yes and no; share of answers that it is too low for
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.sweep_tables import TEXT_COLUMNS
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress
from onedial.models.forward.readout import AnswerTokens
from onedial.models.forward.runner import Started
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import encode
from onedial.panels.questions.facts import load_passages
from onedial.stats.intervals import unit_weights
from onedial.stats.level import QUANTILES_95
from steering.interventions import Intervention
from steering.reading import read_along, rows_of

REVERSED_SETTINGS = 9
"""Of a dial, evenly in yes rate, at which a question is asked in its reversed wording too."""
PASSAGES_AT_ONCE = 8
PASSAGE_TOKENS = 18
"""Of the first half of a neutral passage, about; for forecasts."""
N_BOOTSTRAP = 999


def kl_on_text(
    model: OpenModel,
    interventions: Sequence[Intervention],
    settings: Mapping[str, Sequence[float]],
    *,
    passages: Sequence[str] | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure the KL on neutral text of many interventions, each passage run once without any.

    Args:
        settings: intervention_id -> its magnitudes; what has none is left out.
        passages: by default the built-in ones. progress: is told how many passages were done.

    Returns:
        One row per intervention and magnitude, `TEXT_COLUMNS`; 95% intervals over passages.

    Raises:
        InputError: a passage of fewer than four tokens, or an intervention of another model.

    >>> from onedial import load_model, load_questions
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> push = Intervention.of(extract_vector(model, questions, layer=21))
    >>> passages = ["The river rises in spring. It falls in autumn."]
    >>> kl_on_text(model, [push], {push.intervention_id: [0.5]}, passages=passages).shape[0]
    1
    """
    wanted = [each for each in interventions if settings.get(each.intervention_id)]
    for each in wanted:
        each.check_model(model)
    prompts = _first_halves(model, passages)
    plain: list[tuple[Started, Tensor]] = []  # of the batch that was started last

    def kl(started: Started, final: Tensor) -> Tensor:
        if not plain or plain[0][0] is not started:
            plain[:] = [(started, model.readout.logits(started.final, slice(None)).log_softmax(dim=-1))]
        n_rows = final.shape[1]
        passage = torch.arange(len(final), device=final.device).repeat_interleave(n_rows)
        parts = [
            _kl(plain[0][1][passage[rows]], steered) for rows, steered in model.readout.log_probs(final.flatten(0, 1))
        ]
        return torch.cat(parts).view(1, len(final), n_rows)

    rows = [rows_of(each, settings[each.intervention_id]) for each in wanted]
    divergences = read_along(model, prompts, rows, kl, progress=progress) if wanted else []
    if not divergences:
        return pd.DataFrame(columns=TEXT_COLUMNS)
    names = [(each.intervention_id, float(m)) for each in wanted for m in settings[each.intervention_id]]
    by_passage = np.stack([each[0] for each in divergences])
    n = len(by_passage)
    drawn = unit_weights(np.arange(n), N_BOOTSTRAP, seed) / n
    low, high = np.quantile(drawn @ by_passage, QUANTILES_95, axis=0)
    table = pd.DataFrame(names, columns=TEXT_COLUMNS[:2])
    return table.assign(kl=by_passage.mean(axis=0), kl_low=low, kl_high=high, n_passages=n)


def fact_effects(table: pd.DataFrame, truth: pd.Series) -> pd.DataFrame:
    """Measure what a dial does to facts whose answers are known; see the module's text.

    Args:
        table: columns question_id, setting, margin, mass; the setting 0, unsteered, among them.
        truth: question_id -> 1 where yes is right, 0 where no is.

    >>> rows = [("f1", 0.0, 2.0), ("f2", 0.0, -1.0), ("f1", 0.3, 3.0), ("f2", 0.3, 1.0)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "setting", "margin"]).assign(mass=0.9)
    >>> fact_effects(table, pd.Series({"f1": 1.0, "f2": 0.0}))["accuracy"].tolist()
    [1.0, 0.5]
    """
    margin, mass = (table.pivot(index="question_id", columns="setting", values=name) for name in ("margin", "mass"))
    read = is_read(mass.to_numpy(float))
    yes = (margin.to_numpy(float) > 0) & read
    right = ((yes == (truth.reindex(margin.index).to_numpy(float) == 1)[:, None]) & read).astype(float)
    before = right[:, [margin.columns.get_loc(0.0)]]
    with np.errstate(invalid="ignore", divide="ignore"):
        yes_rate = yes.sum(axis=0) / read.sum(axis=0)
    return pd.DataFrame(
        {
            "setting": margin.columns.to_numpy(float),
            "accuracy": right.mean(axis=0),
            "negative_flips": (before > right).mean(axis=0),
            "positive_flips": (before < right).mean(axis=0),
            "yes_rate": yes_rate,
            "mass": mass.to_numpy(float).mean(axis=0),
            "unread": 1 - read.mean(axis=0),
        }
    )


def _first_halves(model: OpenModel, passages: Sequence[str] | None) -> PromptSet:
    """Cut passages in half, as prompts that have no answers."""
    texts = load_passages() if passages is None else passages
    sequences = [_with_start(model, text) for text in texts]
    if short := [text for text, ids in zip(texts, sequences, strict=True) if len(ids) < 4]:
        raise InputError(f"the passage {short[0]!r} is shorter than four tokens; give whole sentences")
    halves = tuple(tuple(ids[: len(ids) // 2]) for ids in sequences)
    return PromptSet(tuple(map(str, range(len(halves)))), halves, AnswerTokens(()), "", "", at_once=PASSAGES_AT_ONCE)


def _kl(plain: Float[Tensor, "*#row vocabulary"], steered: Float[Tensor, "*row vocabulary"]) -> Float[Tensor, "*row"]:
    """Sum of p log(p / q) over the vocabulary, of log-probabilities."""
    return torch.where(plain > -torch.inf, plain.exp() * (plain - steered), 0.0).sum(dim=-1).clamp(min=0.0)


def _with_start(model: OpenModel, text: str) -> list[int]:
    ids = encode(model.tokenizer, text)
    start = model.tokenizer.bos_token_id
    return ids if start is None or ids[:1] == [start] else [start, *ids]
