"""The viewer as a server of the standard library: it has one reader, on this machine, and answers GET alone, for which
`http.server` with a thread per request is enough. A framework would bring three packages for the sixty lines below.

A page elsewhere may send a browser here under a name of its own (DNS rebinding); only requests that name this machine
by a number, as localhost, or as it was told to be called are answered.
"""

import ipaddress
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from onedial.core.errors import InputError

if TYPE_CHECKING:
    from onedial.view.application import Answer, Viewer

PORT, TRIED = 7575, 20
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def serve(folder: Path, host: str, port: int | None, tell: Callable[[str], None]) -> None:
    """Answer until interrupted.

    Args:
        port: None for the first free one from `PORT` on. tell: is told the address, before anything is read.

    Raises:
        InputError: the port or address cannot be had.
    """
    with bound(host, port) as server:
        shown = f"[{host}]" if ":" in host else host
        tell(f"{folder} at http://{shown}:{server.server_port}/ (Ctrl-C ends)")
        from onedial.view.application import Viewer
        from onedial.view.runs import RunFolder

        server.viewer = Viewer(RunFolder(folder))
        server.serve_forever()


def bound(host: str, port: int | None) -> "_Server":
    """A server that listens.

    Raises:
        InputError: the port is taken, or this machine has no such address.
    """
    for tried in range(PORT, PORT + TRIED) if port is None else [port]:
        try:
            return _Server((host, tried), _Handler)
        except (OSError, OverflowError) as error:
            last = error
    which = f"port {port}" if port is not None else f"none of the ports {PORT} to {PORT + TRIED - 1}"
    raise InputError(f"{which} of {host} can be had ({last}); give another --port or --host")


def is_ours(host_header: str, host: str) -> bool:
    """Whether a request's Host names this machine so that no other page can have had a hand in it.

    >>> [is_ours(name, "127.0.0.1") for name in ("127.0.0.1:80", "localhost", "[::1]:7575", "evil.example:7575", "")]
    [True, True, True, False, False]
    """
    name = host_header.rpartition(":")[0] if host_header.rpartition(":")[2].isdigit() else host_header
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return bool(name) and name.lower() in ("localhost", host.lower())
    return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    viewer: "Viewer"

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.one_at_a_time = threading.Lock()
        self.host = address[0]
        if ":" in self.host:
            self.address_family = socket.AF_INET6
        super().__init__(address, handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went on does not wait for the page before."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "onedial", ""

    def do_GET(self) -> None:
        """Answer with a page."""
        if self._is_for_us():
            with self.server.one_at_a_time:
                answer = self.server.viewer.answer(self.path)
            self._send(answer)

    def _is_for_us(self) -> bool:
        if is_ours(self.headers.get("Host", ""), self.server.host):
            return True
        self.send_error(403, "this viewer answers to the address that it told, and to no other name")
        return False

    def _send(self, answer: "Answer") -> None:
        self.send_response(answer.status)
        told = {"Content-Type": answer.kind, "Content-Length": str(len(answer.body))}
        if answer.name:
            told["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(answer.name, safe='')}"
        for name, value in (told | _HEADERS | {"Content-Security-Policy": answer.policy}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told of a request."""
