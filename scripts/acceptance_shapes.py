"""What a model of a given shape costs on this device: of `gpu_acceptance.py`, the steps `shapes` and `large`.

Random weights, made on the device, in bfloat16, and drawn prompts. Held against plain hooks at some of the magnitudes:
logits may differ by `COARSE` of the largest. Memory may pass its forecast by a sixth, seconds be a half to twice what
is forecast, the prefill must reach a third of a plain product's speed, and a sweep be three times as fast as a plain
hook. In the same run:

    limit      operations per second of a plain product of matrices of the model's shape, and the prefill's share of it
    kernels    share of the time of a sweep during which the device computes (CUDA; by torch's profiler)
    peers      each library that can be imported, at one magnitude at a time, in question-magnitudes per second
    controls   nine random directions where their answers turn, times eleven for 99
    writing    tokens per second that are written under a push, beside a hook without a cache, and how many of these are
               the same before the first that is not (16 bits round)
    store      the streams after all layers at the last position
    forecast   what `steering.planning` says beforehand of memory and time
"""

import math
import tempfile
import time
from collections.abc import Callable
from typing import Any

from architectures import tokenizer
from sweep_peers import HAND_TUNED, RIVALS

Figures = dict[str, Any]
COARSE = 0.05
"""Of the largest logit: how far two orders of summation may lie apart in bfloat16."""
MORE_MEMORY, OTHER_SECONDS, LEAST_SHARE, LEAST_RATIO = 1.17, 2.0, 1 / 3, 3.0
"""What of the forecast and of the rivals a device has to keep; not asked for in small."""
MISTRAL_7B = dict(
    vocab_size=32_768, hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32, num_attention_heads=32,
    num_key_value_heads=8, max_position_embeddings=32_768, sliding_window=None,
)  # fmt: skip
LLAMA_70B = dict(
    vocab_size=128_256, hidden_size=8192, intermediate_size=28_672, num_hidden_layers=80, num_attention_heads=64,
    num_key_value_heads=8, max_position_embeddings=8192, sliding_window=None,
)  # fmt: skip
SMALL = dict(
    vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=6, num_attention_heads=4,
    num_key_value_heads=2,
)  # fmt: skip
MAGNITUDES = tuple(step / 5 for step in range(-5, 6))
PLAIN_MAGNITUDES = (-1.0, 1.0)
ROOM = 0.6
"""Share of the device's free memory that weights may take."""
CONTROLS, ALL_CONTROLS = 9, 99
"""Directions that are timed, and how many a verdict takes."""
WRITTEN = 16
PEER_BATCH = 16


def shapes(small: bool, device: str) -> Figures:
    """Everything at Mistral 7B's shape."""
    return measured(MISTRAL_7B | (SMALL if small else {}), small, device)


def large(small: bool, device: str) -> Figures:
    """Llama 3 70B's shape, with as many of its 80 layers as find room; seconds of the whole by the layers."""
    shape = LLAMA_70B | (SMALL if small else {})
    kept = shape | {"num_hidden_layers": 4 if small else layers_that_fit(shape, device)}
    found = measured(kept, small, device, "large")
    n, whole = kept["num_hidden_layers"], LLAMA_70B["num_hidden_layers"]
    seconds = found["last: prefill"]["seconds"] * whole / n
    return found | {"layers": f"{n} of {whole}", "last: prefill, all layers": {"seconds": round(seconds, 3)}}


