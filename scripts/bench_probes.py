"""What an activation store costs beside a plain forward, and what the probes of a table cost.

    python scripts/bench_probes.py                       # 96 questions for the pass, all embedded ones for the probes
    python scripts/bench_probes.py --n-questions 533 --framing "examples YN" --store /tmp/store --table seconds.csv

CPU seconds of one process, since other work may run on the machine; the plain forward and the pass take turns, so that
both see the same machine. The plain forward is Hugging Face's own over the same left-padded batches, with the last
position's logits alone and no cache; the pass reads every layer's stream at the last position and writes it to disk.
The probes are those of experiments/train_probes.py: all labels, all methods, intervals, controls, nested models.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from onedial.core import atomic_path, natural, positive, program_parser, run_command, say


def main() -> None:
    options = parse_options()
    import torch

    from onedial.asking import load_prompt
    from onedial.models import PromptSet, load_model, pad_batch, quiet_libraries, store_activations
    from onedial.panels import load_inputs
    from probes import ProbeTask, TopicFolds, labels_of, measure_layer

    quiet_libraries()
    torch.set_num_threads(1)
    inputs = load_inputs("embedded", None, None, None, None, 0)
    model = load_model()
    few = PromptSet.build(model, inputs.questions[: options.n_questions], load_prompt(options.framing))
    tokens = sum(map(len, few.sequences))
    say(f"{len(few)} questions, {tokens} tokens, framing {options.framing}, {model.n_layers} layers")

    def plain() -> None:
        with torch.inference_mode():
            for batch in few.batches(model):
                own = pad_batch([few.sequences[place] for place in batch], model.stack.pad_id)
                model.hf(
                    input_ids=own.input_ids,
                    attention_mask=own.attention_mask.long(),
                    position_ids=own.position_ids,
                    use_cache=False,
                    logits_to_keep=1,
                )

    def stored() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store_activations(model, few, f"{folder}/store")

    stored()  # finds out which fast paths are right, once
    times: dict[str, list[float]] = {"plain": [], "stored": []}
    for _ in range(options.repeats):
        for name, work in (("plain", plain), ("stored", stored)):
            times[name].append(seconds(work))
    middle = {name: float(np.median(found)) for name, found in times.items()}
    say(f"plain forward {middle['plain']:.1f} s, store of all layers {middle['stored']:.1f} s (CPU, median of "
        f"{options.repeats}): {middle['stored'] / middle['plain']:.2f} times a plain forward")  # fmt: skip
    told = {"plain forward": middle["plain"], "store of all layers": middle["stored"]}
    told["of a plain forward"] = middle["stored"] / middle["plain"]
    if options.layers and options.store:
        prompts = PromptSet.build(model, inputs.questions, load_prompt(options.framing))
        store = store_activations(model, prompts, options.store)
        labels = labels_of(store, inputs.panel)
        folds = TopicFolds.of([question.topic for question in inputs.questions])
        task = ProbeTask(labels.truth, tuple(question.text for question in inputs.questions), folds)
        layers = np.linspace(0, model.n_layers - 1, options.layers).round().astype(int)
        _ = task.text, task.draws
        one = [seconds(lambda layer=layer: measure_layer(store.read(int(layer)).double().numpy(), task))
               for layer in layers]  # fmt: skip
        say(
            f"probes: {len(task.labels)} labels, 4 methods, {len(task.texts)} questions: {np.mean(one):.2f} s a layer "
            f"(CPU, {len(one)} layers), {np.mean(one) * model.n_layers:.0f} s for all {model.n_layers}"
        )
        told |= {"labels": len(task.labels), "probes of a layer": np.mean(one)}
        told["probes of all layers"] = told["probes of a layer"] * model.n_layers
    if options.table:
        import pandas as pd

        with atomic_path(options.table) as path:
            column = pd.Series(told, name="measured").rename_axis("what")
            column.to_csv(path, float_format="%.4g", lineterminator="\n")


def seconds(work: object) -> float:
    """CPU seconds of one call, all threads of this process together."""
    assert callable(work)
    begun = time.process_time()
    work()
    return time.process_time() - begun


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--n-questions", type=positive, default=96, help="for the pass (%(default)s)")
    parser.add_argument("--framing", default="neutral", help="the prompt (%(default)s)")
    parser.add_argument("--repeats", type=positive, default=3, help="of either kind (%(default)s)")
    parser.add_argument("--layers", type=natural, default=6, help="on which probes are timed; 0: none (%(default)s)")
    parser.add_argument("--store", help="activations of all questions, for the probes; read if they are not there")
    parser.add_argument("--table", type=Path, help="also write what was measured there, as CSV")
    return parser.parse_args()


if __name__ == "__main__":
    run_command(main)
