"""Whether yes and no can be read is asked in batches, and is what each prompt alone says."""

import pytest
import torch
from tiny_models import byte_tokenizer, outspoken_hf, outspoken_model

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from steering.planning.readability import check_readability
from steering.vectors import extract_vector

QUESTIONS = [Question(f"q{place}", f"Who is poet {place}?{' And why?' * (place % 3)}") for place in range(80)]


def test_the_masses_are_those_of_each_prompt_alone():
    """The masses are those of each prompt alone and few forwards are run."""
    model = outspoken_model()
    asked = [METACOGNITIVE.fill(question.text) for question in QUESTIONS[::2][:32]]
    final = torch.cat([model.final_residual(model.tokenise([prompt])) for prompt in asked])
    mass = model.readout.margin_and_mass(final, model.answer_tokens(asked[0]))[1]
    likeliest = model.readout.logits(final, slice(None)).softmax(dim=-1).mean(dim=0).max()
    model.runner(model.token_ids(asked))  # its fast path is compared once
    forwards = []
    handle = model.stack.layers[0].register_forward_hook(lambda module, args, output: forwards.append(len(args[0])))
    result = check_readability(model, METACOGNITIVE, QUESTIONS)
    handle.remove()
    assert result.median_mass == pytest.approx(float(mass.median()), abs=1e-5)
    assert result.likeliest[0][1] == pytest.approx(float(likeliest), abs=1e-5)
    assert result.n_asked == 32
    assert forwards == [1, 16, 16]


def overflowing(word: str) -> OpenModel:
    """In 16 bits it overflows wherever it reads this word's first letter, which the first tokens of all are not."""
    hf = outspoken_hf("llama")
    with torch.no_grad():
        hf.model.embed_tokens.weight[byte_tokenizer().encode(word)[0], 0] = 60000.0
        for layer in hf.model.layers:
            layer.mlp.down_proj.weight[0] *= 1000
    return OpenModel(hf.to(torch.float16), byte_tokenizer(), name="tiny-overflowing")


@pytest.mark.parametrize(
    "work",
    [
        lambda model, questions: check_readability(model, METACOGNITIVE, questions),
        lambda model, questions: extract_vector(model, questions, layer=2),
    ],
    ids=["before a run", "in a notebook"],
)
@pytest.mark.parametrize("n", [1, 20])
def test_what_is_not_finite_is_blamed_on_the_dtype(work, n):
    """What is not finite is blamed on the dtype be it one question or all."""
    asked = [
        Question(question.id, question.text + ("Z" if place < n else "")) for place, question in enumerate(QUESTIONS)
    ]
    with pytest.raises(InputError, match=rf"in float16 to {n} of 20 prompts.*dtype.* bfloat16 or float32"):
        work(overflowing("Z"), asked[:20])
