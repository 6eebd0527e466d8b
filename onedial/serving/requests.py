"""Requests from many clients, written in batches by one thread that has the model to itself.

Those of one setting and one kind share a batch; a request that draws, or whose text is wanted as it comes, is written
alone, so that its text depends on its seed and on nothing beside it.
"""

import secrets
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from onedial.core.errors import InputError
from onedial.models.forward.batches import halving_on_out_of_memory, questions_per_batch
from onedial.models.writing import Decoding, Generated, ScoredToken, generate, score
from onedial.serving.dial import Dial

MAX_TOKENS = 2048
"""Written at most where nobody says how many, as by Inspect's own providers."""
MOST_TOP = 20
SECONDS_TO_GATHER = 0.02
"""Waited after the first request, so that those sent at the same time share its batch."""


@dataclass(frozen=True, eq=False)
class Request:
    """What one client asks for.

    Attributes:
        token_ids: the prompt. magnitude: the dial's setting.
        max_tokens: to write; 0 only scores the prompt. stop: texts at which it ends.
        temperature: 0 takes the likeliest token. seed: of the draws.
        n_top: for log-probabilities: of so many likeliest tokens beside the one written; None for none.
        echo: log-probabilities of the prompt's tokens too.
        on_text: is given the text so far after each token; written alone then.
    """

    token_ids: Sequence[int]
    magnitude: float = 0.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    temperature: float = 0.0
    seed: int = 0
    n_top: int | None = None
    echo: bool = False
    on_text: Callable[[str], None] | None = None

    @property
    def is_alone(self) -> bool:
        """Whether nothing may be written beside it."""
        return self.temperature > 0 or self.on_text is not None

    @property
    def kind(self) -> tuple[Any, ...]:
        """What all of a batch have in common."""
        alone = id(self) if self.is_alone else None
        return self.magnitude, self.max_tokens, self.stop, self.n_top, self.echo, alone

    def choices(self, n: int, seed: int | None) -> list["Request"]:
        """Make so many of this request, each with draws of its own: by a seed, or by chance (None).

        PyTorch on a CPU draws by the last 32 bits of a seed; steps of 2^32 / golden ratio land on no seed nearby.
        """
        first = secrets.randbits(32) if seed is None else seed
        return [replace(self, seed=(first + place * 0x9E3779B1) % (1 << 62)) for place in range(n)]


@dataclass(frozen=True)
class Written(Generated):
    """An answer: its text without what it stopped at.

    Attributes:
        prompt_tokens: the prompt's, where `echo` asked for them; of the first one there is no log-probability (nan).
    """

    prompt_tokens: tuple[ScoredToken, ...] = ()


@dataclass(eq=False)
class Ticket:
    """A place in the queue: `answer` comes, unless `leave` is called before."""

    request: Request
    answer: "Future[Written]" = field(default_factory=Future)
    has_left: bool = False

    def leave(self) -> None:
        """Free the place of a client that is gone, or end the writing once nobody of its batch is left."""
        self.has_left = True
        self.answer.cancel()


