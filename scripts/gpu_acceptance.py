"""Is it right on this GPU, and how fast? One command, about 20 minutes; each step's figures are kept as it ends.

    python scripts/gpu_acceptance.py figures                    # on the first CUDA device
    python scripts/gpu_acceptance.py figures --small            # the same steps in small, on the CPU: a minute or two
    python scripts/gpu_acceptance.py figures --steps shapes     # one of them; a step that has passed is not done again

exact    tiny models of every form (scripts/architectures.py) on the device, in float32, bfloat16 and float16: logits by
         the path that the model takes against a bare hook on each prompt alone. In float32 the largest difference, in
         units of the largest logit, at most 1e-4; in 16 bits how far ours are from the float32 hook, in units of how
         far the hook in 16 bits is from it, at most 2
devices  the same models, float32, the device against the CPU: at most 1e-4
shapes   at Mistral 7B's shape (acceptance_shapes.py): prefill and sweep against plain hooks, other libraries, what the
         device can do at most, the forecast; writing, controls, the store
large    at Llama 3 70B's shape, with as many of its layers as find room
memory   more than memory holds at once (acceptance_runs.py); resume: SIGKILL, and gone on with; two: two processes on
         the one device
default  the default run (steer_sweep.py, float32) on the CPU and on the device: the same sentence, and how many answers
         have the other sign. In small: one sweep in their place, without a verdict. Where the embedded model's weights
         cannot be fetched (98 MB), a model with random weights stands for it

`figures.json` in the folder holds it all; the table is printed as Markdown; exit code 1 where a step failed. A step
that breaks off is noted, and the next ones follow. Where a command may take ten minutes only, call it three times with
one folder that outlives the commands, `--steps` exact devices shapes, then large memory resume two, then default: what
was broken off is begun anew, what has passed stays. Not measured: real weights of that size, and several GPUs. Random
weights say nothing of what a model answers, only what it costs.
"""

import gc
import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NEEDED = (
    "torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "filelock", "numpy", "pandas", "pyarrow",
    "jaxtyping", "einops", "lazy_loader", "jinja2", "yaml", "tqdm",
)  # fmt: skip
"""Without one of these no step runs; what the default run needs besides fails that step alone."""
if lacking := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
    print(
        f"error: this machine lacks {', '.join(lacking)}, which every step needs; bring their wheels along, unpack "
        "them in one folder and name it in PYTHONPATH",
        file=sys.stderr,
    )
    sys.exit(2)
ROOT = Path(__file__).resolve().parent.parent
if importlib.util.find_spec("onedial") is None:  # a machine on which nothing can be installed
    sys.path.insert(0, str(ROOT))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

# ruff: noqa: E402
from acceptance_runs import memory, random_subject, resume, two
from acceptance_shapes import drawn_prompts, large, shapes
from architectures import ROWS, SMALL, Architecture, hooked_logits, tiny_hf, tokenizer

from onedial.core import InputError, Options, machine, option, parse_options, run_command, write_json

Figures = dict[str, Any]
LIMITS = {"float32": 1e-4, "bfloat16": 2.0, "float16": 2.0}
TINY_MAGNITUDES = (0.0, 1.0)
READ_AT = ("last", "all")


def exact(small: bool, device: str) -> Figures:
    """Every form in every dtype against bare hooks; those that transformers itself cannot run in a dtype are named."""
    found: dict[str, dict[str, float]] = {dtype: {} for dtype in LIMITS}
    failed = {}
    for row in chosen_rows(small):
        truth = hooked(tiny(row, device, "float32"))
        for dtype in LIMITS:
            try:
                model = tiny(row, device, dtype)
                ours, plain = steered_logits(model), hooked(model)
            except (RuntimeError, NotImplementedError) as error:
                failed[f"{row.known_as}, {dtype}"] = str(error).splitlines()[0]
                continue
            unit = truth if dtype == "float32" else plain - truth
            expected = plain if dtype == "float32" else truth
            found[dtype][row.known_as] = ((ours - expected).abs().max() / unit.abs().max()).item()
    failed |= {
        f"{name}, {dtype}": f"off by {value:.2g}"
        for dtype, by_form in found.items()
        for name, value in by_form.items()
        if not value <= LIMITS[dtype]
    }
    largest = {dtype: max(by_form.values(), default=None) for dtype, by_form in found.items()}
    return {"passed": not failed, "largest": largest, "failed": failed, "by_form": found}


def devices(small: bool, device: str) -> Figures:
    """Steered logits on the device against those on the CPU, in float32."""
    found = {}
    for row in chosen_rows(small):
        here, there = (steered_logits(tiny(row, each, "float32")) for each in ("cpu", device))
        found[row.known_as] = ((here - there).abs().max() / here.abs().max()).item()
    found = dict(sorted(found.items(), key=lambda each: -each[1]))
    return {"passed": all(value <= LIMITS["float32"] for value in found.values()), "by_form": found}


def subject(folder: Path) -> dict[str, str]:
    """Options that name the model of the default run, and its prompt: none for the embedded model; where its weights
    are not to be had, a model of the tests with random weights that puts most of its probability on yes and no."""
    from onedial.models import OFFLINE_MODELS, ensure_converted

    try:
        ensure_converted(OFFLINE_MODELS["smollm2-135m-instruct"])
    except (InputError, ImportError) as reason:
        print(f"the default run takes random weights, since {reason}", file=sys.stderr)
    else:
        return {}
    return random_subject(folder)


