"""Contrast activations on the side of yes with those on the side of no. Positive means towards yes.

    response   questions answered yes against questions answered no, at the last token of the prompt
    answer     each question with a yes token appended against itself with a no token appended, at that token
    persona, capability, risk, effort, audience, evaluation, intentionality
               each question under one opening against itself under its opposite (`onedial.asking.poles`), at the last
               token of the prompt. The pole under which the margins are higher stands on the side of yes

Where a subject says nearly always the same (under 20% or under 5 questions on one side), the sign of its margin splits
badly; the response contrast then takes the top against the bottom third of the margins, five of each at least.
Questions whose answer cannot be read stand on neither side of either contrast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from onedial.asking.poles import openings_of
from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.activations import Activations, Read, read_activations
from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.sites import capturing, sites_at
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.nulls import generator_of

SMALLER_SIDE = 0.2
MINIMUM_PER_SIDE = 5


@dataclass(frozen=True)
class Contrast:
    """Activations on either side, float32 on the CPU.

    Attributes:
        name: one of `CONTRASTS`.
        layers: the second axis of `yes` and `no`.
        yes, no: what was read (`site`), by default residual streams; of the answer contrast they are pairs, row by row.
        activations: the unsteered reading that it rests on.
        seed: for directions that are drawn.
        rows: of `yes` and of `no`, the place of each row's question among those of `activations`.
        topics: of the questions of `activations`; "" where it has none.
        answer_axis: Yes minus No in the unembedding (`Readout.answer_direction`).
        gradients: of each question's margin by the stream at the answer position (`margin_gradients`).
        site, read: what was read and where (`onedial.models.forward.activations`).
    """

    name: str
    layers: tuple[int, ...]
    yes: Float[Tensor, "yes layer d_model"]
    no: Float[Tensor, "no layer d_model"]
    activations: Activations
    seed: int = 0
    rows: tuple[Int[Tensor, " yes"], Int[Tensor, " no"]] | None = None
    topics: tuple[str, ...] = ()
    answer_axis: Float[Tensor, " d_model"] | None = None
    gradients: Float[Tensor, "question layer d_model"] | None = None
    site: str = "resid"
    read: Read = "last"

    __repr__ = one_line

    @property
    def n_unread(self) -> int:
        """Questions left out since their answer could not be read."""
        return int((~self.activations.read).sum())

    @property
    def residual_norms(self) -> Float[Tensor, " layer"]:
        """Median length of the residual stream at the last token of each prompt, whatever was read."""
        return self.activations.streams.norm(dim=-1).median(dim=0).values

    @property
    def paired(self) -> bool:
        """Whether each row of `yes` stands against the same row of `no`."""
        return self.name != "response" and len(self.yes) == len(self.no)

    @property
    def asked(self) -> Int[Tensor, " asked"]:
        """Places of the questions that stand on either side, each once.

        Raises:
            InputError: it is not known which they are.
        """
        if self.rows is None:
            raise InputError("this contrast does not say which questions its rows are; make it anew")
        return torch.cat(self.rows).unique()

    def at_layer(self, layer: int) -> "Contrast":
        """The same at one of its layers."""
        place = self.layers.index(layer)
        one = slice(place, place + 1)
        read = self.activations
        others = None if read.others is None else read.others[:, one]
        return replace(
            self,
            layers=(layer,),
            yes=self.yes[:, one],
            no=self.no[:, one],
            activations=replace(read, layers=(layer,), residuals=read.residuals[:, one], others=others),
            gradients=None if self.gradients is None else self.gradients[:, one],
        )

    def take(self, yes: Int[Tensor, " some"], no: Int[Tensor, " others"]) -> "Contrast":
        """Some rows of either side."""
        rows = None if self.rows is None else (self.rows[0][yes], self.rows[1][no])
        return replace(self, yes=self.yes[yes], no=self.no[no], rows=rows)

    def resampled(self, seed: int) -> "Contrast":
        """The same from questions drawn anew with replacement, as many, their sides found again among those drawn.

        Raises:
            InputError: as `split_by_response`, where too few of those drawn are left on one side.
        """
        activations, generator = self.activations, generator_of(seed)
        drawn = torch.randint(len(activations.question_ids), (len(activations.question_ids),), generator=generator)
        chosen = replace(
            activations,
            question_ids=tuple(activations.question_ids[place] for place in drawn.tolist()),
            margin=activations.margin[drawn],
            mass=activations.mass[drawn],
            residuals=activations.residuals[drawn],
            others=None if activations.others is None else activations.others[drawn],
        )
        drawn_contrast = replace(
            self,
            activations=chosen,
            topics=tuple(self.topics[place] for place in drawn.tolist()) if self.topics else (),
            gradients=None if self.gradients is None else self.gradients[drawn],
        )
        if not self.paired:
            yes, no = (side.nonzero().flatten() for side in split_by_response(chosen.margin, chosen.mass))
            return replace(drawn_contrast, yes=chosen.residuals[yes], no=chosen.residuals[no], rows=(yes, no))
        places = chosen.read.nonzero().flatten()
        row_of = torch.zeros(len(activations.question_ids), dtype=torch.long)
        row_of[activations.read] = torch.arange(len(self.yes))
        rows = row_of[drawn[places]]
        return replace(drawn_contrast, yes=self.yes[rows], no=self.no[rows], rows=(places, places))

    def shuffled(self, seed: int) -> "Contrast":
        """The same with its labels shuffled: what a direction makes of it knows nothing of yes and no.

        Rows change sides, and margins change questions; pairs, and gradients, are reversed one by one.
        """
        generator = generator_of(seed)
        n_yes, n = len(self.yes), len(self.yes) + len(self.no)
        if self.paired:
            turned = torch.rand(n_yes, generator=generator) < 0.5
            which = turned[:, None, None]
            yes, no = torch.where(which, self.no, self.yes), torch.where(which, self.yes, self.no)
            rows = self.rows
        else:
            order = torch.randperm(n, generator=generator)
            yes, no = torch.cat([self.yes, self.no])[order].split([n_yes, n - n_yes])
            rows = None
            if self.rows is not None:
                both = torch.cat(self.rows)[order]
                rows = both[:n_yes], both[n_yes:]
        activations, gradients = self.activations, self.gradients
        if self.rows is not None:
            asked = self.asked
            margin = activations.margin.clone()
            margin[asked] = margin[asked[torch.randperm(len(asked), generator=generator)]]
            activations = replace(activations, margin=margin)
        if gradients is not None:
            signs = (torch.rand(len(gradients), generator=generator) < 0.5).float() * 2 - 1
            gradients = gradients * signs[:, None, None]
        return replace(self, yes=yes, no=no, rows=rows, activations=activations, gradients=gradients, seed=seed)


def split_by_response(
    margin: Float[Tensor, " question"], mass: Float[Tensor, " question"]
) -> tuple[Bool[Tensor, " question"], Bool[Tensor, " question"]]:
    """Which questions count as yes and which as no; unread ones as neither.

    Raises:
        InputError: too few questions could be read.
    """
    read = is_read(mass)
    yes, no = read & (margin > 0), read & (margin <= 0)
    if min(int(yes.sum()), int(no.sum())) < max(SMALLER_SIDE * int(read.sum()), MINIMUM_PER_SIDE):
        order = margin[read].argsort(stable=True)
        third = max(len(order) // 3, min(len(order) // 2, MINIMUM_PER_SIDE))
        places = read.nonzero().flatten()
        yes, no = torch.zeros_like(read), torch.zeros_like(read)
        if third:
            yes[places[order[-third:]]] = True
            no[places[order[:third]]] = True
    if min(int(yes.sum()), int(no.sum())) < MINIMUM_PER_SIDE:
        raise InputError(
            f"the contrast has {int(yes.sum())} yes and {int(no.sum())} no questions ({int((~read).sum())} unread); "
            f"it needs {MINIMUM_PER_SIDE} of each: ask more questions, or use the contrast answer"
        )
    return yes, no


def response_contrast(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    progress: Progress | None = None,
    *,
    site: str = "resid",
    read: Read = "last",
) -> Contrast:
    """See the module's text."""
    activations = read_activations(model, prompts, layers, progress, site=site, read=read)
    sides = split_by_response(activations.margin, activations.mass)
    return _contrast("response", model, prompts, activations, [activations.residuals] * 2, sides)


