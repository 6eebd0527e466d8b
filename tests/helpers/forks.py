"""Python programs in processes of their own that need not import the libraries anew.

A server imports what programs import, and forks for each that it is asked to run: a process with its own arguments,
environment, files and signals, which ends as the interpreter ends, some seconds earlier. The server is
started for the first program, by whichever process of the tests comes first, and ends with the last of these.

    done = run_program(PROGRAM, "--out", folder)       # as subprocess.run with capture_output and text
    running = start_program(PROGRAM, log=file)         # as subprocess.Popen
    codes = run_together(PROGRAM, log=file)            # as torchrun --nproc_per_node 2
    python = stand_in(folder)                          # for launchers: what they start in place of the interpreter
"""

import array
import atexit
import functools
import gc
import hashlib
import importlib
import importlib.util
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 8
"""Bytes that say how long a message is."""
NOT_IMPORTED = {"WORLD_SIZE", "RANK", "LOCAL_RANK"}
IMPORTED_LATE = (
    "accelerate",
    "inspect_ai.model",
    "inspect_ai.solver",
    "openai",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "transformers.models.llama.modeling_llama",
)
"""What programs import when they first need it, which takes seconds."""


class Started:
    """A program that runs; what `subprocess.Popen` offers, as far as the tests need it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = int.from_bytes(_exactly(connection, LENGTH), "big")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or minus the signal that ended it; None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code once it has ended."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing happens where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                status = _exactly(self._connection, LENGTH)
            except (TimeoutError, BlockingIOError):
                return None
            self.returncode = int.from_bytes(status, "big", signed=True)
            self._connection.close()
        return self.returncode


def start_program(
    program: Path | str,
    *arguments: object,
    log: IO[Any] | None = None,
    stdin: IO[Any] | None = None,
    env: dict[str, str] | None = None,
) -> Started:
    """Run `python program arguments` and return while it runs; both outputs go to `log`, if anywhere."""
    with open(os.devnull, "r+b") as nothing:
        file = (log or nothing).fileno()
        return _started([str(program), *map(str, arguments)], (stdin or nothing).fileno(), file, file, env)


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
        told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": str(n)}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(n)} for rank in range(n)]
    return [start_program(program, *arguments, log=log, env=env | told | rank) for rank in ranks]


def run_program(
    program: Path | str,
    *arguments: object,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    root: Path = ROOT,
    drawn: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `python program arguments` to its end; `-m` and a module may stand for the program.

    Args:
        root: the project whose packages it imports: this one, or a copy of it.
        drawn: whether its figures are laid out and drawn; otherwise they are blank.
    """
    command = [str(program), *map(str, arguments)]
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _started(command, nothing.fileno(), out.fileno(), err.fileno(), env, cwd, root, drawn).wait(600)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    return subprocess.CompletedProcess([sys.executable, *command], code, *said)


def stand_in(folder: Path) -> Path:
    """An executable that runs `-u program arguments` as python does; the program ends when it is killed."""
    _server(ROOT)
    file = folder / "python"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{__file__}" "{_address(ROOT)}" "$@"\n', encoding="utf-8")
    file.chmod(0o755)
    return file


def _started(
    command: list[str],
    given: int,
    out: int,
    err: int,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    root: Path = ROOT,
    drawn: bool = False,
) -> Started:
    _server(root)
    return Started(_asked(_address(root), command, [given, out, err], env, cwd, drawn=drawn))


