"""Are a run's files as the run wrote them?

    python experiments/verify.py runs/20260728T101500Z-smollm2-3f2a1b
    python experiments/verify.py copies/*                               # several, for example after a move

Compares every file with sha256.txt, which a run writes at the end of each stage and of its work, and prints a line for
each that is other, missing, or stands in no list; writes nothing. Exit code 0 where all is as listed, else 1; 2 where a
folder holds no run. Whoever changes a file can change the list too: keep its fingerprint, the last line, elsewhere.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from onedial.core import InputError, Notes, Options, Run, check_files, option, program, run_command, say


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(Options):
    """What is looked at."""

    run: tuple[Path, ...] = option(..., "folders of runs", positional=True)


def verify_all(options: VerifyOptions, _: Notes) -> int:
    for folder in options.run:
        if not Run.is_at(folder):
            raise InputError(f"{folder} holds no run (no config.yaml with a manifest.json); give the folder of a run")
    return max([verify(folder) for folder in options.run])


def verify(folder: Path) -> int:
    """Print how a run's files stand beside its list; 0 where all is as listed, else 1."""
    found = check_files(folder)
    if found is None:
        say(f"{folder}: no sha256.txt: the run was made by an earlier version, or broken off in its first stage")
        return 1
    differences = {"other": found.other, "missing": found.missing, "not listed": found.unlisted}
    for word, names in differences.items():
        for name in names:
            say(f"{word:12}{ascii(name)[1:-1] if not name.isprintable() else name}")
    say(f"{folder}: {found.same} files as listed, " + ", ".join(f"{len(n)} {word}" for word, n in differences.items()))
    say(f"fingerprint of the list: {found.fingerprint}")
    return int(any(differences.values()))


main = program(VerifyOptions, verify_all, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
