"""Programs as processes of their own, forked from that of the tests: the libraries need not be imported anew.

done = run_program(PROGRAM, "--out", folder)       # as subprocess.run with capture_output and text
running = start_program(PROGRAM, log=file)         # as subprocess.Popen
codes = run_together(PROGRAM, log=file)            # as torchrun --nproc_per_node 2
"""

import atexit
import importlib
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import IO, Any, NoReturn

from blank import draw_nothing


class Started:
    """A program that runs; what `subprocess.Popen` offers, as far as the tests need it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or minus the signal that ended it; None while it runs."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        """The exit code once it has ended."""
        give_up = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.005)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing happens where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9."""
        self.send_signal(signal.SIGKILL)


def start_program(
    program: Path | str,
    *arguments: object,
    log: IO[Any] | None = None,
    stdin: IO[Any] | None = None,
    env: dict[str, str] | None = None,
) -> Started:
    """Run `python program arguments` and return while it runs; both outputs go to `log`, if anywhere."""
    with open(os.devnull, "r+b") as nothing:
        return _started([program, *arguments], (stdin or nothing, log or nothing, log or nothing), env)


def run_together(program: Path | str, *arguments: object, log: IO[Any], env: dict[str, str], n: int = 2) -> list[int]:
    """Run n processes that know of each other by what torchrun tells them; if one fails, all end. Their exit codes."""
    running = start_together(program, *arguments, log=log, env=env, n=n)
    while any(each.poll() is None for each in running):
        if any(each.poll() for each in running):
            for each in running:
                each.kill()
        time.sleep(0.02)
    return [each.wait() for each in running]


def start_together(
    program: Path | str, *arguments: object, log: IO[Any], env: dict[str, str], n: int = 2
) -> list[Started]:
    """As `run_together`, and return while they run; each is left to itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": str(n)}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(n)} for rank in range(n)]
    return [start_program(program, *arguments, log=log, env=env | environment | rank) for rank in ranks]


def run_program(
    program: Path | str,
    *arguments: object,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    drawn: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `python program arguments` to its end; figures are blank unless they are to be `drawn`."""
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _started([program, *arguments], (nothing, out, err), env, cwd, drawn).wait()
        outputs = []
        for file in (out, err):
            file.seek(0)
            outputs.append(file.read().decode())
    return subprocess.CompletedProcess([program, *arguments], code, *outputs)


def _started(
    command: list[object],
    files: tuple[IO[Any], IO[Any], IO[Any]],
    env: dict[str, str] | None,
    cwd: Path | None = None,
    drawn: bool = False,
) -> Started:
    pid = os.fork()
    if pid:
        return Started(pid)
    atexit._clear()  # what the tests' process has to do at its end
    code: object = 1
    try:
        _become(files, env, cwd, drawn)
        _run_as_main(list(map(str, command)))
        code = None
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    _end(code)


def _become(files: tuple[IO[Any], ...], env: dict[str, str] | None, cwd: Path | None, drawn: bool) -> None:
    """Files, place, environment, signals and warnings of a program that was started by itself."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    os.chdir(cwd or Path.cwd())
    if env is not None:
        os.environ.clear()
        os.environ.update(env)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    importlib.reload(warnings)  # pytest keeps them to itself
    if not drawn:
        draw_nothing()


def _run_as_main(command: list[str]) -> None:
    """As the interpreter does it: the program's folder stands first in the path."""
    sys.argv = command
    sys.path.insert(0, str(Path(command[0]).resolve().parent))
    runpy.run_path(command[0], run_name="__main__")


def _end(code: object) -> NoReturn:
    """As the interpreter does it, but that nothing is taken apart."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)
