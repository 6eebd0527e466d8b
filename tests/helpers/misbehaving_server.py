"""A server that answers as it should, now and then, and otherwise does what servers do; it bills whatever it worked on.

What becomes of the n-th request with the same text is drawn from the seed, that text and n alone, so that a client that
asks in another order meets the same faults.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fake_server import FakeServer, Fault, question_of

AT_ONCE = {"Retry-After": "0"}
FAULTS: dict[str, Callable[[str, random.Random], Fault]] = {
    "limited": lambda whole, drawn: Fault(429, headers=AT_ONCE),
    "broken": lambda whole, drawn: Fault(500, headers=AT_ONCE),
    "overloaded": lambda whole, drawn: Fault(503, headers=AT_ONCE),
    "reset": lambda whole, drawn: Fault(0),
    "elsewhere": lambda whole, drawn: Fault(307, "", {"Location": "http://localhost:9/v1/chat/completions"}),
    "page": lambda whole, drawn: Fault(200, "<html>502 Bad Gateway</html>", {"Content-Type": "text/html"}),
    "error": lambda whole, drawn: Fault(200, '{"error": {"message": "the model behind has failed", "code": 502}}'),
    "cut": lambda whole, drawn: Fault(200, whole[: drawn.randrange(1, len(whole))]),
    "stream": lambda whole, drawn: Fault(200, f"{len(whole):x}\r\n{whole[:90]}", {"Transfer-Encoding": "chunked"}),
    "longer": lambda whole, drawn: Fault(200, whole, {"Content-Length": str(len(whole) + 9)}),
    "shorter": lambda whole, drawn: Fault(200, whole, {"Content-Length": str(len(whole) - 9)}),
    "gzip": lambda whole, drawn: Fault(200, b"\x1f\x8b" + drawn.randbytes(60), {"Content-Encoding": "gzip"}),
    "empty": lambda whole, drawn: Fault(200, json.dumps(json.loads(whole) | {"choices": []})),
    "slow": lambda whole, drawn: Fault(200, whole),
    "drip": lambda whole, drawn: Fault(200, whole),
    "absurd": lambda whole, drawn: Fault(200, json.dumps(_miscounted(json.loads(whole), drawn))),
    "reasoning": lambda whole, drawn: Fault(200, whole),
}
"""What becomes of a whole answer. The last two hold an answer that can be read."""
UNBILLED = {"limited", "overloaded", "elsewhere"}
ANSWERS = {"answer", "absurd", "reasoning"}
ABSURD = ({"completion_tokens": -7}, {"completion_tokens": 10**12}, {"prompt_tokens": -(10**9)})


class MisbehavingServer(FakeServer):
    """Says yes to every second question of `write_sums`, if it says anything.

    Args:
        seed: of the faults.
        share: of the requests to which something happens.
        slow: seconds that a slow answer takes, and one that drips; more than the client's patience.

    Attributes:
        received, answered: by question, how many requests came and how many whole answers were sent.
        billed: tokens written, whether or not anybody received them.
    """

    def __init__(self, seed: int, share: float = 0.4, slow: float = 1.5) -> None:
        super().__init__(said)
        self.seed, self.share, self.slow = seed, share, slow
        self.received: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.happened: Counter[str] = Counter()
        self.billed = 0

    def reply(self, body: dict[str, Any], authorization: str) -> Fault:
        text = body["messages"][-1]["content"]
        with self._lock:
            self.n_asked += 1
            n = self.received[text]
            self.received[text] += 1
        drawn = random.Random(f"{self.seed}|{text}|{n}")
        kind = drawn.choice(list(FAULTS)) if drawn.random() < self.share else "answer"
        completion = self._completion(body, said(body))
        if kind == "reasoning":
            thought = " ".join(["hm"] * drawn.randint(1, 10))
            completion["choices"][0]["message"]["reasoning_content"] = thought
            completion["usage"]["completion_tokens"] += len(thought.split())
        with self._lock:
            self.happened[kind] += 1
            self.answered[text] += kind in ANSWERS
            self.billed += 0 if kind in UNBILLED else completion["usage"]["completion_tokens"]
        whole = json.dumps(completion)
        reply = FAULTS[kind](whole, drawn) if kind in FAULTS else Fault(200, whole)
        if kind == "slow":
            time.sleep(self.slow)
        return replace(reply, seconds=self.slow) if kind == "drip" else reply


def _miscounted(completion: dict[str, Any], drawn: random.Random) -> dict[str, Any]:
    return completion | {"usage": completion["usage"] | drawn.choice(ABSURD)}


def said(body: dict[str, Any]) -> str:
    """Yes to even numbers."""
    return "No" if int(question_of(body).split()[2]) % 2 else "Yes"