def default(small: bool, device: str, folder: Path) -> Figures:
    """The default run on the CPU and on the device."""
    chosen = subject(folder)
    about = {"model": "random weights" if chosen else "the embedded one"}
    if small:
        from onedial.asking import load_prompt
        from onedial.models import load_model
        from onedial.panels import load_questions
        from steering import extract_vector, sweep

        margins = []
        for each in ("cpu", device):
            model = load_model(chosen.get("model", "smollm2-135m-instruct"), dtype="float32", device=each)
            questions, own = (
                load_questions("embedded", 24),
                {"template": load_prompt(chosen["prompt"])} if chosen else {},
            )
            vector = extract_vector(model, questions, layer=model.n_layers // 2, **own)
            margins.append(sweep(model, vector, questions, [-0.2, 0.0, 0.2]).table["margin"])
        return {"passed": flips(*margins) == 0, **about, "flips": flips(*margins), "answers": len(margins[0])}
    from onedial.verdict import SweepRun

    program = ROOT / "experiments" / "steer_sweep.py"
    seconds, runs = {}, []
    for each in ("cpu", device):
        out, began = folder / f"run-{each.replace(':', '-')}", time.perf_counter()
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if each == "cpu" else {}
        options = [f"--{name}={value}" for name, value in chosen.items()]
        command = [sys.executable, str(program), f"--out={out}", "--dtype=float32", "--resume", *options]
        subprocess.run(command, check=True, env={**os.environ, **hidden})
        seconds[each] = round(time.perf_counter() - began, 1)
        runs.append(SweepRun.open(out))
    key = ["intervention_id", "question_id", "magnitude"]
    both = runs[0].sweep().merge(runs[1].sweep(), on=key)
    sentences = [run.verdict()["sentence"] for run in runs]
    return {
        "passed": sentences[0] == sentences[1],
        **about,
        "sentences": sentences,
        "flips": flips(both["margin_x"], both["margin_y"]),
        "answers": len(both),
        "seconds": seconds,
    }


STEPS: dict[str, Callable[..., Figures]] = {
    "exact": exact,
    "devices": devices,
    "shapes": shapes,
    "large": large,
    "memory": memory,
    "resume": resume,
    "two": two,
    "default": default,
}
RUNS = ("resume", "two", "default")
"""Steps that write into the folder."""


def chosen_rows(small: bool) -> list[Architecture]:
    """All forms that are not refused; in small a few."""
    few = ("llama", "gemma2", "gpt2", "gpt_neox", "granite")
    return [row for row in ROWS if row.known_as not in ("OPT 350M", "LongCat") and (not small or row.model_type in few)]


def tiny(row: Architecture, device: str, dtype: str) -> Any:
    """A tiny model of a form, the same weights on every device."""
    from onedial.models import DTYPES, OpenModel

    return OpenModel(tiny_hf(row).to(device, DTYPES[dtype]), tokenizer(), name=row.known_as)


def asked(model: Any) -> tuple[int, list[list[int]], Any]:
    """Where a tiny model is steered, its prompts, and the push."""
    import torch

    push = torch.randn(model.d_model, generator=torch.Generator().manual_seed(2)).to(model.device)
    return model.n_layers // 2, drawn_prompts(SMALL["vocab_size"], 4, shared=8, own=24), push


def steered_logits(model: Any) -> Any:
    """(position, question, setting, token) on the CPU, by the path that the model takes."""
    import torch

    layer, prompts, push = asked(model)
    edit = {layer: lambda stream, settings: stream + (settings[..., None] * push).to(stream.dtype)}
    settings, found = torch.tensor([TINY_MAGNITUDES], device=model.device), []
    for at in READ_AT:
        runner = model.runner(prompts, [layer], at)
        found.append(model.readout.logits(runner.steer(runner.start(prompts), edit, settings), slice(None)))
    return torch.stack(found).cpu()


def hooked(model: Any) -> Any:
    """The same by a bare hook on each prompt alone, the model's own logits."""
    import torch

    layer, prompts, push = asked(model)
    found = [
        hooked_logits(model.hf, model.stack.layers[layer], ids, magnitude * push, at).float().cpu()
        for at in READ_AT
        for ids in prompts
        for magnitude in TINY_MAGNITUDES
    ]
    return torch.stack(found).unflatten(0, (len(READ_AT), len(prompts), len(TINY_MAGNITUDES)))


def flips(one: Any, other: Any) -> int:
    """How many answers have another sign."""
    return int(((one > 0) != (other > 0)).sum())


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    out: Path = option(..., "folder for figures.json and the default runs", positional=True)
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
    for step in options.steps:
        if not figures.get(step, {}).get("passed"):
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                more = {"folder": options.out} if step in RUNS else {}
                try:
                    figures[step] = STEPS[step](options.small, device, **more)
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
    """Figures of the steps as Markdown."""
    lines = ["| step | | figure |", "| --- | --- | --- |"]
    for step in steps:
        lines.append(f"| {step} | {'passed' if figures[step]['passed'] else 'FAILED'} | |")
        shown = {name: value for name, value in figures[step].items() if name not in ("passed", "by_form")}
        lines += [
            f"| | {name} | {value if isinstance(value, str) else json.dumps(value)} |" for name, value in shown.items()
        ]
    return lines


if __name__ == "__main__":
    sys.exit(run_command(main))
