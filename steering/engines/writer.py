"""Write a model's texts by vLLM in place of transformers: many side by side, each under a push of its own.

    write_with_vllm(model)                            # vLLM in this Python, else where ONEDIAL_VLLM_PYTHON points
    model.generate(texts, vector * 0.3)         # and whatever else lets the model write

vLLM loads the same weights a second time. Prompts go to it as token ids and texts come back as such, so that template
and tokenizer are those of the model here. Before a kind of push is first used it is proven on the prompts at hand
(`steering.engines.proof`). Logits are still read with transformers.

A prefix that vLLM has computed is used again under the same push only, and only where a token's push does not depend on
the place where its prompt ends: unsteered, or at all positions.
"""

import atexit
import importlib.util
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from onedial.core.errors import InputError
from onedial.core.pulse import at_work, say
from onedial.models.identity import sampled_fingerprint
from onedial.models.model import OpenModel, Steering
from onedial.models.processes import process_count
from onedial.models.writing import LIKELIEST, Decoding, Generated, Stop, end_tokens
from steering.engines.proof import Proof, prove
from steering.engines.requests import FOREVER, SPANS, Request, Scored, as_line, check_told
from steering.engines.vllm_side import serve
from steering.pushes import Push

VARIABLE = "ONEDIAL_VLLM_PYTHON"
IN_FLIGHT = 1024
"""Requests that vLLM is given at once; it writes to some hundred of them side by side."""
TOKENS_PER_FORWARD = {"cpu": 512, "cuda": 2048}
SHARE_OF_FREE = 0.8
"""Of a GPU's memory that is free beside the model here."""
Ask = Callable[..., Any]
"""`ask(method, arguments)`: a method of `serve.Writer`, here or elsewhere."""
Source = Callable[[int], Sequence[tuple[int, Request, Mapping[str, Any]]]]
"""See `Vllm.run`."""


@dataclass
class Open:
    """A request in vLLM's hands, and what was written so far: tokens, and their scores by token."""

    place: int
    ids: list[int] = field(default_factory=list)
    scores: list[Mapping[str, float]] = field(default_factory=list)


class EngineError(InputError):
    """vLLM ended, or raised; the message holds what it said, paths of the machine included."""