@torch.inference_mode()
def answer_contrast(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    progress: Progress | None = None,
    *,
    site: str = "resid",
    read: Read = "last",
) -> Contrast:
    """See the module's text.

    Raises:
        InputError: no answer could be read; or a place other than the last token, which is the answer.
    """
    if read != "last":
        raise InputError(f"the contrast answer is read at the answer, and read={read!r} was given; leave it out")
    activations = read_activations(model, prompts, layers, site=site)
    tokens = (prompts.tokens.yes[0], prompts.tokens.no[0])
    answered = [[[*sequence, token] for sequence in prompts.sequences] for token in tokens]
    runner = model.runner([sequence for side in answered for sequence in side], layers)
    wanted = [] if site == "resid" else sites_at([site], layers)

    def work(batch: list[int]) -> list[tuple[Tensor, ...]]:
        sides = []
        for side in answered:
            with capturing(model.stack, wanted, {"read": [0] * len(batch)}) as captured:
                done = runner.start([side[index] for index in batch])
            rows = [captured[each, "read"] for each in wanted] or [done.last_residual(layer) for layer in layers]
            sides.append(torch.stack([row.float().cpu() for row in rows], dim=1))
        return list(zip(*sides, strict=True))

    _check_any_read(activations)
    rows = map_batches(prompts.batches(model), work, progress=progress)
    streams = [torch.stack([row[side] for row in rows]) for side in (0, 1)]
    return _contrast("answer", model, prompts, activations, streams, [activations.read] * 2)


