"""Render questions as the subject reads them: token ids, answer tokens, and the batches in which they are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onedial.asking.instruments import YES_NO_TOKENS, TokenReader
from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.models.forward.batches import batches_by_length, questions_per_batch
from onedial.models.forward.readout import AnswerTokens
from onedial.models.model import OpenModel
from onedial.models.processes import gather
from onedial.models.questions import Questions, as_questions, as_template
from onedial.models.tokens import tokenised

SLOT = "{question}"
BY_QUESTION = ("question_ids", "sequences", "question_ends", "topics", "prompts", "parts")
"""Attributes with an entry for each question, or empty."""


@dataclass(frozen=True)
class PromptSet:
    """Rendered and tokenised prompts of one model.

    Attributes:
        question_ids, sequences: one entry per question; whole prompts as token ids.
        tokens: which tokens count as yes and no at the answer position.
        prompt_hash: SHA-256 of the rendered template with its slot, by which two runs can tell that they asked alike.
        example: the first rendered prompt, for people.
        question_ends: place in each sequence of the token that holds the question's last letter; empty where the
            tokenizer cannot say (one that is not a fast tokenizer).
        topics: of each question, "" where it has none; empty where they are not known.
        prompts: before any chat template; empty where the sequences are no longer theirs.
        template: what the questions were put into; None where something else was added.
        parts: of each question, which part of the set it is of, such as its split: only questions of one part are run
            together, so that a stage that asks one part runs the batches that one which asks all does.
        at_once: how many are run together; by default what every process finds room for (`questions_per_batch`).
    """

    question_ids: tuple[str, ...]
    sequences: tuple[tuple[int, ...], ...]
    tokens: AnswerTokens
    prompt_hash: str
    example: str
    question_ends: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    template: PromptTemplate | None = None
    parts: tuple[str, ...] = ()
    at_once: int | None = None

    @classmethod
    def build(
        cls,
        model: OpenModel,
        questions: Questions,
        template: PromptTemplate | str,
        parts: Mapping[str, str] | None = None,
        reader: TokenReader = YES_NO_TOKENS,
    ) -> "PromptSet":
        """Render every question.

        Args:
            questions: `Question`s; or texts, rows, a data frame, or the name of a set or file.
            template: how they are put; or the name of a framing, a prompt file, or a text with {question}.
            parts: says of each question by its id which part of the set it is of.
            reader: how the answers are spelled; the first stands in the place of yes.

        Raises:
            InputError: no questions, no such prompt, a prompt longer than the model's context, two different questions
                that give one prompt, a question that holds a control token, or no token for one of the answers.
        """
        questions, template = as_questions(questions), as_template(template)
        for question in questions:
            model.turns.check_text(question.rendered)
        prompts = [template.fill(question.rendered) for question in questions]
        sequences = _sequences(model, prompts, [f"question {question.id}" for question in questions])
        _check_told_apart(questions, sequences)
        blank = model.render(Prompt(template.user, template.assistant_prefix))
        texts = [question.rendered for question in questions]
        return cls(
            question_ids=tuple(question.id for question in questions),
            sequences=sequences,
            tokens=model.answer_tokens(prompts[0], reader),
            prompt_hash=sha256_of_text(blank),
            example=model.render(prompts[0]),
            question_ends=question_ends(model, blank, [model.render(prompt) for prompt in prompts], texts),
            topics=tuple(question.topic or "" for question in questions),
            prompts=tuple(prompts),
            template=template,
            parts=tuple(parts[question.id] for question in questions) if parts else (),
        )

    @classmethod
    def of_prompts(
        cls, model: OpenModel, prompts: Sequence[Prompt], names: Sequence[str], reader: TokenReader = YES_NO_TOKENS
    ) -> "PromptSet":
        """Ready prompts that end alike, each under a name of its own; `reader` says how their answers are spelled.

        Raises:
            InputError: no prompt, names of another number, or a prompt longer than the model's context.
        """
        if not prompts or len(names) != len(prompts):
            raise InputError(f"{len(prompts)} prompts and {len(names)} names for them; give one of each, at least one")
        sequences = _sequences(model, prompts, names)
        tokens, example = model.answer_tokens(prompts[0], reader), model.render(prompts[0])
        digest = sha256_of_text("\x1f".join(map(model.render, prompts)))
        return cls(tuple(names), sequences, tokens, digest, example, prompts=tuple(prompts))

    def __repr__(self) -> str:
        lengths = [len(sequence) for sequence in self.sequences] or [0]
        named = len({topic for topic in self.topics if topic})
        topics = f" on {named} topics" if named else ""
        return (
            f"PromptSet({len(self)} questions{topics}, {min(lengths)} to {max(lengths)} tokens, "
            f"prompt {self.prompt_hash[:8]})"
        )

    def __len__(self) -> int:
        return len(self.question_ids)

    def subset(self, question_ids: Sequence[str]) -> "PromptSet":
        """The same prompts for some of the questions, in the order given."""
        place = {question: index for index, question in enumerate(self.question_ids)}
        chosen = [place[question] for question in question_ids]
        of_each = {name: values for name in BY_QUESTION if (values := getattr(self, name))}
        picked: dict[str, Any] = {name: tuple(values[index] for index in chosen) for name, values in of_each.items()}
        return replace(self, **picked)

    def continued(self, token: int) -> "PromptSet":
        """The same prompts with one more token, such as an answer; the last position is then that token's."""
        return replace(
            self,
            sequences=tuple((*sequence, token) for sequence in self.sequences),
            prompt_hash=sha256_of_text(f"{self.prompt_hash} {token}"),
            prompts=(),
            template=None,
        )

    def opened(self, model: OpenModel, openings: Sequence[str]) -> "PromptSet":
        """The same questions, each with a paragraph of its own before the user's turn.

        Raises:
            InputError: the prompts are not known, or one grows longer than the model's context.
        """
        if len(self.prompts) != len(self.question_ids):
            raise InputError(
                "these prompts were continued or made without their texts, so nothing can stand before them"
            )
        prompts = [
            replace(prompt, user=f"{opening}\n\n{prompt.user}")
            for prompt, opening in zip(self.prompts, openings, strict=True)
        ]
        return replace(
            self,
            sequences=_sequences(model, prompts, self.question_ids),
            prompt_hash=sha256_of_text("\x1f".join([self.prompt_hash, *dict.fromkeys(openings)])),
            example=model.render(prompts[0]),
            question_ends=(),
            prompts=tuple(prompts),
            template=None,
        )

    def batches(self, model: OpenModel, rows: int = 1) -> list[list[int]]:
        """Places of the questions, batch by batch; every process gets the same batches.

        Args:
            rows: steered rows of one question that run side by side.
        """
        lengths = [len(sequence) for sequence in self.sequences]
        longest = max(lengths, default=0)
        size = self.at_once or min(gather([questions_per_batch(model.stack, longest, rows)]))
        return batches_by_length(lengths, size, model.fast_paths_for(longest).requires_equal_length, self.parts)


