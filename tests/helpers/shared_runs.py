"""Runs of tiny models that several tests read: made by whoever asks first, and kept until something changes in them.

What a run is comes from the project's sources and data, the tests' helpers, the libraries and its options: the key is
made of all of these. `.pytest_cache/runs` may be deleted at any time.
"""

import functools
import hashlib
import importlib.metadata
import json
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock
from tiny_experiment import ROOT, counted, finished_run, write_experiment

from onedial.verdict.sweep_run import SweepRun

KEPT = ROOT / ".pytest_cache" / "runs"
FOLDERS = ("onedial", "probes", "steering", "experiments", "tests/helpers")


class SharedRun(NamedTuple):
    """To be read: a test that writes into the run takes a copy."""

    options: dict[str, Any]
    run: SweepRun

    @property
    def asked(self) -> dict[str, list[int]]:
        """What `counted` has found."""
        return json.loads((self.run.path.parent / "asked.json").read_text(encoding="utf-8"))


def default_run() -> SharedRun:
    """Options as they are, but for the subject, the questions and the panel."""
    return shared_run()


def quick_run() -> SharedRun:
    """One layer, four magnitudes."""
    return shared_run(layer="2", magnitudes="-1,-0.5,0.5,1", facts=12)


def seven_batches() -> SharedRun:
    """Two layers are scanned, the magnitudes are chosen, a control is swept."""
    return shared_run(n=112, n_targets=8, layer="1,3", controls=1, facts=20)


def whole_run() -> SharedRun:
    """Every stage that there is."""
    asked = {"prompt": "request.yaml", "respondents": "reasoned.csv"}
    stages = {"controls": 3, "instructed": True, "facts": 20, "reversed": 8, "tests": "interchange,mediation"}
    stages |= {"answer": "reasoned", "reasoned_settings": 3, "reasoned_tokens": 4}
    return shared_run(n=96, n_targets=6, files=asked, layer="1", without_verdict=True, **stages)


def shared_run(n=160, n_targets=12, drawn=False, files=None, **options) -> SharedRun:
    """The main command with these options on inputs of `write_experiment`, and the options that name them all.

    Args:
        files: options whose value is one of the files that `write_experiment` has written besides.
    """
    asked = repr((n, n_targets, drawn, files, sorted(options.items())))
    folder = _current() / hashlib.sha256(asked.encode()).hexdigest()[:16]
    with FileLock(f"{folder}.lock"):
        if not (folder / "options.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            given = write_experiment(folder, n, n_targets) | options
            given |= {name: folder / file for name, file in (files or {}).items()}
            with counted() as asked:
                finished_run(given, folder / "run", drawn=drawn)
            (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
            (folder / "options.json").write_text(json.dumps(given, default=str), encoding="utf-8")
    given = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    return SharedRun(given, SweepRun.open(folder / "run"))


@functools.cache
def _current() -> Path:
    """The folder of what is made of these sources; others are deleted after a day, since tests may still be running."""
    libraries = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    digest = hashlib.sha256("\n".join(libraries).encode())
    for file in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    current = KEPT / digest.hexdigest()[:16]
    current.mkdir(parents=True, exist_ok=True)
    for other in KEPT.iterdir():
        if other != current and time.time() - other.stat().st_mtime > 86400:
            shutil.rmtree(other, ignore_errors=True)
    return current
