"""Check on a GPU that all is right, and how fast. One command, some minutes; each step's figures are kept as it ends.

    python scripts/gpu_acceptance.py figures                    # on the first CUDA device
    python scripts/gpu_acceptance.py figures --small            # the same steps in small, on the CPU: a minute or two
    python scripts/gpu_acceptance.py figures --steps shape      # one of them; a step that has passed is not done again

exact    tiny models of every form (scripts/architectures.py) on the device, in float32, bfloat16 and float16: logits by
         the path that the model takes against a bare hook on each prompt alone. In float32 the largest difference, in
         units of the largest logit, at most 1e-4, against a hook on the device and against one on the CPU; in 16 bits
         how far ours are from the float32 hook, in units of how far the hook in 16 bits is from it, at most 2
shape    random weights at Mistral 7B's shape, bfloat16: a sweep against plain hooks (at most .05 of the largest logit;
         at the last position at least 3 times as fast), and the prefill's share of a plain product's operations per
         second (at least a third)
memory   a sweep of more than memory holds at once: the batch is halved until it fits, and the answers are the same
resume   steer_sweep.py killed with SIGKILL as soon as part of the sweep is kept, and gone on with: the same answers as
         of a run that was left alone, bit for bit; and the run by two processes that share the device, margins to 1e-4

`figures.json` in the folder holds it all; the table is printed as Markdown; exit code 1 where a step failed. A step
that breaks off is noted, and the next ones follow; what was broken off is begun anew, what has passed stays. Not
measured: real weights of that size, and several GPUs.
"""

import gc
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from architectures import FORMS, SMALL, Form, hooked_logits, tiny_hf, tokenizer
from fault_battery import ROOT, Program, end_of

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import write_json
from onedial.core.options import Options, option, parse_options
from onedial.core.run.manifest import machine

Figures = dict[str, Any]
LIMITS = {"float32": 1e-4, "bfloat16": 2.0, "float16": 2.0}
TINY_MAGNITUDES = (0.0, 1.0)
READ_AT = ("last", "all")
COARSE = 0.05
"""Of the largest logit: how far two orders of summation may lie apart in bfloat16."""
LEAST_SHARE, LEAST_RATIO = 1 / 3, 3.0
"""What of a plain product's and a plain hook's speed a device has to reach; not asked for in small."""
MISTRAL_7B = dict(
    vocab_size=32_768, hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32, num_attention_heads=32,
    num_key_value_heads=8, max_position_embeddings=32_768, sliding_window=None,
)  # fmt: skip
SMALL_SHAPE = dict(
    vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=6, num_attention_heads=4,
    num_key_value_heads=2,
)  # fmt: skip
MAGNITUDES = tuple(step / 5 for step in range(-5, 6))
PLAIN_MAGNITUDES = (-1.0, 1.0)
MOST_ROWS, LEFT_GB, SAME, PATIENCE = 8, 2.0, 1e-4, 300
QUICK = (
    "--n-questions=96", "--without-verdict", "--layer=2", "--magnitudes=-1,-.5,0,.5,1", "--controls=0", "--facts=0",
    "--reversed=0", "--dtype=float32",
)  # fmt: skip


# ---- tiny models of every form ---------------------------------------------------------------------------------------


def exact(small: bool, device: str) -> Figures:
    """Compare every form in every dtype with bare hooks; name those that transformers itself cannot run in a dtype."""
    apart: dict[str, dict[str, float]] = {name: {} for name in (*LIMITS, "the CPU")}
    failed = {}
    for form in chosen_forms(small):
        truth = hooked(tiny(form, device, "float32"))
        there = hooked(tiny(form, "cpu", "float32"))
        apart["the CPU"][form.name] = off = ((truth - there).abs().max() / there.abs().max()).item()
        if not off <= LIMITS["float32"]:
            failed[f"{form.name}, the CPU"] = f"off by {off:.2g}"
        for dtype, limit in LIMITS.items():
            try:
                model = tiny(form, device, dtype)
                ours, plain = steered_logits(model), hooked(model)
            except (RuntimeError, NotImplementedError) as error:
                failed[f"{form.name}, {dtype}"] = str(error).splitlines()[0]
                continue
            unit, expected = (truth, plain) if dtype == "float32" else (plain - truth, truth)
            value = apart[dtype][form.name] = ((ours - expected).abs().max() / unit.abs().max()).item()
            if not value <= limit:
                failed[f"{form.name}, {dtype}"] = f"off by {value:.2g}"
    largest = {dtype: max(by_form.values(), default=None) for dtype, by_form in apart.items()}
    return {"passed": not failed, "largest": largest, "failed": failed, "by_form": apart}


