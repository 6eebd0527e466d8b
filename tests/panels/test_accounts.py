"""Tests asked one after another: every attempt is in the ledger, no answer is paid twice, no budget is passed."""

import importlib.util
import math
import signal
import time
from itertools import islice

import pandas as pd
import pytest
from fake_server import FakeServer
from forks import start_program
from tiny_experiment import ROOT, alone, call

from onedial.asking import CAN_YOU_ANSWER, ProviderModel, answers_in_order
from onedial.core import LEDGER, InputError, read_ledger
from onedial.panels import Bill, Price
from onedial.studies.bill import prices_of

__all__ = ["call"]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra"
)
PROGRAM = ROOT / "experiments" / "ask.py"
PROMPTS = [CAN_YOU_ANSWER.prompt(f"What is {i} + {i}?") for i in range(12)]
A_TOKEN = {"tiny": Price(0.0, 1e6)}


def opened(file, limit=None, prices=A_TOKEN):
    bill = Bill(prices, limit)
    bill.opens(file)
    return bill


def ask(bill, server, occasion="test", prompts=PROMPTS, sample=0, **settings):
    model = ProviderModel("tiny", server=server.url, max_tokens=16, **settings)
    with bill.occasion(occasion):
        return answers_in_order(bill.respondent("tiny", model, sample), prompts, CAN_YOU_ANSWER)


def test_what_was_answered_before_a_break_is_not_asked_again_and_comes_back_as_it_was(tmp_path):
    shown = {"Yes": 0.7, "No": 0.2}
    with FakeServer(lambda body: "Yes", logprobs=lambda body: shown) as server:
        model = ProviderModel("tiny", server=server.url, max_tokens=16, connections=1)
        bill = opened(tmp_path / LEDGER)
        with bill.occasion("test"):
            first = list(islice(bill.respondent("tiny", model).answer(PROMPTS, CAN_YOU_ANSWER), 3))
        n_answered = sum("response" in each for each in read_ledger(tmp_path / LEDGER))
        n_asked = server.n_asked
        again = ask(opened(tmp_path / LEDGER), server)
        assert server.n_asked - n_asked == len(PROMPTS) - n_answered < len(PROMPTS)
    for response in first:
        kept = again[response.place]
        for name in ("value", "said_yes", "margin", "mass", "probabilities", "raw_text", "answered_at", "tokens_out"):
            assert getattr(kept, name) == getattr(response, name), name
        assert math.isnan(kept.stated)
    assert [each.place for each in again] == list(range(12))


def test_the_same_prompt_is_asked_anew_on_another_occasion_for_another_sample_and_as_often_as_it_is_asked(tmp_path):
    with FakeServer(lambda body: "Yes") as server:
        for _ in range(2):
            bill = opened(tmp_path / LEDGER)
            ask(bill, server, "first", PROMPTS[:1] * 3)
            assert server.n_asked == 3
        ask(bill, server, "second", PROMPTS[:1])
        ask(bill, server, "first", PROMPTS[:1], sample=1)
        ask(bill, server, "first", PROMPTS[:1])
        assert server.n_asked == 6


def answer(body):
    asked = body["messages"][-1]["content"]
    if "Reply with the letter" in asked:
        return "A"
    if asked.startswith("Name 5 words"):
        return "water, ship, blue"
    return "Q2, Q1, Q4, Q3" if "Order them" in asked else "No"


@pytest.mark.launched
def test_a_program_that_is_killed_keeps_to_its_budget_and_asks_for_the_rest_alone(tmp_path, call):
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
        attempts = read_ledger(out / LEDGER)
        assert len(attempts) >= server.n_asked  # some had not reached the server when the kill came
        costs = pd.read_csv(out / "costs.csv").iloc[-1]
    n_unknown = sum("ended" not in each for each in attempts)
    assert (costs["calls"], costs["unknown"]) == (len(attempts), n_unknown)
    whole = sorted((each["occasion"], each["asked"]) for each in attempts if each.get("outcome") == "answered")
    with FakeServer(answer) as server:
        plain = tmp_path / "plain"
        assert call(PROGRAM, "predict", "--model", f"tiny@{server.url}", "--n-questions", "4", "--out", plain).code == 0
        assert server.n_asked == len(whole)
    for table in ("association", "restriction", "difficulty"):
        unbroken, broken = (pd.read_csv(folder / f"{table}.csv").drop(columns="model") for folder in (plain, out))
        pd.testing.assert_frame_equal(unbroken, broken)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--budget", "5"], "--budget needs the price of openai:m; give it as --prices openai:m=IN/OUT"),
        (["--budget", "0"], "give a number above 0"),
        (["--prices", "openai:m=3"], "is no price; write MODEL=IN/OUT"),
        (["--prices", "openai:m=-1/2"], "is no price; write MODEL=IN/OUT"),
        (["--prices", "openai:other=1/2"], "which is none of the providers' models of --model"),
    ],
)
def test_a_budget_that_cannot_hold_is_refused_before_anybody_is_asked(call, tmp_path, options, said):
    for word in ("battery", "questionnaire", "predict"):
        ended = call(PROGRAM, word, "--model", "openai:m", *options, "--out", tmp_path / "run")
        assert ended.code == 2
        assert said in ended.err
        local = ["--model", "smollm2-135m-instruct", "--budget", "5", "--out", tmp_path / "run"]
        assert "names no model that costs money" in call(PROGRAM, word, *local).err
    assert not (tmp_path / "run").exists()


def test_names_of_models_may_hold_what_separates_prices_otherwise():
    found = prices_of("a/b@http://127.0.0.1:1/v1=1/2, openai:gpt-4.1-mini=0.4/1.6")
    assert found == {"a/b@http://127.0.0.1:1/v1": Price(1, 2), "openai:gpt-4.1-mini": Price(0.4, 1.6)}
    with pytest.raises(InputError):
        prices_of("m=1/nan")
