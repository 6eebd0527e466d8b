"""Read vectors from a contrast between yes and no, at one layer or several; or draw them by chance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import torch
from einops import einsum

from onedial.asking.poles import POLES
from onedial.asking.prompts import METACOGNITIVE, PromptTemplate
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.progress import shown
from onedial.models.forward.activations import Read
from onedial.models.forward.batches import Progress
from onedial.models.identity import ModelIdentity
from onedial.models.inside.gradients import margin_gradients
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Questions
from steering.contrasts import CONTRASTS, MINIMUM_PER_SIDE, Contrast
from steering.directions import DIRECTIONS, NEED_GRADIENTS, READ_NO_SIDES
from steering.interventions import SteeringVector
from steering.nulls import random_unit


@says_how
def random_vector(like: SteeringVector, seed: int) -> SteeringVector:
    """Draw a control: a direction evenly from the sphere, of the same norms, layer and model.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> vector = extract_vector(load_model("smollm2-135m-instruct"), load_questions("embedded", n=20), layer=21)
    >>> random_vector(vector, seed=1).direction.shape == vector.direction.shape
    True
    """
    if not isinstance(like, SteeringVector):
        raise InputError(f"{type(like).__name__} stands where a vector belongs; write random_vector(vector, seed=1)")
    return like.of_no_answers(random_unit(like.direction.shape[0], seed), "random", seed)


def vectors_of(
    model: ModelIdentity,
    contrast: Contrast,
    method: str = "mean_difference",
    prompt_hash: str = "",
    template: PromptTemplate | None = None,
) -> list[SteeringVector]:
    """Make one vector for each layer of a contrast.

    Args:
        prompt_hash, template: of the `PromptSet` that the contrast was read under.

    Raises:
        InputError: an unknown method, or a direction without length.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> [vector.layer for vector in vectors_of(model.identity, contrast_of(model, prompts, [1, 2]))]
    [1, 2]
    """
    if method not in DIRECTIONS:
        raise InputError(f"method {method!r} is not known; choose one of {', '.join(DIRECTIONS)}")
    directions, lengths = DIRECTIONS[method](contrast)
    drawn = method == "random"
    streams = contrast.activations.streams.float()
    lines = torch.stack(list(directions)).to(streams)
    along = einsum(streams - streams.mean(dim=0), lines, "question layer d_model, layer d_model -> question layer")
    seen = (along.abs().amax(dim=0) / contrast.residual_norms).tolist()
    return [
        SteeringVector(
            direction=direction,
            layer=layer,
            raw_norm=length,
            residual_norm=norm,
            model=model,
            method=method,
            contrast="none" if drawn else contrast.name,
            n_yes=0 if drawn else len(contrast.yes),
            n_no=0 if drawn else len(contrast.no),
            n_unread=0 if drawn else contrast.n_unread,
            prompt_hash=prompt_hash,
            template=template,
            seed=contrast.seed if drawn else None,
            seen=furthest,
            site=contrast.site,
            positions_read=contrast.read,
        )
        for layer, direction, length, norm, furthest in zip(
            contrast.layers, directions, lengths.tolist(), contrast.residual_norms.tolist(), seen, strict=True
        )
    ]


@dataclass(frozen=True)
class Making:
    """How vectors are made.

    Attributes:
        contrast: a key of `CONTRASTS`. method: a key of `DIRECTIONS`.
        site, read: as in `extract_vector`.
        draw: of the questions; 0: each once, else drawn with replacement.
    """

    contrast: str = "response"
    method: str = "mean_difference"
    site: str = "resid"
    read: Read = "last"
    draw: int = 0
    seed: int = 0


AS_USUAL = Making()


def contrast_of(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    making: Making = AS_USUAL,
    progress: Progress | None = None,
) -> Contrast:
    """Read the activations on either side, at each of `layers`.

    Raises:
        InputError: as `check_making`; an unknown layer, or too few answers on one side.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> contrast = contrast_of(model, prompts, [1, 2])
    >>> contrast.yes.shape[1]  # layers
    2
    """
    check_making(making.contrast, making.method, len(prompts))
    plainly = (making.site, making.read) == ("resid", "last")
    elsewhere: dict[str, Any] = {} if plainly else {"site": making.site, "read": making.read}
    if elsewhere and making.method in NEED_GRADIENTS:
        raise InputError(
            f"the method {making.method} is made of gradients by the stream at the last token; leave site and read "
            "out, or choose another method"
        )
    contrast = CONTRASTS[making.contrast]
    contrasted = replace(contrast(model, prompts, layers, progress, **elsewhere), seed=making.seed, **elsewhere)
    if making.method in NEED_GRADIENTS:
        contrasted = replace(contrasted, gradients=margin_gradients(model, prompts, layers))
    return contrasted.resampled(making.seed + making.draw) if making.draw else contrasted


def check_making(contrast: str, method: str, n_questions: int | None = None) -> None:
    """Refuse what no vector can be made of.

    Args:
        n_questions: of the extraction split, where they are known.

    Raises:
        InputError: unknown contrast or method; a contrast by framing for a method that reads no sides; or fewer
            questions than two sides take.

    >>> check_making("response", "mean_difference")
    """
    for given, known, option in ((contrast, CONTRASTS, "contrast"), (method, DIRECTIONS, "method")):
        if given not in known:
            raise InputError(f"{option} {given!r} is not known; choose one of {', '.join(known)}")
    if contrast in POLES and method in READ_NO_SIDES:
        raise InputError(
            f"the method {method} is made of the margins of the plain questions, so the contrast {contrast} would say "
            "nothing to it; choose another method, or the contrast response"
        )
    if contrast == "response" and n_questions is not None and n_questions < 2 * MINIMUM_PER_SIDE:
        raise InputError(
            f"the vector is made of a part of the questions, here {n_questions}, and it takes {MINIMUM_PER_SIDE} "
            f"answered yes and {MINIMUM_PER_SIDE} answered no: ask {8 * MINIMUM_PER_SIDE} questions or more (without "
            f"a panel {6 * MINIMUM_PER_SIDE}), or give --contrast answer, which takes any number"
        )


@overload
def extract_vector(
    model: OpenModel,
    questions: PromptSet | Questions,
    layer: int,
    *,
    site: str = ...,
    read: Read = ...,
    contrast: str = ...,
    method: str = ...,
    prompt: PromptTemplate | str | None = ...,
    seed: int = ...,
    progress: Progress | bool = ...,
) -> SteeringVector: ...
@overload
def extract_vector(
    model: OpenModel,
    questions: PromptSet | Questions,
    layer: Sequence[int],
    *,
    site: str = ...,
    read: Read = ...,
    contrast: str = ...,
    method: str = ...,
    prompt: PromptTemplate | str | None = ...,
    seed: int = ...,
    progress: Progress | bool = ...,
) -> list[SteeringVector]: ...
@says_how
def extract_vector(
    model: OpenModel,
    questions: PromptSet | Questions,
    layer: int | Sequence[int],
    *,
    site: str = "resid",
    read: Read = "last",
    contrast: str = "response",
    method: str = "mean_difference",
    prompt: PromptTemplate | str | None = None,
    seed: int = 0,
    progress: Progress | bool = True,
) -> SteeringVector | list[SteeringVector]:
    """Read steering vectors from a model's own yes and no: at one layer, or at several from the same answers.

    Positive is towards yes.

    Args:
        questions: as `sweep` takes them: texts, a data frame, a file, `Question`s, or a `PromptSet`.
        layer: 0-based; several give a list of vectors.
        site: what is read, and pushed: the stream after the layer (resid), or what its attention (attn) or its MLP
            (mlp) adds to the stream.
        read: at which token of each prompt: the last; an index, from the end where it is negative; or a text that
            stands once in each prompt, whose last token is meant.
        contrast: a key of `steering.contrasts.CONTRASTS`. method: a key of `DIRECTIONS`.
        prompt: how questions are put: a framing's name, a user turn with one {question}, or a template; by default
            `METACOGNITIVE`.
        progress: is told how many questions were read; True shows it where that takes over two seconds.

    Raises:
        InputError: a layer that the model has not, or whose parts do not make up its step; an unknown contrast, method
            or site; too few answers on one side; a text that stands in a prompt never or twice; or a prompt beside a
            `PromptSet`, which has one.

    >>> from onedial import load_model, load_questions
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> round(float(vector.direction.norm()), 3)
    1.0
    >>> [each.layer for each in extract_vector(model, questions, range(2, 4))]
    [2, 3]
    """
    if isinstance(questions, PromptSet) and prompt is not None:
        raise InputError("a PromptSet has its prompt; give the questions themselves, or leave the prompt out")
    asked = (
        questions if isinstance(questions, PromptSet) else PromptSet.build(model, questions, prompt or METACOGNITIVE)
    )
    layers = [layer] if isinstance(layer, int) else list(layer)
    with shown(progress, len(asked), "questions read") as advance:
        made = contrast_of(model, asked, layers, Making(contrast, method, site, read, seed=seed), advance)
    vectors = vectors_of(model.identity, made, method, asked.prompt_hash, asked.template)
    return vectors[0] if isinstance(layer, int) else vectors