def chosen_forms(small: bool) -> list[Form]:
    """List all forms that are not refused; in small a few."""
    few = ("llama", "gemma2", "gpt2", "gpt_neox", "granite")
    return [each for each in FORMS if each.name not in ("OPT 350M", "LongCat") and (not small or each.type in few)]


def tiny(form: Form, device: str, dtype: str) -> Any:
    """Make a tiny model of a form, with the same weights on every device."""
    from onedial.models.model import DTYPES, OpenModel

    return OpenModel(tiny_hf(form.type, SMALL | form.sizes).to(device, DTYPES[dtype]), tokenizer(), name=form.name)


def asked(model: Any) -> tuple[int, list[list[int]], Any]:
    """Say where a tiny model is steered, its prompts, and the push."""
    import torch

    push = torch.randn(model.d_model, generator=torch.Generator().manual_seed(2)).to(model.device)
    return model.n_layers // 2, drawn_prompts(SMALL["vocab_size"], 4, shared=8, longest=24), push


def steered_logits(model: Any) -> Any:
    """Compute (position, question, setting, token) logits by the path that the model takes, on the CPU."""
    import torch

    layer, prompts, push = asked(model)
    settings, logits = torch.tensor([TINY_MAGNITUDES], device=model.device), []
    for at in READ_AT:
        runner = model.runner(prompts, [layer], at)
        final = runner.steer(runner.start(prompts), edit_of(layer, push), settings)
        logits.append(model.readout.logits(final, slice(None)))
    return torch.stack(logits).cpu()


def hooked(model: Any) -> Any:
    """Compute the same by a bare hook on each prompt alone, from the model's own logits."""
    import torch

    layer, prompts, push = asked(model)
    logits = [
        hooked_logits(model.hf, model.stack.layers[layer], ids, magnitude * push, at).float().cpu()
        for at in READ_AT
        for ids in prompts
        for magnitude in TINY_MAGNITUDES
    ]
    return torch.stack(logits).unflatten(0, (len(READ_AT), len(prompts), len(TINY_MAGNITUDES)))


# ---- large shapes ----------------------------------------------------------------------------------------------------


def random_model(shape: Figures, device: str, reads: Any) -> Any:
    """Make a model of a shape with random weights in bfloat16, on the device; `reads`: its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from onedial.models.model import OpenModel

    torch.manual_seed(0)
    config = AutoConfig.for_model("mistral", **shape)
    with torch.device(device):
        hf = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    return OpenModel(hf, reads, name="random weights")


def shape(small: bool, device: str) -> Figures:
    """Time a sweep at Mistral 7B's shape, and say how far its logits are off a plain hook's."""
    return figures_of(random_model(MISTRAL_7B | (SMALL_SHAPE if small else {}), device, tokenizer()), small, device)


def figures_of(model: Any, small: bool, device: str) -> Figures:
    """Time a sweep of a model, and say how far its logits are off a plain hook's."""
    import torch

    from onedial.models.forward.runner import PlainRunner

    sequences = drawn_prompts(model.hf.config.vocab_size, 8 if small else 64, shared=30, longest=40)
    layer, out = model.n_layers // 2, {"weights_gb": sum(each.nbytes for each in model.hf.parameters()) / 1e9}
    vector = drawn_vector(model, 0, layer)
    edit = edit_of(layer, (vector.direction * vector.residual_norm).to(device))
    plain_places = [MAGNITUDES.index(each) for each in PLAIN_MAGNITUDES]
    settings, some = (torch.tensor([each], device=device) for each in (MAGNITUDES, PLAIN_MAGNITUDES))
    off = 0.0
    for at in READ_AT:
        runner, plain = model.runner(sequences, [layer], at), PlainRunner(model.stack, sequences, [layer], at)
        started, prefill = timed(lambda runner=runner: runner.start(sequences), device, warm=True)
        final, swept = timed(lambda runner=runner, started=started: runner.steer(started, edit, settings), device)
        begun = plain.start(sequences)
        expected, hooked = timed(lambda plain=plain, begun=begun: plain.steer(begun, edit, some), device)
        logits, hooks = (model.readout.logits(each, slice(0, 64)) for each in (final[:, plain_places], expected))
        off = max(off, ((logits - hooks).abs().max() / hooks.abs().max()).item())
        faster = (hooked / len(PLAIN_MAGNITUDES)) / ((prefill + swept) / len(MAGNITUDES))
        out |= {f"{at}: prefill": prefill, f"{at}: {len(MAGNITUDES)} magnitudes": swept}
        out |= {f"{at}: times as fast as a plain hook": faster}
    out["share of a plain product"] = share_of_a_product(model, sequences, out["last: prefill"], device)
    failed = [] if small else missed(out)
    return {"passed": off <= COARSE and not failed, "failed": failed, "off": off, **out}


