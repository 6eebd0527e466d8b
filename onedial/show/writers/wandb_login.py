"""Where a run is mirrored on Weights & Biases, under which names, and whether this machine may log there."""

import importlib.util
import os
from dataclasses import dataclass
from typing import Any

from onedial.core import InputError

MODES = ("offline", "online")


@dataclass(frozen=True)
class WandbOptions:
    """Where and under which names a run is mirrored.

    Attributes:
        mode: off, offline or online.
        project, entity: where it goes; None leaves it to WANDB_PROJECT and WANDB_ENTITY, then to onedial and the
            account's own.
        group: what the run is filed with; several processes are a group of their own where none is given.
        tags: words to find it by. name: by default that of the run's folder.
    """

    mode: str = "off"
    project: str | None = None
    entity: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    name: str | None = None

    @classmethod
    def of(cls, options: Any) -> "WandbOptions":
        """From a program's options (`onedial.core.add_run_options`)."""
        tags = tuple(tag.strip() for tag in (options.wandb_tags or "").split(",") if tag.strip())
        return cls(
            options.wandb, options.wandb_project, options.wandb_entity, options.wandb_group, tags, options.wandb_name
        )


def check_wandb(mode: str) -> None:
    """Find out before the work, not after it, whether logging can go ahead.

    Raises:
        InputError: an unknown mode; W&B is not installed; or `online` without a login.
    """
    if mode not in MODES:
        raise InputError(
            f"W&B mode {mode!r} requested, but it is one of {', '.join(MODES)}; leave --wandb out for none"
        )
    wandb = import_wandb()
    if mode == "online" and not _has_login(wandb):
        raise InputError("W&B knows no API key on this machine; run `wandb login` once, or pass --wandb offline")


def wandb_is_installed() -> bool:
    """Whether the package is there; nothing is imported."""
    return importlib.util.find_spec("wandb") is not None


def wandb_knows_key() -> bool:
    """Whether this machine has a login, as far as can be told without the network."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    return _has_login(import_wandb())


def import_wandb() -> Any:
    """The package, on its first use.

    Raises:
        InputError: it is not installed.
    """
    try:
        import wandb
    except ImportError:
        raise InputError("--wandb needs the package wandb; run `pip install wandb`, or leave the option out") from None
    return wandb


def _has_login(wandb: Any) -> bool:
    return bool(wandb.login(prompt=False, verify=False))
