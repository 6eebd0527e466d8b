"""The lock names what requirements.txt names, by hashes alone: no address, and no build of torch."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"([A-Za-z0-9._-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")


def lines_of(name):
    return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_each_pinned_version_is_the_locked_one_but_for_torch_which_the_machine_decides():
    found = [LINE.fullmatch(line).groups() for line in lines_of("requirements.lock")]
    locked = {normal(name): version for name, version in found}
    pinned = dict(line.split("==") for line in lines_of("requirements.txt") if "==" in line)
    assert "torch" not in locked
    assert f"torch=={pinned.pop('torch')}" in (ROOT / "requirements.lock").read_text()
    assert {normal(name): version for name, version in pinned.items()}.items() <= locked.items()
    assert not re.search("https?:|file:", (ROOT / "requirements.lock").read_text())
