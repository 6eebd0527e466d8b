"""A subject, questions and a panel that fit into seconds, and the programs called as a user calls them."""

import collections
import contextlib
import functools
import hashlib
import importlib.util
import io
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch
from blank import draw_nothing
from safetensors import safe_open
from tiny_models import save_outspoken

from onedial.core.command_line import run_command
from onedial.core.run.run import Run
from onedial.models import model
from onedial.models.forward import prefill, runner
from onedial.models.forward.path_proof import check_fast_paths
from onedial.verdict.sweep_run import SweepRun
from steering.planning import forecast

ROOT = Path(__file__).resolve().parents[2]
STEER_SWEEP = ROOT / "experiments" / "steer_sweep.py"
JUDGE_RUN = ROOT / "experiments" / "judge_run.py"
WORDS = ["river", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "sea", "ode", "king", "opera"]
CHECKED = {}
"""What `checked_once` has found."""
BEFORE = "start"
"""What is done outside the stages, in `counted` and in what a dry run tells."""
STEER, STAGE = runner.FastRunner.steer, Run.stage
ALONE = {"WORLD_SIZE": None, "RANK": None, "LOCAL_RANK": None}


class Ended(NamedTuple):
    """How a program ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str


def run_here(program, *arguments, drawn=False):
    """Run a program in this process, which has imported what it needs, and return its exit code.

    Args:
        drawn: whether figures are laid out and drawn; otherwise they are blank.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", [str(program), *map(str, arguments)])
        if model.check_fast_paths is check_fast_paths:  # else a test has put its own in its place
            patched.setattr(model, "check_fast_paths", checked_once)
        if not drawn:
            draw_nothing(patched.setattr)
        try:
            return run_command(main_of(program))
        except SystemExit as ended:  # argparse
            return ended.code


def checked_once(stack, above=0, within=False):
    """As `check_fast_paths`, and of models with the same weights once: every program begins with it."""
    weights = hashlib.sha256(stack.hf.config.to_json_string().encode())
    for name, values in stack.hf.state_dict().items():
        weights.update(name.encode() + values.flatten().view(torch.uint8).numpy().tobytes())
    key = weights.digest(), stack.dtype, stack.device, above, within
    if key not in CHECKED:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(runner, "prefill", prefill.prefill)
            patched.setattr(runner.FastRunner, "steer", STEER)
            CHECKED[key] = check_fast_paths(stack, above, within)
    return CHECKED[key]


@contextlib.contextmanager
def counted():
    """Stage -> prompts that the programs called meanwhile run whole, and steered rows; what checks a model aside."""
    asked, now = collections.defaultdict(lambda: [0, 0]), [BEFORE]

    def read(stack, sequences, *others, **more):
        asked[now[-1]][0] += len(sequences)
        return prefill.prefill(stack, sequences, *others, **more)

    def steer(owner, started, edits, settings):
        asked[now[-1]][1] += len(started.final) * settings.shape[1]
        return STEER(owner, started, edits, settings)

    @contextlib.contextmanager
    def stage(owner, name):
        now.append(name)
        with STAGE(owner, name):
            yield
        now.pop()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "prefill", read)
        patched.setattr(runner.FastRunner, "steer", steer)
        patched.setattr(Run, "stage", stage)
        yield asked


def foretold(program, options, timed=False):
    """Stage -> prompts and steered rows, as the program's dry run tells them; nothing is timed unless it is to be."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), pytest.MonkeyPatch.context() as patched:
        patched.setattr(forecast, "LONG_ENOUGH", 0.0)
        if not timed:
            patched.setattr(forecast, "_seconds", lambda model, work: 1.0)
        assert run_here(program, *as_arguments(options | {"dry_run": True, "out": None})) == 0
    cells = re.findall(r"^(\w.*?) {2,}([\d,]+) +([\d,]+) .* (?:s|min|h)$", output.getvalue(), re.MULTILINE)
    return {stage: tuple(int(number.replace(",", "")) for number in numbers) for stage, *numbers in cells}


def assert_bounded(forecast, asked, *equal, searched=(), most=3.0):
    """That each stage asks no more than was foretold, and at most so many times less; the rows of some exactly that.

    Args:
        searched: stages whose rows rest on how the curves wind, and are foretold as they usually are.
    """
    assert set(forecast) >= set(asked)
    for stage, (read, rows) in asked.items():
        assert read <= forecast[stage][0], stage
        beyond = 1.5 if stage in searched else 1
        assert rows <= beyond * forecast[stage][1] <= beyond * most * max(rows, 1), (stage, rows, forecast[stage][1])
    for stage in equal:
        assert forecast[stage][1] == asked[stage][1] > 0, stage


@functools.cache
def main_of(program):
    """The program's `main`, without running it."""
    specification = importlib.util.spec_from_file_location(program.stem, program)
    module = importlib.util.module_from_spec(specification)
    sys.modules[program.stem] = module
    specification.loader.exec_module(module)
    return module.main