def _asked(
    address: str,
    command: list[str],
    files: list[int],
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    **more: bool,
) -> socket.socket:
    """The connection over which come the program's process and how it ended."""
    request = {"command": command, "cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env)}
    connection = _connected(address)
    _send(connection, request | more, files)
    return connection


def _connected(address: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    return connection


def _address(root: Path) -> str:
    """Of the server that all processes of one test run share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    name = hashlib.sha256(f"{os.getuid()} {run} {root}".encode()).hexdigest()[:16]
    return str(Path(tempfile.gettempdir(), f"forks-{name}"))


@functools.cache
def _server(root: Path) -> socket.socket:
    """A connection to what takes requests, started if need be; it ends when all of these are closed."""
    from filelock import FileLock

    address, cache = _address(root), ROOT / ".pytest_cache"
    cache.mkdir(exist_ok=True)
    with FileLock(cache / "forks.lock"):
        try:
            kept = _connected(address)
        except OSError:
            _start_server(root, address)
            kept = _connected(address)
        _send(kept, {}, [])
    return kept


def _start_server(root: Path, address: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in NOT_IMPORTED}
    environment |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(root)}
    Path(address).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        subprocess.Popen(
            [sys.executable, root / Path(__file__).relative_to(ROOT), str(listening.fileno())],
            pass_fds=[listening.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
        )


# ---- on the other side ---------------------------------------------------------------------------------------------


def _import_packages() -> None:
    """All of the project's, with all that they import."""
    for package in ("onedial", "probes", "steering"):  # rooms import late, so their files are named one by one
        for file in sorted((ROOT / package).rglob("*.py")):
            if file.stem != "__main__":
                importlib.import_module(
                    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                )
    for name in IMPORTED_LATE:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)
    importlib.import_module("blank")
    gc.collect()
    gc.freeze()


def _serve(listening: socket.socket) -> list[str] | None:
    """Answer requests until nobody is there who could ask; in the process of a program, its command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    there: list[socket.socket] = []
    while True:
        ready, _, _ = select.select([listening, *there], [], [])
        for gone in there:
            if gone in ready:
                gone.close()
        there = [one for one in there if one not in ready]
        if listening not in ready:
            if not there:
                os.unlink(listening.getsockname())
                return None
            continue
        connection, _ = listening.accept()
        request, files = _receive(connection)
        if not request:
            there.append(connection)
        elif os.fork() == 0:  # waits for the program, so that the server need not
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (listening, *there):
                one.close()
            pid = os.fork()
            if pid == 0:
                connection.close()
                return _become(request, files)
            connection.sendall(pid.to_bytes(LENGTH, "big"))
            if request.get("tied"):
                _end_with(connection, pid)
            _, status = os.waitpid(pid, 0)
            connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(LENGTH, "big", signed=True))
            os._exit(0)
        else:
            connection.close()
        for file in files:
            os.close(file)


def _end_with(connection: socket.socket, pid: int) -> None:
    """Wait for the end of the process, which is killed when nobody listens any more."""
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if select.select([connection], [], [], 0.02)[0]:
            os.kill(pid, signal.SIGKILL)
            os._exit(0)


def _become(request: dict[str, Any], files: list[int]) -> list[str]:
    """Take over the program's files, place, environment and signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    if not request.get("drawn"):
        importlib.import_module("blank").draw_nothing()
    return request["command"]


def _run(command: list[str]) -> object:
    """As the interpreter does it: the program's folder stands first in the path. What the program exits with."""
    try:
        _run_as_main(command)
    except SystemExit as ended:
        return ended.code
    return None


def _end(code: object) -> NoReturn:
    """As the interpreter does it, but that nothing is taken apart: that would copy all that the server has imported."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


def _run_as_main(command: list[str]) -> None:
    if command[0] == "-m":
        sys.argv = command[1:]
        sys.modules.pop(command[1], None)
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        sys.path[0] = str(Path(command[0]).resolve().parent)
        runpy.run_path(command[0], run_name="__main__")


# ---- messages ------------------------------------------------------------------------------------------------------


def _send(connection: socket.socket, request: dict[str, Any], files: list[int]) -> None:
    body = json.dumps(request).encode()
    handed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
    connection.sendmsg([len(body).to_bytes(LENGTH, "big")], handed)
    connection.sendall(body)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    length, files, _, _ = socket.recv_fds(connection, LENGTH, 8)
    return json.loads(_exactly(connection, int.from_bytes(length, "big"))), files


def _exactly(connection: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        more = connection.recv(n - len(data))
        if not more:
            raise ConnectionError("the server of programs has ended")
        data += more
    return data


if __name__ == "__main__":
    if len(sys.argv) > 2:  # in place of the interpreter
        running = Started(_asked(sys.argv[1], [word for word in sys.argv[2:] if word != "-u"], [0, 1, 2], tied=True))
        code = running.wait()
        sys.exit(code if code >= 0 else 128 - code)
    _import_packages()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        command = _serve(asked)
    if command is not None:
        _end(_run(command))
