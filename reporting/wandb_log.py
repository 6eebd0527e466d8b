"""Mirror a finished run to Weights & Biases: everything logged here is read from the run's folder.

Without W&B the run is complete. `offline` writes under <run>/wandb, to be sent later by `wandb sync`; nothing leaves
the machine then.
"""

import importlib.util
import math
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from common import InputError
from matching import SweepRun
from reporting.run_figures import read_captions
from run_store import flat

if TYPE_CHECKING:
    import wandb

MODES = ("offline", "online")
PROJECT = "onedial"
CURVES = ("yes_rate", "mean_mass", "n_unread")


def check_wandb(mode: str) -> None:
    """Find out before the work, not after it, whether logging can go ahead.

    Raises:
        InputError: an unknown mode; W&B is not installed; or `online` without a login.
    """
    if mode not in MODES:
        raise InputError(
            f"W&B mode {mode!r} requested, but it is one of {', '.join(MODES)}; leave --wandb out for none"
        )
    wandb = _import_wandb()
    if mode == "online" and not _has_login(wandb):
        raise InputError("W&B knows no API key on this machine; run `wandb login` once, or pass --wandb offline")


def log_run(run: SweepRun, mode: str, project: str = PROJECT) -> None:
    """Log configuration, dose-response, matches, verdict, figures, and vector, tables and report as artifacts.

    Args:
        run: finished, with its report written.
        mode: offline or online.
        project: the W&B project.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached.
    """
    check_wandb(mode)
    wandb = _import_wandb()
    manifest = run.run.manifest
    try:
        with wandb.init(
            project=project,
            name=run.path.resolve().name,
            dir=run.path,
            mode=mode,
            config={**run.config, "subject": manifest.facts.get("model", {}), "commit": manifest.commit},
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True, save_code=False),
        ) as logged:
            _log_dose_response(run, logged)
            _log_tables(run, logged, wandb)
            for name, files in _artifacts(run):
                artifact = wandb.Artifact(f"{_plain_name(run.path.resolve().name)}-{name}", type=name)
                for file in files:
                    artifact.add_file(str(run.path / file), name=file)
                logged.log_artifact(artifact)
    except wandb.errors.Error as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"W&B did not take the run ({reason}); {run.path} is complete, so log it offline") from error


def _log_dose_response(run: SweepRun, logged: "wandb.Run") -> None:
    """One step per magnitude, ascending, with the curves of each split."""
    dose = run.dose_response()
    logged.define_metric("magnitude")
    for split in dose["split"].unique():
        logged.define_metric(f"{split}/*", step_metric="magnitude")
    for magnitude, rows in dose.sort_values("magnitude").groupby("magnitude"):
        step = {
            f"{row['split']}/{curve}": float(row[curve])
            for _, row in rows.iterrows()
            for curve in CURVES
            if not math.isnan(row[curve])
        }
        logged.log({"magnitude": magnitude, **step})


def _log_tables(run: SweepRun, logged: "wandb.Run", wandb: Any) -> None:
    pictures = {
        f"figures/{name}": wandb.Image(str(run.path / "figures" / f"{name}.png"), caption=words["caption"])
        for name, words in read_captions(run).items()
    }
    logged.log({"matches": wandb.Table(dataframe=run.matches().reset_index()), **pictures})
    logged.summary.update(dict(flat(run.verdict(), "verdict.")))


def _artifacts(run: SweepRun) -> Iterator[tuple[str, list[str]]]:
    """Kind of artifact and its files, relative to the run's folder; kinds without files are left out."""
    kinds = {
        "vector": ["vectors/*.safetensors"],
        "sweep": ["sweep/part-*.parquet"],
        "report": [
            "report.html",
            "verdict.json",
            "matches.csv",
            "rivals.csv",
            "controls.csv",
            "knowing.csv",
            "interventions.json",
            "factor.json",
            "manifest.json",
            "config.yaml",
        ],
    }
    for kind, patterns in kinds.items():
        files = sorted(str(file.relative_to(run.path)) for pattern in patterns for file in run.path.glob(pattern))
        if files:
            yield kind, files


def _plain_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def wandb_is_installed() -> bool:
    """Whether the package is there; nothing is imported."""
    return importlib.util.find_spec("wandb") is not None


def wandb_knows_key() -> bool:
    """Whether this machine has a login, as far as can be told without the network."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    return _has_login(_import_wandb())


def _import_wandb() -> Any:
    try:
        import wandb
    except ImportError:
        raise InputError("--wandb needs the package wandb; run `pip install wandb`, or leave the option out") from None
    return wandb


def _has_login(wandb: Any) -> bool:
    return bool(wandb.login(prompt=False, verify=False))
