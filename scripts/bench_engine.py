"""How fast is a reasoning written, by transformers and by vLLM, steered and not? And what does vLLM's hook cost?

    python scripts/bench_engine.py                                   # the embedded model, 64 reasonings
    python scripts/bench_engine.py --model FOLDER --texts 512 --dtype bfloat16

Prompts are those of a reasoned sweep; the texts are of unequal length, as reasonings are: a text ends after as many
letters as its first ones say. Tokens per second are of the whole, best of the rounds. The hook's cost is the median of
pairs with its quartiles, at a push so small that the same tokens are written. On two cores all of it takes
some twenty minutes.
"""

import json
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onedial.core.command_line import run_command
from onedial.core.options import Options, option, parse_options

LONGEST = 160
"""Tokens of a text."""
NOTHING = 1e-7
"""A push that changes no token."""
SHORT = 16
"""Tokens of a text by which the hook's cost is measured, all of one length."""
ROUNDS, PAIRS = 2, 12


def ends_of_its_own(text: str) -> bool:
    """Whether a text is done: after 50 to 650 letters, by its first ones."""
    return len(text) > 50 + zlib.crc32(text[:24].encode()) % 600


def writing_speed(model: Any, writer: Any, prompts: Sequence[Sequence[int]], push: Any) -> dict[str, Any]:
    """Tokens per second of both, and the hook's cost in percent.

    Args:
        model: by transformers once its writer is put aside. writer: `steering.engines.writer.Vllm`.
        prompts: token ids. push: a `Push`.
    """
    from onedial.models.writing import generate, writing_batches
    from steering.engines.requests import Request

    def by_transformers(with_: Any) -> int:
        model.writer = None
        batches = writing_batches(model, [len(ids) for ids in prompts], LONGEST)
        return sum(
            text.n_tokens
            for batch in batches
            for text in generate(model, [prompts[at] for at in batch], LONGEST, stop=ends_of_its_own, with_=with_)
        )

    def by_vllm(with_: Any) -> int:
        requests = [Request(ids, with_) for ids in prompts]
        return sum(text.n_tokens for text in writer.write(requests, LONGEST, stop=ends_of_its_own))

    def of_one_length(with_: Any) -> None:
        writer.write([Request(ids, with_) for ids in prompts], SHORT)

    for with_ in (None, push):
        writer.write([Request(ids, with_) for ids in prompts[:4]], 4)  # the proof, and what is done at first
    found: dict[str, Any] = {
        f"{name}, {'steered' if with_ else 'unsteered'}": round(max(_speed(write, with_) for _ in range(ROUNDS)), 1)
        for name, write in (("transformers", by_transformers), ("vLLM", by_vllm))
        for with_ in (None, push)
    }
    ratios = []
    for pair in range(PAIRS):  # each goes first as often, so that a machine that slows down says nothing
        order = (None, push.of * NOTHING) if pair % 2 else (push.of * NOTHING, None)
        seconds = {with_ is None: _seconds(lambda with_=with_: of_one_length(with_)) for with_ in order}
        ratios.append(seconds[False] / seconds[True])
    low, median, high = (100 * (share - 1) for share in statistics.quantiles(ratios, n=4))
    return found | {"cost of the hook, %": round(median, 2), "quartiles": [round(low, 2), round(high, 2)]}


def _speed(write: Callable[[Any], int], with_: Any) -> float:
    began = time.perf_counter()
    return write(with_) / (time.perf_counter() - began)


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(options: "ScriptOptions") -> dict[str, Any]:
    """Load a model twice, and measure; the vector is extracted from its answers to the embedded questions."""
    from onedial.asking.prompts import load_prompt
    from onedial.models.model import load_model
    from onedial.panels.questions.question_files import load_questions
    from steering.effects.reasoned import reasoned_instrument
    from steering.engines.writer import writing_with_vllm
    from steering.interventions import Intervention
    from steering.vectors import extract_vector

    model = load_model(options.model, dtype=options.dtype)
    questions = load_questions("embedded", n=max(options.texts, 60))
    vector = extract_vector(model, questions[:60], layer=2 * model.n_layers // 3)
    instrument = reasoned_instrument(load_prompt("study"))
    prompts = model.token_ids([instrument.prompt(question.text) for question in questions[: options.texts]])
    with writing_with_vllm(model) as writer:
        found = writing_speed(model, writer, prompts, Intervention.of(vector, positions="all") * 0.2)
    about = {"model": model.identity.name, "dtype": str(model.dtype), "device": str(model.device)}
    return {**about, "texts": len(prompts), **found}


def main() -> None:
    print(json.dumps(measure(parse_options(ScriptOptions, __doc__)), indent=1))


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    model: str = option("smollm2-135m-instruct", "built-in name, hub id or local folder")
    texts: int = option(64, "reasonings", at_least=4, at_most=500)
    dtype: str = option("auto", "as of a sweep")


if __name__ == "__main__":
    sys.exit(run_command(main))