def _sequences(model: OpenModel, prompts: Sequence[Prompt], names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Whole prompts as token ids.

    Raises:
        InputError: one is longer than the model's context.
    """
    sequences = tuple(tuple(ids) for ids in model.token_ids(prompts))
    name, longest = max(zip(names, map(len, sequences), strict=True), key=lambda each: each[1])
    if model.max_tokens and longest + 1 > model.max_tokens:
        raise InputError(
            f"{name} gives a prompt of {longest} tokens, but the model reads {model.max_tokens} at most; shorten the "
            "question or the prompt"
        )
    return sequences


def _check_told_apart(questions: Sequence[Question], sequences: Sequence[tuple[int, ...]]) -> None:
    """Raise InputError where two questions of other words are the same tokens to the model."""
    first: dict[tuple[int, ...], Question] = {}
    for question, sequence in zip(questions, sequences, strict=True):
        other = first.setdefault(sequence, question)
        if other.rendered.casefold().split() != question.rendered.casefold().split():
            raise InputError(
                f"to this model the questions {other.id} ({other.rendered[:40]!r}) and {question.id} "
                f"({question.rendered[:40]!r}) are one prompt; its tokenizer has no tokens for what tells them apart"
            )


def question_ends(model: OpenModel, blank: str, rendered: Sequence[str], texts: Sequence[str]) -> tuple[int, ...]:
    """For each rendered prompt, the place of the token that holds the last letter of its question.

    Args:
        blank: the rendered template with its slot, which says where the question stands.

    Returns:
        One place per prompt, or nothing where the tokenizer gives no offsets, or a chat template rewrites the question.
    """
    start = blank.find(SLOT)
    ends = [start + len(text.rstrip()) for text in texts]
    pairs = list(zip(rendered, texts, ends, strict=True))
    if not model.tokenizer.is_fast or any(one[start:end] != text.rstrip() for one, text, end in pairs):
        return ()
    spans = [tokenised(model.tokenizer, text, offsets=True)[1] for text in rendered]
    return tuple(
        max(place for place, (first, last) in enumerate(span) if first < end and last > first)
        for span, end in zip(spans, ends, strict=True)
    )
