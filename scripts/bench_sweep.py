"""Time the sweep beside the libraries that one could use instead, on the same questions and magnitudes.

    python scripts/bench_sweep.py                              # everything; an hour of one core
    python scripts/bench_sweep.py --n-questions 16 --positions last --magnitudes 11          # minutes
    python scripts/bench_sweep.py --table peers.csv            # also writes the table

All run in one process with one thread, batched alike (16 prompts, left-padded, sorted by length). What counts is CPU
time, so that other work on the machine matters little. Every magnitude of a peer costs the same whole forward, so it is
timed at two of them; ours is timed at all, mass included. The margins must agree to 1e-3, else the script fails.
"""

import contextlib
import copy
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from architectures import hooked

from onedial.core.command_line import run_command
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options

AGREEMENT = 1e-3
BATCH = 16
PEER_MAGNITUDES = 2
Answer = Callable[[Any, Any], Any]
"""From a padded batch and what is added to the stream to the last logits."""


@contextlib.contextmanager
def plain_hook(model: Any, layer: int, positions: str) -> Iterator[Answer]:
    """Steer by a PyTorch hook on the Hugging Face model."""

    def answer(batch: Any, addition: Any) -> Any:
        with hooked(model.stack.layers[layer], addition, positions):
            return model.hf(**_inputs(batch)).logits[:, -1]

    yield answer


@contextlib.contextmanager
def steering_vectors(model: Any, layer: int, positions: str) -> Iterator[Answer]:
    """Steer by `SteeringVector.apply`."""
    import steering_vectors as library

    def answer(batch: Any, addition: Any) -> Any:
        last = {"token_indices": [-1]} if positions == "last" else {}
        vector = library.SteeringVector({layer: addition})
        with vector.apply(model.hf, multiplier=1.0, min_token_index=None, **last):
            return model.hf(**_inputs(batch)).logits[:, -1]

    yield answer


@contextlib.contextmanager
def nnsight(model: Any, layer: int, positions: str) -> Iterator[Answer]:
    """Steer by `LanguageModel.trace` with an edit of the layer's output."""
    from nnsight import LanguageModel

    warnings.filterwarnings("ignore", message="LanguageModel is deprecated")
    language_model = LanguageModel(copy.deepcopy(model.hf), tokenizer=model.tokenizer)

    def answer(batch: Any, addition: Any) -> Any:
        with language_model.trace(_inputs(batch)):
            changed = language_model.model.layers[layer].output.clone()
            changed[:, -1 if positions == "last" else slice(None)] += addition
            language_model.model.layers[layer].output = changed
            logits = language_model.lm_head.output[:, -1].save()
        return logits

    yield answer


PEERS = {"plain Hugging Face hook": plain_hook, "steering-vectors": steering_vectors, "nnsight": nnsight}


def _inputs(batch: Any) -> dict[str, Any]:
    mask = batch.attention_mask.long()
    return {"input_ids": batch.input_ids, "attention_mask": mask, "position_ids": batch.position_ids}


def measure(options: "ScriptOptions") -> Iterator[dict[str, Any]]:
    """Measure question-magnitudes per CPU second of us and of every peer that is installed, by positions and layer."""
    import torch

    from onedial.asking.prompts import FRAMINGS
    from onedial.models.model import load_model
    from onedial.models.prompt_set import PromptSet
    from onedial.panels.questions.question_files import load_questions
    from steering.interventions import Intervention, SteeringVector
    from steering.reading import answers_along
    from steering.vectors import random_vector

    torch.set_num_threads(1)
    model, template = load_model(options.model, dtype="float32", device="cpu"), FRAMINGS[options.framing]
    prompts = replace(PromptSet.build(model, load_questions("embedded", options.n_questions), template), at_once=BATCH)
    peers = {name: peer for name, peer in PEERS.items() if peer is plain_hook or find_spec(peer.__name__)}
    for positions in options.positions:
        for layer in options.layers or (model.n_layers // 3, 2 * model.n_layers // 3):
            norm = float(model.read_residual(model.tokenise([template.fill("Why?")]), [layer]).norm())
            axis = SteeringVector(torch.eye(model.d_model)[0], layer, norm, norm, model.identity)
            vector = random_vector(axis, seed=1)
            ask = partial(answers_along, model, [Intervention.of(vector, positions=positions)])
            ask(prompts.subset(prompts.question_ids[:2]), [-1.0, 1.0])  # pays for what is set up once
            place = {"positions": positions, "layer": layer}
            for count in options.magnitudes:
                grid = [round(-1 + 2 * index / (count - 1), 6) for index in range(count)]
                seconds, swept = cpu_seconds(partial(ask, prompts, grid))
                rate = len(swept) / seconds
                yield {**place, "who": f"ours, K = {count}", "seconds": seconds, "rate": rate}
            ours = swept.pivot(index="question_id", columns="magnitude", values="margin")
            for name, peer in peers.items():
                with torch.inference_mode(), peer(model, layer, positions) as answer:
                    seconds, off = time_peer(model, prompts, answer, ours, norm * vector.direction)
                if not off < AGREEMENT:
                    sys.exit(f"{name} differs from the sweep by {off:.3g} at layer {layer}, positions {positions}")
                rate = len(prompts) * PEER_MAGNITUDES / seconds
                yield {**place, "who": name, "seconds": seconds, "rate": rate, "difference": off}


def time_peer(model: Any, prompts: Any, answer: Answer, ours: Any, unit: Any) -> tuple[float, float]:
    """Time a peer in CPU seconds, and find the greatest difference from our margins (question x magnitude)."""
    import torch

    from onedial.models.forward.batches import batches_by_length
    from onedial.models.tokens import pad_batch

    chosen = [ours.columns[len(ours.columns) // 4], ours.columns[3 * len(ours.columns) // 4]]
    batches = [
        (batch, pad_batch([prompts.sequences[index] for index in batch], model.stack.pad_id))
        for batch in batches_by_length(list(map(len, prompts.sequences)), BATCH)
    ]
    answer(batches[-1][1], 0 * unit)
    seconds, outputs = cpu_seconds(
        lambda: [(batch, each, answer(padded, each * unit)) for each in chosen for batch, padded in batches]
    )
    worst, (yes, no) = 0.0, (list(prompts.tokens.yes), list(prompts.tokens.no))
    for batch, magnitude, logits in outputs:
        margin = logits[:, yes].logsumexp(-1) - logits[:, no].logsumexp(-1)
        expected = ours.loc[[prompts.question_ids[index] for index in batch], magnitude]
        worst = max(worst, float((margin.double() - torch.tensor(expected.to_numpy())).abs().max()))
    return seconds, worst


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time a piece of work in CPU seconds, and return what it gives."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    model: str = option("smollm2-135m-instruct", "model")
    n_questions: int = option(64, "n questions")
    framing: str = option("neutral", "the prompt; the more tokens all share, the more is saved")
    magnitudes: tuple[int, ...] = option((11, 41), "numbers of magnitudes, K")
    layers: tuple[int, ...] = option((), "by default a third and two thirds of the depth")
    positions: tuple[str, ...] = option(("last", "all"), "positions", choices=("last", "all"))
    table: Path | None = option(None, "also write the table", metavar="FILE")


def main() -> None:
    """Measure and print."""
    options = parse_options(ScriptOptions, __doc__)
    # Set before torch is imported: its thread pool takes its size from the environment.
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    import pandas as pd

    table = pd.DataFrame(measure(options))
    print(table.to_string(index=False, float_format="{:.3g}".format))
    if options.table:
        with atomic_path(options.table) as temporary:
            table.to_csv(temporary, index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    sys.exit(run_command(main))
