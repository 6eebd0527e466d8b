"""The questions as the subject reads them: token ids, answer tokens, and batches in an order that wastes little."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from common import InputError, sha256_of_text
from elicitation.prompts import METACOGNITIVE, Prompt, PromptTemplate
from elicitation.questions import Question
from open_models import AnswerTokens, OpenModel

QUESTIONS_PER_BATCH = {"cpu": 16, "cuda": 64}

T = TypeVar("T")


@dataclass(frozen=True)
class PromptSet:
    """Rendered and tokenised prompts of one model.

    Attributes:
        question_ids, sequences: one entry per question; whole prompts as token ids.
        tokens: which tokens count as yes and no at the answer position.
        prompt_hash: SHA-256 of the rendered template with its slot, by which two runs can tell that they asked alike.
        example: the first rendered prompt, for people.
    """

    question_ids: tuple[str, ...]
    sequences: tuple[tuple[int, ...], ...]
    tokens: AnswerTokens
    prompt_hash: str
    example: str

    @classmethod
    def of(cls, model: OpenModel, questions: "PromptSet | Sequence[Question]") -> "PromptSet":
        """Prompts as they are, or questions put into the neutral metacognitive prompt."""
        return questions if isinstance(questions, PromptSet) else cls.build(model, questions, METACOGNITIVE)

    @classmethod
    def build(cls, model: OpenModel, questions: Sequence[Question], template: PromptTemplate) -> "PromptSet":
        """Render every question.

        Raises:
            InputError: no questions, or a prompt longer than the model's context.
        """
        if not questions:
            raise InputError("there are no questions to ask; check --questions and --panel")
        prompts = [template.fill(question.text) for question in questions]
        sequences = tuple(tuple(ids) for ids in model.token_ids(prompts))
        limit = getattr(model.text_config, "max_position_embeddings", None)
        longest = max(range(len(sequences)), key=lambda index: len(sequences[index]))
        if limit and len(sequences[longest]) + 1 > limit:
            raise InputError(
                f"question {questions[longest].id} gives a prompt of {len(sequences[longest])} tokens, but the model "
                f"reads {limit} at most; shorten the question or the prompt"
            )
        blank = model.render(Prompt(template.user, template.assistant_prefix))
        return cls(
            question_ids=tuple(question.id for question in questions),
            sequences=sequences,
            tokens=model.answer_tokens(prompts[0]),
            prompt_hash=sha256_of_text(blank),
            example=model.render(prompts[0]),
        )

    def __len__(self) -> int:
        return len(self.question_ids)

    def subset(self, question_ids: Sequence[str]) -> "PromptSet":
        """The same prompts for some of the questions, in the order given."""
        place = {question: index for index, question in enumerate(self.question_ids)}
        chosen = [place[question] for question in question_ids]
        return PromptSet(
            tuple(question_ids),
            tuple(self.sequences[index] for index in chosen),
            self.tokens,
            self.prompt_hash,
            self.example,
        )


def batches_by_length(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Indices in batches of neighbours in length, longest first: the first batch is the one that needs most memory."""
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    return [order[start : start + size] for start in range(0, len(order), size)]


def halving_on_out_of_memory(work: Callable[[list[int]], T], batch: list[int]) -> Iterator[T]:
    """Run `work` on a batch; if the device's memory is too small for it, on its halves.

    Raises:
        InputError: not even one question fits.
    """
    try:
        result = work(batch)
    except torch.OutOfMemoryError as error:
        if len(batch) == 1:
            raise InputError(
                "one question alone does not fit into the device's memory; choose a smaller --dtype, "
                "fewer --magnitudes, or --device-map auto"
            ) from error
        result = None
    if result is not None:
        yield result
        return
    torch.cuda.empty_cache()
    middle = len(batch) // 2
    yield from halving_on_out_of_memory(work, batch[:middle])
    yield from halving_on_out_of_memory(work, batch[middle:])


def default_batch_size(model: OpenModel) -> int:
    """Questions per batch to begin with; halved where memory does not suffice."""
    return QUESTIONS_PER_BATCH.get(model.device.type, 16)
