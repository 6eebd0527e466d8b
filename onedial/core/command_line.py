"""How every program here begins and ends: one kind of parser; a bad input gives one sentence and exit code 2."""

import argparse
import ast
import contextlib
import difflib
import errno
import importlib
import importlib.metadata
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from onedial.core.errors import InputError, ProcessLostError
from onedial.core.notices import counting_undone
from onedial.core.plugins import load_installed_plugins, load_plugin
from onedial.core.processes import held, is_first_process

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder with --out",
    errno.EDQUOT: "your quota there is used up: free some space or choose another folder with --out",
    errno.EFBIG: "no file may grow so large there (ulimit -f): raise the limit or choose another folder with --out",
    errno.EACCES: "choose a folder that you may write, or change the permissions",
    errno.EPERM: "choose a folder that you may write, or change the permissions",
    errno.EROFS: "choose a folder on a disk that is not read-only",
    errno.EIO: "the disk has failed: look at it, then go on from a copy, or choose another folder with --out",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: one of its parts is a file",
    errno.EISDIR: "give a file, not a folder",
    errno.EEXIST: "choose another path: this one is taken",
    errno.ENAMETOOLONG: "choose a shorter path",
}


EXIT_CODES = (
    "exit codes: 0 all is done; 1 what was checked is not in order, or another process is lost; 2 an input cannot be "
    "used,\nor something was left undone (a budget ended it, a respondent answered nothing): what is there is kept; "
    "130, 143 broken off"
)
"""One rule for all programs; docs/reliability.md has it as a table."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM, as a scheduler sends it before it takes the machine away."""


def run_command(main: Callable[[], int | None], *, resumes: bool = False) -> int:
    """Run `main` and turn an unusable input into one sentence on stderr.

    Args:
        resumes: whether the program knows --resume, as is said after Ctrl-C or SIGTERM once a run had begun.

    Returns:
        main's exit code (None counts as 0); 2 for an `InputError`, for a file-system error that the user can mend, or
        where something was left undone (`leave_undone`); 1 where another process is lost; 130 after Ctrl-C; 143 after
        SIGTERM; 141 when nobody reads what is printed. Any other exception passes through, with its traceback: it is
        a bug. `EXIT_CODES` says it in every help.
    """
    try:
        with _sigterm_ends_like_ctrl_c(), counting_undone() as undone:
            return main() or (2 if undone else 0)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ProcessLostError as error:
        way = ["the same command with --resume goes on from there"] if resumes else []
        print("; ".join([f"error: {error}", *getattr(error, "__notes__", []), *way]), file=sys.stderr, flush=True)
        return 1
    except BrokenPipeError:  # the reader of the output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt as interrupt:
        terminated = isinstance(interrupt, _Terminated)
        if is_first_process():  # a launcher ends the others by SIGTERM, after the first has said why
            # A run that had begun says where its work lies, where it was heard of already.
            saved = getattr(interrupt, "__notes__", [f"what was finished is saved in {folder}" for folder in held[-1:]])
            way = ["the same command with --resume goes on from there"] if saved and resumes else []
            print("; ".join(["terminated" if terminated else "interrupted", *saved, *way]), file=sys.stderr)
        return 143 if terminated else 130
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror}{where}; {_REMEDIES[error.errno]}", file=sys.stderr)
        return 2


@contextlib.contextmanager
def _sigterm_ends_like_ctrl_c() -> Iterator[None]:
    def terminate(number: int, frame: object) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # only the main one may say what a signal does
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def program_parser(description: str | None, prog: str | None = None) -> argparse.ArgumentParser:
    """A parser that shows the program's docstring as it stands, knows --version and takes no abbreviated options.

    Args:
        prog: how the program is called, where that is not by its file.
    """
    parser = _Parser(
        prog=prog,
        description=description,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"onedial {_version()}")
    parser.add_argument(
        "--plugin",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="your own Python file that adds a direction, instrument, rival, ...; several with commas between",
    )
    return parser


