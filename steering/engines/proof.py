"""Prove vLLM beside transformers on the prompts at hand, before anything is believed of it.

Some tokens are written by vLLM after a few prompts, unsteered and at two settings of the push, and after one prompt
that is too long for one forward; the settings stand mixed in one batch, after the unsteered ones. transformers reads
the same texts, steered by `Intervention.edits` at the places of `chosen_positions`. Then must hold:

    texts      each token is the likeliest by transformers too, but for ties within the tolerance
    numbers    log p of every token is the same: of each text, the root mean square of the differences
    margins    yes minus no at the answer position, and its sign
    strength   <difference, what 3% less push would make> / <that, that>: below one half. In 16 bits rounding hides
               more; where 3% can't be told from it, that is said

which catches a push at the first token only, one that a kept prefix brings along, a row without its push, another
layer, a wrong place in a prompt that is read in chunks, and a length that is 3% off.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from onedial.core.errors import InputError
from onedial.models.forward.readout import find_answer_tokens
from onedial.models.forward.runner import plainly_edited
from onedial.models.model import OpenModel
from onedial.models.tokens import pad_batch
from steering.apply import chosen_positions
from steering.engines.requests import Request, Scored
from steering.pushes import Push

N_PROMPTS, N_TOKENS = 4, 16
SHORTFALL = 0.03
"""A push that is so much too small is to be told from the right one."""
EXACT, ROUNDED = 1e-3, 0.12
"""Tolerance of a text's log probabilities (root mean square, nats) in float32 and in 16 bits."""
TIES = 4.0
"""Single tokens and margins may differ by so many tolerances."""


