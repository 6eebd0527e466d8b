"""Whole runs on this device, of `gpu_acceptance.py` the steps `memory`, `resume` and `two`.

memory   a sweep of more than memory holds at once: the batch is halved until it fits, and the answers are the same. On
         CUDA the rest of the memory is taken away before; in small a batch of over eight rows is refused as a device
         would refuse it
resume   `steer_sweep.py`, killed with SIGKILL as soon as part of the sweep is kept, and gone on with: the same answers,
         bit for bit, as of a run that was left alone, and none asked twice
two      the same run by two processes of torchrun on this one device: the same rows, none twice, margins to 1e-4
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from acceptance_shapes import COARSE, MISTRAL_7B, SMALL, drawn_prompts, prompt_set, random_model
from architectures import tokenizer

ROOT = Path(__file__).resolve().parent.parent
STEER_SWEEP = ROOT / "experiments" / "steer_sweep.py"
Figures = dict[str, Any]
QUICK = (
    "--n-questions=96", "--without-verdict", "--layer=2", "--magnitudes=-1,-.5,0,.5,1", "--controls=0", "--facts=0",
    "--reversed=0", "--dtype=float32",
)  # fmt: skip
MOST_ROWS = 8
LEFT_GB = 2.0
SAME = 1e-4
PATIENCE = 300


def memory(small: bool, device: str) -> Figures:
    """Margins with too little memory for a batch, against those with enough."""
    import torch

    from steering import Intervention, SteeringVector, sweep

    model = random_model(MISTRAL_7B | (SMALL if small else {"num_hidden_layers": 8}), device, tokenizer())
    vocabulary = model.hf.config.vocab_size
    sequences = drawn_prompts(vocabulary, 32 if small else 256, shared=0, own=60 if small else 400)
    prompts = prompt_set(sequences)
    direction = torch.nn.functional.normalize(torch.ones(model.d_model), dim=0)
    vector = SteeringVector(direction, model.n_layers // 2, 1.0, 1.0, model.identity)
    push = Intervention.of(vector, positions="all")

    def margins(batch_size: int) -> Any:
        found = sweep(model, push, prompts, [-1.0, 0.0, 1.0], batch_size=batch_size).table
        return found.set_index(["question_id", "magnitude"])["margin"].sort_index()

    few = margins(4)
    refused = []

    def no_room(module: Any, arguments: tuple[Any, ...]) -> None:
        if small and arguments[0].shape[0] > MOST_ROWS:
            refused.append(arguments[0].shape[0])
            raise torch.OutOfMemoryError(f"{arguments[0].shape[0]} rows, and room for {MOST_ROWS}")

    handle = model.stack.layers[0].register_forward_pre_hook(no_room)
    ballast = None
    if not small:
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        ballast = torch.empty(max(0, int(free - LEFT_GB * 1e9)), dtype=torch.uint8, device=device)
        torch.cuda.reset_peak_memory_stats()
    before = 0 if small else torch.cuda.memory_stats().get("num_ooms", 0)
    try:
        many = margins(len(sequences))
    finally:
        handle.remove()
    off = ((many - few).abs().max() / few.abs().max()).item() if few.abs().max() > 0 else 0.0
    peak = None if small else round((torch.cuda.max_memory_allocated() - ballast.nbytes) / 1e9, 2)
    retries = len(refused) if small else torch.cuda.memory_stats().get("num_ooms", 0) - before
    return {
        "passed": retries > 0 and off <= COARSE,
        "refused": retries,
        "off": off,
        "answers": len(many),
        "peak_gb": peak,
    }


def resume(small: bool, device: str, folder: Path) -> Figures:
    """A run that is killed and gone on with, against one that was left alone."""
    subject, undisturbed, broken = as_options(folder), folder / "undisturbed", folder / "broken"
    finish(command(undisturbed, subject))
    log = folder / "broken.log"
    with open(log, "wb") as said:
        process = subprocess.Popen(command(broken, subject), stdout=said, stderr=said, start_new_session=True)
        began = time.monotonic()
        while process.poll() is None:
            if any((broken / "sweep").glob("part-*.parquet")) or time.monotonic() - began > PATIENCE:
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.005)
        process.wait()
    kept = len(list((broken / "sweep").glob("part-*.parquet")))
    finish(command(broken, subject, "--resume"))
    one, other = answers(undisturbed), answers(broken)
    return {
        "passed": process.returncode == -signal.SIGKILL and kept > 0 and one.equals(other),
        "parts_at_the_kill": kept,
        "answers": len(other),
        "equal": bool(one.equals(other)),
    }


def two(small: bool, device: str, folder: Path) -> Figures:
    """A run by two processes that share the device, against one process."""
    subject, alone, both = as_options(folder), folder / "undisturbed", folder / "both"
    if not (alone / "verdict.json").is_file():
        finish(command(alone, subject))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    began = time.perf_counter()
    finish([*launcher, *command(both, subject)[1:]])
    seconds = round(time.perf_counter() - began, 1)
    one, other = answers(alone), answers(both)
    rows_alike = one.drop(columns=["margin", "mass"]).equals(other.drop(columns=["margin", "mass"]))
    off = (one["margin"] - other["margin"]).abs().max() if rows_alike else None
    shares = [len(list((both / "sweep").glob(f"part-{prefix}*"))) for prefix in ("0", "p1")]
    return {
        "passed": bool(rows_alike and off <= SAME and min(shares) > 0),
        "rows_alike": bool(rows_alike),
        "off": off,
        "parts_of_each": shares,
        "seconds": seconds,
    }


def random_subject(folder: Path) -> dict[str, str]:
    """Options that name a model of the tests with random weights, which puts most of its probability on yes and no."""
    sys.path.append(str(ROOT / "tests" / "helpers"))
    from tiny_models import save_outspoken

    prompt = folder / "prompt.yaml"
    save_outspoken(folder / "random", "llama", seed=1)
    prompt.write_text("user: |\n  {question}\n  Can you tell?\nassistant_prefix: 'Answer:'\n", encoding="utf-8")
    return {"model": str(folder / "random"), "prompt": str(prompt)}


def as_options(folder: Path) -> list[str]:
    """`random_subject` on the command line."""
    return [f"--{name}={value}" for name, value in random_subject(folder).items()]


def command(out: Path, subject: list[str], *more: str) -> list[str]:
    """The quick run into this folder; one that is there already is gone on with."""
    going_on = ["--resume"] if (out / "manifest.json").is_file() and "--resume" not in more else []
    return [sys.executable, str(STEER_SWEEP), f"--out={out}", *QUICK, *subject, *more, *going_on]


def finish(arguments: list[str]) -> None:
    """Run to the end.

    Raises:
        RuntimeError: it ended otherwise; with the last of what it said.
    """
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"exit code {done.returncode}: {said[-1] if said else 'nothing was said'}")


def answers(run: Path) -> Any:
    """Every answer of a sweep, in order."""
    from onedial.verdict import SweepRun

    return SweepRun.open(run).sweep().sort_values(["intervention_id", "question_id", "magnitude"], ignore_index=True)
