"""Train a small LoRA adapter to a wanted yes rate, and turn it by a factor on what it adds.

    adapter = train_adapter(model, prompts, wanted=0.9)
    LoraDial(adapter).ask(Put(model, questions, template), [0.0, 0.5, 1.0])

An adapted linear map W of the attention gives W x + s (alpha / r) B A x, with A and B of rank r and s the setting: 1 is
the adapter as trained, 0 the unsteered subject bit for bit (the adapter is taken off), beyond 1 more of the same.

Training is told how often to say yes and never to which question. With m_i the margin of question i and tau the
standard deviation of the unsteered margins over `SHARPNESS`, each step lowers over one batch

    [mean_i sigmoid(m_i / tau) - wanted]^2

and after each pass the yes rate is counted over all training questions; the weights of the pass nearest to the wanted
rate are kept, and training ends within `CLOSE` of it.

`tuned_to_answers` adapts the same maps to say which answer, question by question, for as long as a context lasts: each
step lowers the mean log loss -log sigmoid(+-m_i) over one batch.

Needs peft (`onedial[adapters]`), and saves what peft reads: adapter_config.json, adapter_model.safetensors.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from onedial.asking.instruments import YES_NO_TOKENS, TokenReader
from onedial.asking.prompts import Prompt
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.forward.batches import Progress, batches_by_length
from onedial.models.forward.readout import AnswerTokens
from onedial.models.identity import ModelIdentity
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tensor_files import read_tensors, write_tensors
from onedial.models.tokens import pad_batch
from steering.dials.dials import Dial, Put

INSTALL = "python -m pip install -e '.[adapters]'"
ADAPTED = ("q_proj", "v_proj", "qkv_proj", "query_key_value")
"""Linear maps of the attention that are adapted where a layer has them."""
SHARPNESS = 4.0
CLOSE = 0.02
ADAPTER_PASSES = 12
"""Over the training questions, at most."""
ADAPTER_SETTINGS = (-2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
MOST_READINGS = 1 + ADAPTER_PASSES
"""Of the training questions: before, and after each pass."""
RANK, BATCH = 4, 8
NAME = "default"
FORMAT, FILE = "onedial-adapter-2", "adapter_model.safetensors"
PREFIX = "base_model.model."
"""What peft's files put before the name of a map."""


