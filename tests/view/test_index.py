"""The list of runs: every run with its state and headline, whatever its texts are, and only for this machine."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from html import escape

import pytest
from tiny_experiment import ROOT, alone

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.view.index import runs_below, server_of, write_index

HOSTILE = "</script><script>window.hacked = 1</script>"
ODD = "a <b>run<b> of $x \"q\" 'é' 100% #1?&=+"


@pytest.fixture
def folder(tmp_path):
    """Runs that are finished, running, interrupted and damaged, and what is no run."""
    with Run.create(tmp_path / "group" / ODD, "fit_factor", {"model": HOSTILE}) as finished:
        finished.record(sentence=f"Not reproduced: {HOSTILE}.")
        (finished.path / "report.html").write_text("the report", encoding="utf-8")
    with pytest.raises(InputError), Run.create(tmp_path / "broken", "fit_factor", {}) as run, run.stage("fit"):
        raise InputError("the panel holds one model; give two")
    Run.create(tmp_path / "wrong", "fit_factor", {}).release()
    (tmp_path / "wrong" / "manifest.json").write_text("{", encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "away").symlink_to(ROOT)
    running = Run.create(tmp_path / "live", "steer_sweep", {})
    yield tmp_path
    running.release()


def test_each_run_has_state_headline_and_link(folder):
    listed = {run.name: run for run in runs_below(folder)}
    assert {name: run.state for name, run in listed.items()} == {
        f"group/{ODD}": "finished",
        "live": "running",
        "broken": "interrupted",
        "wrong": "unreadable",
    }
    assert HOSTILE in listed[f"group/{ODD}"].headline
    assert "the panel holds one model" in listed["broken"].headline
    page = write_index(folder).read_text("utf-8")
    assert HOSTILE not in page
    assert escape(HOSTILE) in page or escape(HOSTILE, quote=False) in page
    assert all(f'href="{run.link}"' in page for run in listed.values())


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:80", 200), ("[::1]:80", 200), ("evil.example", 403), ("127.0.0.1.evil.eu", 403)],
)
def test_only_a_request_that_names_this_machine_is_answered(folder, host, status):
    with server_of(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
        connection.request("GET", "/", headers={"Host": host})
        response = connection.getresponse()
        page = response.read().decode()
        report = next(run.link for run in runs_below(folder) if run.state == "finished")
        connection.request("GET", f"/{report}")
        linked = connection.getresponse().read()
        server.shutdown()
        thread.join()
    assert response.status == status
    assert ("group/" in page) == (status == 200)
    assert linked == b"the report"


@pytest.mark.launched
def test_ctrl_c_ends_it(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", str(ROOT / "experiments" / "view.py"), str(tmp_path), "--port", str(port)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    def hear_ctrl_c():  # which what a shell starts in the background does not
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, env=alone(PYTHONPATH=str(ROOT)), preexec_fn=hear_ctrl_c, **pipes) as program:
        assert f"http://127.0.0.1:{port}/" in program.stdout.readline()
        os.kill(program.pid, signal.SIGINT)
        try:
            _, errors = program.communicate(timeout=60)
        finally:
            program.kill()
    assert (program.returncode, errors) == (130, "interrupted\n")