class Vllm:
    """vLLM with the weights of one model; `model.writer` once it is in use.

    Args:
        ask: see `Ask`. facts: of `serve.Writer.facts`.

    Attributes:
        proofs: what was proven, for the manifest.
    """

    def __init__(self, model: OpenModel, ask: Ask) -> None:
        self._model, self._ask = model, ask
        self.facts: dict[str, Any] = ask("facts", {})
        self.proofs: list[Proof] = []
        self._names = itertools.count()
        self._directions: dict[bytes, int] = {}
        self._vectors: list[list[float]] = []
        self._state = _state(model)
        self._proven: set[Any] = set()

    @property
    def max_tokens(self) -> int:
        """The most tokens of a prompt with its text that vLLM has room for."""
        return int(self.facts["max_tokens"])

    def generate(
        self,
        sequences: Sequence[Sequence[int]],
        max_new_tokens: int,
        how: Decoding = LIKELIEST,
        push: Steering | None = None,
    ) -> list[Generated]:
        """As `onedial.models.writing.generate`; draws are others than those of transformers, and repeat as those do.

        Raises:
            InputError: as `write`; or the model is steered by something else than a push.
        """
        if push is not None and not isinstance(push, Push):
            raise InputError(f"vLLM can't be steered by a {type(push).__name__}; leave --engine vllm out")
        requests = [Request(ids, push, how.seed * 100_003 + place) for place, ids in enumerate(sequences)]
        return self.write(requests, max_new_tokens, temperature=how.temperature, stop=how.stop)

    def write(
        self,
        requests: Sequence[Request],
        max_new_tokens: int,
        *,
        temperature: float = 0.0,
        stop: Stop | None = None,
        sink: Callable[[int, Generated], None] | None = None,
    ) -> list[Generated]:
        """Write after each prompt, any mixture of pushes side by side; texts come in the order of the prompts.

        Args:
            temperature: 0 takes the likeliest token each time; above 0 draws from the whole vocabulary, each text by
                its own seed, whatever stands beside it.
            stop: as in `generate`; where it holds once, it holds of what follows too.
            sink: is given place and text of each as it is finished.

        Raises:
            InputError: a push that vLLM can't be given, a text that has no room, a model that is edited otherwise or
                was changed since vLLM loaded it, or a proof that failed.
        """
        if _state(self._model) != self._state:
            raise InputError(
                f"{self._model.identity.name} is edited by hooks or was changed since vLLM loaded its weights, of "
                "which vLLM knows nothing; give a push such as vector * 0.3, or leave --engine vllm out"
            )
        longest = max((len(each.token_ids) for each in requests), default=0) + max_new_tokens
        if longest > self.max_tokens:
            raise InputError(
                f"a prompt and its text have up to {longest} tokens, but vLLM has room for {self.max_tokens}; ask for "
                "fewer, or give it more memory with --engine-options"
            )
        self.prove(requests)
        ends, tokenizer = set(end_tokens(self._model)), self._model.tokenizer
        texts: dict[int, Generated] = {}
        settings = {"temperature": temperature, "max_tokens": max_new_tokens, "stop_token_ids": sorted(ends)}

        def is_done(each: Open, new: Sequence[int], ended: bool) -> bool:
            before = len(each.ids)
            each.ids += new
            n_tokens, stopped = len(each.ids), False
            if stop and stop(_text(tokenizer, each.ids)):
                until = (n for n in range(before + 1, n_tokens) if stop(_text(tokenizer, each.ids[:n])))
                n_tokens, stopped = next(until, n_tokens), True
            if not (stopped or ended):
                return False
            finished = stopped or bool(ends.intersection(each.ids[-1:]))
            texts[each.place] = Generated(_text(tokenizer, each.ids[:n_tokens]), n_tokens, finished)
            if sink:
                sink(each.place, texts[each.place])
            return True

        self.run(_in_turn(requests, lambda place: settings), is_done)
        return [texts[place] for place in range(len(requests))]

    def score(self, requests: Sequence[Request], n_tokens: int, tokens: Sequence[Sequence[int]]) -> list[Scored]:
        """So many likeliest tokens after each prompt, ends or not, with their log probabilities.

        Args:
            tokens: of each request, those whose log probabilities are told at the first place as well.
        """
        scored: dict[int, Scored] = {}

        def is_done(each: Open, new: Sequence[int], ended: bool) -> bool:
            each.ids += new
            if ended:
                chosen = [scores[str(token)] for token, scores in zip(each.ids, each.scores, strict=True)]
                first = [each.scores[0][str(token)] for token in tokens[each.place]]
                scored[each.place] = Scored(tuple(each.ids), tuple(chosen), tuple(first))
            return ended

        def settings(place: int) -> dict[str, Any]:
            wanted = list(tokens[place])
            return {
                "temperature": 0.0,
                "max_tokens": n_tokens,
                "logprob_token_ids": wanted or None,
                "logprobs": len(wanted),
            }

        self.run(_in_turn(requests, settings), is_done)
        return [scored[place] for place in range(len(requests))]

    def prove(self, requests: Sequence[Request]) -> None:
        """Prove each kind among the requests that was not proven yet, while nothing else is written.

        Raises:
            InputError: a push that vLLM can't be given, or a proof that failed.
        """
        kinds: dict[Any, list[Request]] = {}
        for each in requests:
            if each.push is not None:
                each.push.intervention.check_model(self._model)
            kinds.setdefault(each.kind, []).append(each)
        for kind, of_kind in kinds.items():
            if kind in self._proven:
                continue
            if of_kind[0].push is not None:
                check_told(of_kind[0].push.intervention.operator, of_kind[0].push.intervention.positions)
            with at_work("comparing what vLLM writes with transformers"):
                self.proofs.append(prove(self._model, self.score, of_kind, self.facts))
            self._proven.add(kind)
            say(str(self.proofs[-1]))

    def is_proven(self, request: Request) -> bool:
        """Whether its kind was proven."""
        return request.kind in self._proven

    def told(self) -> dict[str, Any]:
        """What wrote and what was proven of it, for the manifest."""
        return {**self.facts, "proofs": [proof.as_dict() for proof in self.proofs]}

    def close(self) -> None:
        """End vLLM and give its memory back; the model writes by transformers again."""
        self._model.writer = None
        self._ask("close", {})

    def run(self, source: Source, is_done: Callable[[Open, Sequence[int], bool], bool]) -> None:
        """Write to what a source gives, side by side, until it gives nothing and all is done.

        Args:
            source: given how many more are taken, the next requests: a place, the request, settings of vLLM's
                `SamplingParams`. What it gives was proven (`prove`), or is to be.
            is_done: given a request, its new tokens and whether vLLM has ended it, says whether it is written no
                further; scores are there already.
        """
        opened = dict[str, Open]()
        while True:
            put = [self._put(*each, opened) for each in source(max(0, IN_FLIGHT - len(opened)))]
            if put:
                self._ask("put", {"requests": put})
            if not opened:
                return
            dropped = []
            for name, new, scores, ended in self._ask("step", {}):
                if name in opened:  # one that was dropped may still be told of
                    opened[name].scores += scores
                    if is_done(opened[name], new, ended):
                        del opened[name]
                        dropped += [] if ended else [name]
            if dropped:
                self._ask("drop", {"names": dropped})

    # ---- requests ---------------------------------------------------------------------------------------------------

    def _put(
        self, place: int, request: Request, settings: Mapping[str, Any], opened: dict[str, Open]
    ) -> dict[str, Any]:
        name = str(next(self._names))
        opened[name] = Open(place)
        push = self._as_asked(request.push, len(request.token_ids))
        alike = push is None or push[:2] == [0, FOREVER]
        return {
            "name": name,
            "token_ids": list(request.token_ids),
            "push": push,
            "salt": json.dumps(push) if alike else name,
            "settings": {**settings, "seed": request.seed} if settings["temperature"] else dict(settings),
        }

    def _as_asked(self, push: Push | None, n_prompt: int) -> list[Any] | None:
        """A push as `worker` is told it; None where nothing is done."""
        if push is None or push.magnitude == 0:
            return None
        edits = []
        for vector in push.intervention.vectors:
            vector.check_stream("vLLM is told of pushes of")
            along, share = as_line(push.intervention.operator, push.magnitude, vector.length(push.intervention.unit))
            edits.append([vector.layer, self._number_of(vector.direction), along, share])
        return [*SPANS[push.intervention.positions](n_prompt), edits]

    def _number_of(self, direction: torch.Tensor) -> int:
        key = direction.numpy().tobytes()
        if key not in self._directions:
            self._directions[key] = len(self._vectors)
            self._vectors.append(direction.tolist())
            self._ask("steer_with", {"directions": self._vectors})
        return self._directions[key]


