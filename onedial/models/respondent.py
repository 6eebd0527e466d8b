"""Answer as a respondent by a model on this machine: by its logits where the instrument says so, else by writing.

At the answer position, without generating:

    margin = logsumexp over the yes tokens' logits - logsumexp over the no tokens'    (positive = yes)
    mass   = probability of all yes and no tokens together                            (below MASS_FLOOR: unread)

What all prompts of a call begin with (template, framing, request) is run once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from onedial.asking.instruments import Instrument, TokenReader
from onedial.asking.prompts import Prompt
from onedial.asking.respondents import Identity, Response, response_from_logits, response_from_text
from onedial.core.files import sha256_of_text
from onedial.models.forward.batches import Progress, batches_by_length, finished_parts, questions_per_batch
from onedial.models.forward.prefill import SharedPrefix
from onedial.models.forward.readout import find_answer_tokens
from onedial.models.forward.runner import FastRunner, PlainRunner, Runner
from onedial.models.model import OpenModel, Steering
from onedial.models.writing import Decoding, check_room, generate, writing_batches

ENDING = 24
"""Which tokens can spell an answer after a prompt depends on no more than its last letters."""


class LocalRespondent:
    """Fulfils `onedial.asking.respondents.Respondent` with an `OpenModel`.

    A batch for which memory does not suffice is halved; what was answered before is kept.

    Args:
        model: is left as it was found.
        batch_size: prompts per forward; by default what `questions_per_batch` finds. It moves margins by rounding
            alone.
        progress: is told after each batch how many prompts were answered.
        push: what the model is steered with. It is read by plain forwards of whole prompts then, so that any hook sees
            what it expects.
        setting: what that does to the model, for the identity.
        seed: of the draws of an instrument that samples; each batch starts anew from it.
    """

    def __init__(
        self,
        model: OpenModel,
        batch_size: int | None = None,
        progress: Progress | None = None,
        *,
        push: Steering | None = None,
        setting: str = "",
        seed: int = 0,
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.progress = progress
        self._push = push
        self._setting = setting
        self._seed = seed

    @property
    def identity(self) -> Identity:
        return Identity(self.model.identity.name, self.model.identity.fingerprint, self._setting)

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """One response to each prompt, batch by batch of like length.

        Raises:
            InputError: no token of an answer can follow a prompt under this model's tokenizer, or one prompt alone
                exceeds the device's memory.
        """
        if not prompts:
            return
        texts = [self.model.render(prompt) for prompt in prompts]
        sequences = self.model.token_ids(prompts)
        if isinstance(instrument.reader, TokenReader):
            for prompt in prompts:
                self.model.turns.check(prompt, reads=True)
            work, kinds, n_new = self._reading_logits(texts, sequences, instrument)
        else:
            work, kinds, n_new = self._writing(texts, sequences, instrument)
        batches = self._batches([len(sequence) for sequence in sequences], kinds, n_new)
        for _, answers in finished_parts(batches, work, self.progress):
            yield from answers

    def _reading_logits(
        self, texts: Sequence[str], sequences: Sequence[Sequence[int]], instrument: Instrument
    ) -> tuple[Callable[[list[int]], list[Response]], Sequence[str], int]:
        assert isinstance(instrument.reader, TokenReader)
        endings = [text[-ENDING:] for text in texts]
        examples = dict(zip(endings, texts, strict=True))
        tokens = {
            ending: find_answer_tokens(self.model.tokenizer, text, instrument.reader)
            for ending, text in examples.items()
        }
        runner = self._runner(sequences)

        @torch.inference_mode()
        def work(batch: list[int]) -> list[Response]:
            with self._context():
                final = runner.start([sequences[index] for index in batch]).final
            groups, masses = self.model.readout.groups_and_mass(final, tokens[endings[batch[0]]])
            read = torch.cat([groups, masses[:, None], groups[:, :1] - groups[:, 1:2]], dim=1)  # one copy to the host
            return [
                response_from_logits(
                    instrument.scale,
                    logits,
                    mass,
                    margin if instrument.scale.kind == "yes/no" else float("nan"),
                    place=index,
                    prompt_hash=sha256_of_text(texts[index]),
                    tokens_in=len(sequences[index]),
                    tokens_out=0,
                )
                for index, (*logits, mass, margin) in zip(batch, read.tolist(), strict=True)
            ]

        return work, endings, 0

    def _writing(
        self, texts: Sequence[str], sequences: Sequence[Sequence[int]], instrument: Instrument
    ) -> tuple[Callable[[list[int]], list[Response]], Sequence[str], int]:
        reader = instrument.reader
        assert not isinstance(reader, TokenReader)
        check_room(self.model, sequences, reader.max_new_tokens)
        runner = self._runner(sequences)
        prefix = runner.prefix if isinstance(runner, FastRunner) else SharedPrefix((), None, {})

        def work(batch: list[int]) -> list[Response]:
            chosen = [sequences[index] for index in batch]
            written = generate(
                self.model,
                chosen,
                reader.max_new_tokens,
                Decoding(reader.temperature, self._seed, reader.stop),
                prefix=prefix,
                push=self._push,
            )
            return [
                response_from_text(
                    instrument.scale,
                    reader,
                    each.text,
                    each.finished,
                    place=index,
                    prompt_hash=sha256_of_text(texts[index]),
                    tokens_in=len(sequences[index]),
                    tokens_out=each.n_tokens,
                )
                for index, each in zip(batch, written, strict=True)
            ]

        return work, [""] * len(sequences), reader.max_new_tokens

    def _context(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._push is None else self._push.steer(self.model)

    def _runner(self, sequences: Sequence[Sequence[int]]) -> Runner:
        if self._push is None:
            return self.model.runner(sequences)
        return PlainRunner(self.model.stack, sequences, [], "last", self._alone(map(len, sequences)))

    def _alone(self, lengths: Iterable[int]) -> bool:
        return self.model.fast_paths_for(max(lengths, default=0)).requires_equal_length

    def _batches(self, lengths: Sequence[int], kinds: Sequence[str], n_new: int) -> Iterator[list[int]]:
        if n_new:
            yield from writing_batches(self.model, lengths, n_new, self.batch_size)
            return
        size = self.batch_size or questions_per_batch(self.model.stack, max(lengths, default=0))
        alone = self._alone(lengths)
        for kind in dict.fromkeys(kinds):
            of_kind = [index for index, other in enumerate(kinds) if other == kind]
            for batch in batches_by_length([lengths[index] for index in of_kind], size, alone):
                yield [of_kind[place] for place in batch]
