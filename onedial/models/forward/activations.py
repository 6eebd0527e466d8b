"""Read the unsteered model: margins and masses at the answer position, activations at any place.

    read_activations(model, prompts, [14])                              the stream after layer 14, at the last token
    read_activations(model, prompts, [14], site="mlp", read="Anna")     what the MLP of layer 14 adds to it there

A place is "last", the last token of the prompt; an index among its tokens, counted from 0, or from its end where it is
negative, chat template included; or a text that stands once in the prompt, whose last token is meant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.asking.yes_no import is_read
from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, batches_by_length, map_batches, questions_per_batch
from onedial.models.forward.runner import FastRunner, PlainRunner, Runner
from onedial.models.forward.sites import capturing, sites_at
from onedial.models.model import OpenModel, check_is_model
from onedial.models.processes import gather
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Texts, as_prompts
from onedial.models.tokens import common_prefix_length, tokenised

Read = int | str
"""Where in a prompt activations are read: "last", an index, or a text that stands once; see the module's text."""


@dataclass(frozen=True)
class Activations:
    """One unsteered reading of a set of prompts.

    Attributes:
        margin, mass: of each question.
        residuals: at each of `layers`: the stream after it, or what was read in its place; float32 on the CPU.
        others: the stream after each of `layers` at the last token of each prompt, where something else was read.
    """

    question_ids: tuple[str, ...]
    layers: tuple[int, ...]
    margin: Float[Tensor, " question"]
    mass: Float[Tensor, " question"]
    residuals: Float[Tensor, "question layer d_model"]
    others: Float[Tensor, "question layer d_model"] | None = None

    __repr__ = one_line

    @property
    def read(self) -> Bool[Tensor, " question"]:
        """Which answers could be read."""
        return is_read(self.mass)

    @property
    def streams(self) -> Float[Tensor, "question layer d_model"]:
        """The stream at the last token of each prompt, whatever was read."""
        return self.residuals if self.others is None else self.others


def read_streams(
    model: OpenModel, sequences: Sequence[Sequence[int]], layers: Sequence[int], progress: Progress | None = None
) -> Float[Tensor, "text layer d_model"]:
    """The stream at the last token of any token sequences; as `read_sequences`."""
    return read_sequences(model, sequences, layers, progress)[0]


@torch.inference_mode()
def read_sequences(
    model: OpenModel,
    sequences: Sequence[Sequence[int]],
    layers: Sequence[int],
    progress: Progress | None = None,
    *,
    site: str = "resid",
    places: Sequence[int] | None = None,
) -> tuple[Float[Tensor, "text layer d_model"], Float[Tensor, "text layer d_model"]]:
    """Activations of token sequences, unsteered, and the stream at their last tokens; float32 on the CPU.

    With several processes each reads its share, and all of them get everything.

    Args:
        site: the stream after each of `layers` (resid), or what its attention (attn) or its MLP (mlp) adds to it.
        places: of each sequence, which token is read; by default the last.

    Raises:
        InputError: an activation is not finite, as where 16 bits overflow; or as `sites.module_at`.
    """
    lengths = [len(sequence) for sequence in sequences]
    size = min(gather([questions_per_batch(model.stack, max(lengths))]))
    batches = batches_by_length(lengths, size, model.fast_paths_for(max(lengths)).requires_equal_length)
    read = _read(model, sequences, batches, layers, site, places, lambda started: [[]] * len(started.final), progress)
    activations, streams = torch.stack([row[0] for row in read]), torch.stack([row[1] for row in read])
    model.check_finite(activations.flatten(1))
    return activations, streams


