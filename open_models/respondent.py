"""A model on this machine as a respondent: it says yes or no by its logits, and writes answers greedily.

Yes or no is read at the answer position, without generating:

    margin = logsumexp over the yes tokens' logits - logsumexp over the no tokens'    (positive = yes)
    mass   = probability of all yes and no tokens together                            (below MASS_FLOOR: unread)

What all prompts of a call begin with (template, framing, request) is run once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor

from common import sha256_of_text
from elicitation.prompts import Prompt
from elicitation.respondents import Response
from elicitation.yes_no import MASS_FLOOR
from open_models.batches import batches_by_length, halving_on_out_of_memory, questions_per_batch
from open_models.model import OpenModel
from open_models.prefill import SharedPrefix
from open_models.readout import AnswerTokens, find_answer_tokens
from open_models.tokens import pad_batch
from open_models.writing import generate

ENDING = 24
"""Which tokens can spell yes and no after a prompt depends on no more than its last letters."""

Progress = Callable[[int], None]
T = TypeVar("T")


class LocalRespondent:
    """Fulfils `elicitation.Respondent` with an `OpenModel`.

    A batch for which memory does not suffice is halved; what was answered before is kept.

    Args:
        model: is left as it was found.
        batch_size: prompts per forward; by default what `questions_per_batch` finds. It moves margins by rounding
            alone.
        progress: is told after each batch how many prompts were answered.
    """

    def __init__(self, model: OpenModel, batch_size: int | None = None, progress: Progress | None = None) -> None:
        self.model = model
        self.batch_size = batch_size
        self.progress = progress

    def answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        """Yes or no to each prompt, in the same order, from one forward each.

        Raises:
            InputError: no yes or no token can follow a prompt under this model's tokenizer, or one prompt alone
                exceeds the device's memory.
        """
        texts = [self.model.render(prompt) for prompt in prompts]
        sequences = self.model.token_ids(prompts)
        endings = [text[-ENDING:] for text in texts]
        tokens = self._answer_tokens(texts)
        prefix = self._prefix(sequences)

        hashes = [sha256_of_text(text) for text in texts]

        def work(batch: list[int]) -> list[tuple[int, Response]]:
            final = self._final_residual([sequences[index] for index in batch], prefix)
            margins, masses = self.model.readout.margin_and_mass(final, tokens[endings[batch[0]]])
            return [
                (index, Response(margin > 0 if mass >= MASS_FLOOR else None, margin, mass, "", hashes[index]))
                for index, margin, mass in zip(batch, margins.tolist(), masses.tolist(), strict=True)
            ]

        return self._in_batches(work, sequences, endings, 0)

    def write(self, prompts: Sequence[Prompt], max_new_tokens: int = 24) -> list[str]:
        """What the model writes after each prompt, greedily: its first line, or `max_new_tokens` tokens of it.

        Raises:
            InputError: one prompt alone exceeds the device's memory.
        """
        sequences = self.model.token_ids(prompts)
        prefix = self._prefix(sequences)

        def work(batch: list[int]) -> list[tuple[int, str]]:
            own = [sequences[index] for index in batch]
            written = generate(self.model, own, max_new_tokens, stop=_holds_a_line, prefix=prefix)
            return [(index, _first_line(each.text)) for index, each in zip(batch, written, strict=True)]

        return self._in_batches(work, sequences, [""] * len(sequences), max_new_tokens)

    def _in_batches(
        self,
        work: Callable[[list[int]], list[tuple[int, T]]],
        sequences: Sequence[Sequence[int]],
        kinds: Sequence[str],
        n_new: int,
    ) -> list[T]:
        """Do the work on prompts of one kind and of like length at a time; the results come in the prompts' order."""
        done: dict[int, T] = {}
        for batch in self._batches([len(sequence) for sequence in sequences], kinds, n_new):
            for part in halving_on_out_of_memory(work, batch):
                done.update(part)
                if self.progress:
                    self.progress(len(part))
        return [done[index] for index in range(len(sequences))]

    def _batches(self, lengths: Sequence[int], kinds: Sequence[str], n_new: int) -> Iterator[list[int]]:
        size = self.batch_size or questions_per_batch(self.model, max(lengths, default=0) + n_new)
        for kind in dict.fromkeys(kinds):
            own = [index for index, other in enumerate(kinds) if other == kind]
            for batch in batches_by_length([lengths[index] for index in own], size):
                yield [own[place] for place in batch]

    def _answer_tokens(self, texts: Sequence[str]) -> dict[str, AnswerTokens]:
        examples = {text[-ENDING:]: text for text in texts}
        return {ending: find_answer_tokens(self.model.tokenizer, text) for ending, text in examples.items()}

    def _prefix(self, sequences: Sequence[Sequence[int]]) -> SharedPrefix:
        if not self.model.supports_partial_runs:
            return SharedPrefix((), None, {})
        return self.model.run_prefix(sequences, [])

    def _final_residual(
        self, sequences: Sequence[Sequence[int]], prefix: SharedPrefix
    ) -> Float[Tensor, "question d_model"]:
        if self.model.supports_partial_runs:
            return self.model.prefill(sequences, [], prefix).final
        return self.model.final_residual(pad_batch(sequences, self.model.pad_id).to(self.model.device))


def _holds_a_line(text: str) -> bool:
    return "\n" in text.lstrip()


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")
