"""A server that answers as it should, now and then, and otherwise does what servers do; it bills whatever it worked on.

What becomes of the n-th request with the same text is drawn from the seed, that text and n alone, so that a client that
asks in another order meets the same faults.
"""

import json
import random
import time
from collections import Counter
from typing import Any

from fake_server import FakeServer, Fault, question_of

AT_ONCE = {"Retry-After": "0"}
FAULTS: dict[str, Fault | None] = {
    "limited": Fault(429, headers=AT_ONCE),
    "broken": Fault(500, headers=AT_ONCE),
    "overloaded": Fault(503, headers=AT_ONCE),
    "reset": Fault(0),
    "page": Fault(200, "<html><body>502 Bad Gateway</body></html>", {"Content-Type": "text/html"}),
    "cut": None,
    "slow": None,
    "absurd": None,
    "reasoning": None,
}
"""None: made from the whole answer. The last two hold an answer that can be read."""
UNBILLED = {"limited", "overloaded"}
ANSWERS = {"answer", "absurd", "reasoning"}
ABSURD = ({"completion_tokens": -7}, {"completion_tokens": 10**12}, {"prompt_tokens": -(10**9)})


class MisbehavingServer(FakeServer):
    """Says yes to every second question of `write_sums`, if it says anything.

    Args:
        seed: of the faults.
        share: of the requests to which something happens.
        slow: seconds that a slow answer takes; more than the client's patience.

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

    def reply(self, body: dict[str, Any], authorization: str) -> tuple[int, str, dict[str, str]]:
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
        written = completion["usage"]["completion_tokens"]
        if kind == "absurd":
            completion["usage"] |= drawn.choice(ABSURD)
        with self._lock:
            self.happened[kind] += 1
            self.answered[text] += kind in ANSWERS
            self.billed += 0 if kind in UNBILLED else written
        if kind == "slow":
            time.sleep(self.slow)
        whole = json.dumps(completion)
        if kind == "cut":
            return 200, whole[: drawn.randrange(1, len(whole))], {}
        fault = FAULTS.get(kind)
        return (200, whole, {}) if fault is None else (fault.status, fault.body, fault.headers)


def said(body: dict[str, Any]) -> str:
    """Yes to even numbers, and always the same to a probe question."""
    if not question_of(body):
        return "tree"
    return "No" if int(question_of(body).split()[2]) % 2 else "Yes"
