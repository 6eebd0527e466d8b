"""A model whose answer is a known function of its stream: above the first layer nothing is added to it.

Layer 0 mixes the words of the question into the last token; the layers above hand the stream on, or add to it what the
one before them does (`relay`). The margin is `sharpness` times the stream's component along `answer`, divided by the
stream's root mean square, which a large constant component keeps nearly the same for all questions.
"""

import torch
from tiny_models import byte_tokenizer, outspoken_hf

from onedial.models.model import OpenModel
from steering.nulls import random_unit

SHARPNESS = 10.0
WIDTH, LAYER = 48, 2
"""Of the stream, and where the tests push."""


def across(*others):
    """A unit direction at right angles to the constant component and to others."""
    drawn = random_unit(WIDTH, 50_011 + len(others))
    for line in (torch.eye(WIDTH)[0], *others):
        drawn = drawn - (drawn @ line) * line
    return drawn / drawn.norm()


ANSWER = across()
ASIDE = across(ANSWER)


def known_model(answer: torch.Tensor, relay: tuple[torch.Tensor, torch.Tensor] | None = None) -> OpenModel:
    """See the module's text.

    Args:
        answer: direction that the margin is read along. relay: (from, to): layer 3 adds along `to` what it finds along
            `from`, as far as its gate is linear.
    """
    hf = outspoken_hf("llama", seed=3)
    constant = torch.eye(hf.config.hidden_size)[0]
    words = byte_tokenizer(asked=()).get_vocab()
    with torch.no_grad():
        for layer in hf.model.layers[1:]:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        hf.model.norm.weight.fill_(1.0)
        head = hf.get_output_embeddings().weight
        head.zero_()
        for token, index in words.items():
            if token.strip("Ġ").lower() in ("yes", "no"):
                head[index] = (SHARPNESS if "y" in token.lower() else -SHARPNESS) * answer / 2 / answer.norm()
                head[index] += 2 * constant  # so that other words are hardly likely, and every answer is read
        hf.model.embed_tokens.weight += 40 * constant
        if relay is not None:
            source, goal = relay
            mlp = hf.model.layers[3].mlp
            mlp.gate_proj.weight.zero_()
            mlp.gate_proj.weight[0] = constant  # in the linear part of silu: the gate is a constant above 0
            mlp.up_proj.weight.zero_()
            mlp.up_proj.weight[0] = source
            mlp.down_proj.weight[:, 0] = goal
    return OpenModel(hf, byte_tokenizer(asked=()), name="known")
