"""A steered model as a model of Inspect, so that any evaluation can be put to it.

    inspect eval TASK --model onedial/smollm2-135m-instruct -M vector=vector.safetensors -M magnitude=0.2
    inspect eval TASK --model onedial/smollm2-135m-instruct -M run=runs/mine -M magnitude=-0.1

Model arguments (`-M`): `vector` (a file) or `run` (a finished sweep, whose vector, positions and unit are kept),
`magnitude` (0 by default), `positions`, `dtype`, `device`, `engine` (vllm) and `engine_python`. The likeliest token is
written unless Inspect asks for a temperature. Requests at the same time share batches.
"""

import asyncio
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from onedial.core.errors import InputError
from onedial.models.writing import ScoredToken
from onedial.serving.dial import load_dial
from onedial.serving.engine_queue import queue_of
from onedial.serving.requests import MAX_TOKENS, Request, Written
from steering.engines.writer import write_with_vllm

CONNECTIONS = 32
REFUSED = (
    "best_of", "frequency_penalty", "logit_bias", "presence_penalty", "prompt_logprobs", "response_schema", "top_k",
)  # fmt: skip
"""Settings of Inspect that change what is written and are not had here."""


@modelapi(name="onedial")
class SteeredModel(ModelAPI):
    """One model at one setting; see the module's text."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        known = ("vector", "run", "positions", "dtype", "device", "magnitude", "engine", "engine_python")
        if unknown := set(model_args) - set(known):
            raise InputError(f"-M {min(unknown)} is not known; give {', '.join(known)}")
        self.magnitude = float(model_args.pop("magnitude", 0.0))
        engine, python = (model_args.pop(name, None) for name in known[-2:])
        if engine not in (None, "transformers", "vllm"):
            raise InputError(f"-M engine={engine} is not known; give transformers or vllm")
        if self.magnitude and not {"vector", "run"} & set(model_args):
            raise InputError("-M magnitude was given without -M vector or -M run; say what is to be turned")
        self.dial = load_dial(model_name, **model_args)
        self.dial.push(self.magnitude)
        self._engine = write_with_vllm(self.dial.model, python) if engine == "vllm" else None
        self._queue = queue_of(self.dial)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Write one answer, or `num_choices`, to a chat.

        Raises:
            InputError: tools, contents that are no text, or a setting that is not had here.
        """
        if tools:
            raise InputError(
                "tools were offered, and a steered model is asked without them; choose a task that has none"
            )
        request = self._request(input, config)
        tickets = [self._queue.ask(each) for each in request.choices(config.num_choices or 1, config.seed)]
        try:
            written = [await asyncio.wrap_future(ticket.answer) for ticket in tickets]
        finally:
            for ticket in tickets:
                ticket.leave()
        n_out = sum(each.n_tokens for each in written)
        return ModelOutput(
            model=self.model_name,
            choices=[self._choice(each, config) for each in written],
            usage=ModelUsage(
                input_tokens=len(request.token_ids),
                output_tokens=n_out,
                total_tokens=len(request.token_ids) + n_out,
            ),
            metadata={**self.dial.description, "magnitude": self.magnitude, "drawn": request.temperature > 0},
        )

    def max_tokens(self) -> int | None:
        """Say how many tokens are written where a task says nothing."""
        return MAX_TOKENS

    def max_connections(self) -> int:
        """Say how many requests may come at the same time; they share batches."""
        return CONNECTIONS

    def collapse_user_messages(self) -> bool:
        """Join messages of the user that follow each other: most chat templates want the two in turn."""
        return True

    def collapse_assistant_messages(self) -> bool:
        """Join messages of the assistant likewise."""
        return True

    async def aclose(self) -> None:
        """End the thread that writes, and the engine."""
        await asyncio.to_thread(self._queue.close)
        if self._engine:
            self._engine.close()

    # ---- between Inspect and the queue ---------------------------------------------------------------------------

    def _request(self, messages: list[ChatMessage], config: GenerateConfig) -> Request:
        for name in REFUSED:
            if getattr(config, name) is not None:
                raise InputError(f"{name} was asked for, which a steered model does not have; leave it out")
        if config.top_p not in (None, 1.0):
            raise InputError(f"top_p {config.top_p} was asked for; draws are from all tokens, leave it out")
        chat = [{"role": message.role, "content": _text_of(message)} for message in messages]
        (ids,) = self.dial.model.token_ids([chat])
        return Request(
            ids,
            self.magnitude,
            self._queue.room_after(ids, config.max_tokens or MAX_TOKENS),
            tuple(filter(None, config.stop_seqs or ())),
            config.temperature or 0.0,
            n_top=(config.top_logprobs or 0) if config.logprobs else None,
        )

    def _choice(self, written: Written, config: GenerateConfig) -> ChatCompletionChoice:
        message = ChatMessageAssistant(content=written.text, model=self.model_name, source="generate")
        logprobs = Logprobs(content=[self._logprob(each) for each in written.tokens]) if config.logprobs else None
        return ChatCompletionChoice(
            message=message, stop_reason="stop" if written.finished else "max_tokens", logprobs=logprobs
        )

    def _logprob(self, scored: ScoredToken) -> Logprob:
        decode = self.dial.model.tokenizer.decode
        top = [TopLogprob(token=decode([token]), logprob=log_p) for token, log_p in scored.likeliest]
        return Logprob(token=decode([scored.token]), logprob=scored.log_p, top_logprobs=top or None)


def _text_of(message: ChatMessage) -> str:
    """Read the text of a message.

    Raises:
        InputError: it holds an image or another thing that is no text, or a tool's call or answer.
    """
    if message.role == "tool" or getattr(message, "tool_calls", None):
        raise InputError("the chat holds calls of tools, and a steered model is asked without them")
    if not isinstance(message.content, str) and (other := {c.type for c in message.content} - {"text", "reasoning"}):
        raise InputError(f"the chat holds {min(other)}, and a steered model reads text alone")
    return message.text
