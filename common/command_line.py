"""How every program here ends: a bad input gives one sentence and exit code 2, a bug keeps its traceback."""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from common.errors import InputError

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder with --out",
    errno.EACCES: "choose a folder that you may write, or change the permissions",
    errno.EPERM: "choose a folder that you may write, or change the permissions",
    errno.EROFS: "choose a folder on a disk that is not read-only",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: one of its parts is a file",
    errno.EISDIR: "give a file, not a folder",
    errno.EEXIST: "choose another path: this one is taken",
    errno.ENAMETOOLONG: "choose a shorter path",
}


def run_command(main: Callable[[], int | None], *, resumes: bool = False) -> int:
    """Run `main` and turn an unusable input into one sentence on stderr.

    Args:
        resumes: whether the program knows --resume, which is what to say after Ctrl-C.

    Returns:
        main's exit code (None counts as 0); 2 for an `InputError` or for a file-system error that the user can
        mend; 130 after Ctrl-C; 141 when nobody reads what is printed. Any other exception passes through, with its
        traceback: it is a bug.
    """
    try:
        return main() or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of the output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        way = ", and the same command with --resume goes on from there" if resumes else ""
        print(f"interrupted; what was finished is saved{way}", file=sys.stderr)
        return 130
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror}{where}; {_REMEDIES[error.errno]}", file=sys.stderr)
        return 2


def config_arguments(path: str, known: Collection[str], left_out: Collection[str] = ()) -> list[str]:
    """Options from a YAML file as the command line would have them, so that both are checked alike.

    Args:
        known: option names with underscores; the file may write - for _.
        left_out: known options that the file may hold and that are passed over.

    Raises:
        InputError: no such file, no YAML, an unknown option.
    """
    import yaml

    if not Path(path).is_file():
        raise InputError(f"there is no config file {path}; check the path")
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML; write lines like 'layer: auto'") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no options; write lines like 'layer: auto'")
    arguments = []
    for key, value in found.items():
        name = str(key).replace("-", "_")
        if name not in known:
            raise InputError(f"{path} names {key!r}, which is no option; --help lists them")
        if name in left_out or value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        arguments.append(option if value is True else f"{option}={text}")
    return arguments


def positive(text: str) -> int:
    """For argparse: a whole number above 0."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def natural(text: str) -> int:
    """For argparse: a whole number from 0 on."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)