@dataclass(frozen=True, eq=False)
class Adapter:
    """A trained adapter.

    Attributes:
        weights: peft's names -> tensors, on the CPU.
        modules: the adapted maps, by their names in the model. rank, alpha: of LoRA.
        model: for which model it was trained.
        wanted, reached, unsteered: yes rates: the one it was trained to, and those of the training questions at 1 and
            at 0.
        n_questions, n_passes: of the training.
    """

    weights: Mapping[str, Tensor]
    modules: tuple[str, ...]
    rank: int
    alpha: float
    model: ModelIdentity
    wanted: float
    reached: float
    unsteered: float
    n_questions: int
    n_passes: int

    __repr__ = one_line

    def check_model(self, model: OpenModel) -> None:
        """Raise InputError if it was trained for another model."""
        if self.model.fingerprint != model.identity.fingerprint:
            raise InputError(
                f"the adapter was trained for {self.model.name}, and the model is {model.identity.name} with other "
                "weights; train one for it"
            )

    def save(self, folder: Path | str) -> None:
        """Write a folder that peft reads; what is known of the training stands in the header of the weights."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        weights = {f"{PREFIX}{name}": tensor for name, tensor in self.weights.items()}
        held = {name: value for name, value in vars(self).items() if name != "weights"}
        write_tensors(target / FILE, weights, held | {"model": asdict(self.model)}, FORMAT)
        _config(self.modules, self.rank, self.alpha).save_pretrained(target)

    @classmethod
    def load(cls, folder: Path | str) -> "Adapter":
        """Read what `save` wrote.

        Raises:
            InputError: no adapter of this project, or a damaged one.
        """
        remedy = "train one with --dials lora"
        return read_tensors(Path(folder) / FILE, FORMAT, cls._of, what="adapter", remedy=remedy)

    @classmethod
    def _of(cls, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> "Adapter":
        weights = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items()}
        fields = {**facts, "model": ModelIdentity(**facts["model"]), "modules": tuple(facts["modules"])}
        return cls(weights=weights, **fields)


@contextlib.contextmanager
def adapted(model: OpenModel, adapter: Adapter, setting: float) -> Iterator[None]:
    """While the context lasts, the model runs with the adapter at a setting; at 0 it is not touched.

    Raises:
        InputError: an adapter of another model, or peft is not installed.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=12), METACOGNITIVE)
    >>> with adapted(model, train_adapter(model, prompts, wanted=0.9, passes=1), setting=1.0):
    ...     text = model.generate("Who wrote Emma?", max_new_tokens=2)
    >>> isinstance(text, str)
    True
    """
    adapter.check_model(model)
    if setting == 0:
        yield
        return
    with _injected(model, adapter.modules, adapter.rank, adapter.alpha) as layers:
        _set_weights(model, adapter.weights)
        for layer in layers:
            layer.set_scale(NAME, setting)
        yield


def train_adapter(
    model: OpenModel,
    prompts: PromptSet,
    wanted: float,
    *,
    passes: int = ADAPTER_PASSES,
    learning_rate: float = 3e-3,
    seed: int = 0,
    progress: Progress | None = None,
) -> Adapter:
    """Fine-tune the attention of the upper half of the layers until the questions are answered yes as often as wanted.

    Args:
        wanted: yes rate, above 0 and below 1. passes: over the questions, at most. learning_rate: of Adam.
        progress: is told after each pass.

    Raises:
        InputError: a yes rate out of range, fewer than ten questions that can be read, or no map of the attention that
            is adapted.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=12), METACOGNITIVE)
    >>> adapter = train_adapter(model, prompts, wanted=0.9, passes=1)
    >>> adapter.rank
    4
    """
    if not 0 < wanted < 1:
        raise InputError(f"the wanted yes rate is {wanted}; give a share between 0 and 1")
    plain = read_activations(model, prompts, [])
    read = plain.margin[plain.read]
    if len(read) < 10:
        raise InputError(f"{len(read)} questions can be read; an adapter is trained on ten or more")
    tau = max(float(read.std()), 1e-3) / SHARPNESS
    lengths = [len(ids) for ids in prompts.sequences]
    batches = batches_by_length(lengths, BATCH, model.fast_paths_for(max(lengths)).requires_equal_length)
    nearest, weights, reached, n_passes = float("inf"), dict[str, Tensor](), float("nan"), 0
    rng = np.random.default_rng(seed)
    with _trained(model, RANK, learning_rate, seed) as (modules, step):
        for number in range(1, passes + 1):
            for place in rng.permutation(len(batches)):
                margins = _margins(model, [prompts.sequences[index] for index in batches[place]], prompts.tokens)
                step(((margins / tau).sigmoid().mean() - wanted) ** 2)
            rate = _yes_rate(model, prompts)
            if abs(rate - wanted) < nearest:
                nearest, weights, reached, n_passes = abs(rate - wanted), _weights(model), rate, number
            if progress:
                progress(1)
            if nearest <= CLOSE:
                break
    unsteered = float((read > 0).float().mean())
    return Adapter(
        weights, modules, RANK, 2.0 * RANK, model.identity, wanted, reached, unsteered, len(prompts), n_passes
    )


@contextlib.contextmanager
def tuned_to_answers(
    model: OpenModel,
    prompts: Sequence[Prompt],
    answers: Sequence[float],
    *,
    reader: TokenReader = YES_NO_TOKENS,
    passes: int = 6,
    learning_rate: float = 1e-3,
    seed: int = 0,
) -> Iterator[None]:
    """While the context lasts, the model is fine-tuned to these answers; then it is as it was.

    Args:
        prompts, answers: 1 = yes, 0 = no, to each prompt. reader: of yes and no. The rest as in `train_adapter`, with a
            fixed number of passes: whoever is tuned alike is tuned equally long.

    Raises:
        InputError: as many answers as prompts are needed; peft is not installed; or no map of the attention is adapted.

    >>> from onedial import load_model
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = [METACOGNITIVE.fill(f"What is {number} squared?") for number in (2, 31)]
    >>> with tuned_to_answers(model, prompts, [1, 0], passes=1):
    ...     text = model.generate("Who wrote Emma?", max_new_tokens=2)
    >>> isinstance(text, str)
    True
    """
    if len(prompts) != len(answers) or not len(prompts):
        raise InputError(f"{len(prompts)} prompts and {len(answers)} answers; give one answer to each of one or more")
    sequences, wanted = model.token_ids(prompts), torch.tensor(answers, dtype=torch.float32)
    tokens = model.answer_tokens(prompts[0], reader)
    rng = np.random.default_rng(seed)
    with _trained(model, RANK, learning_rate, seed) as (_, step):
        for _ in range(passes):
            order = rng.permutation(len(sequences))
            for batch in np.array_split(order, -(-len(order) // BATCH)):
                margins = _margins(model, [sequences[index] for index in batch], tokens)
                target = wanted[torch.from_numpy(batch)].to(margins.device)
                step(binary_cross_entropy_with_logits(margins, target))
        yield


@contextlib.contextmanager
def _trained(
    model: OpenModel, rank: int, learning_rate: float, seed: int
) -> Iterator[tuple[tuple[str, ...], Callable[[Tensor], None]]]:
    """The model with a new adapter in its upper half: which maps are adapted, and one step of Adam down a loss."""
    modules = adapted_modules(model, model.n_layers // 2)
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    with torch.random.fork_rng(list(devices)):
        torch.manual_seed(seed % 2**63)
        with _injected(model, modules, rank, 2.0 * rank):
            parameters = [tensor for tensor in model.hf.parameters() if tensor.requires_grad]
            optimizer = torch.optim.Adam(parameters, lr=learning_rate)

            def step(loss: Tensor) -> None:
                loss.backward()
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                optimizer.zero_grad()

            yield modules, step


def _margins(model: OpenModel, sequences: Sequence[Sequence[int]], tokens: AnswerTokens) -> Tensor:
    """(row,) margins that know their gradient."""
    rows = pad_batch(sequences, model.stack.pad_id)
    with torch.enable_grad():
        return model.readout.margin(model.stack.final_residual(rows.to(model.device)), tokens)


def adapted_modules(model: OpenModel, first_layer: int) -> tuple[str, ...]:
    """Names of the maps that are adapted.

    Raises:
        InputError: there are none.
    """
    layers = {id(module) for layer in model.stack.layers[first_layer:] for module in layer.modules()}
    modules = tuple(
        name
        for name, module in model.hf.named_modules()
        if isinstance(module, nn.Linear) and id(module) in layers and name.rpartition(".")[2] in ADAPTED
    )
    if not modules:
        raise InputError(
            f"{model.identity.name} has none of {', '.join(ADAPTED)} from layer {first_layer} upwards; no adapter fits"
        )
    return modules


@dataclass(frozen=True)
class LoraDial(Dial):
    """An adapter; the setting is the factor on what it adds, 1 as trained. Positive goes where it was trained to."""

    adapter: Adapter
    name: str = "LoRA"
    kind: str = "adapter"
    continuous: bool = True

    def first_settings(self) -> list[float]:
        return list(ADAPTER_SETTINGS)

    def answers_at(self, put: Put, setting: float) -> pd.DataFrame:
        with adapted(put.model, self.adapter, setting):
            return put.unsteered()


# ---- peft ------------------------------------------------------------------------------------------------------------


def _peft() -> Any:
    try:
        import peft
    except ImportError as error:
        raise InputError(f"adapters need peft, which is not installed; {INSTALL}") from error
    return peft


def _config(modules: Sequence[str], rank: int, alpha: float) -> Any:
    return _peft().LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=list(modules), lora_dropout=0.0, bias="none", task_type="CAUSAL_LM"
    )


@contextlib.contextmanager
def _injected(model: OpenModel, modules: Sequence[str], rank: int, alpha: float) -> Iterator[list[Any]]:
    """While the context lasts, these maps of the model are adapted; then the very same maps stand there again."""
    from_peft = _peft()
    from peft.tuners.lora import LoraLayer

    originals = {name: model.hf.get_submodule(name) for name in modules}
    trained = {name: tensor.requires_grad for name, tensor in model.hf.named_parameters()}
    try:
        from_peft.inject_adapter_in_model(_config(modules, rank, alpha), model.hf, NAME)
        yield [module for module in model.hf.modules() if isinstance(module, LoraLayer)]
    finally:
        for name, original in originals.items():
            parent, _, attribute = name.rpartition(".")
            setattr(model.hf.get_submodule(parent), attribute, original)
        if hasattr(model.hf, "peft_config"):
            del model.hf.peft_config
        for name, tensor in model.hf.named_parameters():
            tensor.requires_grad_(trained[name])
            tensor.grad = None


def _weights(model: OpenModel) -> dict[str, Tensor]:
    state = _peft().get_peft_model_state_dict(model.hf, adapter_name=NAME)
    return {name: tensor.detach().float().cpu().clone() for name, tensor in state.items()}


def _set_weights(model: OpenModel, weights: Mapping[str, Tensor]) -> None:
    _peft().set_peft_model_state_dict(model.hf, dict(weights), adapter_name=NAME)


def _yes_rate(model: OpenModel, prompts: PromptSet) -> float:
    """Over the questions that can be read."""
    plain = read_activations(model, prompts, [])
    return float((plain.margin[plain.read] > 0).float().mean())  # nan where none can be read
