"""An OpenAI-compatible server on loopback whose answers and faults a test chooses; there is no model behind it.

with FakeServer(lambda asked: "Yes") as server:
    ... server.url, server.asked ...
"""

import contextlib
import json
import math
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fault:
    """An answer that is none: a status (0 closes the connection), and what stands in the body and the headers.

    A header that says where the body ends is believed, and the connection is closed after it. `seconds` pass until the
    last byte has come, one after the other.
    """

    status: int
    body: str | bytes = '{"error": {"message": "out of order"}}'
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


Answer = str | Fault
Answering = Callable[[dict[str, Any]], Answer]


class FakeServer:
    """Answers `POST /v1/chat/completions` with what `answering` says to the request's body.

    Args:
        model: the name under which it says that it answered; by default the one that was asked for.
        logprobs: the likeliest first tokens and their probabilities, given to whoever asks for them.
        key: where given, any other key is refused by 401.
        seconds: how long each answer takes.
        port: by default a free one; a given one lets a server come back where it was.
    """

    def __init__(
        self,
        answering: Answering,
        *,
        model: str | None = None,
        fingerprint: str | None = None,
        logprobs: Callable[[dict[str, Any]], dict[str, float]] | None = None,
        key: str | None = None,
        seconds: float = 0.0,
        port: int = 0,
        keep: bool = True,
    ) -> None:
        self.answering, self.model, self.fingerprint, self.logprobs = answering, model, fingerprint, logprobs
        self.key, self.seconds, self.keep = key, seconds, keep
        self.asked: list[dict[str, Any]] = []
        self.n_asked = 0
        self.gone = False
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                if outer.gone:  # connections that are kept open would be answered on
                    self.close_connection = True
                    return
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # who asked has gone
                    self._send(outer.reply(body, self.headers.get("Authorization", "")))

            def _send(self, reply: Fault) -> None:
                if reply.status == 0:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                data = reply.body.encode() if isinstance(reply.body, str) else reply.body
                self.close_connection = bool({"Content-Length", "Transfer-Encoding"} & reply.headers.keys())
                ending = {} if self.close_connection else {"Content-Length": str(len(data))}
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **ending, **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for start in range(len(data)) if reply.seconds else ():
                    time.sleep(reply.seconds / len(data))
                    self.wfile.write(data[start : start + 1])
                self.wfile.write(b"" if reply.seconds else data)

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                if not isinstance(sys.exc_info()[1], ConnectionError | json.JSONDecodeError):  # a client was killed
                    super().handle_error(request, client_address)

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def reply(self, body: dict[str, Any], authorization: str) -> Fault:
        """The answer to one request."""
        with self._lock:
            self.n_asked += 1
            if self.keep:
                self.asked.append(body)
        if self.key is not None and authorization != f"Bearer {self.key}":
            wrong = {"error": {"message": f"Incorrect API key provided: {authorization}", "code": "invalid_api_key"}}
            return Fault(401, json.dumps(wrong))
        if self.seconds:
            time.sleep(self.seconds)
        answer = self.answering(body)
        return answer if isinstance(answer, Fault) else Fault(200, json.dumps(self._completion(body, answer)))

    def _completion(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        if self.logprobs is not None and body.get("logprobs"):
            top = [
                {"token": token, "logprob": math.log(share), "bytes": None}
                for token, share in self.logprobs(body).items()
            ]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
        n_in, n_out = sum(len(turn["content"].split()) for turn in body["messages"]), max(1, len(text.split()))
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": self.model or body["model"],
            "system_fingerprint": self.fingerprint,
            "choices": [choice],
            "usage": {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out},
        }

    def __enter__(self) -> "FakeServer":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.gone = True
        self._server.shutdown()
        self._server.server_close()


def question_of(body: dict[str, Any]) -> str:
    """The question that a request's last turn of the user holds."""
    text = [turn["content"] for turn in body["messages"] if turn["role"] == "user"][-1]
    return text.partition("Question: ")[2].partition("\n")[0]
