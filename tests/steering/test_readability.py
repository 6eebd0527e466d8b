"""Whether yes and no can be read is asked in batches, and is what each prompt alone says."""

import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking import METACOGNITIVE, Question
from steering import check_readability

QUESTIONS = [Question(f"q{place}", f"Who is poet {place}?{' And why?' * (place % 3)}") for place in range(80)]


def test_the_masses_are_those_of_each_prompt_alone_and_few_forwards_are_run():
    model = outspoken_model()
    asked = [METACOGNITIVE.fill(question.text) for question in QUESTIONS[::2][:32]]
    final = torch.cat([model.final_residual(model.tokenise([prompt])) for prompt in asked])
    mass = model.readout.margin_and_mass(final, model.answer_tokens(asked[0]))[1]
    likeliest = model.readout.logits(final, slice(None)).softmax(dim=-1).mean(dim=0).max()
    model.runner(model.token_ids(asked))  # its fast path is compared once
    forwards = []
    handle = model.stack.layers[0].register_forward_hook(lambda module, args, output: forwards.append(len(args[0])))
    found = check_readability(model, METACOGNITIVE, QUESTIONS)
    handle.remove()
    assert found.median_mass == pytest.approx(float(mass.median()), abs=1e-5)
    assert found.likeliest[0][1] == pytest.approx(float(likeliest), abs=1e-5)
    assert found.n_asked == 32
    assert forwards == [1, 16, 16]
