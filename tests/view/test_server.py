"""The viewer as a server: whom it answers, what it lets a page do, and how it begins and ends."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from tiny_experiment import ROOT, alone, call  # noqa: F401

from onedial.view.application import Answer
from onedial.view.server import bound

VIEW = ROOT / "experiments" / "view.py"


@contextmanager
def answering(answer):
    """A server on a port of its own, in a thread."""
    with bound("127.0.0.1", 0) as server:
        server.viewer = SimpleNamespace(answer=answer)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def asked(port, method="GET", path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response, response.read()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:80", 200),
        ("[::1]:80", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
    ],
)
def test_only_a_request_that_names_this_machine_is_answered(host, status):
    paths = []
    with answering(lambda path: paths.append(path) or Answer(b"page")) as port:
        response, body = asked(port, Host=host)
    assert response.status == status
    assert (body == b"page") == (status == 200)
    assert len(paths) == (status == 200)


def test_a_page_may_run_the_viewers_own_scripts_and_ask_nobody_else():
    with answering(lambda path: Answer(path.encode())) as port:
        response, body = asked(port, path="/run/a%2Fb/table?name=%3Cscript%3E")
    assert body == b"/run/a%2Fb/table?name=%3Cscript%3E"
    policy = dict(part.strip().split(" ", 1) for part in response.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert policy["form-action"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_nothing_else_can_be_sent_to_it():
    with answering(lambda path: Answer(b"")) as port:
        assert asked(port, "DELETE")[0].status == asked(port, "POST")[0].status == 501
        assert asked(port, "HEAD")[1] == b""


@pytest.mark.launched
def test_ctrl_c_ends_it_without_a_word_too_many(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", str(VIEW), str(tmp_path), "--port", str(port)]
    environment = alone(PYTHONPATH=str(ROOT))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    def hear_ctrl_c():  # which what a shell starts in the background does not
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, env=environment, preexec_fn=hear_ctrl_c, **pipes) as program:
        assert program.stdout.readline() == f"{tmp_path} at http://127.0.0.1:{port}/ (Ctrl-C ends)\n"
        assert b"No runs in" in asked(port)[1]
        os.kill(program.pid, signal.SIGINT)
        try:
            out, err = program.communicate(timeout=60)
        finally:
            program.kill()
    assert (program.returncode, out, err) == (130, "", "interrupted\n")
