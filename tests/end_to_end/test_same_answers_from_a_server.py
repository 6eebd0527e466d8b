"""The embedded model behind a real server gives the answers that it gives here."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace

import pytest
from tiny_experiment import alone

from onedial.asking.instruments import CAN_YOU_ANSWER, TextReader
from onedial.asking.prompts import FRAMINGS
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.providers.providers import ProviderRespondent
from onedial.asking.respondents import answers_in_order
from onedial.asking.yes_no import parse_direct_yes_no
from onedial.models.model import load_model
from onedial.models.respondent import LocalRespondent
from onedial.panels.questions.question_files import load_questions

NEEDED = ("inspect_ai", "openai", "fastapi", "uvicorn", "multipart")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.launched,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in NEEDED),
        reason="onedial[providers], fastapi, uvicorn or python-multipart is missing",
    ),
]
N, OF_EACH = 24, 4


def said(text):
    value = parse_direct_yes_no(text)
    return None if value is None else float(value)


# Written out, after the user's turn alone: a server of chats is sent no beginning of the answer.
SPOKEN = replace(
    CAN_YOU_ANSWER,
    template=replace(FRAMINGS["examples YN"], assistant_prefix=""),
    reader=TextReader(said, max_new_tokens=6, trim=str),
)


@pytest.fixture(scope="module")
def model():
    return load_model("smollm2-135m-instruct", dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def served(model, tmp_path_factory):
    """`transformers serve` with the very weights; its address and the name under which it knows them."""
    folder = tmp_path_factory.mktemp("served") / "smollm2"
    model.hf.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "transformers.cli.transformers", "serve", "--host", "127.0.0.1"]
    program += ["--port", str(port), "--device", "cpu", "--dtype", "float32", str(folder)]
    with open(folder.parent / "server.log", "wb") as log:
        server = subprocess.Popen(program, env=alone() | {"PYTHONPATH": ""}, stdout=log, stderr=log)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2)
                break
            except OSError:
                if server.poll() is not None:
                    pytest.fail((folder.parent / "server.log").read_text()[-2000:])
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_the_same_questions_get_the_same_yes_or_no(model, served):
    """A few of each answer, unread ones too, are asked of the server, which takes a second for each."""
    server, name = served
    prompts = [SPOKEN.prompt(question.text) for question in load_questions("embedded", N)]
    here = [each.value for each in answers_in_order(LocalRespondent(model), prompts, SPOKEN)]
    few = [n for value in {*here} for n in [n for n in range(N) if here[n] == value][:OF_EACH]]
    assert len({here[n] for n in few}) > 1
    settings = ProviderModel(name, server=server, temperature=0, max_tokens=6, connections=2, retries=1)
    there = answers_in_order(ProviderRespondent(settings), [prompts[n] for n in few], SPOKEN)
    assert [each.error for each in there] == [""] * len(few)
    assert [each.value for each in there] == [here[n] for n in few]
    assert all(os.path.basename(name) in each.served_model for each in there)