def missed(out: Figures) -> list[str]:
    """List which limits the figures do not keep."""
    shortfalls = []
    if (share := out["share of a plain product"]) < LEAST_SHARE:
        shortfalls.append(f"the prefill reaches {share:.0%} of a plain product's speed")
    if (ratio := out["last: times as fast as a plain hook"]) < LEAST_RATIO:
        shortfalls.append(f"{ratio:.1f} times as fast as a plain hook at the last position")
    return shortfalls


def share_of_a_product(model: Any, sequences: list[list[int]], seconds: float, device: str) -> float:
    """Compare the prefill's operations per second with a plain product's: two for each weight of the layers and token.
    The common beginning, which is run once and before, is not counted."""
    import torch

    from onedial.models.tokens import common_prefix_length

    n_tokens = sum(map(len, sequences)) - common_prefix_length(sequences) * len(sequences)
    weights = sum(each.numel() for each in model.stack.layers.parameters())
    rows, width, inner = min(n_tokens, 4096), model.hf.config.hidden_size, model.hf.config.intermediate_size
    one, other = (torch.randn(each, device=device, dtype=torch.bfloat16) for each in ((rows, width), (width, inner)))
    product = timed(lambda: [one @ other for _ in range(20)], device, warm=True)[1]
    return (n_tokens * weights / seconds) / (20 * rows * width * inner / product)


# ---- whole runs ------------------------------------------------------------------------------------------------------