def write_with_vllm(model: OpenModel, python: str | None = None, options: Mapping[str, Any] | None = None) -> Vllm:
    """Let `model` write by vLLM from now on, until `close`.

    Args:
        python: the Python that has vLLM; by default this one where it has, else `ONEDIAL_VLLM_PYTHON`.
        options: of vLLM's `EngineArgs`, such as `tensor_parallel_size`.

    Raises:
        InputError: no vLLM, weights that lie in no folder, several processes, or vLLM can't load the model.
    """
    if process_count() > 1:
        raise InputError(
            "vLLM shares a model over GPUs by itself; start one process, with --engine-options tensor_parallel_size=N"
        )
    folder = Path(str(getattr(model.hf.config, "_name_or_path", "")))
    if not (folder / "config.json").is_file():
        raise InputError(
            f"vLLM reads weights from a folder, and those of {model.identity.name} lie in memory; save model and "
            "tokenizer with save_pretrained and load that folder"
        )
    settings: dict[str, Any] = {
        "dtype": str(model.dtype).removeprefix("torch."),
        "max_num_batched_tokens": TOKENS_PER_FORWARD.get(model.device.type, 512),
    }
    if model.device.type == "cuda":
        free, total = torch.cuda.mem_get_info(model.device)
        settings["gpu_memory_utilization"] = round(SHARE_OF_FREE * free / total, 3)
    start = {"model": str(folder), "n_layers": model.n_layers, "options": {**settings, **(options or {})}}
    elsewhere = python_with_vllm(python)
    with at_work("starting vLLM"):
        ask = _Elsewhere(elsewhere, start) if elsewhere else _here(start)
    model.writer = Vllm(model, ask)
    say(f"texts are written by vLLM {model.writer.facts['version']}")
    return model.writer


