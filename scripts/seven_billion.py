"""Check that a checkpoint of seven billion weights is loaded, proven, swept and steered rightly here, and how fast.

One command: it writes a checkpoint of Mistral 7B's shape with random weights in bfloat16 (14.5 GB), tries it, and
deletes it.

    python scripts/seven_billion.py /disk/seven                                  # two cores: fifteen minutes, 17 GB
    python scripts/seven_billion.py /disk/small --small                          # the same in small: seconds
    python scripts/seven_billion.py /disk/seven --steps bare,load,proof          # some of it; the checkpoint stays

bare     transformers alone: from_pretrained, then a plain forward of 41 tokens
load     load_model, in this process after it; `load again` and `bare again` in the other order, since 14.5 GB do not
         stay in memory beside themselves
proof    the fast paths compared with plain hooks, in plain forwards of 41 tokens
margins  of twelve questions, and against a bare forward of each prompt; beside it what bfloat16 itself comes to: a bare
         forward against one of the same prompt behind paddings
vector   of six texts and six others, at the middle layer
sweep    three magnitudes of it at the answer, and against a bare hook on each prompt
texts    four steered at every position, eight tokens each: how far, in nats, a token's log-probability is off that by a
         bare hook which reads the whole text, and how far that hook is off itself behind paddings

`table.json` and the table that is printed hold seconds, ratios and differences (of margins, in the largest one). The
weights of yes and no are made long, so that random answers can be read. What it needs of the disk is looked at first.
"""

import gc
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from architectures import hooked
from gpu_acceptance import MISTRAL_7B, timed

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import write_json
from onedial.core.options import Options, option, parse_options
from onedial.core.run.manifest import machine

SMALL = dict(hidden_size=128, intermediate_size=256, num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=2)
PLAIN_TOKENS, N_QUESTIONS, MAGNITUDES, N_TEXTS, N_NEW = 41, 12, (-0.2, 0.0, 0.2), 4, 8
N_PADDINGS = 8
LONGER = 16.0
"""So many times as long are the unembeddings of yes and no."""
ROOM = 1.1
THINGS = ("a day at work", "a meal", "a film", "a journey", "a birthday", "a concert")
Figures = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    out: Path = option(..., "folder for table.json, and for the checkpoint while it is needed", positional=True)
    small: bool = option(False, "a small shape")
    steps: tuple[str, ...] = option((), "only these; the checkpoint is then left for others")