@dataclass(frozen=True)
class Proof:
    """What was compared and how far apart it was.

    Attributes:
        kind: the intervention and its positions; "" unsteered. settings: magnitudes. n_texts: n_tokens each.
        apart: the greatest root mean square of a text's log probabilities; nats. likeliest: share of the tokens that
            are the likeliest by transformers as well. margins: the greatest difference. strength: share of a
            `SHORTFALL` that the differences amount to; blur: its standard error.
    """

    kind: str
    settings: tuple[float, ...]
    n_texts: int
    n_tokens: int
    apart: float
    likeliest: float
    margins: float
    strength: float
    blur: float

    def __str__(self) -> str:
        under = f" at {', '.join(f'{m:+.3g}' for m in self.settings)} of {self.kind}" if self.kind else ""
        caveat = "" if self.blur < 0.25 or math.isnan(self.blur) else ", with rounding that hides a push 3% too small"
        return (
            f"vLLM writes as transformers does{under}: {self.n_texts} texts of {self.n_tokens} tokens, log "
            f"probabilities within {self.apart:.2g} nats, {100 * self.likeliest:.1f}% of the tokens the likeliest by "
            f"both{caveat}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return asdict(self)


Score = Callable[[Sequence[Request], int, Sequence[Sequence[int]]], list[Scored]]
"""`steering.engines.writer.Vllm.score`."""


def prove(model: OpenModel, score: Score, requests: Sequence[Request], facts: Mapping[str, Any]) -> Proof:
    """Compare both on the first prompts of some requests, which are of one kind.

    Args:
        facts: of `serve.Writer.facts`.

    Raises:
        InputError: they differ by more than rounding explains.
    """
    pushes = proof_settings([each.push for each in requests if each.push is not None])
    prompts = list({tuple(each.token_ids): None for each in requests})[:N_PROMPTS]
    prompts += long_prompt(prompts, facts["tokens_per_forward"], facts["max_tokens"] - N_TOKENS)
    plain = [requests[0].unsteered(ids) for ids in prompts]
    steered = [replace(each, push=push) for each in plain for push in pushes]
    rows = [*plain, *steered]
    answers = {ids: _answer_tokens(model, ids) for ids in prompts}
    asked = [[token for side in answers[tuple(row.token_ids)] for token in side] for row in rows]
    scored = score(plain, N_TOKENS, asked[: len(plain)])
    scored += score(steered, N_TOKENS, asked[len(plain) :]) if steered else []
    read = [_read(model, row, text, asked_of) for row, text, asked_of in zip(rows, scored, asked, strict=True)]
    tolerance = EXACT if model.dtype == torch.float32 else ROUNDED
    apart = [
        np.sqrt(np.mean((np.array(text.log_p) - by_transformers.log_p) ** 2))
        for text, by_transformers in zip(scored, read, strict=True)
    ]
    below = np.concatenate([by_transformers.below_top for by_transformers in read])
    margins = [
        (_margin(text.first, sides), _margin(by_transformers.first, sides))
        for text, by_transformers, row in zip(scored, read, rows, strict=True)
        if all(sides := answers[tuple(row.token_ids)])
    ]
    gaps = [abs(ours - theirs) for ours, theirs in margins]
    # A prompt in pieces says nothing more of that, and takes the most time.
    whole = [at for at in range(len(plain), len(rows)) if len(rows[at].token_ids) <= facts["tokens_per_forward"]]
    strength, blur = shortfall(model, [(rows[at], scored[at], read[at]) for at in whole])
    acting = pushes[0].intervention if pushes else None
    proof = Proof(
        "" if acting is None else f"{acting.intervention_id} at {acting.positions} positions",
        (0.0, *(push.magnitude for push in pushes)),
        len(rows),
        N_TOKENS,
        float(max(apart)),
        float((below <= 0).mean()),
        max(gaps, default=math.nan),
        strength,
        blur,
    )
    worst = int(np.argmax(apart))
    worst_named = f"{_named(rows[worst])}, {len(rows[worst].token_ids)} tokens"
    faults = {
        f"log probabilities differ by {proof.apart:.2g} nats after {worst_named}": proof.apart > tolerance,
        f"a token is {below.max():.2g} nats less likely than the likeliest": below.max() > TIES * tolerance,
        "yes and no change places": any(a * b < 0 and abs(b) > TIES * tolerance for a, b in margins)
        or max(gaps, default=0.0) > 2 * TIES * tolerance,
        f"the push is about {SHORTFALL * strength:.1%} too small": abs(strength) > 0.5 and abs(strength) > 3 * blur,
    }
    if any(faults.values()):
        found_fault = next(fault for fault, is_there in faults.items() if is_there)
        raise InputError(
            f"vLLM does not write what transformers writes ({found_fault}), so that nothing was written with it; leave "
            "--engine vllm out"
        )
    return proof


def proof_settings(pushes: Sequence[Push]) -> list[Push]:
    """Two settings beside 0: the lowest and the highest that are asked for; of a single one, half of it as well."""
    by = sorted({each.magnitude: each for each in pushes if each.magnitude}.values(), key=lambda each: each.magnitude)
    if not by:
        return []
    return [by[0], by[-1]] if len(by) > 1 else [by[0] * 0.5, by[0]]


def long_prompt(prompts: Sequence[tuple[int, ...]], per_forward: int, room: int) -> list[tuple[int, ...]]:
    """The prompts one after another, until they are too long for one forward; none where the model has no room."""
    joined = [token for ids in prompts for token in ids]
    times = -(-(per_forward + 40) // len(joined))
    return [tuple((joined * times)[: per_forward + 40])] if per_forward + 40 <= room else []


@dataclass(frozen=True)
class _Read:
    """The same by transformers; below_top: how much less likely each token is than the likeliest, nats."""

    log_p: np.ndarray
    below_top: np.ndarray
    first: tuple[float, ...]


@torch.inference_mode()
def _read(model: OpenModel, row: Request, text: Scored, first: Sequence[int], scale: float = 1.0) -> _Read:
    """Read one text by a plain forward under its push, times `scale`."""
    n_prompt = len(row.token_ids)
    batch = pad_batch([[*row.token_ids, *text.token_ids]], model.stack.pad_id).to(model.device)
    if row.push is None:
        final = model.final_residuals(batch)
    else:
        begins = torch.tensor([n_prompt], device=model.device)
        chosen = chosen_positions(row.push.intervention.positions, batch.position_ids, begins)
        settings = torch.full((1,), row.push.magnitude * scale, device=model.device)
        with plainly_edited(model.stack, row.push.intervention.edits(), settings, chosen):
            final = model.final_residuals(batch)
    log_p = torch.cat([part for _, part in model.readout.log_probs(final[0, n_prompt - 1 : -1])]).cpu()
    chosen_log_p = log_p.gather(1, torch.tensor(text.token_ids)[:, None])[:, 0]
    return _Read(
        chosen_log_p.numpy(), (log_p.max(dim=1).values - chosen_log_p).numpy(), tuple(log_p[0, list(first)].tolist())
    )


def shortfall(model: OpenModel, compared: "Sequence[tuple[Request, Scored, _Read]]") -> tuple[float, float]:
    """Share of a `SHORTFALL` in the push that the differences look like, and its standard error; nan unsteered."""
    less = [_read(model, row, text, (), 1 - SHORTFALL) for row, text, _ in compared]
    effects = [one.log_p - read.log_p for one, (_, _, read) in zip(less, compared, strict=True)]
    apart = [np.array(text.log_p) - read.log_p for _, text, read in compared]
    size = float(sum(effect @ effect for effect in effects))
    if size == 0:
        return math.nan, math.nan
    share = float(sum(effect @ gap for effect, gap in zip(effects, apart, strict=True))) / size
    # What rounding does to a prompt, all tokens after it feel: a text is one observation.
    left = [float(effect @ (gap - share * effect)) for effect, gap in zip(effects, apart, strict=True)]
    return share, float(np.sqrt(np.sum(np.square(left)))) / size


def _answer_tokens(model: OpenModel, ids: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The tokens of yes and of no that can follow a prompt; empty where they can't be told apart."""
    try:
        tokens = find_answer_tokens(model.tokenizer, model.tokenizer.decode(list(ids)))
    except InputError:
        return (), ()
    return tokens.yes, tokens.no


def _margin(first: Sequence[float], sides: Sequence[Sequence[int]]) -> float:
    n_yes = len(sides[0])
    return float(np.logaddexp.reduce(first[:n_yes]) - np.logaddexp.reduce(first[n_yes:]))


def _named(row: Request) -> str:
    return "an unsteered prompt" if row.push is None else f"a prompt at {row.push.magnitude:+.3g}"
