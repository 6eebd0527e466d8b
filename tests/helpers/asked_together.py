"""What a model says, as one process or as several that hold it together: python asked_together.py OUT FOLDER ...

Each process writes what it has found to OUT.RANK, so that they can be compared with one another and with one alone.
"""

import json
import sys
from pathlib import Path

import torch

from onedial.asking.prompts import METACOGNITIVE
from onedial.core.command_line import run_command
from onedial.core.processes import process_number
from onedial.models.forward.runner import PlainRunner
from onedial.models.model import load_model
from onedial.models.processes import start_processes
from onedial.models.writing import Decoding, generate

TEXTS = ["Who sang of the river?", "Which chess engine has seen the violin of the king and the cheese of the sea?"]


def found_with(folder) -> dict:
    """Margins, unedited and edited, on both paths and in both places; texts, steered and not; who it is."""
    model = load_model(str(folder))
    prompts = [METACOGNITIVE.fill(text) for text in TEXTS]
    sequences, tokens = model.token_ids(prompts), model.answer_tokens(prompts[0])
    layer = model.n_layers // 2
    push = torch.randn(model.d_model, generator=torch.Generator().manual_seed(3), device="cpu")

    def edit(stream, settings):
        return stream + (settings[..., None] * push).to(stream.dtype)

    result = {"fingerprints": model.identity.fingerprints, "paths": sorted(model.fast_paths_for(99).allowed)}
    settings = torch.tensor([[-2.0, 0.0, 2.0]])
    for at in ("last", "all"):
        for runner in (model.runner(sequences, [layer], at), PlainRunner(model.stack, sequences, [layer], at)):
            final = runner.steer(runner.start(sequences), {layer: edit}, settings)
            margin, mass = model.readout.margin_and_mass(final, tokens)
            result[f"{at} {type(runner).__name__}"] = margin.tolist() + mass.tolist()
    with model.edit_residual(layer, lambda stream: edit(stream, torch.full(stream.shape[:-1], 2.0))):
        result["steered"] = [each.text for each in generate(model, sequences, 24)]
    result["drawn"] = [each.text for each in generate(model, sequences, 24, Decoding(1.0, seed=5))]
    result["own weights"] = sum(weight.numel() for weight in model.hf.parameters())
    return result


def main() -> None:
    out, *folders = sys.argv[1:]
    start_processes(tensor_parallel=True)
    result = {Path(folder).name: found_with(folder) for folder in folders}
    Path(f"{out}.{process_number()}").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run_command(main))