def write_checkpoint(folder: Path, small: bool) -> None:
    """Write random weights, a file for each layer, and the embedded model's tokenizer.

    Raises:
        InputError: the disk has no room for them.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS
    from onedial.models.checkpoints.embedded import ensure_embedded

    if (folder / "model.safetensors.index.json").is_file():
        return
    tokenizer = AutoTokenizer.from_pretrained(ensure_embedded())
    config = AutoConfig.for_model("mistral", **MISTRAL_7B | (SMALL if small else {}) | {"vocab_size": len(tokenizer)})
    config.architectures, config.dtype = ["MistralForCausalLM"], "bfloat16"
    with torch.device("meta"):
        shapes = {name: each.shape for name, each in AutoModelForCausalLM.from_config(config).state_dict().items()}
    n_bytes = 2 * sum(shape.numel() for shape in shapes.values())
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < ROOM * n_bytes:
        raise InputError(f"{folder} has no room for {n_bytes / 1e9:.1f} GB of weights; give a folder on another disk")
    spellings = [tokenizer.encode(word, add_special_tokens=False) for word in (*YES_VARIANTS, *NO_VARIANTS)]
    read = sorted({ids[0] for ids in spellings if len(ids) == 1})
    generator, files = torch.Generator().manual_seed(0), {}
    by_file: dict[str, list[str]] = {}
    for name in shapes:
        part = name.split("layers.")[1].split(".")[0] if "layers." in name else name.split(".")[-2]
        by_file.setdefault(f"model-{part}.safetensors", []).append(name)
    for file, names in by_file.items():
        tensors = {}
        for name in names:
            drawn = torch.empty(shapes[name], dtype=torch.bfloat16)
            tensors[name] = drawn.fill_(1) if "norm" in name else drawn.normal_(0, 0.02, generator=generator)
            if "lm_head" in name:
                drawn[read] *= LONGER * (MISTRAL_7B["hidden_size"] / config.hidden_size) ** 0.5
        save_file(tensors, folder / file, metadata={"format": "pt"})
        files |= dict.fromkeys(names, file)
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": n_bytes}, "weight_map": files})


class Trial:
    """One checkpoint as it is tried, step by step; a later step needs `load`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plain_seconds = folder, float("nan")
        self._model: Any = None

    @property
    def model(self) -> Any:
        """Loaded when it is first needed."""
        if self._model is None:
            from onedial import load_model

            self._model = load_model(str(self.folder), dtype="bfloat16")
        return self._model

    def bare(self) -> Figures:
        """Load by transformers alone."""
        import torch
        from transformers import AutoModelForCausalLM

        self.forget()
        load = partial(AutoModelForCausalLM.from_pretrained, self.folder, dtype=torch.bfloat16)
        hf, seconds = timed(lambda: load().eval(), "cpu")
        ids = torch.arange(PLAIN_TOKENS)[None] + 100
        with torch.no_grad():
            hf(ids, use_cache=False)
            _, self.plain_seconds = timed(lambda: hf(ids, use_cache=False), "cpu")
        return {"seconds": seconds, "plain forward": self.plain_seconds}

    def load(self) -> Figures:
        """Load by ours."""
        self.forget()
        model, seconds = timed(lambda: self.model, "cpu")
        return {"seconds": seconds, "weights": sum(each.numel() for each in model.hf.parameters())}

    def proof(self) -> Figures:
        """Prove the fast paths."""
        paths, seconds = timed(lambda: self.model.fast_paths_for(0), "cpu")
        return {"seconds": seconds, "allowed": sorted(paths.allowed), **self._in_forwards(seconds)}

    def margins(self) -> Figures:
        """Read unsteered margins."""
        from onedial.models.forward.activations import read_activations

        read, seconds = timed(lambda: read_activations(self.model, self.prompts, []), "cpu")
        padded = [self._margin(ids, 0.0, N_PADDINGS) for ids in self.prompts.sequences]
        return {
            "seconds": seconds,
            "off a bare forward": self._off({0.0: read.margin.tolist()}),
            "a bare forward off itself": self._off({0.0: padded}),
            "read": int(read.read.sum()),
            **self._in_forwards(seconds),
        }

    def vector(self) -> Figures:
        """Make a vector from texts."""
        _, seconds = timed(lambda: self.pushed, "cpu")
        return {"seconds": seconds, "layer": self.pushed.layer}

    def sweep(self) -> Figures:
        """Sweep at the answer."""
        from steering import sweep

        result, seconds = timed(lambda: sweep(self.model, self.pushed, self.prompts, MAGNITUDES), "cpu")
        table = result.table.pivot(index="question_id", columns="magnitude", values="margin")
        table = table.loc[list(self.prompts.question_ids)]
        off = self._off({magnitude: table[magnitude].tolist() for magnitude in MAGNITUDES})
        return {"seconds": seconds, "off a bare hook": off, **self._in_forwards(seconds)}

    def texts(self) -> Figures:
        """Write texts steered at every position."""
        import torch

        from onedial.models.writing import Decoding, generate

        prompts = self.model.token_ids([f"Tell me about {thing}." for thing in THINGS[:N_TEXTS]])
        push = self.pushed.at("all") * MAGNITUDES[-1]
        texts, seconds = timed(lambda: generate(self.model, prompts, N_NEW, Decoding(n_top=0), push=push), "cpu")
        off = itself = 0.0
        for ids, text in zip(prompts, texts, strict=True):
            tokens, log_p = [each.token for each in text.tokens], torch.tensor([each.log_p for each in text.tokens])
            bare, padded = (self._log_p(ids, tokens, n_paddings) for n_paddings in (0, N_PADDINGS))
            off, itself = max(off, float((log_p - bare).abs().max())), max(itself, float((padded - bare).abs().max()))
        return {"seconds": seconds, "off a bare hook": off, "a bare hook off itself": itself}

    # ---- what they are made of -----------------------------------------------------------------------------------

    @property
    def prompts(self) -> Any:
        """Of the first questions of the embedded set."""
        from onedial import PromptSet, load_questions

        return PromptSet.build(self.model, load_questions("embedded", n=N_QUESTIONS), "neutral")

    @property
    def pushed(self) -> Any:
        """A vector between two kinds of texts."""
        from steering import vector_from_texts

        if not hasattr(self, "_vector"):
            good, bad = ([f"Tell me about {thing} that was {kind}." for thing in THINGS] for kind in ("fine", "sad"))
            self._vector = vector_from_texts(self.model, good, bad, layer=self.model.n_layers // 2)
        return self._vector

    def forget(self) -> None:
        """Give the model's memory back."""
        self._model = None
        gc.collect()

    def _in_forwards(self, seconds: float) -> Figures:
        return {"plain forwards": seconds / self.plain_seconds} if self.plain_seconds == self.plain_seconds else {}

    def _bare(self, ids: list[int], magnitude: float, at: str, n_paddings: int) -> Any:
        """Compute logits of each position of one prompt alone, behind paddings that are masked, under a bare hook."""
        import torch

        layer, push = 0, torch.zeros(self.model.d_model)
        if magnitude:
            layer, push = self.pushed.layer, self.pushed.direction * (magnitude * self.pushed.residual_norm)
        padded, mask = torch.tensor([[0] * n_paddings + ids]), torch.tensor([[0] * n_paddings + [1] * len(ids)])
        places = (mask.cumsum(1) - 1).clamp(min=0)
        with hooked(self.model.stack.layers[layer], push, at), torch.no_grad():
            output = self.model.hf(padded, attention_mask=mask, position_ids=places, use_cache=False)
        return output.logits[0, n_paddings:].float()

    def _margin(self, ids: Sequence[int], magnitude: float, n_paddings: int = 0) -> float:
        logits, tokens = self._bare(list(ids), magnitude, "last", n_paddings)[-1], self.prompts.tokens
        return float(logits[list(tokens.yes)].logsumexp(0) - logits[list(tokens.no)].logsumexp(0))

    def _log_p(self, ids: list[int], tokens: list[int], n_paddings: int) -> Any:
        """Compute the log-probability of each token that is written after a prompt."""
        logits = self._bare(ids + tokens[:-1], MAGNITUDES[-1], "all", n_paddings)[len(ids) - 1 :]
        return logits.log_softmax(1)[range(len(tokens)), tokens]

    def _off(self, margins: dict[float, list[float]]) -> float:
        """Find the largest difference from bare hooks, in the largest margin."""
        largest, off = 0.0, 0.0
        for magnitude, ours in margins.items():
            for ids, margin in zip(self.prompts.sequences, ours, strict=True):
                bare = self._margin(ids, magnitude)
                largest, off = max(largest, abs(bare)), max(off, abs(bare - margin))
        return off / largest


STEPS: dict[str, Callable[[Trial], Figures]] = {
    "bare": Trial.bare,
    "load": Trial.load,
    "proof": Trial.proof,
    "margins": Trial.margins,
    "vector": Trial.vector,
    "sweep": Trial.sweep,
    "texts": Trial.texts,
    "load again": Trial.load,
    "bare again": Trial.bare,
}


def main() -> int:
    """Try it, and print the table."""
    options = parse_options(ScriptOptions, __doc__)
    if unknown := [step for step in options.steps if step not in STEPS]:
        raise InputError(f"the step {unknown[0]!r} is not known; choose of {', '.join(STEPS)}")
    folder, file = options.out / "checkpoint", options.out / "table.json"
    write_checkpoint(folder, options.small)
    trial, figures = Trial(folder), {"about": {**machine(), "small": options.small}}
    try:
        for step in options.steps or STEPS:
            figures[step] = STEPS[step](trial)
            print(step, json.dumps(figures[step]), flush=True)
            write_json(file, figures)
    finally:
        trial.forget()
        if not options.steps:
            shutil.rmtree(folder)
    print("\n".join(["| step | | |", "| --- | --- | --- |", *rows(figures)]))
    return 0


def rows(figures: Figures) -> list[str]:
    """Write the rows of a Markdown table."""
    return [
        f"| {step} | {name} | {f'{value:.3g}' if isinstance(value, float) else value} |"
        for step, values in figures.items()
        if step != "about"
        for name, value in values.items()
    ]


if __name__ == "__main__":
    sys.exit(run_command(main))
