"""Engines: what writes long answers under a dial; and the proof that one which is not ours steers as ours does.

A server of models writes long texts much quicker than forwards one after the other. It says the same only if the push
stands at the same layers and positions, on every token that is written, at the same size, and if nothing that was
computed at one setting is used again at another. So another engine is used on a model once `check_parity` has found:

    signs     of margins m = logsumexp(yes) - logsumexp(no) at the prompt's end: alike in 99.5% or more
    push      |engine's - own| / |own|, root mean squares over the pushes m(setting) - m(0): .05 at most; .5 of any one
              question's, as large as pushes are on the whole
    step      slope of the engine's pushes on ours, in which rounding cancels out: between .99 and 1.01
    texts     of 32 questions at three settings, likeliest token by token: all equal; the engine writes them among as
              many others as it will in use

The settings are run one after the other and the first one again, so that a state which is kept across settings shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from jaxtyping import Float

from onedial.asking import Instrument, Question, TextReader, TokenReader
from onedial.core import InputError, load_plugin
from onedial.models import (
    Generated,
    OpenModel,
    batches_by_length,
    check_room,
    generate,
    halving_on_out_of_memory,
    pad_batch,
    questions_per_batch,
)
from steering.apply import steered
from steering.interventions import WRITTEN_ONLY, Intervention

Stop = Callable[[str], bool]
Tokens = Sequence[int]
Each = TypeVar("Each")

SIGNS_ALIKE = 0.995
"""At least so many margins have the sign that ours have."""
PUSH_OFF = 0.05
"""The engine's pushes on margins are ours, but for this share of them."""
ONE_OFF = 0.5
"""The same for the pushes of any one question, as a share of what is usual: an unsteered row is off by about 1."""
STEP_OFF = 0.01
"""The slope of the engine's pushes on ours is 1, but for this much."""
TEXTS = 32
MARGINS = 400
"""Questions at each setting, or all where there are fewer."""
AT_ONCE = 256
"""Prompts that an engine, which batches them itself, is given to write after in one call."""


class Engine(Protocol):
    """Runs one model under one intervention; made by a call with an `OpenModel` and an `Intervention`.

    Attributes:
        name: with its version, for the run's notes.
    """

    name: str

    def log_probs(
        self, prompts: Sequence[Tokens], magnitude: float, tokens: Tokens
    ) -> Float[np.ndarray, "prompt token"]:
        """Natural log probabilities, over the whole vocabulary, of some tokens after each prompt."""
        ...

    def write(
        self, prompts: Sequence[Tokens], magnitude: float, max_new_tokens: int, stop: Stop | None = None
    ) -> list[Generated]:
        """What the steered model writes after each prompt, in their order, the likeliest token each time.

        Args:
            stop: given a text so far, whether it is done. An engine that knows token ids and no `stop` may write on
                and leave the rest to `onedial.models.Generated.of`.
        """
        ...


MakeEngine = Callable[[OpenModel, Intervention], Engine]


class LocalEngine:
    """The project's own forwards, by which others are judged; a batch that memory cannot hold is halved.

    Args:
        batch_size: prompts side by side; by default what memory holds.
    """

    name = "local"

    def __init__(self, model: OpenModel, intervention: Intervention, batch_size: int | None = None) -> None:
        intervention.check_model(model)
        self.model, self.intervention, self.batch_size = model, intervention, batch_size

    @torch.inference_mode()
    def log_probs(
        self, prompts: Sequence[Tokens], magnitude: float, tokens: Tokens
    ) -> Float[np.ndarray, "prompt token"]:
        """As `Engine`. Unsteered where the intervention acts on nothing but what is written."""

        def work(batch: list[int]) -> list[tuple[int, Any]]:
            padded = pad_batch([prompts[index] for index in batch], self.model.stack.pad_id).to(self.model.device)
            if self.intervention.positions in WRITTEN_ONLY:
                final = self.model.final_residual(padded)
            else:
                with steered(self.model, self.intervention, magnitude):
                    final = self.model.final_residual(padded)
            parts = [log_p[:, list(tokens)].cpu().numpy() for _, log_p in self.model.readout.log_probs(final)]
            return list(zip(batch, np.concatenate(parts), strict=True))

        return np.stack(self._in_batches(work, prompts, 0))

    def write(
        self, prompts: Sequence[Tokens], magnitude: float, max_new_tokens: int, stop: Stop | None = None
    ) -> list[Generated]:
        """As `Engine`.

        Raises:
            InputError: no prompts, or one that with its answer exceeds the model's context.
        """
        check_room(self.model, prompts, max_new_tokens)

        def work(batch: list[int]) -> list[tuple[int, Generated]]:
            own = [prompts[index] for index in batch]
            with steered(self.model, self.intervention, magnitude):
                return list(zip(batch, generate(self.model, own, max_new_tokens, stop=stop), strict=True))

        return self._in_batches(work, prompts, max_new_tokens)

    def _in_batches(
        self, work: Callable[[list[int]], list[tuple[int, Any]]], prompts: Sequence[Tokens], n_new: int
    ) -> list[Any]:
        done: dict[int, Any] = {}
        lengths = [len(ids) for ids in prompts]
        longest = max(lengths, default=0) + n_new
        size = self.batch_size or questions_per_batch(self.model.stack, longest)
        alone = self.model.writes_alone(longest) if n_new else self.model.fast_paths_for(longest).alone
        for batch in batches_by_length(lengths, size, alone):
            for part in halving_on_out_of_memory(work, batch):
                done.update(part)
        return [done[index] for index in range(len(prompts))]


