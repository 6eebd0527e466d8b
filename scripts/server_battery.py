"""Have `panel.py collect` ask a server that misbehaves, kill it, go on, and count what was lost or paid twice.

    python scripts/server_battery.py --n 20               # trials; a minute or more each
    python scripts/server_battery.py --n 40               # twenty more: what stands in --table is not done again

In each trial a seeded server on loopback answers {share} of the requests as it should. To each of the rest happens one
of seventeen: 429, 500, 503, a lost connection, a redirect, a gateway's page or an error with status 200, half a JSON
text or stream, a wrong length, broken gzip, no choices, an answer that comes too late or drips, a count of tokens that
cannot be, reasoning fields. It bills whatever it worked on. The program is killed (-9) at
random moments under a budget that may be too small, goes on with that budget to its end, and then with a larger one
until nothing is missing. One row of --table for each trial. Rates have 95% Wilson intervals; exit code 1 if anything
was lost, asked twice, unaccounted for, or the budget was passed.
"""

import contextlib
import json
import multiprocessing
import os
import random
import runpy
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from misbehaving_server import MisbehavingServer  # noqa: E402
from simulating import GrowingTable  # noqa: E402

from onedial.core import Options, option, parse_options, read_ledger, run_command  # noqa: E402  # noqa: E402
from onedial.stats import wilson_interval  # noqa: E402

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["inspect_ai.model", "inspect_ai.log", "openai", "torch", "pyarrow.parquet", "anyio"])
SHARE = 0.4
MOST_TOKENS = 16
AT_MOST = 12
"""So often a collection goes on until nothing is missing."""


@dataclass
class Trial:
    """What one trial gave, in counts.

    Attributes:
        questions: how many, and lost: how many of them have no answer in the end, or another one.
        asked_twice: sent once more after their answer stood in the run.
        sent_twice: whole answers that the server sent once more: the first was in flight at a kill.
        requests: that reached the server, and unaccounted: of these, in no ledger.
        billed, counted: money, by the server and by costs.csv.
        passed: 1 where more was billed than the budget allowed.
        kills: that struck while the program ran.
    """

    questions: int
    lost: int
    asked_twice: int
    sent_twice: int
    requests: int
    unaccounted: int
    billed: float
    counted: float
    passed: int
    kills: int


def trial(seed: int, place: Path, n_questions: int, n_kills: int) -> Trial:
    """One collection from its beginning to its end."""
    rng = random.Random(seed)
    ids = {f"What is {i} + {i}?": f"q{i:03d}" for i in range(n_questions)}
    questions, who, out = place / "q.jsonl", place / "who.yaml", place / "out"
    questions.write_text("".join(json.dumps({"id": ids[text], "question": text}) + "\n" for text in ids))
    with MisbehavingServer(seed, SHARE) as server:
        model = {"model": "tiny", "server": server.url, "retries": 3, "timeout": 1, "closed_book": False}
        model |= {"max_tokens": MOST_TOKENS, "connections": 4, "price": {"input": 0.0, "output": 1e6}}
        who.write_text(yaml.safe_dump({"models": [model], "framings": ["neutral"]}))
        budget = rng.uniform(3.0, 12.0) * n_questions

        def start(money: float) -> Any:
            options = ["--respondents", who, "--questions", questions, "--out", out, "--budget", f"{money:g}"]
            process = FORKS.Process(target=collect, args=([*map(str, options), "--resume", "--no-inspect-logs"],))
            process.start()
            return process

        struck = 0
        for _ in range(n_kills):
            process, before = start(budget), server.n_asked
            end = rng.randrange(1, n_questions)
            while process.is_alive() and server.n_asked - before < end:
                process.join(0.02)
            struck += process.is_alive()
            process.kill()
            process.join()
        start(budget).join()
        passed = int(server.billed > budget)
        for _ in range(AT_MOST):
            start(1e9).join()
            said = answers(out / "panel.csv")
            if said.notna().sum() == n_questions:
                break
        attempts = read_ledger(out / "ledger.log")
        answered = Counter(each["question_id"] for each in attempts if each.get("outcome") == "answered")
        noted = Counter(each["question_id"] for each in attempts)
        asked = {
            text: ids[text.partition("Question: ")[2].partition("\n")[0]]
            for text in server.received
            if "Question: " in text
        }
        return Trial(
            questions=n_questions,
            lost=sum(said.get(ids[text]) != 1.0 - i % 2 for i, text in enumerate(ids)),
            asked_twice=sum(max(0, answered[name] - 1) for name in ids.values()),
            sent_twice=sum(max(0, server.answered[text] - 1) for text in asked),
            requests=server.n_asked,
            unaccounted=sum(max(0, server.received[text] - noted[name]) for text, name in asked.items()),
            billed=server.billed,
            counted=float(pd.read_csv(out / "costs.csv")["money"].iloc[-1]),
            passed=passed,
            kills=struck,
        )


