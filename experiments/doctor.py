"""Is everything here that the experiments need? What is missing, and how to get it.

    onedial doctor
    onedial doctor --model mistralai/Mistral-7B-Instruct-v0.3  # and whether this model can be had

Looks at versions, devices, memory, disk, the cache of models, several processes, and the login to W&B; loads no weights
and downloads nothing. Exit code 0 where the embedded experiment can run, 1 where something that it needs is missing.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import cache_dir
from onedial.core.options import Options, option
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program

GIB = 2**30
LEAST_DISK, LEAST_MEMORY = 2 * GIB, 3 * GIB
"""What the embedded model's fetching and sweep take, with room to spare."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        mark: "ok", "note" (something is lacking that not everybody needs) or "missing".
        remedy: what to do, where something is lacking.
    """

    name: str
    mark: str
    found: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """What is looked for besides."""

    model: str | None = option(None, "look for this one too: built-in name, hub id, folder or GGUF file")


def doctor(options: DoctorOptions, _: Notes) -> int:
    findings = [finding for look in LOOKS for finding in look()]
    if options.model:
        findings.append(model_finding(options.model))
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        say(f"{finding.mark:8}{finding.name:{width}}  {finding.found}")
        if finding.remedy:
            say(f"{'':8}{'':{width}}  -> {finding.remedy}")
    missing = [finding.name for finding in findings if finding.mark == "missing"]
    say(f"missing: {', '.join(missing)}" if missing else "ready: onedial sweep")
    return 1 if missing else 0


def versions() -> Iterator[Finding]:
    """Python and the libraries that move numbers."""
    from onedial.core.run.manifest import library_versions

    versions = library_versions()
    python = versions.pop("python")
    old = sys.version_info < (3, 11)
    yield Finding("Python", "missing" if old else "ok", str(python), "install Python 3.11 or newer" if old else "")
    absent = [name for name, version in versions.items() if version is None]
    known = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
    yield Finding("libraries", "ok", known)
    if absent:
        yield Finding("libraries", "missing", f"not installed: {', '.join(absent)}", "pip install -r requirements.txt")


def devices() -> Iterator[Finding]:
    """What the subject can run on."""
    if importlib.util.find_spec("torch") is None:
        yield Finding("devices", "missing", "torch is not installed", "pip install -r requirements.txt")
        return
    import torch

    from onedial.core.run.manifest import machine

    cores = machine()["cores"]
    yield Finding("processor", "ok", f"{cores} cores, {machine()['architecture']}")
    for number in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(number)
        free = torch.cuda.mem_get_info(number)[0]
        yield Finding(
            f"GPU {number}", "ok", f"{about.name}, {free / GIB:.0f} of {about.total_memory / GIB:.0f} GiB free"
        )
    if torch.cuda.device_count() == 0:
        built = f"torch is built for CUDA {torch.version.cuda}" if torch.version.cuda else "torch is built without CUDA"
        yield Finding("GPU", "note", f"none is seen; {built}", "nothing to do for models up to about 1.5B")
    elif torch.cuda.device_count() > 1:
        count = torch.cuda.device_count()
        yield Finding("processes", "ok", f"accelerate launch --num_processes {count} -m onedial sweep ...")


def memory() -> Iterator[Finding]:
    """Working memory and disk."""
    total, free = _memory()
    if total is None:
        yield Finding("memory", "note", "cannot be told on this system")
    else:
        short = free is not None and free < LEAST_MEMORY
        shown = f"{(free or 0) / GIB:.1f} of {total / GIB:.1f} GiB free"
        remedy = "the embedded model wants about 2 GiB: close something" if short else ""
        yield Finding("memory", "note" if short else "ok", shown, remedy)
    for name, folder in (("disk for runs", Path.cwd()), ("disk for models", _existing(cache_dir()))):
        left = shutil.disk_usage(folder).free
        few, closed = left < LEAST_DISK, not os.access(folder, os.W_OK)
        remedy = (
            "free some space" if few else "choose a folder that you may write (--out, XDG_CACHE_HOME)" if closed else ""
        )
        shown = f"{left / GIB:.0f} GiB free in {folder}" + ", which cannot be written" * closed
        yield Finding(name, "missing" if few or closed else "ok", shown, remedy)


def models() -> Iterator[Finding]:
    """The cache of models, and what the hub would ask for."""
    if importlib.util.find_spec("torch") is None:
        return
    from onedial.models.checkpoints.embedded import EMBEDDED, is_converted

    here = is_converted()
    shown = f"{EMBEDDED if here else 'empty'} in {cache_dir() / 'models'}"
    yield Finding(
        "models", "ok" if here else "note", shown, "" if here else f"the first run fetches {EMBEDDED} (93 MB)"
    )
    if os.environ.get("HF_HUB_OFFLINE", "0").upper() in ("1", "TRUE", "YES", "ON"):
        yield Finding("model hub", "note", "HF_HUB_OFFLINE is set: only what is on this machine is found", "unset it")
    else:
        from huggingface_hub import get_token

        known = get_token() is not None
        remedy = "" if known else "for gated models (Llama, Gemma, Mistral): hf auth login, or set HF_TOKEN"
        yield Finding("model hub", "ok" if known else "note", f"{'logged in' if known else 'no token'}", remedy)


def processes() -> Iterator[Finding]:
    """What a launcher has set for this process."""
    world = os.environ.get("WORLD_SIZE")
    if world:
        yield Finding("processes", "ok", f"this is process {os.environ.get('RANK', '0')} of {world}")
    if threads := os.environ.get("OMP_NUM_THREADS"):
        yield Finding("threads", "ok", f"OMP_NUM_THREADS={threads}: taken as it is, instead of measured")


def wandb_login() -> Iterator[Finding]:
    """Whether runs could be mirrored to W&B."""
    from onedial.show.wandb_run import wandb_is_installed, wandb_knows_key

    if not wandb_is_installed():
        yield Finding("W&B", "note", "not installed", "pip install wandb; without it runs are complete all the same")
    elif wandb_knows_key():
        yield Finding("W&B", "ok", "logged in: --wandb online")
    else:
        yield Finding("W&B", "note", "no login", "--wandb offline needs none; for --wandb online: wandb login")


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (versions, devices, memory, models, processes, wandb_login)


def model_finding(name: str) -> Finding:
    """Whether a model can be had, what it is, and whether its chat template begins answers."""
    from onedial.models.chat_turns import ChatTurns
    from onedial.models.checkpoints.weights import load_config, resolve_weights, weights_are_here

    try:
        location = resolve_weights(name)
        config, tokenizer = load_config(location)
        ChatTurns.of(tokenizer, name)
    except InputError as error:
        return Finding("model", "missing", name, str(error))
    text = config.get_text_config()
    where = "on this machine" if weights_are_here(location) else "to be downloaded"
    return Finding("model", "ok", f"{name}: {config.model_type}, {text.num_hidden_layers} layers, {where}")


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _memory() -> tuple[int | None, int | None]:
    """Bytes of memory in all and free, None where the system does not say."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None, None
    free = None
    if (memory := Path("/proc/meminfo")).exists():
        lines = dict(line.split(":", 1) for line in memory.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            free = int(lines["MemAvailable"].split()[0]) * 1024
    return total, free


main = program(DoctorOptions, doctor, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
