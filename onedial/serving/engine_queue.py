"""Requests written by vLLM: at every setting and temperature side by side, each begun as it comes.

Given texts (`echo`) are scored by transformers. A kind of push is proven on the first prompts that ask for it.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from onedial.core.errors import InputError
from onedial.core.pulse import say
from onedial.models.writing import ScoredToken, end_tokens
from onedial.serving.dial import Dial
from onedial.serving.requests import RequestQueue, Ticket, Written, until
from steering.engines.requests import Request as Asked
from steering.engines.requests import check_told
from steering.engines.writer import EngineError, Open, Vllm


def queue_of(dial: Dial) -> RequestQueue:
    """Choose what writes for whoever asks: vLLM where the model of the dial writes by it."""
    return EngineQueue(dial) if isinstance(dial.model.writer, Vllm) else RequestQueue(dial)


class EngineQueue(RequestQueue):
    """Writes by vLLM for whoever asks; to be closed.

    Args:
        dial: what is asked; its model's `writer` is vLLM.

    Raises:
        InputError: vLLM cannot be told exactly what the dial does.
    """

    def __init__(self, dial: Dial) -> None:
        assert isinstance(dial.model.writer, Vllm)
        self._writer, self._ends = dial.model.writer, end_tokens(dial.model)
        self._places = itertools.count()
        self._writing: dict[int, tuple[Ticket, tuple[ScoredToken, ...]]] = {}
        if dial.intervention is not None:
            check_told(dial.intervention.operator, dial.intervention.positions)
        super().__init__(dial)

    @property
    def most_tokens(self) -> int:
        """Of a prompt with its text: vLLM may have room for less than the model reads."""
        return min(self._writer.max_tokens, super().most_tokens or self._writer.max_tokens)

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                kind = self._asked(self._waiting[0]).kind
                alike = [each for each in self._waiting if self._asked(each).kind == kind]
            try:  # nothing is written meanwhile
                self._writer.prove([self._asked(each) for each in alike])
            except Exception as error:
                failure = _told(error)
                with self._changed:
                    for each in set(alike).intersection(self._waiting):
                        self._waiting.remove(each)
                        if each.answer.set_running_or_notify_cancel():
                            each.answer.set_exception(failure)
                continue
            try:
                self._writer.run(self._begin, self._is_done)
            except Exception as error:
                failure = _told(error)
                for each, _ in self._writing.values():
                    each.answer.set_exception(failure)
                self._writing.clear()

    def _asked(self, ticket: Ticket) -> Asked:
        request = ticket.request
        return Asked(request.token_ids, self.dial.push(request.magnitude), request.seed)

    def _begin(self, room: int) -> Sequence[tuple[int, Asked, Mapping[str, Any]]]:
        """Begin as much of what waits as there is room for, up to what is still to be proven."""
        begun = []
        for _ in range(room):
            with self._changed:
                if not self._waiting or not self._writer.is_proven(asked := self._asked(self._waiting[0])):
                    break
                ticket = self._waiting.popleft()
            request, place = ticket.request, next(self._places)
            if not ticket.answer.set_running_or_notify_cancel():
                continue
            try:
                prompt = self._prompt_tokens([request])[0]
            except Exception as error:
                ticket.answer.set_exception(error)
                continue
            if not request.max_tokens:
                ticket.answer.set_result(Written("", 0, False, prompt_tokens=prompt))
                continue
            self._writing[place] = ticket, prompt
            settings = {"temperature": request.temperature, "max_tokens": request.max_tokens}
            scores = {} if request.n_top is None else {"logprobs": request.n_top}
            begun.append((place, asked, {**settings, **scores, "stop_token_ids": self._ends}))
        return begun

    def _is_done(self, text: Open, new: Sequence[int], ended: bool) -> bool:
        ticket, prompt = self._writing[text.place]
        request, stopped = ticket.request, False
        for token in new:
            text.ids.append(token)
            if stopped := bool(request.stop or request.on_text) and self._ends_after(request, self._text(text.ids)):
                break
        if not (ended or stopped or ticket.has_left):
            return False
        tokens = zip(text.ids, text.scores, strict=False) if request.n_top is not None else ()
        answer = Written(
            until(self._text(text.ids), request.stop),
            len(text.ids),
            stopped or bool(set(text.ids[-1:]).intersection(self._ends)),
            tuple(_scored(token, scores, request.n_top or 0) for token, scores in tokens),
            prompt,
        )
        del self._writing[text.place]
        ticket.answer.set_result(answer)
        return True

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.dial.model.tokenizer.decode(ids, skip_special_tokens=True))


def _scored(token: int, scores: Mapping[str, float], n_top: int) -> ScoredToken:
    top = sorted(scores.items(), key=lambda each: -each[1])[:n_top]
    return ScoredToken(token, scores[str(token)], tuple((int(each), log_p) for each, log_p in top))


def _told(error: Exception) -> Exception:
    """Say what a client is told: what vLLM says of itself is no client's business."""
    if isinstance(error, InputError) and not isinstance(error, EngineError):
        return error
    say(str(error))
    return RuntimeError("vLLM has failed")
