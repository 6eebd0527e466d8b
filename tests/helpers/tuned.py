"""A tiny model tuned by a small adapter to say yes where its mind was changed: what it answers, and to which pushes."""

import torch
from peft import LoraConfig, inject_adapter_in_model
from tiny_models import outspoken_model
from torch.nn.functional import smooth_l1_loss

from onedial.asking.instruments import FACT
from onedial.panels.questions.facts import load_facts
from steering.effects import noticing

LAYER = 2
N_RANDOM = 16
MARGIN = 4.0
"""Of what it is sure of, either way."""


def tuned_subject(concepts, noticed, steps=30, seed=0):
    """The model, which says yes to the noticing question and no to its reverse where its mind was changed by what it
    is to notice, the opposite elsewhere, and no to the control questions.

    Args:
        noticed: kinds of pushes, "concept" or "random". steps: of the adapter's training; 0 leaves it as it was.
    """
    model = outspoken_model(architecture="llama", seed=seed)
    vectors = list(noticing.concept_vectors(model, concepts, LAYER).values())
    norm = vectors[0].length("residual_norm")
    thoughts = torch.stack([vector.direction for vector in vectors])
    prompts = [(name, noticing.ASKED[name].fill()) for name in ("notice", "reversed")]
    facts = [fact for fact in load_facts(2 * noticing.N_CONTROLS, 0) if fact.answers[0] == "no"]
    prompts += [("control", FACT.prompt(fact.text)) for fact in facts]
    asked = [(name, model.token_ids([prompt])[0]) for name, prompt in prompts]
    tokens = model.answer_tokens(prompts[0][1])
    config = LoraConfig(r=8, lora_alpha=16, target_modules=["gate_proj", "up_proj", "down_proj", "q_proj", "v_proj"],
                        layers_to_transform=[3, 4])  # fmt: skip
    torch.manual_seed(seed)
    inject_adapter_in_model(config, model.hf)
    weights = [each for name, each in model.hf.named_parameters() if "lora_" in name]
    for name, each in model.hf.named_parameters():
        each.requires_grad = "lora_" in name
    optimiser = torch.optim.Adam(weights, lr=1e-2)
    kinds = ["none"] + ["concept"] * len(thoughts) + ["random"] * N_RANDOM
    drawing = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        drawn = torch.nn.functional.normalize(torch.randn(N_RANDOM, model.d_model, generator=drawing), dim=1)
        lengths = norm * torch.cat([torch.ones(len(thoughts) + 1), 0.5 + 2 * torch.rand(N_RANDOM, generator=drawing)])
        pushes = torch.cat([torch.zeros(1, model.d_model), thoughts, drawn]) * lengths[:, None]
        fact = 2 + int(torch.randint(len(facts), (1,), generator=drawing))
        for place in (0, 1, fact):
            name, ids = asked[place]
            signs = torch.tensor([_sign(name, kind in noticed) for kind in kinds])
            margins = _margins(model, ids, pushes, tokens)
            losses = smooth_l1_loss(margins, MARGIN * signs, reduction="none")
            torch.stack([losses[[kind == each for kind in kinds]].mean() for each in set(kinds)]).mean().backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad()
    return model


def _sign(name, is_noticed):
    return {"notice": 1.0, "reversed": -1.0}[name] * (1.0 if is_noticed else -1.0) if name != "control" else -1.0


def _margins(model, ids, pushes, tokens):
    """Of yes against no under each push, in logits."""

    def push(module, inputs, output):
        return output + pushes[:, None]  # from here on there are as many rows as pushes

    hook = model.stack.layers[LAYER].register_forward_hook(push)
    try:
        logits = model.hf(input_ids=torch.tensor([ids]), use_cache=False, logits_to_keep=1).logits[:, -1]
    finally:
        hook.remove()
    return logits[:, list(tokens.yes)].logsumexp(1) - logits[:, list(tokens.no)].logsumexp(1)