def layers_that_fit(shape: Figures, device: str) -> int:
    """Layers whose weights take `ROOM` of what is free; at least four, all of them at most."""
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    width, inner = shape["hidden_size"], shape["intermediate_size"]
    own = 2 * width**2 * (1 + shape["num_key_value_heads"] / shape["num_attention_heads"]) + 3 * width * inner
    embeddings = 2 * shape["vocab_size"] * width
    return int(min(shape["num_hidden_layers"], max(4, (ROOM * free / 2 - embeddings) // own)))


def measured(shape: Figures, small: bool, device: str, part: str = "whole") -> Figures:
    """All figures at one shape; of a large one without peers, writing and controls, which say no more there."""
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:  # TransformerLens reads a tokenizer again, where it lies
        tokenizer().save_pretrained(folder)
        return figures_of(random_model(shape, device, AutoTokenizer.from_pretrained(folder)), small, device, part)


def random_model(shape: Figures, device: str, reads: Any) -> Any:
    """A model of a shape with random weights in bfloat16, made on the device; `reads`: its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from onedial.models import OpenModel

    torch.manual_seed(0)
    config = AutoConfig.for_model("mistral", **shape)
    with torch.device(device):
        hf = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    return OpenModel(hf, reads, name="random weights")


def figures_of(model: Any, small: bool, device: str, part: str) -> Figures:
    """Of a model that is there."""
    import torch

    from onedial.models.forward.runner import PlainRunner
    from steering import Intervention, SteeringVector

    hf, config = model.hf, model.hf.config
    sequences = drawn_prompts(config.vocab_size, 8 if small else 64, shared=30, own=40)
    prompts = prompt_set(sequences)
    layer, out = model.n_layers // 2, {"weights_gb": round(sum(p.nbytes for p in hf.parameters()) / 1e9, 2)}
    norm = model.read_residual(first_batch(model, sequences), [layer]).float().norm(dim=-1).median().item()

    def vector(seed: int) -> SteeringVector:
        drawn = torch.randn(model.d_model, generator=torch.Generator().manual_seed(seed))
        return SteeringVector(torch.nn.functional.normalize(drawn, dim=0), layer, 1.0, norm / 2, model.identity)

    push = (vector(0).direction * norm / 2).to(device)
    edit = {layer: lambda stream, settings: stream + (settings[..., None] * push).to(stream.dtype)}
    settings = torch.tensor([MAGNITUDES], device=device)
    largest = 0.0
    for at in ("last", "all"):
        runner, out[f"{at}: common beginning"] = timed(lambda at=at: model.runner(sequences, [layer], at), device)
        started, out[f"{at}: prefill"] = timed(lambda runner=runner: runner.start(sequences), device, warm=True)
        work = lambda runner=runner, started=started: runner.steer(started, edit, settings)  # noqa: E731
        final, out[f"{at}: {len(MAGNITUDES)} magnitudes"] = timed(work, device)
        out[f"{at}: kernels"] = kernels(work, device)
        plain = PlainRunner(model.stack, sequences, [layer], at)
        begun = plain.start(sequences)
        some = torch.tensor([PLAIN_MAGNITUDES], device=device)
        expected, out[f"{at}: {len(PLAIN_MAGNITUDES)} magnitudes by plain hooks"] = timed(
            lambda plain=plain, begun=begun, some=some: plain.steer(begun, edit, some), device
        )
        own = [MAGNITUDES.index(each) for each in PLAIN_MAGNITUDES]
        logits, hooked = (model.readout.logits(each, slice(0, 64)) for each in (final[:, own], expected))
        largest = max(largest, ((logits - hooked).abs().max() / hooked.abs().max()).item())
    del runner, started, work, final, plain, begun, expected, logits, hooked  # what is used is measured below
    out |= limit(model, sequences, out["last: prefill"]["seconds"], device)
    out["store"] = timed(lambda: stored(model, prompts), device)[1]
    out |= forecast(model, prompts, layer, device)
    if part == "whole":
        out |= peers(model, sequences, layer, push, device)
        out |= controls(model, prompts, [Intervention.of(vector(seed)) for seed in range(1, CONTROLS + 1)], device)
        out |= writing(model, sequences, Intervention.of(vector(0), positions="all"), device)
    failed = [] if small else missed(out, part)
    return {"passed": largest <= COARSE and not failed, "failed": failed, "off": largest, **out}


def missed(out: Figures, part: str) -> list[str]:
    """Which of the limits above the figures do not keep."""
    told, share = out["forecast"], out["limit"]["share"]
    found = []
    if told["used_gb"] is not None and told["used_gb"] > MORE_MEMORY * told["peak_gb"]:
        found.append(f"{told['used_gb']} GB are used where {told['peak_gb']} are forecast")
    if not 1 / OTHER_SECONDS <= told["took"] / told["seconds"] <= OTHER_SECONDS:
        found.append(f"a sweep took {told['took']} s where {told['seconds']} are forecast")
    if share < LEAST_SHARE:
        found.append(f"the prefill reaches {share:.0%} of a plain product's speed")
    if part == "whole":
        ours, hooked = (out["peers, last"][name] for name in ("ours", "plain Hugging Face hook"))
        if ours < LEAST_RATIO * hooked:
            found.append(f"{ours / hooked:.1f} times as fast as a plain hook at the last position")
    return found


def limit(model: Any, sequences: list[list[int]], seconds: float, device: str) -> Figures:
    """The prefill's operations per second, a plain product's, and the share that the one is of the other. The common
    beginning, which is run once and before, is not counted."""
    import torch

    from onedial.models import common_prefix_length
    from steering.planning.cost import ModelSize

    size = ModelSize.of(model.hf.config)
    n_shared = common_prefix_length(sequences)
    own = sum(map(len, sequences)) - n_shared * len(sequences)
    rows, width, inner = min(own, 4096), model.hf.config.hidden_size, model.hf.config.intermediate_size
    one = torch.randn(rows, width, device=device, dtype=torch.bfloat16)
    other = torch.randn(width, inner, device=device, dtype=torch.bfloat16)
    n = 20
    taken = timed(lambda: [one @ other for _ in range(n)], device, warm=True)[1]["seconds"]
    product = 2.0 * rows * width * inner * n / max(taken, 1e-9)
    prefill = size.prompt_flops(own, n_shared + own / len(sequences), size.n_layers) / seconds
    return {
        "limit": {
            "product_tflops": round(product / 1e12, 3),
            "prefill_tflops": round(prefill / 1e12, 3),
            "share": round(prefill / product, 3),
        }
    }


def kernels(work: Callable[[], Any], device: str) -> Figures:
    """Share of the wall time of `work` during which a kernel runs on the device; none on a CPU."""

    if not device.startswith("cuda"):
        return {"busy": None}
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        seconds = timed(work, device)[1]["seconds"]
    ran = [event for event in profiler.key_averages() if event.device_type == DeviceType.CUDA]  # not what launched it
    busy = sum(event.self_device_time_total for event in ran) / 1e6
    return {"busy": round(busy / max(seconds, 1e-9), 3)}


def stored(model: Any, prompts: Any) -> Any:
    """The streams after every layer at the last position."""
    from onedial.models import read_activations

    return read_activations(model, prompts, range(model.n_layers))


def forecast(model: Any, prompts: Any, layer: int, device: str) -> Figures:
    """What is forecast of a sweep at all positions, which lasts long beside what a sweep sets up, and what it takes."""
    import torch

    from onedial.models import common_prefix_length
    from steering import Intervention, SteeringVector, sweep
    from steering.planning.cost import predict_cost
    from steering.planning.speed import measure_speed

    rates = measure_speed(model, prompts, layer, stages=["whole"])
    lengths = [len(ids) for ids in prompts.sequences]
    kind = torch.device(device).type
    steered, n_shared = [(layer, len(MAGNITUDES))], common_prefix_length(prompts.sequences)
    told = predict_cost(
        model.hf.config, len(prompts), lengths, steered, "all", torch.bfloat16, rates, n_shared=n_shared, device=kind
    )
    direction = torch.nn.functional.normalize(torch.ones(model.d_model), dim=0)
    intervention = Intervention.of(SteeringVector(direction, layer, 1.0, 1.0, model.identity), positions="all")
    used = timed(lambda: sweep(model, intervention, prompts, list(MAGNITUDES)), device, warm=True)[1]
    return {
        "forecast": {
            "seconds": round(told.seconds or math.nan, 4),
            "took": used["seconds"],
            "peak_gb": round(told.peak_bytes / 1e9, 2),
            "used_gb": used["peak_gb"],
        }
    }


def peers(model: Any, sequences: list[list[int]], layer: int, push: Any, device: str) -> Figures:
    """Question-magnitudes per second of every library that is here, beside ours over all magnitudes."""
    import torch

    from onedial.models import pad_batch

    few = sequences[:PEER_BATCH]
    padded = pad_batch(few, model.stack.pad_id).to(model.device)
    edit = {layer: lambda stream, settings: stream + (settings[..., None] * push).to(stream.dtype)}
    settings, out = torch.tensor([MAGNITUDES], device=device), {}
    for at in ("last", "all"):

        def ours(at: str = at) -> Any:
            runner = model.runner(few, [layer], at)
            return runner.steer(runner.start(few), edit, settings)

        seconds = timed(ours, device, warm=True)[1]["seconds"]
        rates = {"ours": round(len(few) * len(MAGNITUDES) / max(seconds, 1e-9), 1)}
        for rival in (*RIVALS, HAND_TUNED):
            if not rival.installed:
                rates[rival.name] = None
                continue
            try:
                with torch.inference_mode(), rival.peer(model, layer, at) as answer:
                    taken = timed(lambda answer=answer: answer(padded, push.to(model.hf.dtype)), device, warm=True)
                rates[rival.name] = round(len(few) / max(taken[1]["seconds"], 1e-9), 1)
            except Exception as error:  # another library's fault is no fault of ours
                rates[rival.name] = f"{type(error).__name__}: {error}".splitlines()[0][:80]
        out[f"peers, {at}"] = rates
    return out


def controls(model: Any, prompts: Any, interventions: list[Any], device: str) -> Figures:
    """Seconds for finding where the answers turn along some directions, and for as many as a verdict takes."""
    from steering import critical_magnitudes

    def work() -> int:
        return sum(
            len(critical_magnitudes(model, prompts, each, low=-1.0, high=1.0, recheck=False).table)
            for each in interventions
        )

    rows, taken = timed(work, device)
    return {
        "controls": {
            "crossings": rows,
            "seconds": taken["seconds"],
            f"seconds_of_{ALL_CONTROLS}": round(taken["seconds"] * ALL_CONTROLS / len(interventions), 1),
        }
    }


def writing(model: Any, sequences: list[list[int]], intervention: Any, device: str) -> Figures:
    """Tokens per second under a push, with a cache in a batch, and by a hook on each whole text anew."""
    import torch
    from architectures import hooked_logits

    from onedial.models import generate
    from steering import steered

    few, (vector,) = sequences[:4], intervention.vectors
    push = (vector.direction * vector.residual_norm).to(device)

    def ours() -> list[Any]:
        with steered(model, intervention, 1.0):
            return generate(model, few, WRITTEN)

    _, taken = timed(ours, device, warm=True)

    def plain() -> list[int]:
        ids = list(few[0])
        for _ in range(WRITTEN):
            ids.append(int(hooked_logits(model.hf, model.stack.layers[vector.layer], ids, push, "all").argmax()))
        return ids[len(few[0]) :]

    expected, plainly = timed(plain, device)
    with steered(model, intervention, 1.0), torch.inference_mode():
        one = torch.tensor([few[0]], device=device)
        ids = model.hf.generate(
            one, attention_mask=torch.ones_like(one), max_new_tokens=WRITTEN, do_sample=False, eos_token_id=-1
        )[0, len(few[0]) :].tolist()
    same = next((place for place, pair in enumerate(zip(ids, expected, strict=False)) if pair[0] != pair[1]), len(ids))
    return {
        "writing": {
            "tokens_per_second": round(len(few) * WRITTEN / max(taken["seconds"], 1e-9), 1),
            "plain_tokens_per_second": round(WRITTEN / max(plainly["seconds"], 1e-9), 1),
            "equal_tokens": f"{same} of {len(ids)}",
        }
    }


def drawn_prompts(vocabulary: int, n: int, shared: int, own: int) -> list[list[int]]:
    """Drawn tokens with a common beginning, of lengths that differ by up to a third of what is their own."""
    import torch

    generator = torch.Generator().manual_seed(1)
    beginning = torch.randint(vocabulary, (shared,), generator=generator).tolist()
    lengths = [own - place % (own // 3 + 1) for place in range(n)]
    return [beginning + torch.randint(vocabulary, (length,), generator=generator).tolist() for length in lengths]


def prompt_set(sequences: list[list[int]]) -> Any:
    """Drawn prompts as questions, with tokens that stand for yes and no."""
    from onedial.models import AnswerTokens, PromptSet

    names = tuple(f"q{place:03d}" for place in range(len(sequences)))
    tokens = AnswerTokens(((5, 6), (7, 8)))
    return PromptSet(names, tuple(map(tuple, sequences)), tokens, "drawn", "drawn tokens")


def first_batch(model: Any, prompts: list[list[int]]) -> Any:
    """A few prompts as a batch on the model's device."""
    from onedial.models import pad_batch

    return pad_batch(prompts[:4], model.stack.pad_id).to(model.device)


def timed(work: Callable[[], Any], device: str, warm: bool = False) -> tuple[Any, Figures]:
    """What `work` gives, its seconds (of a second run with `warm`), and on CUDA the peak of the memory meanwhile."""
    import torch

    cuda = device.startswith("cuda")
    if warm:
        work()
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    result = work()
    if cuda:
        torch.cuda.synchronize()
    seconds = round(time.perf_counter() - began, 4)
    peak = round(torch.cuda.max_memory_allocated() / 1e9, 2) if cuda else None
    return result, {"seconds": seconds, "peak_gb": peak}
