"""What a dial does besides: to text that has nothing to do with it, and to facts whose answers are known.

On neutral text, the first half of each passage as a prompt:

    kl    of the next token, sum p log(p / q), p without and q with the dial, in nats

On unrelated yes/no facts:

    accuracy, loss      share answered rightly, and how many points fewer than without the dial
    negative_flips      share that was right before and is wrong after; positive_flips the other way round
    mass, unread        mean probability of yes and no, and the share of answers that it is too low for
    yes_rate            of the facts, of which half are true

A setting is usable where the accuracy falls by at most 2 points (`LIMIT`), an unread answer counting as wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.readout import AnswerTokens
from onedial.models.forward.runner import Started
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import encode, pad_batch
from onedial.panels.questions.facts import load_passages
from onedial.stats.level import QUANTILES_95
from steering.interventions import Intervention
from steering.reading import read_along, rows_of

LIMIT = 0.02
REVERSED_SETTINGS = 9
"""Of a dial, evenly in yes rate, at which a question is asked in its reversed wording too."""
N_PREFERENCES = 40
"""Questions about likes that are asked at the same settings: all that are built in."""
PASSAGES_AT_ONCE = 8
PASSAGE_TOKENS = 18
"""Of the first half of a neutral passage, about; for forecasts."""
N_BOOTSTRAP = 999
TEXT_COLUMNS = ["setting", "kl", "kl_low", "kl_high", "n_passages"]
FACT_EFFECT_COLUMNS = [
    "setting", "accuracy", "accuracy_low", "accuracy_high", "loss", "loss_low", "loss_high", "negative_flips",
    "positive_flips", "yes_rate", "mass", "unread", "n", "usable",
]  # fmt: skip

Around = Callable[[float], AbstractContextManager[None]]
LogitChange = Callable[[Float[Tensor, "token vocabulary"], float], Float[Tensor, "token vocabulary"]]


def effects_on_text(
    model: OpenModel,
    settings: Sequence[float],
    intervention: Intervention | None = None,
    change: LogitChange | None = None,
    *,
    around: Around | None = None,
    passages: Sequence[str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """What a dial does to neutral text; see the module's text.

    Args:
        intervention: acts as it would on a prompt that is the passage's first half.
        change: of logits, given a setting: for dials that leave the stream alone.
        around: a context in which the whole model is another at a setting, such as with an adapter.
        passages: by default the built-in ones.

    Returns:
        One row per setting, `TEXT_COLUMNS`; 95% intervals over passages.

    Raises:
        InputError: a passage of fewer than four tokens, or an intervention of another model.

    >>> from onedial import load_model, load_questions
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> push = Intervention.of(extract_vector(model, questions, layer=21))
    >>> effects_on_text(model, [0.0, 0.5], push, passages=["The river rises in spring. It falls in autumn."]).shape[0]
    2
    """
    if intervention is not None:
        name = intervention.intervention_id
        found = kl_on_text(model, [intervention], {name: settings}, passages=passages, seed=seed)
        return found.rename(columns={"magnitude": "setting"})[TEXT_COLUMNS]
    prompts = _first_halves(model, passages)

    @torch.inference_mode()
    def log_p(setting: float | None) -> Tensor:
        """(passage, vocabulary), by plain forwards, which whatever is done to the model acts on."""

        def work(batch: list[int]) -> list[Tensor]:
            rows = pad_batch([prompts.sequences[place] for place in batch], model.stack.pad_id)
            return list(model.final_residual(rows.to(model.device)))

        with nullcontext() if around is None or setting is None else around(setting):
            final = torch.stack(map_batches(prompts.batches(model, PASSAGES_AT_ONCE), work, share=False))
            logits = model.readout.logits(final, slice(None))
        return (logits if change is None or setting is None else change(logits, setting)).log_softmax(dim=-1)

    plain = log_p(None)
    by_passage = np.stack([_kl(plain, log_p(float(setting))).double().cpu().numpy() for setting in settings], axis=1)
    table = pd.DataFrame({"setting": [float(setting) for setting in settings]})
    return _with_intervals(table, by_passage, seed)[TEXT_COLUMNS]


def kl_on_text(
    model: OpenModel,
    interventions: Sequence[Intervention],
    settings: Mapping[str, Sequence[float]],
    *,
    passages: Sequence[str] | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """The KL on neutral text of many interventions, each passage run once without any.

    Args:
        settings: intervention_id -> its magnitudes; what has none is left out.
        progress: is told how many passages were done.

    Returns:
        One row per intervention and magnitude: intervention_id, magnitude, kl, kl_low, kl_high, n_passages; 95%
        intervals over passages.

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
    found = read_along(model, prompts, rows, kl, batch_size=PASSAGES_AT_ONCE, progress=progress) if wanted else []
    columns = ["intervention_id", "magnitude", "kl", "kl_low", "kl_high", "n_passages"]
    if not found:
        return pd.DataFrame(columns=columns)
    names = [(each.intervention_id, float(m)) for each in wanted for m in settings[each.intervention_id]]
    return _with_intervals(pd.DataFrame(names, columns=columns[:2]), np.stack([each[0] for each in found]), seed)


