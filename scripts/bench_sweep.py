"""How fast is the sweep? Ours against the libraries that one could use instead, on the same questions and magnitudes.

    python scripts/bench_sweep.py                              # everything; an hour of one core
    python scripts/bench_sweep.py --n-questions 16 --positions last --magnitudes 11 --parts peers     # minutes
    python scripts/bench_sweep.py --tables bench    # also writes each part's table into bench/, as CSV

All run in one process with one thread, batched alike (16 prompts, left-padded, sorted by length). What counts is CPU
time, so that other work on the machine matters little. A peer's every magnitude costs the same whole forward, so it is
timed at `--peer-magnitudes` of them; ours is timed at all of them, mass included. The margins must agree to 1e-3, else
the script fails.
"""

import contextlib
import copy
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onedial.core.command_line import run_command
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options

AGREEMENT = 1e-3
BATCH = 16
Row = dict[str, Any]
"""One line of a part's table."""


# ---- peers: given a layer and positions, each answers a padded batch under one addition with its last logits --------


@contextlib.contextmanager
def plain_hook(model: Any, layer: int, positions: str, **options: Any) -> Iterator[Callable[..., Any]]:
    """A PyTorch hook on the Hugging Face model, and its logits."""
    state: dict[str, Any] = {}

    def added(module: Any, arguments: Any, output: Any) -> Any:
        stream = (output[0] if isinstance(output, tuple) else output).clone()
        stream[:, -1 if positions == "last" else slice(None)] += state["addition"]
        return (stream, *output[1:]) if isinstance(output, tuple) else stream

    def answer(batch: Any, addition: Any) -> Any:
        state["addition"] = addition
        return model.hf(**_inputs(batch), **options).logits[:, -1]

    handle = model.stack.layers[layer].register_forward_hook(added)
    try:
        yield answer
    finally:
        handle.remove()


@contextlib.contextmanager
def steering_vectors(model: Any, layer: int, positions: str) -> Iterator[Callable[..., Any]]:
    """`SteeringVector.apply`."""
    import steering_vectors as library

    def answer(batch: Any, addition: Any) -> Any:
        where = {"token_indices": [-1]} if positions == "last" else {}
        vector = library.SteeringVector({layer: addition})
        with vector.apply(model.hf, multiplier=1.0, min_token_index=None, **where):
            return model.hf(**_inputs(batch)).logits[:, -1]

    yield answer


@contextlib.contextmanager
def nnsight(model: Any, layer: int, positions: str) -> Iterator[Callable[..., Any]]:
    """`LanguageModel.trace` with an edit of the layer's output."""
    from nnsight import LanguageModel

    warnings.filterwarnings("ignore", message="LanguageModel is deprecated")
    language_model = LanguageModel(copy.deepcopy(model.hf), tokenizer=model.tokenizer)

    def answer(batch: Any, addition: Any) -> Any:
        where = slice(-1, None) if positions == "last" else slice(None)
        with language_model.trace(_inputs(batch)):
            changed = language_model.model.layers[layer].output.clone()
            changed[:, where] += addition
            language_model.model.layers[layer].output = changed
            logits = language_model.lm_head.output[:, -1].save()
        return logits

    yield answer


HAND_TUNED = "plain hook, last logits only"
"""By somebody who knows that only the last position's logits are needed, and no cache."""
PEERS: dict[str, Callable[..., Any]] = {
    "plain Hugging Face hook": plain_hook,
    "steering-vectors": steering_vectors,
    "nnsight": nnsight,
    HAND_TUNED: partial(plain_hook, logits_to_keep=1, use_cache=False),
}


def installed_peers() -> dict[str, Callable[..., Any]]:
    """Those of `PEERS` whose library can be imported here."""
    return {
        name: peer
        for name, peer in PEERS.items()
        if peer not in (steering_vectors, nnsight) or find_spec(peer.__name__) is not None
    }


def _inputs(batch: Any) -> Row:
    return {
        "input_ids": batch.input_ids,
        "attention_mask": batch.attention_mask.long(),
        "position_ids": batch.position_ids,
    }


# ---- parts -----------------------------------------------------------------------------------------------------------


