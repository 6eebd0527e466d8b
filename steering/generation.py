"""Generate text under steering, and read a yes or no at the end of written reasoning.

In answer mode `reasoned` the subject thinks in writing and ends with a line `Answer: Yes` or `Answer: No`. Each row of
a batch stops as soon as that line stands. A text that was cut off before it came to an answer counts as unread, never
as no: what it says on the way is not its answer.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

import pandas as pd
import torch

from common import InputError
from elicitation.prompts import Prompt, PromptTemplate
from elicitation.questions import Question
from elicitation.yes_no import parse_yes_no
from open_models import OpenModel
from open_models.batches import batches_by_length, halving_on_out_of_memory, questions_per_batch
from open_models.writing import Generated, Stop, generate
from steering.apply import steered
from steering.processes import gather, own_share
from steering.vectors import SteeringSpec, SteeringVector

REASONED = PromptTemplate(
    name="reasoned",
    user=(
        "Here is a question of general knowledge.\n\nQuestion: {question}\n\n"
        "Do you think you can answer this question correctly? Think about it in two or three sentences. "
        'Then write a last line that says only "Answer: Yes" or "Answer: No".'
    ),
    assistant_prefix="Reasoning:",
)
REASONED_COLUMNS = ["question_id", "magnitude", "said_yes", "finished", "raw_text", "n_tokens"]

# At the beginning of a line, since small models repeat the instruction ('I will end with "Answer: Yes" or ...'), and
# with what follows the word, since "Answer: No" may still become "Answer: None of them".
_ANSWER_LINE = re.compile(
    r"^[\s*_#>\"']*answer[\s*_]*:[\s*_\"']*(?:yes|no)[*_\"']*[.,;!\n]", re.IGNORECASE | re.MULTILINE
)


def answer_stands(text: str) -> bool:
    """Whether the text holds a complete line `Answer: Yes` or `Answer: No`."""
    return _ANSWER_LINE.search(text) is not None


def generate_steered(
    model: OpenModel,
    prompts: Sequence[Prompt],
    vector: SteeringVector,
    magnitude: float,
    spec: SteeringSpec | None = None,
    *,
    max_new_tokens: int = 64,
    temperature: float = 0.0,
    seed: int = 0,
    stop: Stop | None = None,
    batch_size: int | None = None,
) -> list[Generated]:
    """What the steered model writes after each prompt, in the order of the prompts.

    Args:
        magnitude: in units of `spec.unit`; at 0 the model is as it was.
        temperature: 0 takes the likeliest token each time; above 0 draws from the whole vocabulary.
        seed: of the draws; each batch starts anew from it, so that a batch's texts depend on nothing before it.
        batch_size: by default as many as memory holds; draws repeat only in the same batches.
        stop: given a row's text so far, says whether the row is done.

    Raises:
        InputError: no prompts, a prompt that with its answer exceeds the model's context, a vector of another model.
    """
    sequences = _checked_sequences(model, prompts, max_new_tokens)

    def work(batch: list[int]) -> list[tuple[int, Generated]]:
        own = [sequences[index] for index in batch]
        with _seeded(model, seed), steered(model, vector, magnitude, spec):
            written = generate(model, own, max_new_tokens, temperature=temperature, stop=stop)
        return list(zip(batch, written, strict=True))

    done: dict[int, Generated] = {}
    lengths = [len(ids) for ids in sequences]
    size = batch_size or questions_per_batch(model, max(lengths) + max_new_tokens)
    for batch in batches_by_length(lengths, size):
        for part in halving_on_out_of_memory(work, batch):
            done.update(part)
    return [done[index] for index in range(len(prompts))]


def reasoned_answers(
    model: OpenModel,
    questions: Sequence[Question],
    vector: SteeringVector,
    magnitudes: Sequence[float],
    spec: SteeringSpec | None = None,
    *,
    template: PromptTemplate = REASONED,
    max_new_tokens: int = 160,
    temperature: float = 0.0,
    seed: int = 0,
    batch_size: int | None = None,
    sink: Callable[[pd.DataFrame], None] | None = None,
) -> pd.DataFrame:
    """Let the subject reason before it says yes or no, at each magnitude.

        table = reasoned_answers(model, questions, vector, [-0.1, 0.0, 0.1])
        table.groupby("magnitude")["said_yes"].agg(["mean", "count"])   # the yes rate, and of how many answers

    Args:
        template: must ask for a last line `Answer: Yes` or `Answer: No`.
        sink: is given each finished magnitude's table (this process's share of the questions).

    Returns:
        One row per question and magnitude, columns `question_id, magnitude, said_yes` (1.0, 0.0, nan where unread),
        `finished, raw_text, n_tokens`; with several processes, of all of them, in each process.

    Raises:
        InputError: as `generate_steered`, or no magnitudes.
    """
    if not questions or not magnitudes:
        raise InputError(f"{len(questions)} questions at {len(magnitudes)} magnitudes: give at least one of each")
    own = own_share(list(range(len(questions))))
    frames: list[pd.DataFrame] = []
    for magnitude in magnitudes if own else ():
        written = generate_steered(
            model,
            [template.fill(questions[index].text) for index in own],
            vector,
            magnitude,
            spec,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            seed=seed,
            stop=answer_stands,
            batch_size=batch_size,
        )
        rows = [
            (index, questions[index].id, float(magnitude), _read(text), text.finished, text.text, text.n_tokens)
            for index, text in zip(own, written, strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["_order", *REASONED_COLUMNS]).astype({"said_yes": float})
        frames.append(frame)
        if sink:
            sink(frame.drop(columns="_order"))
    shares: list[pd.DataFrame] = gather(frames)
    table = pd.concat(shares).sort_values(["_order", "magnitude"], kind="stable")
    return table.drop(columns="_order").reset_index(drop=True)


def _read(written: Generated) -> float | None:
    if not written.finished:
        return None
    said = parse_yes_no(written.text)
    return None if said is None else float(said)


def _checked_sequences(model: OpenModel, prompts: Sequence[Prompt], max_new_tokens: int) -> list[list[int]]:
    if not prompts:
        raise InputError("there are no prompts to continue; give at least one")
    if max_new_tokens < 1:
        raise InputError(f"{max_new_tokens} new tokens requested; ask for 1 or more")
    sequences = model.token_ids(prompts)
    longest = max(len(ids) for ids in sequences)
    limit = getattr(model.text_config, "max_position_embeddings", None)
    if limit and longest + max_new_tokens > limit:
        raise InputError(
            f"the longest prompt has {longest} tokens, and {max_new_tokens} new ones were asked for, but the model "
            f"reads {limit} at most; shorten the prompt or ask for fewer tokens"
        )
    return sequences


@contextlib.contextmanager
def _seeded(model: OpenModel, seed: int) -> Iterator[None]:
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield
