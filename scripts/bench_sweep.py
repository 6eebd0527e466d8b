"""How fast is the sweep? Ours against the libraries that one could use instead, on the same questions and magnitudes.

    python scripts/bench_sweep.py                              # everything; an hour of one core
    python scripts/bench_sweep.py --n-questions 16 --positions last --magnitudes 11 --parts peers     # minutes
    python scripts/bench_sweep.py --tables bench    # also writes each part's table into bench/, as CSV

All run in one process with one thread count, batched alike (16 prompts, left-padded, sorted by length). What counts is
CPU time, so that other work on the machine matters little. A peer's every magnitude costs the same whole forward, so it
is timed at `--peer-magnitudes` of them and its rate taken as it is; ours is timed at all of them, mass included. The
margins must agree to 1e-3, else the script fails.
"""

import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from onedial.core import Options, atomic_path, option, parse_options, run_command

AGREEMENT = 1e-3
BATCH = 16
Row = dict[str, Any]
"""One line of a part's table."""
PARTS = ("memory", "peers", "limit", "operators", "critical", "processes", "sizes")
"""Memory first: a forked child begins with what its parent has come to hold."""
SHAPES = {
    "1B": (2048, 8192, 16, 32, True),
    "8B": (4096, 14_336, 32, 32, False),
    "70B": (8192, 28_672, 80, 64, False),
    "405B": (16_384, 53_248, 126, 128, False),
}
"""Of Llama 3: widths of stream and MLP, layers, heads, whether embedding and unembedding are one."""


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
    threads: int = option(1, "threads")
    parts: tuple[str, ...] = option(tuple(PARTS), "parts", choices=PARTS)
    tables: Path | None = option(None, "also write PART.csv into this folder", metavar="DIR")
    one_share: bool = option(False, "one process of several; for this script alone")


def main() -> None:
    """Run the parts asked for and print Markdown."""
    options = parse_options(ScriptOptions, __doc__)
    # Set before torch is imported: its thread pool takes its size from the environment.
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(options.threads)
    bench = Bench(options)
    if options.one_share:
        bench.share_of_a_sweep()
        return
    bench.describe()
    for part in options.parts:
        print(f"\n### {part.capitalize()}\n")
        rows: list[Row] = []
        for row in getattr(bench, part)():
            rows.append(row)
            if len(rows) == 1:
                print(f"| {' | '.join(row)} |\n|{' --- |' * len(row)}")
            print(f"| {' | '.join(map(_shown, row.values()))} |", flush=True)
        if options.tables:
            _write(options.tables / f"{part}.csv", rows)