def load_engine(spec: str) -> MakeEngine:
    """What `my_engine.py:Engine` names: called with a model and an intervention, it gives an `Engine`.

    Raises:
        InputError: no file and name with a colon between, no such file or name, or the file cannot be imported.

    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = Path(f"{folder.name}/my_engine.py").write_text("from steering import LocalEngine as Engine")
    >>> load_engine(f"{folder.name}/my_engine.py:Engine").__name__
    'LocalEngine'
    """
    path, colon, name = spec.rpartition(":")
    if not colon or not path or not name:
        raise InputError(f"--engine {spec}: give a Python file and a name in it, such as my_engine.py:Engine")
    made = getattr(load_plugin(path, "--engine"), name, None)
    if not callable(made):
        raise InputError(f"--engine {spec}: {path} holds nothing of the name {name} that can be called")
    return made  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Parity:
    """What an engine did beside ours.

    Attributes:
        engine: its name.
        n_margins, n_alike: margins at all settings, and how many have the sign of ours.
        push_off: how far its pushes on margins are from ours, as a share of these; nan where margins are left alone.
        one_off: the same for the question at which it is furthest. step: slope of its pushes on ours.
        n_texts, n_equal: texts at all settings, and how many are equal to ours in letters and tokens.
        parted: the first that is not: setting, our text and the engine's.
    """

    engine: str
    n_margins: int
    n_alike: int
    push_off: float
    one_off: float
    step: float
    n_texts: int
    n_equal: int
    parted: tuple[float, str, str] | None = None

    @property
    def holds(self) -> bool:
        """Whether it may be used."""
        pushes_alike = bool(np.isnan(self.push_off)) or (
            self.push_off <= PUSH_OFF and self.one_off <= ONE_OFF and abs(self.step - 1) <= STEP_OFF
        )
        return self.n_alike >= SIGNS_ALIKE * self.n_margins and pushes_alike and self.n_equal == self.n_texts

    def __str__(self) -> str:
        push = (
            ""
            if np.isnan(self.push_off)
            else f", pushes {self.step:.3f} times ours, off by {self.push_off:.3f} of them, of one question by "
            f"{self.one_off:.3f}"
        )
        found = (
            f"{self.n_alike} of {self.n_margins} margins with the sign of ours{push}, {self.n_equal} of {self.n_texts} "
            "texts equal"
        )
        if self.holds:
            return f"the engine {self.engine} steers as the local one does: {found}"
        away = "" if self.parted is None else " (at {:+.4g} ours writes {!r}, it {!r})".format(*self.parted)
        return f"the engine {self.engine} does not steer as the local one does: {found}{away}"

    def as_dict(self) -> dict[str, Any]:
        """For the run's manifest."""
        return asdict(self) | {"holds": self.holds}