class _Parser(argparse.ArgumentParser):
    """Refuses in one sentence, as every other bad input is refused, and names the nearest option.

    Plugins are imported before anything else is read, since what they add may be chosen by other options.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        given = list(sys.argv[1:] if args is None else args)
        if not {"-h", "--help", "--version"} & set(given):
            load_installed_plugins()
        for path in _plugins_named(given):
            load_plugin(path)
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments: "):
            wrong = message.split(": ", 1)[1].split()[0]
            known = [string for action in self._actions for string in action.option_strings]
            near = difflib.get_close_matches(wrong.split("=")[0], known, n=1)
            message = f"{wrong} is no option" + (f"; did you mean {near[0]}?" if near else "")
        self.exit(2, f"error: {message}{'' if message.endswith('?') else ';'} --help lists what can be given\n")


def _plugins_named(given: list[str]) -> list[str]:
    """The files behind every `--plugin FILE` and `--plugin=FILE`; argparse refuses a last `--plugin` without one."""
    named = [value for word, value in pairwise(given) if word == "--plugin"]
    named += [word.split("=", 1)[1] for word in given if word.startswith("--plugin=")]
    return [path for text in named for path in text.split(",") if path]


def _version() -> str:
    try:
        return importlib.metadata.version("onedial")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed: pip install -e .)"


class KeysOf:
    """For argparse: the choices are the keys of a dictionary, read from its source where its module is not loaded.

    So an option's choices, its help and its check all read the one dictionary that a new entry is put into, and a
    start waits for nothing: a plugin that puts something in has loaded the module.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __iter__(self) -> Iterator[str]:
        written = self._written()
        return iter(getattr(importlib.import_module(self._module), self._name) if written is None else written)

    def _written(self) -> list[str] | None:
        """The keys as they stand in the source; None where the module is loaded or more than words stands there."""
        package = importlib.import_module(self._module)
        stub = Path(str(package.__file__)).with_suffix(".pyi")
        if self._name in vars(package) or not stub.is_file():
            return None
        lines = [node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)]
        (home,) = (node.module for node in lines if self._name in [alias.name for alias in node.names])
        if f"{self._module}.{home}" in sys.modules:
            return None
        source = stub.parent.joinpath(*str(home).split(".")).with_suffix(".py").read_text("utf-8")
        for node in ast.parse(source).body:
            names = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if self._name in [getattr(name, "id", None) for name in names]:
                value = getattr(node, "value", None)
                entries = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [None])
                words = [str(entry.value) for entry in entries if isinstance(entry, ast.Constant)]
                return words if len(words) == len(entries) else None
        return None

    def __contains__(self, value: object) -> bool:
        return value in list(self)


def positive(text: str) -> int:
    """For argparse: a whole number above 0."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def listed(option: str, given: str | Iterable[str], known: Iterable[str]) -> list[str]:
    """Names between commas, each of them known, each once, in the order given; a name may hold a comma itself.

    Raises:
        InputError: one is not known; it names the option.

    >>> listed("--dials", "cut, lora,cut", ["cut", "lora", "text"])
    ['cut', 'lora']
    >>> listed("--instruments", "P(IK),stands by it, doubted", ["P(IK)", "stands by it, doubted"])
    ['P(IK)', 'stands by it, doubted']
    """
    known = list(known)
    names = _between_commas(given, known) if isinstance(given, str) else list(given)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"{option} {unknown[0]!r} is not known; choose among {', '.join(known)}")
    return list(dict.fromkeys(names))


def _between_commas(given: str, known: Sequence[str]) -> list[str]:
    """The longest known name at each place, else what stands before the next comma."""
    pieces, names = [piece.strip() for piece in given.split(",")], []
    while pieces:
        joined = (n for n in range(len(pieces), 0, -1) if ", ".join(pieces[:n]) in known)
        n = next(joined, 1)
        names.append(", ".join(pieces[:n]))
        pieces = pieces[n:]
    return names


def natural(text: str) -> int:
    """For argparse: a whole number from 0 on."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)
