"""Make control directions, not made from yes and no, as fair baselines for the one under test.

Drawn by chance, many of a kind; the vector is ranked among them:

    random       evenly from the sphere
    covariance   from the normal distribution with the covariance of the subject's own residual streams, so that it
                 points where streams differ anyway
    shuffled     the vector's own recipe with the labels shuffled first
    orthogonal   evenly from the sphere, with what lies along the vector taken out

Contrasts of their own, one of each, which are compared by name:

    unembedding  Yes minus No in the unembedding: a push of the words themselves
    length       long questions minus short ones

All are as long as the vector and are done as it is done, at its layer; where that was chosen among several, each at
the layer that the same choice gives it (`steering.planning.plan`). What reads the stream reads the extraction split.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.sweep_tables import DRAWN_ROLES
from onedial.core.errors import InputError
from onedial.models.forward.readout import AnswerTokens
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.contrasts import Contrast
from steering.directions import DIRECTIONS
from steering.interventions import Intervention, SteeringVector
from steering.nulls import drawn_like, random_unit


@dataclass(frozen=True)
class Material:
    """What controls of one vector are made of.

    Attributes:
        model: the subject. vector: the one under test. contrast: that it was made from, at its layer alone.
        prompts: of the extraction split.
    """

    model: OpenModel
    vector: SteeringVector
    contrast: Contrast
    prompts: PromptSet

    @property
    def streams(self) -> Float[Tensor, "question d_model"]:
        """Residual streams at the answer position."""
        return self.contrast.activations.residuals[:, 0]


Control = Callable[[Material, int], Float[Tensor, " d_model"]]
"""From material and seed to a direction of any length."""


def random(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text."""
    return random_unit(len(material.vector.direction), seed)


def covariance(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text."""
    return drawn_like(material.streams, seed)


def shuffled(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text; pairs of the answer contrast are reversed one by one."""
    contrast = material.contrast.shuffled(seed)
    method = material.vector.method if material.vector.method in DIRECTIONS else "mean_difference"
    return DIRECTIONS[method](contrast)[0][0]


def orthogonal(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text."""
    drawn, along = random(material, seed), material.vector.direction
    return drawn - (drawn @ along) * along


def unembedding(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text: mean over the yes tokens minus mean over the no tokens."""
    return material.model.readout.answer_direction(material.prompts.tokens)


def length(material: Material, seed: int) -> Float[Tensor, " d_model"]:
    """See the module's text: the longer half minus the shorter half."""
    asked = material.prompts.subset(material.contrast.activations.question_ids).prompts
    sizes = torch.tensor([float(len(each.user) + len(each.assistant_prefix)) for each in asked])
    order = sizes.argsort(stable=True)
    half = len(order) // 2
    return material.streams[order[-half:]].mean(dim=0) - material.streams[order[:half]].mean(dim=0)


CONTROLS: dict[str, Control] = {
    "random": random,
    "covariance": covariance,
    "shuffled": shuffled,
    "orthogonal": orthogonal,
    "unembedding": unembedding,
    "length": length,
}


N_CONTRASTS = len([name for name in CONTROLS if name not in DRAWN_ROLES])


def control_interventions(material: Material, of: Intervention, n_drawn: int, seed: int = 0) -> list[Intervention]:
    """Controls of an intervention with one vector: `n_drawn` dealt out over the drawn kinds, then one of each contrast.

    Args:
        seed: of the first; the others follow.

    Raises:
        InputError: the intervention has several vectors.
    """
    if not n_drawn:
        return []
    if len(of.vectors) > 1:
        raise InputError(f"controls are made for one layer, and {of.intervention_id} has {len(of.vectors)}")
    kinds = [(DRAWN_ROLES[number % len(DRAWN_ROLES)], seed + 1 + number) for number in range(n_drawn)]
    kinds += [(name, seed) for name in CONTROLS if name not in DRAWN_ROLES]
    return [_as_intervention(CONTROLS[kind](material, own_seed), kind, own_seed, of) for kind, own_seed in kinds]


def word_push(model: OpenModel, tokens: AnswerTokens, like: Intervention) -> Intervention:
    """Yes minus No in the unembedding, done as another intervention is done, at its first layer.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> like = Intervention.of(extract_vector(model, questions, layer=21))
    >>> type(word_push(model, PromptSet.build(model, questions, METACOGNITIVE).tokens, like)).__name__
    'Intervention'
    """
    return _as_intervention(model.readout.answer_direction(tokens), "unembedding", 0, like)


def cosine(one: Intervention, other: Intervention) -> float:
    """Between the directions of two interventions at their layers, weighted alike."""
    pairs = [
        float(mine.direction @ theirs.direction)
        for mine in one.vectors
        for theirs in other.vectors
        if mine.layer == theirs.layer
    ]
    return sum(pairs) / len(pairs) if pairs else float("nan")


def _as_intervention(direction: Tensor, kind: str, seed: int, of: Intervention) -> Intervention:
    along = direction.float() / direction.float().norm()
    vector = of.vectors[0].of_no_answers(along, kind, seed if kind in DRAWN_ROLES else None)
    return Intervention.of(vector, role=kind, operator=of.operator, positions=of.positions, unit=of.unit)
