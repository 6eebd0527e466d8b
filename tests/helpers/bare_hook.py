"""The definition of a steered answer, which every fast way must equal: one prompt alone, a bare PyTorch hook at each
layer, and the model's own logits."""

import torch

from steering.operators import OPERATORS


def bare_logits(model, ids, intervention, magnitude, columns=None):
    """(vocabulary,) logits after the last of these tokens, from one whole forward.

    Args:
        columns: which are edited; by default the last, or all, as the intervention's positions say.
    """
    chosen = (slice(-1, None) if intervention.reads_at == "last" else slice(None)) if columns is None else columns
    operator = OPERATORS[intervention.operator]

    def hook_of(vector):
        def hook(module, args, output):
            stream = (output[0] if isinstance(output, tuple) else output).clone()
            length = vector.length(intervention.unit)
            stream[:, chosen] = operator(stream[:, chosen], vector.direction, torch.tensor(magnitude), length)
            return (stream, *output[1:]) if isinstance(output, tuple) else stream

        return hook

    handles = [model.stack.layers[v.layer].register_forward_hook(hook_of(v)) for v in intervention.vectors]
    try:
        with torch.no_grad():
            return model.hf(input_ids=torch.as_tensor(ids)[None], use_cache=False).logits[0, -1].float()
    finally:
        for handle in handles:
            handle.remove()


def bare_margin(model, ids, tokens, intervention, magnitude):
    """The margin of yes over no of such logits."""
    logits = bare_logits(model, ids, intervention, magnitude)
    return (logits[list(tokens.yes)].logsumexp(0) - logits[list(tokens.no)].logsumexp(0)).item()