def _with_intervals(table: pd.DataFrame, by_passage: np.ndarray, seed: int) -> pd.DataFrame:
    """Beside each setting its mean KL (passage, setting) with a 95% interval over passages."""
    n = len(by_passage)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), N_BOOTSTRAP) / n
    low, high = np.quantile(drawn @ by_passage, QUANTILES_95, axis=0)
    return table.assign(kl=by_passage.mean(axis=0), kl_low=low, kl_high=high, n_passages=n)


def fact_effects(table: pd.DataFrame, truth: pd.Series, unsteered: float = 0.0, limit: float = LIMIT) -> pd.DataFrame:
    """What a dial does to facts whose answers are known; see the module's text.

    Args:
        table: columns question_id, setting, margin, mass; the unsteered setting among them.
        truth: question_id -> 1 where yes is right, 0 where no is.
        unsteered: the setting at which nothing is done.
        limit: how far the accuracy may fall.

    Returns:
        One row per setting, `FACT_EFFECT_COLUMNS`; 95% intervals over facts, of the loss over the same facts.

    Raises:
        InputError: the unsteered setting is missing.

    >>> rows = [("f1", 0.0, 2.0), ("f2", 0.0, -1.0), ("f1", 0.3, 3.0), ("f2", 0.3, 1.0)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "setting", "margin"]).assign(mass=0.9)
    >>> fact_effects(table, pd.Series({"f1": 1.0, "f2": 0.0}))["accuracy"].tolist()
    [1.0, 0.5]
    """
    wide = {name: table.pivot(index="question_id", columns="setting", values=name) for name in ("margin", "mass")}
    settings = wide["margin"].columns.to_numpy(float)
    if unsteered not in settings:
        raise InputError(f"the facts were not asked at the setting {unsteered}; ask them there as well")
    zero = int(np.flatnonzero(settings == unsteered)[0])
    margin, mass = (wide[name].to_numpy(float) for name in ("margin", "mass"))
    read = is_read(mass)
    right = (margin > 0) == (truth.reindex(wide["margin"].index).to_numpy(float) == 1)[:, None]
    right = (right & read).astype(float)
    loss = right[:, [zero]] - right
    n = len(right)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), N_BOOTSTRAP) / n
    ends = {name: np.quantile(drawn @ own, QUANTILES_95, axis=0) for name, own in (("a", right), ("l", loss))}
    with np.errstate(invalid="ignore", divide="ignore"):
        yes_rate = ((margin > 0) & read).sum(axis=0) / read.sum(axis=0)
    found = pd.DataFrame(
        {
            "setting": settings,
            "accuracy": right.mean(axis=0),
            "accuracy_low": ends["a"][0],
            "accuracy_high": ends["a"][1],
            "loss": loss.mean(axis=0),
            "loss_low": ends["l"][0],
            "loss_high": ends["l"][1],
            "negative_flips": (loss > 0).mean(axis=0),
            "positive_flips": (loss < 0).mean(axis=0),
            "yes_rate": yes_rate,
            "mass": mass.mean(axis=0),
            "unread": 1 - read.mean(axis=0),
            "n": n,
        }
    )
    return found.assign(usable=found["loss"] <= limit + 1e-9)[FACT_EFFECT_COLUMNS]


def _first_halves(model: OpenModel, passages: Sequence[str] | None) -> PromptSet:
    """As prompts without answers."""
    texts = load_passages() if passages is None else passages
    sequences = [_with_start(model, text) for text in texts]
    if short := [text for text, ids in zip(texts, sequences, strict=True) if len(ids) < 4]:
        raise InputError(f"the passage {short[0]!r} is shorter than four tokens; give whole sentences")
    halves = tuple(tuple(ids[: len(ids) // 2]) for ids in sequences)
    return PromptSet(tuple(map(str, range(len(halves)))), halves, AnswerTokens(()), "", "")


def _kl(plain: Float[Tensor, "*#row vocabulary"], steered: Float[Tensor, "*row vocabulary"]) -> Float[Tensor, "*row"]:
    """Sum of p log(p / q) over the vocabulary, of log-probabilities."""
    return torch.where(plain > -torch.inf, plain.exp() * (plain - steered), 0.0).sum(dim=-1).clamp(min=0.0)


def _with_start(model: OpenModel, text: str) -> list[int]:
    ids = encode(model.tokenizer, text)
    start = model.tokenizer.bos_token_id
    return ids if start is None or ids[:1] == [start] else [start, *ids]