class RequestQueue:
    """Writes for whoever asks; to be closed.

    Args:
        dial: what is asked.
    """

    def __init__(self, dial: Dial) -> None:
        self.dial = dial
        self._waiting: deque[Ticket] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="onedial-writer", daemon=True)
        self._thread.start()

    @property
    def most_tokens(self) -> int | None:
        """Of a prompt with its text, where there is a bound."""
        return self.dial.model.max_tokens

    def room_after(self, token_ids: Sequence[int], wanted: int = MAX_TOKENS) -> int:
        """Allow as many tokens as are wanted, or as there is room for after a prompt; at least 1."""
        return max(1, min(wanted, (self.most_tokens or 1 << 40) - len(token_ids)))

    def ask(self, request: Request) -> Ticket:
        """Take a place in the queue.

        Raises:
            InputError: the setting, the length or the log-probabilities cannot be had.
        """
        self.dial.push(request.magnitude)
        n_tokens = len(request.token_ids) + request.max_tokens
        if self.most_tokens and n_tokens > self.most_tokens:
            raise InputError(
                f"the prompt has {len(request.token_ids)} tokens and {request.max_tokens} more were asked for, but "
                f"both together are {self.most_tokens} at most; shorten the prompt or ask for fewer"
            )
        if (request.n_top or 0) > MOST_TOP:
            raise InputError(f"the {request.n_top} likeliest tokens were asked for; ask for {MOST_TOP} at most")
        if request.echo and request.magnitude and not self.dial.scores_given_texts:
            raise InputError(
                "a given text can be scored under a push only where it acts at all positions, since elsewhere the text "
                "is read as a prompt and not as what the model writes; serve with positions all, or ask at magnitude 0"
            )
        ticket = Ticket(request)
        with self._changed:
            if self._closed:
                raise InputError("the server is ending")
            self._waiting.append(ticket)
            self._changed.notify()
        return ticket

    def close(self) -> None:
        """End after the batch at hand; what waits is cancelled."""
        with self._changed:
            self._closed = True
            for each in self._waiting:
                each.answer.cancel()
            self._waiting.clear()
            self._changed.notify()
        self._thread.join()

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (batch := self._next_batch()) is not None:
            running = [each for each in batch if each.answer.set_running_or_notify_cancel()]
            if not running:
                continue
            try:
                for each, written in zip(running, self._write_all(running), strict=True):
                    each.answer.set_result(written)
            except Exception as error:  # the client is told; the next batch may be another model's business
                for each in running:
                    each.answer.set_exception(error)

    def _next_batch(self) -> list[Ticket] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._closed and not self._waiting[0].request.is_alone:
                self._changed.wait_for(lambda: self._closed, SECONDS_TO_GATHER)
            if self._closed:
                return None
            kind = self._waiting[0].request.kind
            alike = [each for each in self._waiting if each.request.kind == kind]
        longest = max(len(each.request.token_ids) + each.request.max_tokens for each in alike)
        alone = self.dial.model.writes_alone(longest)  # compares paths when first asked, while others may still come
        batch = alike[: 1 if alone else questions_per_batch(self.dial.model.stack, longest)]
        with self._changed:
            self._waiting = deque(each for each in self._waiting if each not in batch)
        return batch

    def _write_all(self, batch: list[Ticket]) -> list[Written]:
        """Write a batch, halved for as long as it does not fit into memory."""
        places = list(range(len(batch)))
        parts = halving_on_out_of_memory(lambda part: self._write([batch[place] for place in part]), places)
        return [written for part in parts for written in part]

    def _write(self, batch: list[Ticket]) -> list[Written]:
        first, model = batch[0].request, self.dial.model
        sequences = [each.request.token_ids for each in batch]
        prompts = self._prompt_tokens([each.request for each in batch])
        if not first.max_tokens:
            return [Written("", 0, False, prompt_tokens=prompt) for prompt in prompts]
        written = generate(
            model,
            sequences,
            first.max_tokens,
            Decoding(
                temperature=first.temperature,
                seed=first.seed,
                stop=partial(self._ends_after, first) if first.stop or first.on_text else None,
                n_top=first.n_top,
                is_unwanted=lambda row: batch[row].has_left,
            ),
            push=self.dial.push(first.magnitude),
        )
        return [
            Written(until(each.text, first.stop), each.n_tokens, each.finished, each.tokens, prompt)
            for each, prompt in zip(written, prompts, strict=True)
        ]

    def _prompt_tokens(self, alike: Sequence[Request]) -> list[tuple[ScoredToken, ...]]:
        """Score the prompts of requests of one kind, where `echo` asks for it; else none."""
        first, prompts = alike[0], [each.token_ids for each in alike]
        if not first.echo:
            return [()] * len(prompts)
        return score(self.dial.model, prompts, first.n_top or 0, push=self.dial.push(first.magnitude))

    def _ends_after(self, request: Request, text: str) -> bool:
        """Tell the text so far to whom it may concern, and whether it is done."""
        if request.on_text is not None:
            request.on_text(until(text, request.stop))
        return any(each in text for each in request.stop)


def until(text: str, stop: Sequence[str]) -> str:
    """Cut a text before the first of these.

    >>> until("yes\\nno", ["\\n"])
    'yes'
    """
    return text[: min([place for each in stop if (place := text.find(each)) >= 0], default=len(text))]