def collect(arguments: list[str]) -> None:
    """The program in a process of its own, which has the libraries already: each start would take seconds."""
    sys.argv = ["experiments/panel.py", "collect", *arguments]
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        runpy.run_path(str(ROOT / "experiments" / "panel.py"), run_name="__main__")


def answers(panel: Path) -> pd.Series:
    """said_yes by question; empty where there is no panel yet."""
    return pd.read_csv(panel).set_index("question_id")["said_yes"] if panel.exists() else pd.Series(dtype=float)


def rates_of(trials: pd.DataFrame) -> pd.DataFrame:
    """What the trials say together.

    Args:
        trials: one row each (`Trial`).

    Returns:
        what, n, of, and its share with a 95% Wilson interval (nan for money, which is in units of the server).
    """
    total = trials.sum()
    counts = [
        ("answers lost", "lost", total["questions"]),
        ("asked again though the answer stood in the run", "asked_twice", total["questions"]),
        (
            "answers that the server sent twice, the first in flight at a kill or too late",
            "sent_twice",
            total["questions"],
        ),
        ("requests that reached the server and stand in no account", "unaccounted", total["requests"]),
        ("trials in which more was billed than the budget allowed", "passed", len(trials)),
    ]
    table = pd.DataFrame([{"what": what, "n": total[name], "of": of} for what, name, of in counts])
    table["share"] = table["n"] / table["of"]
    table["low"], table["high"] = wilson_interval(table["n"], table["of"])
    missing = (trials["billed"] - trials["counted"]).clip(lower=0).sum()
    more = [
        {"what": "kills", "n": total["kills"], "of": len(trials)},
        {"what": "money billed", "n": total["billed"], "of": total["counted"]},
        {"what": "money billed and not counted", "n": missing, "of": total["billed"]},
    ]
    return pd.concat([table, pd.DataFrame(more)], ignore_index=True).round(5)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    n: int = option(20, "trials", at_least=1)
    n_questions: int = option(40, "asked in each", at_least=1)
    kills: int = option(2, "in each", at_least=0)
    seed: int = option(0, "of the first trial", at_least=0)
    table: Path | None = option(None, "keep the trials here, and go on with those in it", metavar="CSV")


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    settings = {"n_questions": options.n_questions, "n_kills": options.kills}
    table = GrowingTable(options.table, ("seed",), settings)
    for seed in range(options.seed, options.seed + options.n):
        if (seed,) not in table:
            with tempfile.TemporaryDirectory() as place:
                one = asdict(trial(seed, Path(place), options.n_questions, options.kills))
            table.add([{"seed": seed, **one}])
            print(f"{seed}: " + ", ".join(f"{name} {value:g}" for name, value in one.items()), flush=True)
    rates = rates_of(table.frame)
    print(rates.to_string(index=False))
    must_be_none = rates["what"].str.contains("lost|asked again|no account|allowed|not counted")
    return int(bool(rates.loc[must_be_none, "n"].any()))


if __name__ == "__main__":
    sys.exit(run_command(main))