class Bench:
    """One model, one set of prompts, one random direction per layer."""

    def __init__(self, options: "ScriptOptions") -> None:
        import torch

        from onedial.asking.prompts import FRAMINGS
        from onedial.models.model import load_model
        from onedial.models.prompt_set import PromptSet
        from onedial.panels.questions.question_files import load_questions
        from steering.interventions import SteeringVector
        from steering.vectors import random_vector

        torch.set_num_threads(1)
        self.options = options
        self.model = load_model(options.model, dtype="float32", device="cpu")
        template = FRAMINGS[options.framing]
        self.prompts = PromptSet.build(self.model, load_questions("embedded", options.n_questions), template)
        n_layers = self.model.n_layers
        self.layers = options.layers or [n_layers // 3, 2 * n_layers // 3]
        axis = torch.eye(self.model.d_model)[0]
        self.vectors = {}
        for layer in self.layers:
            stream = self.model.read_residual(self.model.tokenise([template.fill("Why?")]), [layer])
            norm = float(stream.norm())
            self.vectors[layer] = random_vector(SteeringVector(axis, layer, norm, norm, self.model.identity), seed=1)

    def ours(self, layer: int, positions: str, grid: list[float], n_questions: int | None = None) -> Any:
        """The sweep under test."""
        from steering.interventions import Intervention
        from steering.sweeping import sweep

        prompts = self.prompts.subset(self.prompts.question_ids[:n_questions])
        intervention = Intervention.of(self.vectors[layer], positions=positions)
        return sweep(self.model, intervention, prompts, grid, batch_size=BATCH).table

    def peers(self) -> Iterator[Row]:
        """Question-magnitudes per CPU second of every peer that is installed, and how many times ours are as many."""
        n, k = len(self.prompts), self.options.peer_magnitudes
        for positions in self.options.positions:
            for layer in self.layers:
                self.ours(layer, positions, [-1.0, 1.0], 2)  # pays for what is set up once
                rates = {}
                for count in self.options.magnitudes:
                    seconds, table = cpu_seconds(partial(self.ours, layer, positions, grid_of(count)))
                    rates[f"ours, K = {count}"] = (count, seconds, len(table) / seconds)
                best = table.pivot(index="question_id", columns="magnitude", values="margin")
                place = {"positions": positions, "layer": layer}
                for who, peer in installed_peers().items():
                    seconds, difference = self.time_peer(who, peer, layer, positions, best)
                    row = {"who": who, "magnitudes": k, "seconds": seconds, "rate": n * k / seconds}
                    faster = rates[f"ours, K = {count}"][2] / row["rate"]
                    yield {**place, **row, "ours_faster": faster, "difference": difference}
                for who, (count, seconds, rate) in rates.items():
                    row = {"who": who, "magnitudes": count, "seconds": seconds, "rate": rate}
                    yield {**place, **row, "ours_faster": None, "difference": None}

    def time_peer(self, who: str, peer: Any, layer: int, positions: str, margins: Any) -> tuple[float, float]:
        """CPU seconds at the magnitudes given to peers, and the greatest difference from our margins."""
        import torch

        from onedial.models.forward.batches import batches_by_length
        from onedial.models.tokens import pad_batch

        vector, grid = self.vectors[layer], list(margins.columns)
        step = max(1, (len(grid) - 1) // max(1, self.options.peer_magnitudes))
        chosen = grid[step // 2 :: step][: self.options.peer_magnitudes]
        sequences, tokens = self.prompts.sequences, self.prompts.tokens
        batches = [
            (batch, pad_batch([sequences[index] for index in batch], self.model.stack.pad_id))
            for batch in batches_by_length([len(sequence) for sequence in sequences], BATCH)
        ]
        worst, unit = 0.0, vector.residual_norm * vector.direction
        with torch.inference_mode(), peer(self.model, layer, positions) as answer:
            answer(batches[-1][1], 0 * unit)
            seconds, found = cpu_seconds(
                lambda: [(batch, each, answer(padded, each * unit)) for each in chosen for batch, padded in batches]
            )
        for batch, magnitude, logits in found:
            margin = logits[:, list(tokens.yes)].logsumexp(-1) - logits[:, list(tokens.no)].logsumexp(-1)
            expected = margins.loc[[self.prompts.question_ids[index] for index in batch], magnitude]
            worst = max(worst, float((margin.double() - torch.tensor(expected.to_numpy())).abs().max()))
        if not worst < AGREEMENT:
            sys.exit(f"{who} differs from the sweep by {worst:.3g} at layer {layer}, positions {positions}")
        return seconds, worst

    def memory(self) -> Iterator[Row]:
        """Peak resident MiB over N and K, weights included, each in a child of its own."""
        whole = len(self.prompts)
        cases = [("last", BATCH, 2), ("last", BATCH, 164), ("last", whole, 41), ("all", BATCH, 2), ("all", whole, 5)]
        for positions, n, k in cases:
            if positions in self.options.positions:
                [peak] = peaks_in_child(partial(self.ours, self.layers[0], positions, grid_of(k), n))
                yield {"positions": positions, "questions": n, "magnitudes": k, "mib": round(peak)}

    def critical(self) -> Iterator[Row]:
        """Forward rows per question for critical magnitudes, tolerance 1e-4, against a grid of 41."""
        from steering.critical import critical_magnitudes
        from steering.interventions import Intervention
        from steering.vectors import extract_vectors

        (read,) = extract_vectors(self.model, self.prompts, [self.layers[-1]], "answer")
        cases = [("last", read, 1.0), ("last", read, 0.5), ("last", self.vectors[self.layers[-1]], 1.0)]
        cases += [("all", read, 0.5)]
        for positions, vector, reach in cases:
            if positions in self.options.positions:
                push = Intervention.of(vector, positions=positions)
                found = critical_magnitudes(self.model, self.prompts, push, low=-reach, high=reach, batch_size=BATCH)
                rows = found.table.groupby("question_id")["evaluations"].first().mean()
                yield {
                    **{"positions": positions, "layer": vector.layer, "vector": vector.method, "reach": reach},
                    **{"crossings": found.n_roots.mean(), "rows": rows, "fewer": 41 / rows},
                }


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "memory": Bench.memory,
    "peers": Bench.peers,
    "critical": Bench.critical,
}
"""Memory first: a forked child begins with what its parent has come to hold."""


def grid_of(count: int) -> list[float]:
    """Magnitudes from -1 to 1 residual norms."""
    return [round(-1 + 2 * index / (count - 1), 6) for index in range(count)]


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a piece of work, and what it gives."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def peaks_in_child(*works: Callable[[], Any]) -> list[float]:
    """Peak resident MiB of a forked child after each of some pieces of work, and nothing else."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        for work in works:
            work()
            os.write(write, f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} ".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return [int(peak) / 1024 for peak in said.split()]


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    model: str = option("smollm2-135m-instruct", "model")
    n_questions: int = option(64, "n questions")
    framing: str = option("neutral", "the prompt; the more tokens all share, the more is saved")
    magnitudes: tuple[int, ...] = option((11, 41), "numbers of magnitudes, K")
    layers: tuple[int, ...] = option((), "by default a third and two thirds of the depth")
    positions: tuple[str, ...] = option(("last", "all"), "positions", choices=("last", "all"))
    peer_magnitudes: int = option(2, "how many of them each peer is timed at")
    parts: tuple[str, ...] = option(tuple(PARTS), "parts", choices=tuple(PARTS))
    tables: Path | None = option(None, "also write PART.csv into this folder", metavar="DIR")


def main() -> None:
    """Run the parts asked for and print them."""
    options = parse_options(ScriptOptions, __doc__)
    # Set before torch is imported: its thread pool takes its size from the environment.
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    import pandas as pd

    bench = Bench(options)
    for part in options.parts:
        table = pd.DataFrame(PARTS[part](bench))
        print(f"\n{part}\n{table.to_string(index=False, float_format='{:.3g}'.format)}", flush=True)
        if options.tables:
            with atomic_path(options.tables / f"{part}.csv") as temporary:
                table.to_csv(temporary, index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    sys.exit(run_command(main))