def framing_contrast(
    name: str,
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    progress: Progress | None = None,
    *,
    site: str = "resid",
    read: Read = "last",
) -> Contrast:
    """See the module's text.

    Raises:
        InputError: no answer could be read, or a prompt grows too long.
    """
    plain = read_activations(model, prompts, layers, site=site, read=read)
    _check_any_read(plain)
    sides = [
        read_activations(
            model, prompts.opened(model, openings), layers, progress if last else None, site=site, read=read
        )
        for openings, last in zip(openings_of(name, len(prompts)), (False, True), strict=True)
    ]
    # A dial is turned up towards yes, whichever pole that is in this subject.
    if (sides[0].margin[plain.read] - sides[1].margin[plain.read]).mean() < 0:
        sides.reverse()
    return _contrast(name, model, prompts, plain, [side.residuals for side in sides], [plain.read] * 2)


def _check_any_read(activations: Activations) -> None:
    if not activations.read.any():
        raise InputError(
            f"none of the {len(activations.question_ids)} answers could be read, so there is no contrast; try another "
            "prompt"
        )


def _contrast(
    name: str,
    model: OpenModel,
    prompts: PromptSet,
    plain: Activations,
    streams: Sequence[Float[Tensor, "question layer d_model"]],
    chosen: Sequence[Bool[Tensor, " question"]],
) -> Contrast:
    """Take of the streams under yes, and of those under no, the questions that stand on that side."""
    yes, no = (stream[mask] for stream, mask in zip(streams, chosen, strict=True))
    rows = chosen[0].nonzero().flatten(), chosen[1].nonzero().flatten()
    axis = model.readout.answer_direction(prompts.tokens)
    return Contrast(name, plain.layers, yes, no, plain, rows=rows, topics=prompts.topics, answer_axis=axis)


CONTRASTS: dict[str, Callable[..., Contrast]] = {
    "response": response_contrast,
    "answer": answer_contrast,
    "persona": partial(framing_contrast, "persona"),
    "capability": partial(framing_contrast, "capability"),
    "risk": partial(framing_contrast, "risk"),
    "effort": partial(framing_contrast, "effort"),
    "audience": partial(framing_contrast, "audience"),
    "evaluation": partial(framing_contrast, "evaluation"),
    "intentionality": partial(framing_contrast, "intentionality"),
}
