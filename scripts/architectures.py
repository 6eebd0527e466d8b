"""Compare every type of causal language model of transformers, tiny and with random weights, with hooks written here.

    python scripts/architectures.py types.csv                   # all of them; four minutes of one core
    python scripts/architectures.py types.csv moshi gpt2        # these alone, beside what the table holds already

For each type: margins of prompts of several lengths side by side, under a push at the last and at all positions,
against a bare hook on each prompt alone; then what is written under a push, against the likeliest token each time
without a cache. Lengths pass the thresholds of the tiny config (windows, chunks).

    fast, plain   right; by which path
    written       margins are right, and what is written with a cache differs from what is written without
    wrong         margins are off by more than 5e-4: float32 is off by a tenth of that where kernels differ
    refused       onedial says in a sentence why it does not take it
    not built     the sizes of architectures.yaml do not make a small model of this type, which says nothing of onedial

`reason` holds the sentence, or why the path is plain. The table is gone on with where it stopped.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, option, parse_options

YES, NO = [3, 5, 7, 50], [11, 13, 200]
MAGNITUDES = (0.0, -1.5)
LAYER = 1
WRITTEN = 4
MOST_WEIGHTS = 60_000_000
LIMIT = 5e-4


@dataclass(frozen=True)
class Form:
    """A form that people know: transformers' type, a name, and what its config needs besides `SMALL`."""

    type: str
    name: str
    sizes: dict[str, Any] = field(default_factory=dict)

    @property
    def experts(self) -> bool:
        """Whether its layers hold experts."""
        return any("experts" in size for size in self.sizes)


_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SMALL: dict[str, Any] = _TABLE["groups"]["small"]
ANY: dict[str, Any] = _TABLE["groups"]["any"]
FORMS = [Form(**row) for row in _TABLE["forms"]]
SIZES = {form.type: SMALL | form.sizes for form in FORMS} | _TABLE["types"]


def main() -> int:
    """Try the types; 1 where margins of one are wrong."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as TYPES

    options = parse_options(ScriptOptions, __doc__)
    if unknown := set(options.types) - set(TYPES):
        raise InputError(f"transformers has no causal language model of the type {min(unknown)}; it has {len(TYPES)}")
    columns = ["outcome", "reason"]
    empty = pd.DataFrame(columns=columns).rename_axis("type")
    table = pd.read_csv(options.table, index_col="type") if options.table.is_file() else empty
    for kind in options.types or [each for each in TYPES if each not in table.index]:
        table.loc[kind, columns] = tried(kind)
        print(f"{kind}: {', '.join(filter(None, table.loc[kind]))}", file=sys.stderr)
        table.sort_index().to_csv(options.table, lineterminator="\n")
    return int((table["outcome"] == "wrong").any())


# ---- tiny models -----------------------------------------------------------------------------------------------------


def tokenizer() -> Any:
    """Make a tokenizer of one token for each of 320 letters; what it makes of a text does not matter here."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {chr(0x4E00 + place): place for place in range(SMALL["vocab_size"])}
    made = Tokenizer(models.WordLevel(words, unk_token=chr(0x4E00)))
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=chr(0x4E02), pad_token=chr(0x4E02))


def tiny_hf(kind: str, sizes: dict[str, Any]) -> Any:
    """Make a model of this type with random weights, the same each time, in float32 on the CPU.

    Raises:
        MemoryError: it would have over `MOST_WEIGHTS` weights.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from onedial.models.checkpoints.folders import attention_for

    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, **sizes)
    with torch.device("meta"):
        n = sum(weight.numel() for weight in AutoModelForCausalLM.from_config(config).parameters())
    if n > MOST_WEIGHTS:
        raise MemoryError(f"{n / 1e6:.0f} million weights")
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention_for(config)).float().eval()


def without_trivial_weights(hf: Any) -> Any:
    """Draw every weight that was 0, 1 or nothing by chance."""
    import torch

    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in hf.parameters():
            if not weight.isfinite().all():
                weight.copy_(0.25 * torch.randn(weight.shape, generator=generator))
            elif weight.dim() <= 1 or weight.std() == 0:
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
    return hf


def sizes_of(kind: str) -> dict[str, Any]:
    """Say what is changed in the config of this type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if kind in SIZES:
        return SIZES[kind]
    config = CONFIG_MAPPING[kind]
    known = set(getattr(config, "attribute_map", {})) | {
        name
        for each in config.__mro__
        if each.__module__.startswith("transformers.models") or each.__name__ == "PreTrainedConfig"
        for name in getattr(each, "__annotations__", {})
    }
    if "text_config" in known or "text_config" in getattr(config, "sub_configs", {}):
        return dict(text_config=ANY)
    return {name: value for name, value in ANY.items() if name in known}


