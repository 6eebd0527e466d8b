"""Events that TensorBoard reads, below RUN/tensorboard, by PyTorch's writer of them.

Steps are tenths of a second since the run was begun, as in W&B; a metric that is shown along another one has that one
as its step, in thousandths where it is no whole number (a magnitude of -0.25 is step -250).
"""

import fnmatch
import importlib.util
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.run.configuration import flat
from onedial.core.run.run import Run
from onedial.show.results import captions_of
from onedial.show.writers.wandb_run import STEPS_PER_SECOND, numbers_of

FOLDER = "tensorboard"


def check_tensorboard() -> None:
    """Raise InputError where TensorBoard is not installed."""
    if importlib.util.find_spec("tensorboard") is None:
        raise InputError("--tensorboard needs TensorBoard: pip install 'onedial[tensorboard]'")


class TensorBoardRun:
    """One process's events beside a run on disk; a run that goes on writes a further file into the same folder.

    Args:
        run: just begun, or resumed. process: every one but the first has a folder of its own.
    """

    def __init__(self, run: Run, process: int = 0) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._run = run
        folder = run.path / FOLDER / (f"process-{process}" if process else "")
        before = set(folder.glob("*"))
        self._writer = SummaryWriter(str(folder))
        self._made: set[Path] = set(folder.glob("*")) - before
        self._along: dict[str, str] = {}
        self._began = datetime.fromisoformat(run.manifest.started.replace("Z", "+00:00"))
        self.configure(run.config)

    def where(self) -> str:
        """One line for the terminal."""
        return f"TensorBoard: tensorboard --logdir {self._run.path / FOLDER}"

    def log(self, values: Mapping[str, Any]) -> None:
        """Write the numbers among the values."""
        now = int(STEPS_PER_SECOND * (datetime.now(UTC) - self._began).total_seconds())
        for name, value in values.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                self._writer.add_scalar(name, value, self._step(name, values, now))
        self._writer.flush()

    def configure(self, values: Mapping[str, Any]) -> None:
        """Write the values as a text of lines."""
        lines = [f"    {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in flat(values)]
        self._writer.add_text("configuration", "\n".join(lines))

    def measure_along(self, metrics: str, along: str) -> None:
        """Give the metrics of a pattern the value of another one as their step."""
        self._along[metrics] = along

    def log_folder(self) -> None:
        """Figures, and what the JSON files say; tables stand in the run's folder."""
        import matplotlib.image

        for name, words in captions_of(self._run).items():
            picture = matplotlib.image.imread(self._run.path / "figures" / f"{name}.png")
            self._writer.add_image(f"figures/{name}", picture, dataformats="HWC")
            self._writer.add_text(f"figures/{name}/caption", words["caption"])
        numbers = {f"summary/{name}": value for name, value in numbers_of(self._run).items()}
        self.log(numbers)
        for name, value in numbers.items():
            if isinstance(value, str):
                self._writer.add_text(name, value)
        self._writer.flush()

    def log_artifact(self, kind: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Nothing: the files lie beside the events."""

    def close(self, failed: bool = False) -> None:
        """Close the file; a second time does nothing."""
        self._writer.close()

    def withdraw(self) -> None:
        """Take back the file, and its folder where nothing else is in it."""
        self.close()
        for file in self._made:
            file.unlink()
        folder = self._run.path / FOLDER
        if not any(file.is_file() for file in folder.rglob("*")):
            shutil.rmtree(folder)

    def _step(self, name: str, values: Mapping[str, Any], now: int) -> int:
        for pattern, along in self._along.items():
            if along in values and fnmatch.fnmatchcase(name, pattern):
                place = values[along]
                return place if isinstance(place, int) else round(1000 * place)
        return now