def memory(small: bool, device: str) -> Figures:
    """Compare margins with too little memory for a batch with those of enough. On CUDA the rest of the memory is taken
    away before; in small a batch of over eight rows is refused as a device would refuse it."""

    from steering.interventions import Intervention
    from steering.reading import answers_along

    sizes = MISTRAL_7B | (SMALL_SHAPE if small else {"num_hidden_layers": 8})
    model = random_model(sizes, device, tokenizer())
    prompts = prompt_set(drawn_prompts(sizes["vocab_size"], 32 if small else 256, 0, 60 if small else 400))
    push = Intervention.of(drawn_vector(model, 0, model.n_layers // 2), positions="all")

    def margins(at_once: int) -> Any:
        swept = answers_along(model, [push], replace(prompts, at_once=at_once), [-1.0, 0.0, 1.0])
        return swept.set_index(["question_id", "magnitude"])["margin"].sort_index()

    few = margins(4)
    with refusing(model) if small else without_memory(device) as refused:
        many = margins(len(prompts))
    off = ((many - few).abs().max() / few.abs().max()).item() if few.abs().max() > 0 else 0.0
    return {"passed": refused() > 0 and off <= COARSE, "refused": refused(), "off": off, "answers": len(many)}


@contextmanager
def refusing(model: Any) -> Iterator[Callable[[], int]]:
    """Let a model's first layer have room for `MOST_ROWS` rows; gives how often it refused."""
    import torch

    refused = []

    def no_room(module: Any, arguments: tuple[Any, ...]) -> None:
        if arguments[0].shape[0] > MOST_ROWS:
            refused.append(arguments[0].shape[0])
            raise torch.OutOfMemoryError(f"{arguments[0].shape[0]} rows, and room for {MOST_ROWS}")

    handle = model.stack.layers[0].register_forward_pre_hook(no_room)
    try:
        yield lambda: len(refused)
    finally:
        handle.remove()


@contextmanager
def without_memory(device: str) -> Iterator[Callable[[], int]]:
    """Leave a device `LEFT_GB` of free memory; gives how often that was not enough."""
    import torch

    torch.cuda.empty_cache()
    ballast = torch.empty(max(0, int(torch.cuda.mem_get_info()[0] - LEFT_GB * 1e9)), dtype=torch.uint8, device=device)
    before = torch.cuda.memory_stats().get("num_ooms", 0)
    yield lambda: torch.cuda.memory_stats().get("num_ooms", 0) - before
    del ballast


def resume(small: bool, device: str, folder: Path) -> Figures:
    """Compare a run that is killed and gone on with, and one by two processes, with one that was left alone."""
    sweep = quick_sweep(folder)
    both = quick_sweep(folder, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
    paths = [folder / each for each in ("alone", "broken", "both")]
    finish(sweep, paths[0])
    process, began = sweep.start(paths[1]), time.monotonic()
    while process.poll() is None and time.monotonic() - began < PATIENCE and not parts_of(paths[1]):
        time.sleep(0.005)
    process.kill()
    end_of(process)
    kept = len(parts_of(paths[1]))
    finish(sweep, paths[1])
    finish(both, paths[2])
    one, other, shared = map(answers, paths)
    off = (one["margin"] - shared["margin"]).abs().max() if len(one) == len(shared) else float("inf")
    shares = [len(parts_of(paths[2], prefix)) for prefix in ("0", "p1")]
    passed = process.returncode == -signal.SIGKILL and kept > 0 and one.equals(other)
    return {
        "passed": bool(passed and off <= SAME and min(shares) > 0),
        **{"parts_at_the_kill": kept, "answers": len(other), "equal": bool(one.equals(other))},
        **{"by two, off": off, "parts_of_each": shares},
    }


def quick_sweep(folder: Path, *launcher: str) -> Program:
    """Prepare a run of a model with random weights, which puts most of its probability on yes and no."""
    sys.path.append(str(ROOT / "tests" / "helpers"))
    from tiny_models import save_outspoken

    prompt = folder / "prompt.yaml"
    save_outspoken(folder / "random", "llama", seed=1)
    prompt.write_text("user: |\n  {question}\n  Can you tell?\nassistant_prefix: 'Answer:'\n", encoding="utf-8")
    subject = [f"--model={folder / 'random'}", f"--prompt={prompt}"]
    return Program("steer_sweep", [*launcher, "experiments/steer_sweep.py", *QUICK, *subject])


def finish(program: Program, folder: Path) -> None:
    """Run to the end, or go on to it.

    Raises:
        RuntimeError: it ended otherwise; with the last of what it said.
    """
    code, last_line = program.finish(folder)
    if code:
        raise RuntimeError(f"exit code {code}: {last_line or 'nothing was said'}")


def parts_of(run: Path, prefix: str = "") -> list[Path]:
    """List the parts of a sweep that are kept, of one process or of all."""
    return list((run / "sweep").glob(f"part-{prefix}*.parquet"))


def answers(run: Path) -> Any:
    """Read every answer of a sweep, in order."""
    from onedial.verdict.sweep_run import SweepRun

    return SweepRun.open(run).sweep().sort_values(["intervention_id", "question_id", "magnitude"], ignore_index=True)


# ---- what several steps need -----------------------------------------------------------------------------------------


def drawn_prompts(vocabulary: int, n: int, shared: int, longest: int) -> list[list[int]]:
    """Draw tokens with a common beginning, of lengths that differ by up to a third of what is their own."""
    import torch

    generator = torch.Generator().manual_seed(1)
    beginning = torch.randint(vocabulary, (shared,), generator=generator).tolist()
    lengths = [longest - place % (longest // 3 + 1) for place in range(n)]
    return [beginning + torch.randint(vocabulary, (length,), generator=generator).tolist() for length in lengths]


def prompt_set(sequences: list[list[int]]) -> Any:
    """Make questions of drawn prompts, with tokens that stand for yes and no."""
    from onedial.models.forward.readout import AnswerTokens
    from onedial.models.prompt_set import PromptSet

    names = tuple(f"q{place:03d}" for place in range(len(sequences)))
    return PromptSet(names, tuple(map(tuple, sequences)), AnswerTokens(((5, 6), (7, 8))), "drawn", "drawn tokens")


def drawn_vector(model: Any, seed: int, layer: int) -> Any:
    """Draw a direction whose unit is the median norm of a few tokens' stream."""
    import torch

    from onedial.models.tokens import pad_batch
    from steering.interventions import SteeringVector

    few = pad_batch(drawn_prompts(model.hf.config.vocab_size, 4, shared=30, longest=40), model.stack.pad_id)
    norm = model.read_residual(few.to(model.device), [layer]).float().norm(dim=-1).median().item() / 2
    drawn = torch.randn(model.d_model, generator=torch.Generator().manual_seed(seed))
    return SteeringVector(torch.nn.functional.normalize(drawn, dim=0), layer, 1.0, norm, model.identity)


def edit_of(layer: int, push: Any) -> dict[int, Callable[[Any, Any], Any]]:
    """Add so much of a push at a layer as a setting says."""
    return {layer: lambda stream, settings: stream + (settings[..., None] * push).to(stream.dtype)}


def timed(work: Callable[[], Any], device: str, warm: bool = False) -> tuple[Any, float]:
    """Return what `work` gives, and its seconds; of a second run with `warm`."""
    import torch

    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    if warm:
        work()
    wait()
    began = time.perf_counter()
    result = work()
    wait()
    return result, max(time.perf_counter() - began, 1e-9)


# ---- the program -----------------------------------------------------------------------------------------------------

STEPS: dict[str, Callable[..., Figures]] = {each.__name__: each for each in (exact, shape, memory, resume)}


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    out: Path = option(..., "folder for figures.json and the runs", positional=True)
    small: bool = option(False, "in small, on the CPU")
    steps: tuple[str, ...] = option(tuple(STEPS), "steps", choices=list(STEPS))


def main() -> int:
    """Run the steps that are not done yet; 1 where any of those asked for has failed."""
    options = parse_options(ScriptOptions, __doc__)
    import torch

    if not options.small and not torch.cuda.is_available():
        raise InputError("there is no CUDA device here; run it where there is one, or pass --small for the CPU")
    device, file = "cpu" if options.small else "cuda", options.out / "figures.json"
    torch.backends.cuda.matmul.allow_tf32 = False
    about = {**machine(), "device": "CPU" if options.small else torch.cuda.get_device_name(), "small": options.small}
    figures: Figures = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"about": about}
    if figures["about"]["device"] != about["device"] or figures["about"]["small"] != options.small:
        raise InputError(f"{file} holds figures of {figures['about']['device']}; give another folder")
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for step in options.steps:
        if figures.get(step, {}).get("passed"):
            continue
        began = time.perf_counter()
        try:
            figures[step] = STEPS[step](options.small, device, **({"folder": options.out} if step == "resume" else {}))
        except Exception as error:  # a step that breaks off leaves the device's time to the others
            figures[step] = {"passed": False, "failed": f"{type(error).__name__}: {error}".splitlines()[0]}
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()
        figures[step]["step_seconds"] = round(time.perf_counter() - began, 1)
        write_json(file, figures)
    print("\n".join(table(figures, options.steps)))
    return 0 if all(figures[step]["passed"] for step in options.steps) else 1


def table(figures: Figures, steps: list[str]) -> list[str]:
    """Write the figures of the steps as Markdown."""
    lines = ["| step | | figure |", "| --- | --- | --- |"]
    for step in steps:
        lines.append(f"| {step} | {'passed' if figures[step]['passed'] else 'FAILED'} | |")
        shown = {name: value for name, value in figures[step].items() if name not in ("passed", "by_form")}
        for name, value in shown.items():
            cell = (
                f"{value:.4g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
            )
            lines.append(f"| | {name} | {cell} |")
    return lines


if __name__ == "__main__":
    sys.exit(run_command(main))