@contextmanager
def writing_with_vllm(
    model: OpenModel, python: str | None = None, options: Mapping[str, Any] | None = None
) -> Iterator[Vllm]:
    """Let `model` write by vLLM while the context lasts."""
    writer = write_with_vllm(model, python, options)
    try:
        yield writer
    finally:
        writer.close()


def python_with_vllm(python: str | None = None) -> str | None:
    """The Python that has vLLM; None where it is this one.

    Raises:
        InputError: none was named and this one has not, or the one that was named has not.
    """
    named = python or os.environ.get(VARIABLE)
    if not named and importlib.util.find_spec("vllm"):
        return None
    remedy = f"pip install onedial[vllm], or name another environment's Python by --engine-python or {VARIABLE}"
    if not named:
        raise InputError(f"vLLM is not installed here; {remedy}")
    looks = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"
    try:
        lacks = subprocess.run([named, "-c", looks], capture_output=True, check=False).returncode
    except OSError as error:
        raise InputError(f"{named} is no Python that can be started ({error.strerror}); {remedy}") from error
    if lacks:
        raise InputError(f"{named} has no vLLM; {remedy}")
    return named


class _Elsewhere:
    """vLLM in a process of another Python; it ends with this one."""

    def __init__(self, python: str, start: Mapping[str, Any]) -> None:
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [python, serve.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        )
        atexit.register(self._end)
        self("start", start)

    def __call__(self, method: str, arguments: Mapping[str, Any]) -> Any:
        if method == "close":
            return self._end()
        assert self._process.stdin
        assert self._process.stdout
        try:
            print(json.dumps([method, arguments]), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        done, gave = json.loads(line) if line else (False, "the process ended")
        if not done:
            raise EngineError(f"vLLM failed ({' '.join(str(gave).split())[:300]}){self._last_error()}")
        return gave

    def _last_error(self) -> str:
        """What vLLM wrote last that names an error; its own exception often says only that there was one."""
        self._errors.seek(0)
        errors = [line.strip() for line in self._errors if "Error" in line and " WARNING " not in line]
        return f": {errors[-1][-300:]}" if errors else ""

    def _end(self) -> None:
        atexit.unregister(self._end)
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _here(start: Mapping[str, Any]) -> Ask:
    """vLLM in this process."""
    writer = serve.Writer(**start)
    return lambda method, arguments: getattr(writer, method)(**arguments)


def _in_turn(requests: Sequence[Request], settings: Callable[[int], Mapping[str, Any]]) -> Source:
    """A source that gives these, then nothing."""
    left = ((place, each, settings(place)) for place, each in enumerate(requests))
    return lambda room: list(itertools.islice(left, room))


def _text(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=True))


def _state(model: OpenModel) -> tuple[str, int]:
    """What tells whether weights or hooks are others than before."""
    hooks = sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.hf.modules())
    return sampled_fingerprint(model.hf), hooks
