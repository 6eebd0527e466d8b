"""Find out which fast paths are right for a model, once, before it is first run.

A few prompts of drawn tokens are edited by plain hooks, each prompt beside none of another length, and by each fast
path. The edits stand at a quarter and at two thirds of the depth, as large as the stream there; the streams before the
final norm must agree to 0.1% of their norm in float32. A model in 16 bits is compared twice: while its lower layers
(twelve, and more until there is one of each kind) are widened to float32, one at a time, where a wrong step can't pass
for rounding; then whole, in its own dtype and at one setting, where the streams may differ by three times what the
plain hook's moves if every block's output is shifted by up to half a unit of its last place. Weights that are offloaded
or quantised can't be widened, and get the second comparison alone, at all settings.

Rows of one length run as one batch whatever is done to them, and both paths share the common beginning: for a large
model all of it takes as long as ten to twenty plain forwards of the prompts.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.core.pulse import at_work
from onedial.models.decoder import Decoder
from onedial.models.forward.attention import SUPPORTED_LAYER_TYPES
from onedial.models.forward.batches import batches_by_length, halved
from onedial.models.forward.residual import Edits, Site, beginning_of, edited
from onedial.models.forward.runner import READ_AT, FastPaths, FastRunner, plainly_edited
from onedial.models.forward.widening import can_be_widened, widened
from onedial.models.tokens import pad_batch

Prompts = list[tuple[int, ...]]

LENGTHS = (19, 13, 19)
"""Of the prompts: a common beginning, and own parts of two lengths after it."""
BEGINNING = 6
"""Tokens that they share."""
WIDENED = 12
"""Layers that are compared in float32, at least."""
SETTINGS = (-0.5, 1.0)
EXACT = 1e-3
"""Two ways to the same stream differ by so much of its norm at most, in float32."""
ROUNDINGS = 3.0
"""In 16 bits: by so many times what the stream moves where every block's output is rounded otherwise."""


@torch.inference_mode()
def check_fast_paths(stack: Decoder, above: int = 0, within: bool = False) -> FastPaths:
    """Compare edited rows by each fast path with plain hooks on a few prompts; see the module's text.

    Args:
        above: a length at which the model begins to run prompts in another way; the prompts compared lie on both sides
            of it, and once their common beginning lies above it as well.
        within: the edits act on what attention and MLP add to the stream, instead of the stream.
    """
    generator = torch.Generator().manual_seed(0)
    cases = _cases(generator, int(stack.config.vocab_size), above)
    push = torch.randn(stack.d_model, generator=generator)
    at = f" around {above} tokens" if above else ""
    with at_work(f"comparing the fast paths of {stack.name} with plain hooks{at}", after=2):
        try:
            if not can_be_widened(stack):
                return _Comparison(stack, cases, push, SETTINGS, stack.n_layers, within).paths(_declared(stack))
            n_lower = _with_all_kinds(stack)
            with widened(stack), stack.ending_after(n_lower - 1):
                paths = _Comparison(stack, cases, push, SETTINGS, n_lower, within).paths(_declared(stack))
            return _Comparison(stack, cases, push, SETTINGS[-1:], stack.n_layers, within).paths(paths)
        except torch.OutOfMemoryError:
            if not above:
                raise
    why = f"memory is too small to compare the fast path at {above + 14} tokens"
    return FastPaths(frozenset(), why, requires_equal_length=True)


def _cases(generator: torch.Generator, vocabulary: int, above: int) -> list[Prompts]:
    """Groups of prompts that begin alike; around a length there are two, which share a prompt."""

    def drawn(n: int) -> tuple[int, ...]:
        return tuple(torch.randint(vocabulary, (max(n, 1),), generator=generator).tolist())

    def begun(beginning: tuple[int, ...], length: int) -> tuple[int, ...]:
        begins = beginning[: max(length, 1) - 1]
        return begins + drawn(max(length, 1) - len(begins))

    if not above:
        beginning = drawn(BEGINNING)
        return [[begun(beginning, length) for length in LENGTHS]]
    long = drawn(above + 9)
    below = long[: max(above - 10, 0)]
    return [[long, begun(below, above + 4), begun(below, above - 3)], [begun(long[: above + 3], above + 14), long]]