@contextmanager
def hooked(block: Any, push: Any, at: str) -> Iterator[None]:
    """Meanwhile a bare hook adds `push` to what a block puts out, at the `last` position or at `all`."""

    def hook(module: Any, args: Any, output: Any) -> Any:
        stream = (output[0] if isinstance(output, tuple) else output).clone()
        stream[:, -1 if at == "last" else slice(None)] += push.to(stream.dtype)
        return (stream, *output[1:]) if isinstance(output, tuple) else stream

    handle = block.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def hooked_logits(hf: Any, block: Any, ids: Sequence[int], push: Any, at: str) -> Any:
    """Define a steered answer: the model's own logits at the end of one prompt, run alone and `hooked`."""
    import torch

    with hooked(block, push, at), torch.no_grad():
        return hf(input_ids=torch.tensor([ids], device=hf.device), use_cache=False).logits[0, -1]


# ---- one type --------------------------------------------------------------------------------------------------------


def tried(kind: str) -> tuple[str, str]:
    """Find outcome and reason of one type."""
    from onedial.models.model import OpenModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            hf = without_trivial_weights(tiny_hf(kind, sizes_of(kind)))
        except Exception as error:  # whatever a config or a module says of sizes that it was not made for
            return "not built", " ".join(f"{type(error).__name__}: {error}".split())[:200]
        try:
            model = OpenModel(hf, tokenizer(), name=kind)
        except InputError as error:
            return "refused", " ".join(str(error).split())
        if off := margins_off(model):
            return "wrong", off
        if parted := written_otherwise(model):
            return "written", parted
        paths = model.fast_paths_for(45)
        return ("fast", "") if paths.allowed == {"last", "all"} else ("plain", paths.reason)


def margins_off(model: Any) -> str:
    """Say by how much margins under a push are off, at which positions; "" where they are right."""
    import torch

    push = drawn(model.d_model)
    edit = {LAYER: lambda stream, settings: stream + settings[..., None] * push}
    for at in ("last", "all"):
        for prompts in prompts_of(model):
            runner = model.runner(prompts, [LAYER], at)
            final = runner.steer(runner.start(prompts), edit, torch.tensor([MAGNITUDES]))
            ours = margin(model.readout.logits(final, slice(None)))
            error = (ours - by_hooks(model, prompts, push, at)).abs().max().item()
            if not error < LIMIT:
                return f"{at} positions: off by {error:.2g}"
    return ""


def by_hooks(model: Any, prompts: Sequence[Sequence[int]], push: Any, at: str) -> Any:
    """Compute (prompt, magnitude) margins by a bare hook on each prompt alone."""
    import torch

    block = model.stack.layers[LAYER]
    logits = [hooked_logits(model.hf, block, ids, each * push, at) for ids in prompts for each in MAGNITUDES]
    return margin(torch.stack(logits)).unflatten(0, (len(prompts), -1))


def written_otherwise(model: Any) -> str:
    """Say what is written under a push with a cache, where it is not what is written without; else ""."""
    from onedial.models.forward.residual import edited
    from onedial.models.writing import generate

    first, *_ = prompts_of(model)
    prompts, push, block = [first[0][:27], first[2][9:20]], drawn(model.d_model), model.stack.layers[LAYER]
    try:
        with edited(block, lambda stream: stream + push):
            if model.writes_alone(max(map(len, prompts)) + WRITTEN):
                texts = [generate(model, [ids], WRITTEN)[0] for ids in prompts]
            else:
                texts = generate(model, prompts, WRITTEN)
    except InputError as error:
        return str(error)
    for ids, ours in zip(prompts, texts, strict=True):
        written_ids = list(ids)
        for _ in range(ours.n_tokens):
            written_ids.append(int(hooked_logits(model.hf, block, written_ids, push, "all").argmax()))
        expected = model.tokenizer.decode(written_ids[len(ids) :], skip_special_tokens=True)
        if ours.text != expected:
            return f"with a cache {ours.text!r}, without {expected!r}"
    return ""


def prompts_of(model: Any) -> list[list[list[int]]]:
    """Make sets of prompts: three lengths side by side, and longer ones where a threshold of the config lies above."""
    import torch

    ids = torch.randint(3, 300, (90,), generator=torch.Generator().manual_seed(1)).tolist()
    sets = [[ids[:45], ids[:9] + ids[70:76], ids[:9] + ids[50:64]]]
    if any(45 < each < 90 for each in model.stack.crosses(10**9)):
        sets.append([ids, ids[:70] + ids[20:25]])
    return sets


def margin(logits: Any) -> Any:
    """Compute the margin of some tokens that stand for yes over some that stand for no."""
    return logits[..., YES].double().logsumexp(-1) - logits[..., NO].double().logsumexp(-1)


def drawn(width: int) -> Any:
    """Draw the push."""
    import torch

    return torch.randn(width, generator=torch.Generator().manual_seed(3))


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    table: Path = option(..., "CSV of type, outcome and reason", positional=True)
    types: tuple[str, ...] = option((), "these alone, anew", positional=True)


if __name__ == "__main__":
    sys.exit(run_command(main))
