"""The readout's answer direction is that of the unembedding, through whatever norm stands before it."""

import pytest
import torch
from torch import nn
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from onedial.models.forward.readout import AnswerTokens, Readout

D, VOCABULARY = 32, 50
TOKENS = AnswerTokens(((3, 7), (11,)))


class Unscaled(nn.Module):
    """A norm without weights, as OLMo's."""

    def forward(self, stream):
        return nn.functional.layer_norm(stream, (D,))


NORMS = {
    "root mean square": (lambda: LlamaRMSNorm(D), lambda norm: norm.weight),
    "root mean square, 1 + weight": (lambda: Gemma3RMSNorm(D), lambda norm: 1 + norm.weight),
    "layer norm": (lambda: nn.LayerNorm(D), lambda norm: norm.weight),
    "without weights": (Unscaled, lambda norm: torch.ones(D)),
}


@pytest.mark.parametrize("name", NORMS)
def test_the_answer_direction_is_yes_minus_no(name):
    """The answer direction is yes minus no of the unembedding times the norms weight."""
    made, scale_of = NORMS[name]
    torch.manual_seed(0)
    norm, unembedding = made(), nn.Linear(D, VOCABULARY, bias=False)
    for weight in norm.parameters():
        nn.init.uniform_(weight, 0.3, 2.0)
    readout = Readout(norm, unembedding, None)
    with torch.no_grad():
        rows = unembedding.weight[[3, 7]].mean(dim=0) - unembedding.weight[11]
        expected = scale_of(norm) * rows
    result = readout.answer_direction(TOKENS)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


def test_a_step_along_it_raises_the_margin_most():
    """A step along it raises the margin more than any of many random steps."""
    torch.manual_seed(1)
    norm, unembedding = LlamaRMSNorm(D), nn.Linear(D, VOCABULARY, bias=False)
    nn.init.uniform_(norm.weight, 0.3, 2.0)
    readout, streams = Readout(norm, unembedding, None), torch.randn(20, D)
    with torch.no_grad():

        def moved(direction):
            pushed = streams + 0.1 * direction / direction.norm()
            return float((readout.margin(pushed, TOKENS) - readout.margin(streams, TOKENS)).mean())

        assert moved(readout.answer_direction(TOKENS)) > max(moved(torch.randn(D)) for _ in range(200))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_answers_that_tie_in_16_bit_logits_are_told_apart(dtype):
    """Yes and no lie close together, as in real models; read in float32 they never tie, so no rate hangs on it."""
    torch.manual_seed(2)
    norm, unembedding = LlamaRMSNorm(D).to(dtype), nn.Linear(D, VOCABULARY, bias=False)
    nn.init.normal_(unembedding.weight)
    with torch.no_grad():
        unembedding.weight[11] = unembedding.weight[3] + 0.05 * torch.randn(D)
        streams, tokens = torch.randn(20_000, D).to(dtype), AnswerTokens(((3,), (11,)))
        yes, no = unembedding.to(dtype)(norm(streams))[:, [3, 11]].unbind(dim=1)
        margin = Readout(norm, unembedding, None).margin(streams, tokens)
    tied = yes == no
    assert tied.sum() > 20
    assert not (margin == 0).any()
    assert 0.3 < (margin[tied] > 0).float().mean() < 0.7
