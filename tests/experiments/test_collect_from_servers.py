"""A panel from models behind servers: what is asked, what is kept, what goes on after a fault, what it costs."""

import importlib.util
import json
import signal
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from fake_server import FakeServer, Fault, question_of
from forks import start_program
from misbehaving_server import FAULTS, MisbehavingServer
from tiny_experiment import alone, run_here

from onedial.asking.store import ANSWERS, Store
from onedial.core.errors import InputError
from onedial.panels.collecting.judging import agreement
from onedial.panels.collecting.respondent_files import load_respondents
from onedial.panels.panel_files import load_panel

ROOT = Path(__file__).resolve().parents[2]
COLLECT = (ROOT / "experiments" / "panel.py", "collect")
CANARY = "sk-canary-5d2a9e71c3"
needs_inspect = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra (onedial[providers])"
)


def write_questions(path, n):
    rows = [{"id": f"q{i:03d}", "question": f"What is {i} + {i}?", "answers": [str(2 * i)]} for i in range(n)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_models(path, *entries, **more):
    import yaml

    path.write_text(yaml.safe_dump({"models": list(entries), "framings": ["neutral"]} | more))
    return path


def entry(server, name="tiny", **more):
    return {"model": name, "server": getattr(server, "url", server), "retries": 0, "closed_book": False} | more


def collect(folder, who, questions, *more):
    return run_here(*COLLECT, "--respondents", who, "--questions", questions, "--out", folder, *more)


def asked_about(server):
    return [question_of(body) for body in server.asked if "Question: " in body["messages"][-1]["content"]]


def even(body):
    """Yes to even numbers, and the sum itself when asked for it."""
    number = int(question_of(body).split()[2])
    return ("Yes" if number % 2 == 0 else "No") if "Yes or No" in body["messages"][-1]["content"] else str(2 * number)


# ---- the file of respondents -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"key": CANARY}, "gives for m key; it is no name of an environment variable"),
        ({"key": "AIzaSyCanary51"}, "gives for m key; it is no name of an environment variable"),
        ({"api_key": CANARY}, "gives for m the key 'api_key'; did you mean 'key'"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "the key 'base_url'; did you mean 'server'"),
        ({"temprature": 1}, "the key 'temprature'; did you mean 'temperature'"),
        ({"extra": "enable_thinking"}, "gives for m extra as 'enable_thinking'; write fields"),
        ({"top_logprobs": "many"}, "gives for m top_logprobs as 'many'; write a whole number"),
        ({"instrument": "sideways"}, "gives for m instrument as 'sideways'; write direct, reasoned, closed book"),
        ({"temperature": -1}, "gives for m temperature as -1; write a number from 0 on"),
        ({"samples": 0}, "gives for m samples as 0; write a whole number"),
        ({"server": f"http://me:{CANARY}@127.0.0.1:1/v1"}, "since logs would keep a name, a password or a query"),
        ({"server": f"http://127.0.0.1:1/v1?key={CANARY}"}, "since logs would keep a name, a password or a query"),
        ({"price": 3}, "gives for m price as 3; write {input: 0.25, output: 2.0}"),
        ({"dtype": "float32"}, "which a provider runs; leave it out"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_no_key_is_repeated(tmp_path, fields, complaint):
    who = write_models(tmp_path / "who.yaml", {"model": "m", "server": "http://x/v1"} | fields)
    with pytest.raises(InputError) as refused:
        load_respondents(who)
    assert complaint in str(refused.value)
    assert CANARY not in str(refused.value)
    assert "AIza" not in str(refused.value)


def test_one_model_may_be_asked_in_two_ways_under_names_that_differ(tmp_path):
    base = {"model": "lab/m", "provider": "openai"}
    who = write_models(tmp_path / "who.yaml", base, base | {"instrument": "reasoned"}, base | {"name": "m hot"})
    models = load_respondents(who)
    names = [model.respondent(model.framings[0]) for model in models]
    assert names == ["m: neutral", "m: neutral, reasoned", "m hot: neutral"]
    assert {model.short_name for model in models} == {"m"}
    with pytest.raises(InputError, match="more than once; keep one, or give each a `name`"):
        load_respondents(write_models(tmp_path / "who.yaml", base, base))


# ---- the program -----------------------------------------------------------------------------------------------------


@needs_inspect
def test_two_servers_become_one_panel(tmp_path, capsys):
    """Two servers become one panel with grades samples and what they cost."""
    questions = write_questions(tmp_path / "q.jsonl", 6)
    with FakeServer(even, model="one-v2") as one, FakeServer(lambda body: "Hm.\nAnswer: No") as other:
        who = write_models(
            tmp_path / "who.yaml",
            entry(one, "one", closed_book=True, price={"input": 1.0, "output": 2.0}),
            entry(other, "other", instrument="reasoned", samples=2, temperature=1.0),
        )
        assert collect(tmp_path / "out", who, questions) == 0
        assert {body.get("temperature") for body in other.asked} == {1.0}
        n_asked = len(one.asked), len(other.asked)
    panel = load_panel(tmp_path / "out" / "panel.csv")
    assert list(panel.answers.columns) == ["one: neutral", "other: neutral, reasoned"]
    assert panel.answers["one: neutral"].tolist() == [1, 0, 1, 0, 1, 0]
    assert (panel.answers["other: neutral, reasoned"] == 0).all()
    assert panel.respondents["model"].tolist() == ["one", "other"]
    rows = panel.responses
    assert rows.groupby("respondent").size().to_dict() == {"one: neutral": 6, "other: neutral, reasoned": 12}
    assert rows.loc[rows["respondent"] == "one: neutral", "answered_correctly"].eq(1).all()
    assert set(rows.loc[rows["respondent"] == "one: neutral", "served_model"]) == {"one-v2"}
    assert n_asked == (6 + 6, 12)
    output = capsys.readouterr().out
    assert "what it did cost" in output


@needs_inspect
def test_a_second_start_asks_only_what_is_missing(tmp_path, capsys):
    """A second start asks only what failed or is missing and notices another model."""
    questions = write_questions(tmp_path / "q.jsonl", 5)

    def at_first(body):
        return Fault(400) if "3 + 3" in question_of(body) else even(body)

    with FakeServer(at_first, model="tiny-v1", fingerprint="fp_1") as server:
        who = write_models(tmp_path / "who.yaml", entry(server))
        assert collect(tmp_path / "out", who, questions) == 0
        port = server.port
    first = load_panel(tmp_path / "out" / "panel.csv")
    assert first.answers["tiny: neutral"].isna().tolist() == [False, False, False, True, False]
    assert "1 of 5 requests failed (1: 400 " in capsys.readouterr().out
    write_questions(tmp_path / "q.jsonl", 6)

    with FakeServer(even, model="tiny-v2", fingerprint="fp_2", port=port) as server:
        assert collect(tmp_path / "out", who, questions, "--resume") == 0
        assert sorted(asked_about(server)) == ["What is 3 + 3?", "What is 5 + 5?"]
    output = capsys.readouterr().out
    assert "tiny may have changed: the server calls it tiny-v1 (" in output
    assert "tiny may have changed: the server's fingerprint is fp_1 (" in output
    again = load_panel(tmp_path / "out" / "panel.csv").answers["tiny: neutral"]
    assert again.tolist() == [1, 0, 1, 0, 1, 0]
    assert "may have changed" in (tmp_path / "out" / "manifest.json").read_text()


@needs_inspect
def test_a_dry_run_asks_nobody_and_a_budget_is_never_passed(tmp_path, capsys):
    questions = write_questions(tmp_path / "q.jsonl", 40)
    price = {"input": 0.0, "output": 1_000_000.0}  # a unit of money for each token that is written
    with FakeServer(even) as server:
        who = write_models(tmp_path / "who.yaml", entry(server, price=price, max_tokens=3))
        assert collect(tmp_path / "out", who, questions, "--dry-run") == 0
        output = capsys.readouterr().out
        assert server.n_asked == 0
        assert not (tmp_path / "out").exists()
        assert "tiny: neutral" in output
        assert "40" in output
        assert collect(tmp_path / "out", who, questions, "--budget", "21.5") == 2
        capsys.readouterr()
        costs = pd.read_csv(tmp_path / "out" / "costs.csv")
        assert 15 < costs["money"].iloc[-1] <= 21.5
        assert len(pd.read_csv(tmp_path / "out" / "panel.csv")) < 40
        assert collect(tmp_path / "out", who, questions, "--resume", "--budget", "100") == 0
    assert len(pd.read_csv(tmp_path / "out" / "panel.csv")) == 40
    unpriced = write_models(tmp_path / "who.yaml", entry("http://127.0.0.1:1/v1"))
    assert collect(tmp_path / "other", unpriced, questions, "--budget", "1") == 2
    assert "--budget needs the price of tiny" in capsys.readouterr().err
    priced = entry("http://127.0.0.1:1/v1", price=price, closed_book=True)
    judged = write_models(tmp_path / "who.yaml", priced, judge=entry("http://127.0.0.1:1/v1", "judge-model"))
    assert collect(tmp_path / "other", judged, questions, "--budget", "1", "--judge", "all") == 2
    assert "--budget needs the price of judge-model: judge" in capsys.readouterr().err


@needs_inspect
def test_a_wrong_key_leaves_nothing_behind_and_is_not_repeated(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ONEDIAL_TEST_KEY", CANARY)
    questions = write_questions(tmp_path / "q.jsonl", 3)
    with FakeServer(even, key="another") as server:
        who = write_models(tmp_path / "who.yaml", entry(server, key="ONEDIAL_TEST_KEY"))
        assert collect(tmp_path / "out", who, questions) == 2
    output = capsys.readouterr()
    assert "tiny: the server refused the key (401" in output.err
    assert CANARY not in output.err + output.out
    assert not (tmp_path / "out").exists()


@pytest.mark.launched
@needs_inspect
def test_a_broken_collection_loses_only_what_was_in_flight(tmp_path):
    """A collection that is broken off says so and loses at most what was in flight."""
    questions, out = write_questions(tmp_path / "q.jsonl", 60), tmp_path / "out"
    n_answered = [0]
    lock = threading.Lock()

    def counted(body):
        with lock:
            n_answered[0] += 1
        return even(body)

    with FakeServer(counted, seconds=0.1) as server:
        who = write_models(tmp_path / "who.yaml", entry(server, connections=2))
        program = [*COLLECT, "--respondents", who, "--questions", questions, "--out", out]
        with open(tmp_path / "log.txt", "wb") as log:
            running = start_program(*program, log=log, env=alone())
            while running.poll() is None and n_answered[0] < 20:
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=60) == 130
        assert "goes on from there" in (tmp_path / "log.txt").read_text()
        time.sleep(0.5)
        before = server.n_asked
        assert before < 60
        assert collect(out, who, questions, "--resume") == 0
        # two were in flight, as many may just have been answered, and as many sent while the signal was on its way
        assert 60 <= server.n_asked <= 60 + 6
    panel = pd.read_csv(out / "panel.csv")
    assert len(panel) == 60
    assert panel["said_yes"].tolist() == [1.0, 0.0] * 30


@needs_inspect
def test_a_judge_is_compared_with_the_grader(tmp_path, capsys):
    """A judge is compared with the grader and its grades are taken where it judges all."""
    questions = write_questions(tmp_path / "q.jsonl", 8)

    def judging(body):
        text = body["messages"][-1]["content"]
        return "No" if "Answer: 0" in text else "Yes"  # differs from the grader on the first question alone

    with FakeServer(even) as server, FakeServer(judging) as other:
        who = write_models(
            tmp_path / "who.yaml", entry(server, closed_book=True), judge=entry(other, "judge-model", closed_book=True)
        )
        assert collect(tmp_path / "out", who, questions, "--judge", "sample") == 0
        agreed = pd.read_csv(tmp_path / "out" / "judge_agreement.csv").iloc[0]
        assert (agreed["judge"], agreed["n"], agreed["n_unread"]) == ("judge-model", 8, 0)
        assert agreed["share"] == pytest.approx(7 / 8)
        assert (agreed["grader_right"], agreed["judge_right"]) == (1.0, 0.875)
        panel = pd.read_csv(tmp_path / "out" / "panel.csv")
        assert panel["answered_correctly"].tolist() == [1.0] * 8
        assert other.n_asked == 8
        assert collect(tmp_path / "out", who, questions, "--judge", "all", "--resume") == 0
        assert other.n_asked == 8  # nothing is judged twice
    panel = pd.read_csv(tmp_path / "out" / "panel.csv")
    assert panel["answered_correctly"].tolist() == [0.0] + [1.0] * 7
    assert "judge and grader on 8 closed-book answers" in capsys.readouterr().out
    assert collect(tmp_path / "none", write_models(tmp_path / "w.yaml", "a"), questions, "--judge", "all") == 2
    assert "--judge needs a model under the key `judge`" in capsys.readouterr().err


def test_agreement_is_kappa_by_its_formula_and_counts_what_was_not_judged():
    nan = float("nan")
    table = pd.DataFrame({"correct": [1, 1, 1, 0, 0, 0, 0, nan, 1], "judged_right": [1, 1, 0, 0, 0, 0, 1, 1, nan]})
    result = agreement(table)
    share, chance = 5 / 7, (3 * 3 + 4 * 4) / 49
    assert (result["n"], result["n_unread"]) == (7, 1)
    assert result["kappa"] == pytest.approx((share - chance) / (1 - chance))
    assert result["kappa_low"] < result["kappa"] < result["kappa_high"]
    assert agreement(table.iloc[:0])["n"] == 0


# ---- what costs, and what may have cost ------------------------------------------------------------------------------


class Biller:
    """A server that bills every request that reaches it, whatever becomes of the answer."""

    def __init__(self, answering):
        self.answering, self.lock, self.n_billed = answering, threading.Lock(), 0

    def __call__(self, body):
        with self.lock:
            self.n_billed += 1
            n = self.n_billed
        return self.answering(body, n)


def money_of(folder):
    return pd.read_csv(folder / "costs.csv").iloc[-1]


def judged_by(judge, server, tmp_path, **more):
    price = {"input": 0.0, "output": 1_000_000.0}
    asked = [entry(server, name, closed_book=True, price=price, max_tokens=3) for name in ("one", "two")]
    judge = entry(judge, "judge-model", price=price, max_tokens=3, **more)
    return write_models(tmp_path / "who.yaml", *asked, judge=judge)


@needs_inspect
def test_a_judge_counts_within_the_budget_and_judges_the_same_answer_once(tmp_path, capsys):
    questions, out = write_questions(tmp_path / "q.jsonl", 6), tmp_path / "out"
    judging = Biller(lambda body, n: "Yes")
    with FakeServer(even) as server, FakeServer(judging) as judge:
        who = judged_by(judge, server, tmp_path, connections=1)
        n_before = 2 * 2 * 6  # two models, asked both ways
        assert collect(out, who, questions, "--budget", str(n_before + 5), "--judge", "all") == 2
        assert judging.n_billed == 3  # five are left, and one request may cost three of them
        assert "6 of 12 answers have no verdict" in capsys.readouterr().out
        assert money_of(out)["money"] == n_before + 3
        assert collect(out, who, questions, "--resume", "--budget", str(n_before + 5), "--judge", "all") == 2
        assert judging.n_billed == 3
        assert collect(out, who, questions, "--resume", "--budget", "1e6", "--judge", "all") == 0
    costs = pd.read_csv(out / "costs.csv").set_index("respondent")
    assert costs.loc["judge-model: judge", "calls"] == judging.n_billed == 6  # of twelve answers
    assert costs["money"].iloc[-1] == n_before + 6
    assert pd.read_csv(out / "panel.csv")["answered_correctly"].tolist() == [1.0] * 12


@needs_inspect
def test_money_of_a_model_that_is_asked_no_more_still_counts(tmp_path):
    questions, out = write_questions(tmp_path / "q.jsonl", 4), tmp_path / "out"
    price = {"input": 0.0, "output": 1_000_000.0}
    with FakeServer(even) as server:
        both = [entry(server, name, price=price, max_tokens=3) for name in ("one", "two")]
        assert collect(out, write_models(tmp_path / "who.yaml", *both), questions) == 0
        n_before = server.n_asked
        who = write_models(tmp_path / "who.yaml", both[0])
        questions = write_questions(tmp_path / "q.jsonl", 40)
        assert collect(out, who, questions, "--resume", "--budget", str(n_before + 6)) == 2
        assert n_before < server.n_asked <= n_before + 6
    assert money_of(out)["money"] == server.n_asked


@needs_inspect
def test_refused_attempts_cost_nothing_and_are_kept(tmp_path):
    """What the server refused or never heard of costs nothing and every attempt is kept."""
    questions = write_questions(tmp_path / "q.jsonl", 3)
    limited = []

    def answering(body, n):
        if "1 + 1" in question_of(body) and not limited:
            limited.append(n)
            return Fault(429, headers={"Retry-After": "0"})
        return Fault(400) if "2 + 2" in question_of(body) else even(body)

    billing = Biller(answering)
    with FakeServer(billing) as server:
        price = {"input": 0.0, "output": 1_000_000.0}
        who = write_models(tmp_path / "who.yaml", entry(server, price=price, max_tokens=3, retries=2))
        assert collect(tmp_path / "out", who, questions) == 0
    attempts = Store(tmp_path / "out" / ANSWERS).attempts()
    assert len(attempts) == billing.n_billed == 3 + 1
    assert sorted(attempts["outcome"]) == ["answered"] * 2 + ["refused"] * 2
    costs = money_of(tmp_path / "out")
    assert (costs["calls"], costs["failed"], costs["unknown"]) == (4, 2, 0)


@needs_inspect
def test_a_server_that_does_everything_wrong_is_counted_right(tmp_path, monkeypatch):
    """From a server that does everything wrong each answer comes once and its whole bill is counted."""
    monkeypatch.setattr("onedial.asking.providers.providers.seconds_to_wait", lambda n_failed, attempt: 0.02)
    questions, out = write_questions(tmp_path / "q.jsonl", 24), tmp_path / "out"
    with MisbehavingServer(seed=10, share=0.6) as server:
        price = {"input": 0.0, "output": 1_000_000.0}
        who = write_models(tmp_path / "who.yaml", entry(server, price=price, max_tokens=16, timeout=1, retries=5))
        assert collect(out, who, questions, "--budget", "200") == 2
        assert 0 < server.billed <= 200
        for _ in range(4):
            assert collect(out, who, questions, "--budget", "1e9", "--resume") == 0
            panel = pd.read_csv(out / "panel.csv")
            if len(panel) == 24 and panel["said_yes"].notna().all():
                break
        time.sleep(0.1)
        assert set(server.happened) == {"answer", *FAULTS}
        attempts = Store(out / ANSWERS).attempts()
        assert len(attempts) >= server.n_asked  # some connections break before the request arrives
        assert server.billed <= money_of(out)["money"]
    assert panel["said_yes"].tolist() == [1.0, 0.0] * 12
    n_answered = attempts["outcome"].eq("answered").sum()
    assert n_answered == 24