@torch.inference_mode()
@says_how
def read_activations(
    model: OpenModel,
    prompts: PromptSet | Texts,
    layers: int | Sequence[int] | None = None,
    progress: Progress | None = None,
    *,
    site: str = "resid",
    read: Read = "last",
) -> Activations:
    """Run every prompt once, unsteered; `progress` is told how many questions were done.

    With several processes each reads its share, and all of them get everything.

    Args:
        prompts: or texts, each a whole user turn, or chats, as `OpenModel.generate` takes them.
        layers: one or several, by default all.
        site, read: what is read and where, see the module's text.

    Raises:
        InputError: an answer is not finite, as where 16 bits overflow; or as `PromptSet.of_prompts`, `places_of` and
            `sites.module_at`.

    >>> from onedial import load_model
    >>> model = load_model("smollm2-135m-instruct")
    >>> read_activations(model, ["What a day!", "Oh no."], [2]).residuals.shape == (2, 1, model.d_model)
    True
    """
    check_is_model(model)
    layers = range(model.n_layers) if layers is None else [layers] if isinstance(layers, int | str) else layers
    if not isinstance(prompts, PromptSet):
        given = as_prompts(prompts)
        prompts = PromptSet.of_prompts(model, given, [f"text {place}" for place in range(len(given))])
    asked = prompts
    places = None if read == "last" else places_of(model, asked.prompts, asked.sequences, read)

    def answers(started: Any) -> list[Sequence[float]]:
        return torch.stack(model.readout.margin_and_mass(started.final, asked.tokens)).T.tolist()

    batches = asked.batches(model)
    activations, streams, margins = zip(
        *_read(model, asked.sequences, batches, layers, site, places, answers, progress), strict=True
    )
    answered = torch.tensor(margins)
    model.check_finite(answered)
    alone = site == "resid" and places is None
    return Activations(
        asked.question_ids,
        tuple(layers),
        answered[:, 0],
        answered[:, 1],
        torch.stack(activations),
        None if alone else torch.stack(streams),
    )


def _read(
    model: OpenModel,
    sequences: Sequence[Sequence[int]],
    batches: list[list[int]],
    layers: Sequence[int],
    site: str,
    places: Sequence[int] | None,
    answers: Callable[[Any], Sequence[Sequence[float]]],
    progress: Progress | None,
) -> list[tuple[Float[Tensor, "layer d_model"], Float[Tensor, "layer d_model"], Sequence[float]]]:
    """Of each sequence what was read, its streams at the last token, and what `answers` makes of it."""
    runner = runner_for(model, sequences, layers, places)
    wanted = [] if site == "resid" and places is None else sites_at([site], layers)

    def work(batch: list[int]) -> list[tuple[Tensor, Tensor, Sequence[float]]]:
        back = [0 if places is None else len(sequences[index]) - 1 - places[index] for index in batch]
        with capturing(model.stack, wanted, {"read": back}) as captured:
            started = runner.start([sequences[index] for index in batch])
        streams = [started.last_residual(layer).to(started.final.device) for layer in layers]
        last = torch.stack(streams, dim=1).cpu().float() if streams else torch.empty(len(batch), 0, model.d_model)
        rows = torch.stack([captured[each, "read"].float() for each in wanted], dim=1) if wanted else last
        return list(zip(rows, last, answers(started), strict=True))

    return map_batches(batches, work, progress=progress)


def runner_for(
    model: OpenModel, sequences: Sequence[Sequence[int]], layers: Sequence[int], places: Sequence[int] | None
) -> Runner:
    """What runs the sequences so that these places are computed in full, and not within the common beginning.

    Args:
        layers: whose streams it keeps. places: of each sequence; None for the last token of each.
    """
    if places is None:
        return model.runner(sequences, layers)
    runner = model.runner(sequences, [*layers, model.n_layers - 1], at="all")
    shared = common_prefix_length(sequences) if len(sequences) > 1 else 0
    if isinstance(runner, FastRunner) and min(places) < shared:
        return PlainRunner(model.stack, sequences, layers, "last")
    return runner


def places_of(model: OpenModel, prompts: Texts, sequences: Sequence[Sequence[int]], read: Read) -> list[int]:
    """The token of each prompt that is read; see the module's text.

    Args:
        prompts: whose token ids the sequences are; empty where they are not known, and then no text can be found.

    Raises:
        InputError: an index that a prompt has not; a text that stands in one never, or more than once; or a tokenizer
            that does not say which letters a token holds.
    """
    if read == "last":
        return [len(sequence) - 1 for sequence in sequences]
    if isinstance(read, int):
        shortest = min(map(len, sequences))
        if not -shortest <= read < shortest:
            raise InputError(f"read={read} was given, and a prompt has {shortest} tokens; give an index that all have")
        return [read % len(sequence) for sequence in sequences]
    if len(prompts) != len(sequences) or not model.tokenizer.is_fast:
        raise InputError(f"where {read!r} stands among the tokens is not known here; read='last', or give an index")
    places = []
    for prompt in prompts:
        rendered = model.render(prompt)
        if not read or (times := rendered.count(read)) != 1:
            stands = f"{times} times" if read and times else "nowhere"
            raise InputError(
                f"read={read!r} stands {stands} in the prompt {rendered[-60:]!r}; give a text that stands once in each"
            )
        end = rendered.index(read) + len(read)
        spans = tokenised(model.tokenizer, rendered, offsets=True)[1]
        places.append(max(place for place, (first, last) in enumerate(spans) if first < end and last > first))
    return places
