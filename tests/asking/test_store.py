"""Tests asked one after another: every attempt is kept, no answer is paid twice, no budget is passed."""

import errno
import importlib.util
import math
import os
import signal
import time
from itertools import islice

import pandas as pd
import pytest
from fake_server import FakeServer
from forks import start_program
from tiny_experiment import ROOT, alone

from onedial.asking.instruments import CAN_YOU_ANSWER
from onedial.asking.providers.costs import Price
from onedial.asking.providers.provider_reading import response_of
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.respondents import Identity, answers_in_order
from onedial.asking.store import ANSWERS, Store, read_lines
from onedial.core.errors import InputError
from onedial.studies.bill import prices_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra"
)
PROGRAM = ROOT / "experiments" / "ask.py"
PROMPTS = [CAN_YOU_ANSWER.prompt(f"What is {i} + {i}?") for i in range(12)]
A_TOKEN = {"tiny": Price(0.0, 1e6)}


def opened(file, limit=None, prices=A_TOKEN):
    return Store(file, prices, limit)


def ask(store, server, occasion="test", prompts=PROMPTS, sample=0, **settings):
    model = ProviderModel("tiny", server=server.url, max_tokens=16, **settings)
    with store.occasion(occasion):
        return answers_in_order(store.respondent("tiny", model, sample), prompts, CAN_YOU_ANSWER)


def test_what_was_answered_is_not_asked_again(tmp_path):
    """What was answered before a break is not asked again and comes back as it was."""
    shown = {"Yes": 0.7, "No": 0.2}

    def slowly(body):
        time.sleep(0.1)  # else all are answered before the break
        return "Yes"

    with FakeServer(slowly, logprobs=lambda body: shown) as server:
        model = ProviderModel("tiny", server=server.url, max_tokens=16, connections=1)
        store = opened(tmp_path / ANSWERS)
        with store.occasion("test"):
            first = list(islice(store.respondent("tiny", model).answer(PROMPTS, CAN_YOU_ANSWER), 3))
        n_answered = len(Store(tmp_path / ANSWERS).lines())
        n_asked = server.n_asked
        again = ask(opened(tmp_path / ANSWERS), server)
        n_late = server.n_asked - n_asked - (len(PROMPTS) - n_answered)
        assert 0 < n_answered < len(PROMPTS)
        assert n_late in (0, 1)  # what was under way may come to the server late
    for response in first:
        kept = again[response.place]
        for name in ("value", "said_yes", "margin", "mass", "probabilities", "raw_text", "answered_at", "tokens_out"):
            assert getattr(kept, name) == getattr(response, name), name
        assert math.isnan(kept.stated)
    assert [each.place for each in again] == list(range(12))


def test_models_of_one_name_share_no_answer(tmp_path):
    """Two models of one name with other weights or settings share no answer."""

    class Local:
        def __init__(self, says, *identity):
            self.says, self.identity, self.n_asked = says, Identity("tiny", *identity), 0

        def answer(self, prompts, instrument):
            self.n_asked += len(prompts)
            return (response_of(instrument, self.says, True, [], place=place) for place in range(len(prompts)))

    models = [Local("Yes", "aa"), Local("No", "bb"), Local("No", "aa", "v at +1")]
    for start in range(2):
        store = Store(tmp_path / ANSWERS)
        given = [list(store.respondent("tiny", each).answer(PROMPTS, CAN_YOU_ANSWER)) for each in models]
        assert [{each.said_yes for each in answers} for answers in given] == [{True}, {False}, {False}]
        assert [each.n_asked for each in models] == [len(PROMPTS)] * 3, start


def test_another_occasion_or_sample_is_asked_anew(tmp_path):
    """The same prompt is asked anew on another occasion for another sample and as often as it is asked."""
    with FakeServer(lambda body: "Yes") as server:
        for _ in range(2):
            store = opened(tmp_path / ANSWERS)
            ask(store, server, "first", PROMPTS[:1] * 3)
            assert server.n_asked == 3
        ask(store, server, "second", PROMPTS[:1])
        ask(store, server, "first", PROMPTS[:1], sample=1)
        ask(store, server, "first", PROMPTS[:1])
        assert server.n_asked == 6