def _with_all_kinds(stack: Decoder) -> int:
    """How many of the lowest layers hold one of each kind: of its parts, and of its attention by the config."""
    named = getattr(stack.config, "layer_types", None) or [""] * stack.n_layers
    kinds = [
        (name, *(type(part) for part in block.children())) for name, block in zip(named, stack.layers, strict=False)
    ]
    return min(stack.n_layers, max(WIDENED, *(kinds.index(kind) + 1 for kind in kinds)))


def _declared(stack: Decoder) -> FastPaths:
    """What is known without a comparison."""
    # GPT-Neo's local layers see a window of columns, not of positions: rows side by side would push one another out.
    kinds = getattr(stack.config, "layer_types", None) or getattr(stack.config, "attention_layers", None) or []
    unknown = sorted(set(kinds) - SUPPORTED_LAYER_TYPES)
    wrong = f"it has layers of a kind that the fast path does not know ({', '.join(unknown)})" if unknown else ""
    if getattr(stack.config, "alibi", False):
        wrong = "its attention goes by distances between columns (ALiBi), and rows side by side have none of their own"
    return FastPaths(frozenset() if wrong else frozenset(READ_AT), wrong)


@dataclass(frozen=True)
class _Comparison:
    """In the dtype that the decoder computes in.

    Attributes:
        push: the edits' direction. settings: how far, in units of the stream's norm.
        n_layers: that are run. within: whether the edits act within their layers.
    """

    stack: Decoder
    cases: list[Prompts]
    push: Float[Tensor, " d_model"]
    settings: tuple[float, ...]
    n_layers: int
    within: bool = False

    @property
    def edits(self) -> Edits:
        """At two layers; within them, where the parts make up the step."""
        unit = self.push / self.push.norm()

        def edit(stream: Tensor, settings: Tensor) -> Tensor:
            lengths = settings.to(stream.device)[..., None] * stream.float().norm(dim=-1, keepdim=True)
            return stream + (lengths * unit.to(stream.device)).to(stream.dtype)

        if self.within:
            proven = [layer for layer in range(1, self.n_layers) if self.stack.tried.steps[layer]]
            sites = (("attn", len(proven) // 4), ("mlp", 2 * len(proven) // 3)) if proven else ()
            return {Site(kind, proven[place]): edit for kind, place in sites}
        return dict.fromkeys(sorted({self.n_layers // 4, (2 * self.n_layers) // 3}), edit)

    def paths(self, known: FastPaths) -> FastPaths:
        """What of `known` is borne out; what was wrong stays so."""
        allowed, wrong, alone = set(known.allowed), known.reason, known.requires_equal_length
        if not self.edits:
            return FastPaths(frozenset(), "above the first layer none adds its attention and its MLP", alone)
        read_at, rounds = sorted(allowed) or ["all"], self.stack.dtype != torch.float32
        hooks = self._by_hooks(read_at, rounds)
        for prompts in self.cases:
            expected = {at: torch.stack([hooks[prompt, at] for prompt in prompts]) for at in read_at}
            first, tolerance = read_at[0], EXACT
            if rounds:
                rounded = torch.stack([hooks[prompt, "rounded"] for prompt in prompts])
                tolerance = max(EXACT, ROUNDINGS * _off(rounded, expected[first]))
            alone = alone or not _off(self._padded(prompts, first), expected[first][:, -1]) <= tolerance
            prefix = None
            for at in sorted(allowed):  # "all" first, whose beginning serves "last" as well
                try:
                    fast = FastRunner(self.stack, prompts, [beginning_of(self.edits)[0]], at, prefix=prefix)
                    settings = torch.tensor([self.settings], device=self.stack.device)
                    error = _off(fast.steer(fast.start(prompts), self.edits, settings), expected[at])
                    prefix = fast.prefix
                except (TypeError, ValueError, AttributeError, IndexError, RuntimeError) as failure:
                    if isinstance(failure, torch.OutOfMemoryError):
                        raise
                    reason = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
                    wrong = f"the fast path fails on it ({reason})"
                    allowed.discard(at)
                    continue
                if not error <= tolerance:
                    wrong = f"the fast path is off by {error:.2g} of the residual stream's norm"
                    allowed.discard(at)
        return FastPaths(frozenset(allowed), wrong, alone)

    def _by_hooks(
        self, read_at: Sequence[str], rounds: bool
    ) -> dict[tuple[tuple[int, ...], str], Float[Tensor, "setting d_model"]]:
        """The final streams of every prompt by plain hooks: edited at each of these positions, and rounded otherwise.

        "rounded" rows are edited as the first. Prompts of one length run as one batch, all of their rows.
        """
        prompts = list(dict.fromkeys(prompt for some in self.cases for prompt in some))
        kinds = [*read_at, *(["rounded"] if rounds else [])]
        streams: dict[tuple[tuple[int, ...], str], Tensor] = {}
        for group in batches_by_length([len(prompt) for prompt in prompts], len(prompts), True):
            rows = [(prompts[place], kind, each) for place in group for kind in kinds for each in self.settings]

            def work(places: list[int], rows: list[tuple[tuple[int, ...], str, float]] = rows) -> Tensor:
                some = [rows[place] for place in places]
                last = torch.tensor([(read_at[0] if kind == "rounded" else kind) == "last" for _, kind, _ in some])
                shifted = torch.tensor([kind == "rounded" for _, kind, _ in some])
                with _rounded_otherwise(self.stack, shifted) if shifted.any() else ExitStack():
                    return self._plain([prompt for prompt, *_ in some], [each for *_, each in some], last)

            final = torch.cat(list(halved(work, list(range(len(rows))))))
            by_kind = final.unflatten(0, (len(group), len(kinds), len(self.settings)))
            for place, of_prompt in zip(group, by_kind, strict=True):
                streams |= {(prompts[place], kind): each for kind, each in zip(kinds, of_prompt, strict=True)}
        return streams

    def _padded(self, prompts: Prompts, at: str) -> Float[Tensor, "prompt d_model"]:
        """The prompts side by side, edited by plain hooks at the last setting."""
        last = torch.tensor([at == "last"] * len(prompts))
        return self._plain(prompts, [self.settings[-1]] * len(prompts), last)

    def _plain(
        self, prompts: Sequence[Sequence[int]], settings: Sequence[float], last: Bool[Tensor, " row"]
    ) -> Float[Tensor, "row d_model"]:
        batch = pad_batch(prompts, self.stack.pad_id).to(self.stack.device)
        columns = torch.arange(batch.input_ids.shape[1], device=self.stack.device)
        at_last = columns == batch.last_index[:, None]
        chosen = torch.where(last.to(self.stack.device)[:, None], at_last, batch.attention_mask)
        with plainly_edited(self.stack, self.edits, torch.tensor(settings, device=self.stack.device), chosen):
            return self.stack.final_residual(batch).float()


def _off(streams: Tensor, expected: Tensor) -> float:
    """The largest difference, in units of the stream's norm."""
    apart = (streams.float().to(expected.device) - expected).norm(dim=-1)
    return (apart / expected.norm(dim=-1)).max().item()


@contextmanager
def _rounded_otherwise(stack: Decoder, rows: Bool[Tensor, " row"]) -> Iterator[None]:
    """While the context lasts, every number that a block puts out for these rows is shifted by up to half a unit of its
    last place.
    """
    generator, unit = torch.Generator().manual_seed(0), torch.finfo(stack.dtype).eps

    def shifted(stream: Tensor) -> Tensor:
        draws = torch.rand(stream.shape, generator=generator) - 0.5
        draws *= rows[:, None, None]
        return (stream.float() * (1 + unit * draws.to(stream.device))).to(stream.dtype)

    with ExitStack() as hooks:
        for layer in stack.layers:
            hooks.enter_context(edited(layer, shifted))
        yield
