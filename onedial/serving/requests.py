"""Requests from many clients, written in batches by one thread that has the model to itself.

Those of one setting and one kind share a batch; a request that draws, or whose text is wanted as it comes, is written
alone, so that its text depends on its seed and on nothing beside it.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from onedial.core.errors import InputError
from onedial.models.forward.batches import halving_on_out_of_memory, questions_per_batch
from onedial.models.writing import Decoding, Generated, ScoredToken, check_room, generate, score
from onedial.serving.dial import Dial

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
        return self.magnitude, self.max_tokens, self.stop, self.n_top, self.echo


@dataclass(frozen=True)
class Written:
    """An answer.

    Attributes:
        text: without what it stopped at. n_tokens: written. finished: False where it was cut off at `max_tokens`.
        tokens: what was written, with log-probabilities, where they were asked for.
        prompt_tokens: the prompt's, where `echo` asked for them; of the first one there is none (nan).
    """

    text: str
    n_tokens: int
    finished: bool
    tokens: tuple[ScoredToken, ...] = ()
    prompt_tokens: tuple[ScoredToken, ...] = ()


@dataclass(eq=False)
class Ticket:
    """A place in the queue: `answer` comes, unless `leave` is called before."""

    request: Request
    answer: "Future[Written]" = field(default_factory=Future)
    has_left: bool = False

    def leave(self) -> None:
        """The client is gone: the place is freed, or the writing ends once nobody of its batch is left."""
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

    def ask(self, request: Request) -> Ticket:
        """A place in the queue.

        Raises:
            InputError: the setting, the length or the log-probabilities cannot be had.
        """
        self.dial.push(request.magnitude)
        if request.max_tokens:
            check_room(self.dial.model, [request.token_ids], request.max_tokens)
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
                    if not each.answer.done():
                        each.answer.set_exception(error)

    def _next_batch(self) -> list[Ticket] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            if not self._waiting[0].request.is_alone:
                self._changed.wait_for(lambda: self._closed, SECONDS_TO_GATHER)
                if not self._waiting:
                    return [] if not self._closed else None
            first = self._waiting.popleft()
            if first.request.is_alone:
                return [first]
            longest = len(first.request.token_ids) + first.request.max_tokens
            room = questions_per_batch(self.dial.model.stack, longest)
            if self.dial.model.writes_alone(longest):
                room = 1
            batch = [first]
            for each in list(self._waiting):
                alike = not each.request.is_alone and each.request.kind == first.request.kind
                if alike and len(batch) < room:
                    self._waiting.remove(each)
                    batch.append(each)
            return batch

    def _write_all(self, batch: list[Ticket]) -> list[Written]:
        """Halved for as long as it does not fit into memory."""
        places = list(range(len(batch)))
        parts = halving_on_out_of_memory(lambda part: self._write([batch[place] for place in part]), places)
        return [written for part in parts for written in part]

    def _write(self, batch: list[Ticket]) -> list[Written]:
        first, model = batch[0].request, self.dial.model
        sequences = [each.request.token_ids for each in batch]
        prompts = self._prompt_tokens([each.request for each in batch])
        if not first.max_tokens:
            return [Written("", 0, False, (), prompt) for prompt in prompts]
        written = generate(
            model,
            sequences,
            first.max_tokens,
            Decoding(
                first.temperature,
                first.seed,
                partial(self._ends_after, first) if first.stop or first.on_text else None,
                first.n_top,
                lambda row: batch[row].has_left,
            ),
            push=self.dial.push(first.magnitude),
        )
        return [self._written(first, each, prompt) for each, prompt in zip(written, prompts, strict=True)]

    def _prompt_tokens(self, alike: Sequence[Request]) -> list[tuple[ScoredToken, ...]]:
        """Scores of the prompts of requests of one kind, where `echo` asks for them; else none."""
        first, prompts = alike[0], [each.token_ids for each in alike]
        if not first.echo:
            return [()] * len(prompts)
        return score(self.dial.model, prompts, first.n_top or 0, push=self.dial.push(first.magnitude))

    def _ends_after(self, request: Request, text: str) -> bool:
        """Tell the text so far to whom it may concern, and whether it is done."""
        if request.on_text is not None:
            request.on_text(until(text, request.stop))
        return any(each in text for each in request.stop)

    def _written(self, request: Request, written: Generated, prompt: tuple[ScoredToken, ...]) -> Written:
        text = until(written.text, request.stop)
        return Written(text, written.n_tokens, written.finished, written.tokens, prompt)


def until(text: str, stop: Sequence[str]) -> str:
    """What stands before the first of these.

    >>> until("yes\\nno", ["\\n"])
    'yes'
    """
    return text[: min([place for each in stop if (place := text.find(each)) >= 0], default=len(text))]
