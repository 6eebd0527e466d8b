"""The questions as the subject reads them: token ids, answer tokens, and the batches in which they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from common import InputError, sha256_of_text
from elicitation.prompts import METACOGNITIVE, Prompt, PromptTemplate
from elicitation.questions import Question
from open_models import AnswerTokens, OpenModel
from open_models.batches import batches_by_length, questions_per_batch
from steering.processes import gather


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

    def batches(self, model: OpenModel, batch_size: int | None = None, rows: int = 1) -> list[list[int]]:
        """Places of the questions, batch by batch; every process gets the same batches.

        Args:
            batch_size: by default the smallest that any process finds room for (`questions_per_batch`).
            rows: steered rows of one question that run side by side.
        """
        lengths = [len(sequence) for sequence in self.sequences]
        size = batch_size or min(gather([questions_per_batch(model, max(lengths, default=0), rows)]))
        return batches_by_length(lengths, size)