# ---- the file ------------------------------------------------------------------------------------------------------


class Says:
    """A respondent of this machine that says the same to everything."""

    identity = Identity("says")

    def __init__(self, text):
        self.text, self.n_asked = text, 0

    def answer(self, prompts, instrument):
        self.n_asked += len(prompts)
        for place, _ in enumerate(prompts):
            yield response_of(instrument, self.text, True, [], place=place)


def said(store, text, n=1):
    return answers_in_order(store.respondent("says", Says(text)), PROMPTS[:n], CAN_YOU_ANSWER)


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\u0085", "\x1cb\x0cc\x0bd", "\r\nb\rc", "😀 naïve", "\ud800"])
def test_no_character_of_an_answer_ends_its_line(tmp_path, end):
    """No character of an answer ends its line and half a character is a replacement mark."""
    said(Store(tmp_path / ANSWERS), f"Yes{end}")
    (line,) = Store(tmp_path / ANSWERS).lines()
    assert line["raw_text"] == f"Yes{end}".replace("\ud800", "\ufffd")


def test_every_beginning_of_the_file_can_be_gone_on_with(tmp_path):
    """Every beginning of the file gives the answers that are whole in it and can be gone on with."""
    store = Store(tmp_path / ANSWERS)
    for n in range(1, 4):
        said(store, "Yes\u2028\n" * n)
    data = (tmp_path / ANSWERS).read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for cut in range(0, len(data) + 1, 7):
        (tmp_path / "cut").write_bytes(data[:cut])
        assert len(read_lines(tmp_path / "cut")) == sum(end <= cut for end in ends)
    (tmp_path / "cut").write_bytes(data[: ends[1] + 5])
    again = Store(tmp_path / "cut")
    texts = [said(again, "No")[0].raw_text for _ in range(4)]
    assert texts == ["Yes\u2028\n", "Yes\u2028\n" * 2, "No", "No"]
    assert len(Store(tmp_path / "cut").lines()) == 4


def test_a_damaged_line_is_named_by_its_number(tmp_path):
    store = Store(tmp_path / ANSWERS)
    for text in ("Yes", "No", "Maybe"):
        said(store, text)
    data = (tmp_path / ANSWERS).read_bytes()
    (tmp_path / ANSWERS).write_bytes(data.replace(b'"raw_text": "No"', b'"raw_text" "No"'))
    with pytest.raises(InputError, match="line 2"):
        Store(tmp_path / ANSWERS)


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_of_answers_that_a_disk_refused_nothing_stays(tmp_path, monkeypatch, call):
    monkeypatch.setattr("onedial.asking.store._SYNCED_EVERY", 0.0)
    store, write = Store(tmp_path / ANSWERS), os.write
    said(store, "Yes")

    def fails(descriptor, data=b""):
        write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, call, fails)
        with pytest.raises(OSError, match=r"No space left.*answers"):
            said(store, "No")
    assert [line["raw_text"] for line in Store(tmp_path / ANSWERS).lines()] == ["Yes"]


def test_what_is_asked_together_is_asked_again_whole(tmp_path):
    """Of a model on this machine what is asked together is asked again whole where a part is missing."""
    said(Store(tmp_path / ANSWERS), "Yes", n=3)
    data = (tmp_path / ANSWERS).read_bytes()
    (tmp_path / ANSWERS).write_bytes(data[: data.rfind(b"\n", 0, -1) + 1])
    says = Says("No")
    given = answers_in_order(Store(tmp_path / ANSWERS).respondent("says", says), PROMPTS[:3], CAN_YOU_ANSWER)
    assert (says.n_asked, [each.raw_text for each in given]) == (3, ["No"] * 3)
    again = Says("Maybe")
    given = answers_in_order(Store(tmp_path / ANSWERS).respondent("says", again), PROMPTS[:3], CAN_YOU_ANSWER)
    assert (again.n_asked, [each.raw_text for each in given]) == (0, ["No"] * 3)