def alone(**more):
    """An environment for a subprocess: one thread, one process, no hub."""
    kept = {key: value for key, value in os.environ.items() if key not in ALONE}
    return kept | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "100"} | more


def questions_frame(n, seed=0):
    """Questions that differ in words and length; ids q000, q001, ..."""
    rng = np.random.default_rng(seed)
    words = [[WORDS[place] for place in rng.integers(len(WORDS), size=3)] for _ in range(n)]
    return pd.DataFrame(
        {
            "id": [f"q{i:03d}" for i in range(n)],
            "question": [f"Which {a} was the {b} of {c} in {1000 + i}?" for i, (a, b, c) in enumerate(words)],
            "answers": [c for _, _, c in words],
            "topic": [WORDS[i % 5] for i in range(n)],
        }
    )


def panel_frame(questions, n_targets=12, seed=0):
    """Targets that share a difficulty which no model knows of; yes rates from about .2 to .8."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=len(questions))
    cuts = np.linspace(-0.9, 0.9, n_targets)
    answers = {f"target {t}": (ease + rng.normal(size=len(ease)) > cut).astype(int) for t, cut in enumerate(cuts)}
    return pd.DataFrame({"question_id": questions["id"], **answers})


def write_experiment(folder, n=160, n_targets=12):
    """A folder with model, questions.csv, panel.csv and prompt.yaml; returns the options that name them.

    Beside them lie request.yaml, a prompt that has a reversed wording, and reasoned.csv, by which all targets but two
    have reasoned. The prompts are the tests' own: what a random model says to them must not change with the wording of
    the project's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save_outspoken(folder / "model", "llama", seed=1)
    questions = questions_frame(n)
    questions.to_csv(folder / "questions.csv", index=False)
    panel = panel_frame(questions, n_targets)
    panel.to_csv(folder / "panel.csv", index=False)
    names = panel.columns[1:]
    framings = ["neutral"] * 2 + ["neutral, reasoned"] * (n_targets - 2)
    known = pd.DataFrame({"respondent": names, "model": names, "framing": framings})
    known.to_csv(folder / "reasoned.csv", index=False)
    for name, asked in (("prompt", "Can you tell?"), ("request", "Would you answer this request?")):
        text = f"user: |\n  {{question}}\n  {asked}\nassistant_prefix: 'Answer:'\n"
        (folder / f"{name}.yaml").write_text(text)
    return {
        "model": folder / "model",
        "questions": folder / "questions.csv",
        "panel": folder / "panel.csv",
        "prompt": folder / "prompt.yaml",
    }


def finished_run(options, folder, drawn=False):
    """The main command run to its end in this process."""
    assert run_here(STEER_SWEEP, *as_arguments(options | {"out": folder}), drawn=drawn) == 0
    return SweepRun.open(folder)


def as_arguments(options):
    """`--name=value` for each option, `--name` where the value is True, nothing where it is None."""
    named = {f"--{name.replace('_', '-')}": value for name, value in options.items() if value is not None}
    return [name if value is True else f"{name}={value}" for name, value in named.items()]


def files_of(folder):
    """Every file's bytes by its path, to see that nothing was touched."""
    return {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def vector_content(file):
    """Metadata and numbers of a vector file; safetensors writes its metadata in no fixed order."""
    with safe_open(file, framework="np") as opened:
        return opened.metadata(), opened.get_tensor("direction").tobytes()
