"""Keep activations on disk: read once, used by many, larger than memory.

    <folder>/store.json                  what was read, of which model and prompts, at which sites
    <folder>/shards/000012.safetensors    one batch of questions, one tensor per site and position

A tensor is named after its site and position, `blocks.12.hook_out@last`, and stands in the file by itself: one layer is
read without touching the others, through the operating system's cache, which all processes share. A shard is complete
or absent, so that an interrupted reading continues (`onedial.models.store_activations`). Values keep the model's
dtype; they come out as float32.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.core.errors import InputError
from onedial.core.files import json_value, sha256_of_text, write_json
from onedial.models.forward.residual import Site
from onedial.models.identity import ModelIdentity
from onedial.models.prompt_set import PromptSet
from onedial.models.tensor_files import read_tensors, write_tensors

FORMAT = "onedial-activations-2"
BROKEN = {"what": "part of a store", "remedy": "delete it, and read the activations again"}
CONVENTION = "output of decoder block L, counted from 0, before the final norm; names as in TransformerLens"


@dataclass(frozen=True)
class StoreKey:
    """What tells one store from another.

    Attributes:
        model: whose activations. dtype: in which they were computed and are kept.
        prompt_hash: see `PromptSet`. prompts: SHA-256 of every token sequence and of the answer tokens.
        sites: kinds of sites. layers: of each. positions: see `onedial.models.forward.sites`.
        convention: what a layer's number means.
    """

    model: ModelIdentity
    dtype: str
    prompt_hash: str
    prompts: str
    sites: tuple[str, ...]
    layers: tuple[int, ...]
    positions: tuple[str, ...]
    convention: str = CONVENTION

    @property
    def digest(self) -> str:
        """SHA-256 over the format and everything that moves a value; a model counts by its weights, not its name."""
        counted = asdict(self) | {"model": self.model.fingerprint, "format": FORMAT}
        return sha256_of_text(json.dumps(counted, sort_keys=True))

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> "StoreKey":
        """The way back from `dataclasses.asdict` and JSON."""
        lists = {name: tuple(entry[name]) for name in ("sites", "layers", "positions")}
        return cls(**(entry | lists | {"model": ModelIdentity(**entry["model"])}))


def digest_of(prompts: PromptSet) -> str:
    """SHA-256 of what the model reads, question by question."""
    return sha256_of_text(json.dumps([prompts.question_ids, prompts.sequences, prompts.tokens.groups]))


class ActivationStore:
    """A folder of activations. `store_activations` makes one; `open` needs no model.

    Attributes:
        folder: where it lies. key: what it holds. question_ids: in the order of every tensor's rows.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        described = _read_description(self.folder)
        self.key = StoreKey.from_dict(described["key"])
        self.question_ids: tuple[str, ...] = tuple(described["question_ids"])
        self._place = {question: place for place, question in enumerate(self.question_ids)}

    @classmethod
    def open(cls, folder: Path | str) -> "ActivationStore":
        """A finished store.

        Raises:
            InputError: no store, one of another format, or one that was interrupted.
        """
        store = cls(folder)
        if left := len(store.question_ids) - len(store.done()):
            raise InputError(
                f"{folder} holds {len(store.done())} of {len(store.question_ids)} questions and lacks {left}; read the "
                "rest with store_activations, which continues where it was interrupted"
            )
        return store

    @classmethod
    def begin(cls, folder: Path | str, key: StoreKey, question_ids: Sequence[str]) -> "ActivationStore":
        """The store of this key in this folder, new or begun before.

        Raises:
            InputError: the folder holds something else.
        """
        folder = Path(folder)
        if not (folder / "store.json").exists():
            if folder.exists() and any(entry.name != ".lock" for entry in folder.iterdir()):
                raise InputError(f"{folder} is not empty and holds no activations; choose a new folder for them")
            write_json(
                folder / "store.json", {"format": FORMAT, "key": asdict(key), "question_ids": list(question_ids)}
            )
        store = cls(folder)
        store.check(key)
        return store

    def check(self, key: StoreKey) -> None:
        """Raise InputError unless the store holds what this key says: the same model, prompts, sites and positions."""
        stored, other = asdict(self.key) | {"model": ""}, asdict(key) | {"model": ""}
        if self.key.model.fingerprint not in key.model.fingerprints:
            raise InputError(
                f"{self.folder} holds activations of {self.key.model.name} (weights "
                f"{self.key.model.fingerprint[:10]}), but the model is {key.model.name} (weights "
                f"{key.model.fingerprint[:10]}); choose another folder"
            )
        for name, value in stored.items():
            if value != other[name]:
                shown = ("other ones", "those asked for") if name == "prompts" else (value, other[name])
                raise InputError(
                    f"{self.folder} holds activations with {name} = {shown[0]}, not {shown[1]}; choose another folder"
                )

    # ---- reading -----------------------------------------------------------------------------------------------------

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that every site was read at."""
        return self.key.layers

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.key.model.d_model

    @cached_property
    def margin(self) -> Float[Tensor, " question"]:
        """Margin of each question's answer, unsteered."""
        return self._gather(["margin"], ())["margin"]

    @cached_property
    def mass(self) -> Float[Tensor, " question"]:
        """Probability of all answer tokens together."""
        return self._gather(["mass"], ())["mass"]

    def read(self, layer: int, site: str = "resid", position: str = "last") -> Float[Tensor, "question d_model"]:
        """One layer's activations, float32 on the CPU; nothing else is read from the disk.

        Raises:
            InputError: a layer, site or position that the store does not hold.
        """
        name = self._name(layer, site, position)
        return self._gather([name], (self.d_model,))[name]

    # ---- writing -----------------------------------------------------------------------------------------------------

    def write(self, places: Sequence[int], tensors: dict[str, Tensor]) -> None:
        """Write one batch, all or nothing.

        Args:
            places: of its questions among `question_ids`; the first names the file, so that no two processes meet.
        """
        file = self.folder / "shards" / f"{places[0]:06d}.safetensors"
        write_tensors(file, tensors, {"key": self.key.digest, "places": list(places)}, FORMAT)
        self.__dict__.pop("_shards", None)

    def done(self) -> set[str]:
        """The questions that stand in a shard."""
        return {self.question_ids[place] for _, places in self._shards for place in places}

    # ---- inside ------------------------------------------------------------------------------------------------------

    @cached_property
    def _shards(self) -> list[tuple[Path, list[int]]]:
        """Every shard with the places of its questions.

        Raises:
            InputError: a shard is broken, or belongs to another store.
        """
        shards = []
        for file in sorted((self.folder / "shards").glob("[0-9]*.safetensors")):
            key, places = read_tensors(
                file, FORMAT, lambda _, facts: (facts["key"], list(map(int, facts["places"]))), names=(), **BROKEN
            )
            if key != self.key.digest:
                raise InputError(f"{file} belongs to another store than {self.folder}; remove it, and read it again")
            shards.append((file, places))
        return shards

    def _gather(self, names: Collection[str], width: tuple[int, ...]) -> dict[str, Tensor]:
        whole = {name: torch.full((len(self.question_ids), *width), torch.nan) for name in names}
        for file, places in self._shards:
            held = read_tensors(file, FORMAT, lambda tensors, _: tensors, names=whole, **BROKEN)
            for name, tensor in held.items():
                whole[name][places] = tensor.float()
        return whole

    def _name(self, layer: int, site: str, position: str) -> str:
        for what, value, held in (
            ("layer", layer, self.key.layers),
            ("site", site, self.key.sites),
            ("position", position, self.key.positions),
        ):
            if value not in held:
                raise InputError(
                    f"{what} {value!r} was asked for, but {self.folder} holds {', '.join(map(str, held))}; "
                    "read a store that has it"
                )
        return tensor_name(Site(site, layer), position)


def tensor_name(site: Site, position: str) -> str:
    """`blocks.12.hook_out@last`."""
    return f"{site.name}@{position}"


def _read_description(folder: Path) -> dict[str, Any]:
    try:
        described = json_value((folder / "store.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no activations (no store.json); give the folder of a store") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder}/store.json is no JSON ({error}); remove the folder and read again") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise InputError(f"{folder} is not in the format {FORMAT}; remove the folder and read again")
    return described
