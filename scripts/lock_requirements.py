"""Write requirements.lock: what requirements.txt brings, here installed, each file with its hash on the Python index.

    python scripts/lock_requirements.py            # in the environment that was tested; pip 23.3 or newer

torch is left out: its build is the machine's (CPU, CUDA). Files are those of this platform and this Python alone.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from onedial.core import InputError, Options, parse_options, run_command

ROOT = Path(__file__).resolve().parent.parent
LOCK, PINNED = ROOT / "requirements.lock", ROOT / "requirements.txt"
LEFT_OUT = "torch"
HEAD = """# Linux x86-64, Python 3.11: the tested set with all it needs, each file with its hash on the Python index.
# torch is left out, whose build is the machine's. scripts/lock_requirements.py writes this file.
#   pip install torch=={torch}
#   pip install --require-hashes --no-deps -r requirements.lock
#   pip install --no-deps .
"""


def main() -> None:
    parse_options(Options, __doc__)
    pinned = [line for line in PINNED.read_text().splitlines() if "==" in line]
    names = {name: version for line in pinned for name, version in needed(Requirement(line), set())}
    torch = names.pop(LEFT_OUT).partition("+")[0]  # +cpu names the build
    wanted = "\n".join(f"{name}=={version}" for name, version in sorted(names.items()))
    with tempfile.TemporaryDirectory() as folder:
        file, report = Path(folder, "wanted.txt"), Path(folder, "report.json")
        file.write_text(wanted)
        asked = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", report]
        done = subprocess.run([sys.executable, "-m", "pip", "install", *asked, "-r", file], check=False)
        if done.returncode:
            raise InputError(f"pip found no file for one of {len(names)} packages; what it says stands above")
        found = json.loads(report.read_text())["install"]
    lines = [
        f"{each['metadata']['name']}=={each['metadata']['version']} --hash=sha256:"
        f"{each['download_info']['archive_info']['hashes']['sha256']}"
        for each in found
    ]
    LOCK.write_text(HEAD.format(torch=torch) + "\n".join(sorted(lines, key=str.lower)) + "\n")
    print(f"{LOCK.name}: {len(lines)} packages")


def needed(wanted: Requirement, seen: set[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Name and installed version of a requirement and of all that it needs here."""
    name = re.sub(r"[-_.]+", "-", wanted.name).lower()
    if (key := (name, *sorted(wanted.extras))) in seen:
        return
    seen.add(key)
    yield name, importlib.metadata.version(wanted.name)
    for text in importlib.metadata.requires(wanted.name) or []:
        further = Requirement(text)
        extras = wanted.extras or {""}
        if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
            yield from needed(further, seen)


if __name__ == "__main__":
    sys.exit(run_command(main))