class Bench:
    """One model, one set of prompts, one random direction per layer."""

    def __init__(self, options: "ScriptOptions") -> None:
        import torch

        from onedial.asking import FRAMINGS
        from onedial.models import PromptSet, load_model
        from onedial.panels import load_questions
        from steering import SteeringVector, random_vector

        torch.set_num_threads(options.threads)
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

    def describe(self) -> None:
        """What is measured, on what."""
        import torch
        import transformers

        from onedial.models import common_prefix_length

        lengths = [len(sequence) for sequence in self.prompts.sequences]
        shared = common_prefix_length(self.prompts.sequences)
        mean = sum(lengths) / len(lengths)
        print(
            f"{self.model.identity.name}, float32, {len(lengths)} prompts ({self.options.framing}) of "
            f"{min(lengths)}-{max(lengths)} tokens "
            f"(mean {mean:.0f}, of which {shared} are common to all), {self.options.threads} thread(s), "
            f"{_processor()}, torch {torch.__version__}, transformers {transformers.__version__}\n"
        )

    def grid(self, count: int) -> list[float]:
        """Magnitudes from -1 to 1 residual norms."""
        return [round(-1 + 2 * index / (count - 1), 6) for index in range(count)]

    def ours(self, layer: int, positions: str, grid: list[float], n_questions: int | None = None) -> Any:
        """The sweep under test."""
        from steering import Intervention, sweep

        prompts = self.prompts.subset(self.prompts.question_ids[:n_questions])
        intervention = Intervention.of(self.vectors[layer], positions=positions)
        return sweep(self.model, intervention, prompts, grid, batch_size=BATCH).table

    def peers(self) -> Iterator[Row]:
        """Against every installed rival: question-magnitudes per CPU second, and how many times ours are as many."""
        from sweep_peers import HAND_TUNED, RIVALS

        absent = [rival.name for rival in RIVALS if not rival.installed]
        print(f"Not installed here: {', '.join(absent)}.\n" if absent else "", end="")
        n = len(self.prompts)
        for positions in self.options.positions:
            for layer in self.layers:
                self.ours(layer, positions, [-1.0, 1.0], 2)  # pays for what is set up once
                rates: dict[str, float] = {}
                ours: dict[int, tuple[float, float]] = {}
                for count in self.options.magnitudes:
                    seconds, table = _cpu_seconds(partial(self.ours, layer, positions, self.grid(count)))
                    ours[count] = (seconds, len(table) / seconds)
                best = ours[max(ours)][1]
                margins = table.pivot(index="question_id", columns="magnitude", values="margin")
                place = {"positions": positions, "layer": layer}
                for rival in (*RIVALS, HAND_TUNED):
                    if not rival.installed:
                        continue
                    count = self.options.peer_magnitudes
                    seconds, difference = self.time_rival(rival, layer, positions, margins)
                    rates[rival.name] = n * count / seconds
                    row = {"who": rival.name, "magnitudes": count, "seconds": seconds, "rate": rates[rival.name]}
                    yield {**place, **row, "ours_faster": best / rates[rival.name], "difference": difference}
                top = max(rate for name, rate in rates.items() if name != HAND_TUNED.name)
                for count, (seconds, rate) in ours.items():
                    row = {"who": f"ours, K = {count}", "magnitudes": count, "seconds": seconds, "rate": rate}
                    yield {**place, **row, "ours_faster": None, "difference": None}
                for who, rate in (("the best peer", top), (HAND_TUNED.name, rates[HAND_TUNED.name])):
                    print(f"  positions {positions}, layer {layer}: {best / rate:.1f} times {who}", file=sys.stderr)

    def operators(self) -> Iterator[Row]:
        """CPU seconds of every operator, and of several layers at once; the rows against `add` at the lowest layer."""
        from steering import OPERATORS, Intervention, sweep

        count = max(self.options.magnitudes)
        lowest, highest = min(self.layers), max(self.layers)
        for positions in self.options.positions:
            cases = [((lowest,), operator) for operator in OPERATORS]
            cases += [((lowest, highest), "add")] if highest > lowest else []
            made = [
                (layers, operator, Intervention.of(
                    *(self.vectors[layer] for layer in layers), operator=operator, positions=positions
                ))
                for layers, operator in cases
            ]  # fmt: skip
            grid = self.grid(count)
            unsteered = partial(sweep, self.model, self.prompts, [made[0][2]], [0.0], batch_size=BATCH)
            unsteered()  # pays for what is set up once
            prefill = _cpu_seconds(unsteered)[0]
            reference = None
            for layers, operator, intervention in made:
                work = partial(sweep, self.model, self.prompts, [intervention], grid, batch_size=BATCH)
                seconds = min(_cpu_seconds(work)[0] for _ in range(2))
                rows = seconds - prefill
                reference = reference or rows
                yield {
                    **{"positions": positions, "layers": "+".join(map(str, layers)), "operator": operator},
                    **{"magnitudes": count, "seconds": seconds, "rows": rows, "of_add": rows / reference},
                }

    def time_rival(self, rival: Any, layer: int, positions: str, margins: Any) -> tuple[float, float]:
        """CPU seconds at the magnitudes given to peers, and the greatest difference from our margins."""
        import torch

        from onedial.models import batches_by_length, pad_batch

        vector, grid = self.vectors[layer], list(margins.columns)
        step = max(1, (len(grid) - 1) // max(1, self.options.peer_magnitudes))
        chosen = grid[step // 2 :: step][: self.options.peer_magnitudes]
        sequences, tokens = self.prompts.sequences, self.prompts.tokens
        batches = [
            (batch, pad_batch([sequences[index] for index in batch], self.model.stack.pad_id))
            for batch in batches_by_length([len(sequence) for sequence in sequences], BATCH)
        ]
        worst = 0.0
        with torch.inference_mode(), rival.peer(self.model, layer, positions) as answer:
            unit = vector.residual_norm * vector.direction
            answer(batches[-1][1], 0 * unit)
            started = time.process_time()
            found = [
                (batch, magnitude, answer(padded, magnitude * unit))
                for magnitude in chosen
                for batch, padded in batches
            ]
            seconds = time.process_time() - started
        for batch, magnitude, logits in found:
            margin = logits[:, list(tokens.yes)].logsumexp(-1) - logits[:, list(tokens.no)].logsumexp(-1)
            expected = margins.loc[[self.prompts.question_ids[index] for index in batch], magnitude]
            worst = max(worst, float((margin.double() - torch.tensor(expected.to_numpy())).abs().max()))
        if not worst < AGREEMENT:
            sys.exit(f"{rival.name} differs from the sweep by {worst:.3g} at layer {layer}, positions {positions}")
        return seconds, worst

    def memory(self) -> Iterator[Row]:
        """Peak resident MiB over N and K, weights included, each in a child of its own."""
        whole = len(self.prompts)
        for positions, n, k in (
            ("last", BATCH, 2),
            ("last", BATCH, 164),
            ("last", whole, 41),
            ("all", BATCH, 2),
            ("all", whole, 5),
        ):
            if positions in self.options.positions:
                [peak] = peaks_in_child(partial(self.ours, self.layers[0], positions, self.grid(k), n))
                yield {"positions": positions, "questions": n, "magnitudes": k, "mib": round(peak)}

    def critical(self) -> Iterator[Row]:
        """Forward rows per question for critical magnitudes, tolerance 1e-4, against a grid of 41."""
        from steering import Intervention, critical_magnitudes, extract_vectors

        (read,) = extract_vectors(self.model, self.prompts, [self.layers[-1]], "answer")
        cases = [("last", read, 1.0), ("last", read, 0.5), ("last", self.vectors[self.layers[-1]], 1.0)]
        if "all" in self.options.positions:
            cases.append(("all", read, 0.5))
        for positions, vector, reach in cases:
            found = critical_magnitudes(
                self.model,
                self.prompts,
                Intervention.of(vector, positions=positions),
                low=-reach,
                high=reach,
                batch_size=BATCH,
            )
            rows = found.table.groupby("question_id")["evaluations"].first().mean()
            yield {
                **{"positions": positions, "layer": vector.layer, "vector": vector.method, "reach": reach},
                **{"crossings": found.n_roots.mean(), "rows": rows, "fewer": 41 / rows},
            }

    def processes(self) -> Iterator[Row]:
        """CPU seconds of the slowest of one or two processes, one thread each, as torchrun starts them."""
        first = None
        for count in (1, 2):
            command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(count)]
            command += [str(Path(__file__)), "--one-share", "--model", self.options.model]
            command += ["--n-questions", str(self.options.n_questions)]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds = max(float(line.split()[1]) for line in said.splitlines() if line.startswith("share "))
            first = first or seconds
            yield {"processes": count, "seconds": seconds, "faster": first / seconds}

    def limit(self) -> Iterator[Row]:
        """How many times fewer operations a sweep needs than plain forwards with all logits, or with the last alone."""
        from onedial.models import common_prefix_length
        from steering.planning.cost import ModelSize, predict_cost

        config = self.model.hf.config
        size, lengths = ModelSize.of(config), [len(ids) for ids in self.prompts.sequences]
        shared, readout = common_prefix_length(self.prompts.sequences), 2.0 * math.prod(size.unembedding)
        layers = sum(size.rows_flops(length, length, size.n_layers) for length in lengths)
        count = max(self.options.magnitudes)
        for positions in self.options.positions:
            for layer in self.layers:
                ours = predict_cost(config, len(lengths), lengths, [(layer, count)], positions, n_shared=shared)
                yield {
                    "positions": positions,
                    "layer": layer,
                    "fewer": count * (layers + sum(lengths) * readout) / ours.total_flops,
                    "fewer_than_last_logits": count * (layers + len(lengths) * readout) / ours.total_flops,
                }

    def sizes(self) -> Iterator[Row]:
        """What a run of 1,000 questions of 80 tokens with 99 controls is forecast to take, in bfloat16 on CUDA."""
        import torch
        from transformers import LlamaConfig

        from steering import forecast_run

        lengths = {split: [80] * n for split, n in (("extraction", 250), ("fitting", 250), ("test", 500))}
        for name, (width, mlp, layers, heads, tied) in SHAPES.items():
            config = LlamaConfig(
                vocab_size=128_256,
                hidden_size=width,
                intermediate_size=mlp,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                num_key_value_heads=8,
                tie_word_embeddings=tied,
            )
            asked = dict(n_controls=99, n_facts=60, n_shared=30, dtype=torch.bfloat16, device="cuda")
            found = forecast_run(config, lengths, **asked)
            weights = next(iter(found.stages.values())).weight_bytes
            flops = sum(stage.total_flops for stage in found.stages.values())
            yield {
                "model": name,
                "weights_gb": weights / 1e9,
                "beside_gb": (found.peak_bytes - weights) / 1e9,
                "pflop": flops / 1e15,
            }

    def share_of_a_sweep(self) -> None:
        """What one of several processes does in `processes`."""
        import torch.distributed as distributed

        from steering import sweep

        distributed.init_process_group("gloo")
        vector = self.vectors[self.layers[0]]
        sweep(self.model, vector, self.prompts.subset(self.prompts.question_ids[:2]), [0.0])
        distributed.barrier()
        # Eight prompts a batch, so that 64 of them make as many batches for either process.
        seconds, _ = _cpu_seconds(lambda: sweep(self.model, vector, self.prompts, self.grid(41), batch_size=8))
        print(f"share {seconds:.4f}", flush=True)
        distributed.destroy_process_group()


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def _write(path: Path, rows: list[Row]) -> None:
    import pandas as pd

    with atomic_path(path) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False, float_format="%.5g", lineterminator="\n")


def _cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
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


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown processor"
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


if __name__ == "__main__":
    sys.exit(run_command(main))