def check_parity(
    engine: Engine,
    own: LocalEngine,
    questions: Sequence[Question],
    settings: Sequence[float],
    direct: Instrument,
    written: Instrument,
) -> Parity:
    """Run an engine and ours side by side on some questions, setting by setting.

    Args:
        own: of the model and the intervention that the engine was made for.
        settings: of the sweep that it shall be used for; 0, the lowest and the highest are compared, or 0, the only
            outer one and its half.
        direct: is answered yes or no by the next token; `written`: by a text that ends in yes or no.

    Raises:
        InputError: too few questions, or settings so close that our own texts are the same at all of them, so that
            nothing could be told apart; or the engine gives another number of answers than it was asked for.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import CAN_YOU_ANSWER, METACOGNITIVE
    >>> from steering import extract_vector, reasoned_instrument
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> own = LocalEngine(model, Intervention.of(extract_vector(model, questions, layer=21), positions="all"))
    >>> direct, written = CAN_YOU_ANSWER.framed(METACOGNITIVE), reasoned_instrument(METACOGNITIVE, 6)
    >>> check_parity(own, own, questions, [-2.0, 0.0, 2.0], direct, written).holds
    True
    """
    assert isinstance(direct.reader, TokenReader)
    assert isinstance(written.reader, TextReader)
    model, places = own.model, outer_settings(settings)
    asked, among = _evenly(questions, MARGINS), _evenly(questions, AT_ONCE)
    compared = _evenly(range(len(among)), TEXTS)
    prompts = [direct.prompt(question.text) for question in asked]
    tokens = model.answer_tokens(prompts[0], direct.reader)
    n_yes, sequences = len(tokens.yes), model.token_ids(prompts)

    def margins(of: Engine, setting: float) -> Float[np.ndarray, " prompt"]:
        log_p = np.asarray(of.log_probs(sequences, setting, tokens.every), float)
        if log_p.shape != (len(sequences), len(tokens.every)):
            raise InputError(
                f"the engine {of.name} was asked for {len(tokens.every)} log probabilities after each of "
                f"{len(sequences)} prompts, and gave an array of shape {log_p.shape}"
            )
        yes, no = (np.logaddexp.reduce(side, axis=1) for side in (log_p[:, :n_yes], log_p[:, n_yes:]))
        return yes - no  # type: ignore[no-any-return]

    to_write = model.token_ids([written.prompt(question.text) for question in among])

    def texts(of: Engine, setting: float, which: Sequence[int]) -> list[Generated]:
        assert isinstance(written.reader, TextReader)
        own_prompts = [to_write[place] for place in which]
        found = of.write(own_prompts, setting, written.reader.max_new_tokens, written.reader.stop)
        if len(found) != len(which):
            raise InputError(f"the engine {of.name} was given {len(which)} prompts, and wrote {len(found)} texts")
        return found

    again = [*places, places[0]]
    ours, theirs = (np.stack([margins(of, setting) for setting in again]) for of in (own, engine))
    ours_written = [texts(own, setting, compared) for setting in places]
    whole = [texts(engine, setting, range(len(among))) for setting in places]
    theirs_written = [[row[place] for place in compared] for row in whole]
    moved = {each.text for each in ours_written[0]} != {each.text for row in ours_written[1:] for each in row}
    if not moved:
        raise InputError(
            f"the {len(compared)} texts are the same at {', '.join(f'{place:+.4g}' for place in places)}, so that no "
            "engine could be told from one that does not steer; take magnitudes further out"
        )
    shift, their_shift = ours[1:] - ours[0], theirs[1:] - theirs[0]
    strength, apart_by = float(np.linalg.norm(shift)), their_shift - shift
    pairs = [
        (place, mine, its)
        for place, one, other in zip(places, ours_written, theirs_written, strict=True)
        for mine, its in zip(one, other, strict=True)
    ]
    apart = [(place, mine.text, its.text) for place, mine, its in pairs if mine != its]
    return Parity(
        engine.name,
        n_margins=ours.size,
        n_alike=int(((ours > 0) == (theirs > 0)).sum()),
        push_off=float(np.linalg.norm(apart_by)) / strength if strength else float("nan"),
        one_off=float(np.linalg.norm(apart_by, axis=0).max()) * len(asked) ** 0.5 / strength
        if strength
        else float("nan"),
        step=float((their_shift * shift).sum()) / strength**2 if strength else float("nan"),
        n_texts=len(pairs),
        n_equal=len(pairs) - len(apart),
        parted=apart[0] if apart else None,
    )


def outer_settings(settings: Sequence[float]) -> tuple[float, float, float]:
    """0 and the two by which an engine is told from another: the outer ones, or the only outer one and its half.

    Raises:
        InputError: there is none but 0.

    >>> outer_settings([-0.2, 0.0, 0.1, 0.3])
    (0.0, -0.2, 0.3)
    >>> outer_settings([0.0, 0.4])
    (0.0, 0.2, 0.4)
    """
    low, high = min(settings, default=0.0), max(settings, default=0.0)
    if low == high == 0.0:
        raise InputError("an engine is judged by what a push does, and the only setting is 0; give others")
    if low < 0 < high:
        return 0.0, low, high
    outer = high if high > 0 else low
    return 0.0, outer / 2, outer


def _evenly(questions: Sequence[Each], n: int) -> list[Each]:
    """About n of them from all of their order, which is by topic in most sets."""
    if not questions:
        raise InputError("there are no questions to judge an engine by; check --questions and --panel")
    return [questions[int(place)] for place in np.linspace(0, len(questions) - 1, min(n, len(questions)))]
