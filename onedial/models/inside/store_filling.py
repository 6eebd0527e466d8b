"""Fill an activation store: every question once, batch by batch, saved as it goes.

The batches are those of all questions, so that an interrupted reading ends with the same bits as an unbroken
one, and at the last position with those of `read_activations`. Several processes share the batches out.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from torch import Tensor

from onedial.core.errors import InputError
from onedial.core.files import cache_dir
from onedial.core.notices import notice
from onedial.models.forward.activations import runner_for
from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.residual import Site
from onedial.models.forward.sites import POSITIONS, Places, capturing, module_at, sites_at
from onedial.models.inside.activation_store import ActivationStore, StoreKey, digest_of, tensor_name
from onedial.models.model import OpenModel
from onedial.models.processes import process_count, process_index, wait_for_all
from onedial.models.prompt_set import PromptSet


def store_activations(
    model: OpenModel,
    prompts: PromptSet,
    folder: Path | str | None = None,
    *,
    layers: Sequence[int] | None = None,
    sites: Sequence[str] = ("resid",),
    positions: Sequence[str] = ("last",),
    progress: Progress | None = None,
) -> ActivationStore:
    """The activations of every prompt, from the disk where they lie there already, else read in one pass.

    Args:
        folder: where they are kept; by default in the user's cache, under a name made of model, prompts and sites.
        layers: by default all. sites: keys of `SITES`. positions: among `POSITIONS`.
        progress: is told how many questions were done.

    Raises:
        InputError: unknown layer, site or position; the folder holds another store; the tokenizer cannot say where a
            question ends.
    """
    key = key_of(model, prompts, layers, sites, positions)
    wanted = sites_at(key.sites, key.layers)
    for site in wanted:
        module_at(model.stack, site)
    path = Path(folder) if folder is not None else cache_dir() / "activations" / key.digest[:16]
    with _only_writer(path):
        if process_index() == 0:
            ActivationStore.begin(path, key, prompts.question_ids)
        wait_for_all()
        store = ActivationStore.begin(path, key, prompts.question_ids)
        done = store.done()
        wait_for_all()
        if left := {place for place, name in enumerate(prompts.question_ids) if name not in done}:
            _fill(model, prompts, store, wanted, left, progress)
        wait_for_all()
    return ActivationStore.open(path)


def key_of(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int] | None = None,
    sites: Sequence[str] = ("resid",),
    positions: Sequence[str] = ("last",),
) -> StoreKey:
    """What the store of these activations is known by.

    Raises:
        InputError: as in `store_activations`.
    """
    chosen = tuple(range(model.n_layers)) if layers is None else tuple(sorted(set(layers)))
    if not chosen:
        raise InputError("no layer was asked for; name at least one")
    model.check_layers(chosen)
    if not positions or not set(positions) <= set(POSITIONS):
        raise InputError(f"positions {', '.join(positions) or 'were not'} given; choose among {', '.join(POSITIONS)}")
    if "question" in positions and not prompts.question_ends:
        raise InputError(
            f"the tokenizer of {model.identity.name} cannot say where the question ends; read the last position"
        )
    return StoreKey(
        model=model.identity,
        dtype=str(model.dtype).removeprefix("torch."),
        prompt_hash=prompts.prompt_hash,
        prompts=digest_of(prompts),
        sites=tuple(dict.fromkeys(sites)),
        layers=chosen,
        positions=tuple(dict.fromkeys(positions)),
    )


@torch.inference_mode()
def _fill(
    model: OpenModel,
    prompts: PromptSet,
    store: ActivationStore,
    sites: Sequence[Site],
    left: set[int],
    progress: Progress | None,
) -> None:
    positions = store.key.positions
    ends = prompts.question_ends if "question" in positions else None
    runner = runner_for(model, prompts.sequences, [], ends)

    def work(batch: list[int]) -> list[int]:
        with capturing(model.stack, sites, _places(prompts, batch, positions)) as kept:
            started = runner.start([prompts.sequences[index] for index in batch])
        margin, mass = torch.stack(model.readout.margin_and_mass(started.final, prompts.tokens)).cpu()
        tensors: dict[str, Tensor] = {"margin": margin.clone(), "mass": mass.clone()}
        tensors |= {tensor_name(site, position): rows for (site, position), rows in kept.items()}
        store.write(batch, tensors)
        return batch

    map_batches(prompts.batches(model), work, only=left, progress=progress)


def _places(prompts: PromptSet, batch: Sequence[int], positions: Sequence[str]) -> Places:
    places: Places = {}
    if "last" in positions:
        places["last"] = [0] * len(batch)
    if "question" in positions:
        places["question"] = [len(prompts.sequences[index]) - 1 - prompts.question_ends[index] for index in batch]
    return places


@contextlib.contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Let one program at a time fill a store; the next finds it filled. Processes of one program share the work."""
    if process_count() > 1 and process_index() > 0:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        notice(f"another program is reading these activations into {folder}; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