# ---- programs ------------------------------------------------------------------------------------------------------


def answer(body):
    asked = body["messages"][-1]["content"]
    if "Reply with the letter" in asked:
        return "A"
    if asked.startswith("Name 5 words"):
        return "water, ship, blue"
    return "Q2, Q1, Q4, Q3" if "Order them" in asked else "No"


@pytest.mark.launched
def test_a_killed_program_keeps_to_its_budget(tmp_path, call):
    """A program that is killed keeps to its budget and asks for the rest alone."""
    out = tmp_path / "run"
    with FakeServer(answer, seconds=0.05) as server:
        name = f"tiny@{server.url}"
        options = ["--model", name, "--n-questions", "4", "--out", out, "--prices", f"{name}=0/1000000"]
        running = start_program(PROGRAM, "predict", *options, "--budget", "1e6", env=alone())
        while server.n_asked < 6 and running.poll() is None:
            time.sleep(0.01)
        running.kill()
        assert running.wait(60) == -signal.SIGKILL
        ended = call(PROGRAM, "predict", *options, "--budget", "600", "--resume")
        assert ended.code == 2
        assert "the budget of 600 would have been passed" in ended.err
        ended = call(PROGRAM, "predict", *options, "--budget", "1e6", "--resume")
        assert ended.code == 0, ended.err
        attempts = Store(out / ANSWERS).attempts()
        assert len(attempts) >= server.n_asked  # some had not reached the server when the kill came
        costs = pd.read_csv(out / "costs.csv").iloc[-1]
    n_unknown = attempts["outcome"].eq("unknown").sum()
    assert (costs["calls"], costs["unknown"]) == (len(attempts), n_unknown)
    whole = Store(out / ANSWERS).lines()
    with FakeServer(answer) as server:
        plain = tmp_path / "plain"
        assert call(PROGRAM, "predict", "--model", f"tiny@{server.url}", "--n-questions", "4", "--out", plain).code == 0
        assert server.n_asked == len(whole)
    for table in ("association", "restriction", "difficulty"):
        unbroken, broken = (pd.read_csv(folder / f"{table}.csv").drop(columns="model") for folder in (plain, out))
        pd.testing.assert_frame_equal(unbroken, broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "5"], "--budget needs the price of openai:m; give it as --prices MODEL=IN/OUT"),
        (["--budget", "0"], "give a number above 0"),
        (["--prices", "openai:m=3"], "is no price; write MODEL=IN/OUT"),
        (["--prices", "openai:m=-1/2"], "is no price; write MODEL=IN/OUT"),
        (["--prices", "openai:other=1/2"], "which is none of the providers' models of --model"),
    ],
)
def test_a_budget_that_cannot_hold_is_refused_before_anybody_is_asked(call, tmp_path, options, message):
    for word in ("battery", "questionnaire", "predict"):
        ended = call(PROGRAM, word, "--model", "openai:m", *options, "--out", tmp_path / "run")
        assert ended.code == 2
        assert message in ended.err
    assert not (tmp_path / "run").exists()


def test_a_budget_for_models_that_cost_nothing_is_refused(call, tmp_path):
    ended = call(PROGRAM, "battery", "--model", "smollm2-135m-instruct", "--budget", "5", "--out", tmp_path / "run")
    assert "nobody of those asked costs money" in ended.err
    assert not (tmp_path / "run").exists()


def test_names_of_models_may_hold_what_separates_prices_otherwise():
    result = prices_of("a/b@http://127.0.0.1:1/v1=1/2, openai:gpt-4.1-mini=0.4/1.6")
    assert result == {"a/b@http://127.0.0.1:1/v1": Price(1, 2), "openai:gpt-4.1-mini": Price(0.4, 1.6)}
    with pytest.raises(InputError):
        prices_of("m=1/nan")
