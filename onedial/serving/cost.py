"""What a dial costs on anybody's evaluation: an Inspect task at several settings, compared question by question.

    change(m) = mean over questions of score(m) - score(0)

with a 95% interval from a bootstrap of the questions, which are the same at every setting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.scorer import value_to_float

import onedial.serving.inspect_provider  # noqa: F401  registers the provider where the package is not installed
from onedial.core.errors import InputError
from onedial.serving.dial import fitting_answers
from onedial.stats.intervals import resampled_interval, unit_weights
from onedial.verdict.sweep_run import SweepRun
from steering.planning.magnitudes import swept_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (
    "task", "magnitude", "yes_rate", "n", "n_failed", "score", "low", "high", "change", "change_low", "change_high",
)  # fmt: skip
N_BOOTSTRAP = 1999
NO_CHANGE = {"change": 0.0, "change_low": 0.0, "change_high": 0.0}
"""Of the unsteered model against itself, which no sample leaves in doubt."""


@dataclass(frozen=True)
class DialCost:
    """Scores by task and setting.

    Attributes:
        table: a row per task and magnitude, `COLUMNS`: the yes rate for which it was chosen, if any; n questions that
            were scored at this setting and unsteered, n_failed others; score and its interval; change against the
            unsteered model on the same questions.
        logs: Inspect's log of each row, in the same order.
    """

    table: pd.DataFrame
    logs: tuple[EvalLog, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Score by magnitude with its interval, a line for each task; above it the yes rates."""
        import matplotlib.pyplot as plt

        ax = ax or plt.subplots()[1]
        for task, rows in self.table.groupby("task", sort=False):
            ends = (rows["score"] - rows["low"], rows["high"] - rows["score"])
            ax.errorbar(rows["magnitude"], rows["score"], yerr=ends, marker="o", capsize=3, label=str(task))
        for row in self.table.dropna(subset="yes_rate").drop_duplicates("magnitude").itertuples():
            place = (row.magnitude, 1.0)
            ax.annotate(f"yes\n{row.yes_rate:.0%}", place, xycoords=("data", "axes fraction"), ha="center", va="bottom")
        ax.set(xlabel="magnitude", ylabel="score (95% interval)")
        ax.legend()
        return ax


def dial_cost(
    tasks: Any,
    model: str,
    magnitudes: Sequence[float] = (),
    *,
    model_args: dict[str, Any],
    yes_rates: Sequence[float] = (),
    seed: int = 0,
    **settings: Any,
) -> DialCost:
    """Put tasks to a steered model at each setting, and to the unsteered one.

        dial_cost("inspect_evals/gsm8k", "smollm2-135m-instruct", [-0.2, 0.2], model_args={"vector": "v.safetensors"})
        dial_cost("inspect_evals/gsm8k", "smollm2-135m-instruct", yes_rates=[.1, .9], model_args={"run": "runs/mine"})

    Args:
        tasks: as `inspect_ai.eval` takes them. model: a name, a folder or a hub id, without `onedial/`.
        magnitudes: settings besides 0. model_args: of the provider: `vector` or `run`, `positions`, ...
        yes_rates: settings of the run at which its fitting questions are answered yes about so often.
        seed: of the bootstrap. settings: handed on to `inspect_ai.eval`, such as `limit` and `log_dir`.

    Raises:
        InputError: no setting, yes rates without a run, or an evaluation that ended in an error.
    """
    placed = _placed(model_args.get("run"), yes_rates)
    if not (magnitudes := [*magnitudes, *placed]):
        raise InputError("no setting was given or reached; give at least one magnitude besides 0, or yes_rates")
    scored: dict[tuple[str, float], pd.Series] = {}
    logs: dict[tuple[str, float], EvalLog] = {}
    for magnitude in sorted({0.0, *map(float, magnitudes)}):
        arguments = {**model_args, "magnitude": magnitude}
        for log in evaluate(tasks, model=f"onedial/{model}", model_args=arguments, **settings):
            if log.status != "success":
                raise InputError(f"{log.eval.task} at {magnitude}: {log.error.message if log.error else log.status}")
            logs[log.eval.task, magnitude] = log
            scored[log.eval.task, magnitude] = scores_of(log)
    rows = [
        {"task": task, "magnitude": magnitude, "yes_rate": placed.get(magnitude)}
        | _compared(scored[task, magnitude], scored[task, 0.0], seed)
        | (NO_CHANGE if magnitude == 0 else {})
        for task, magnitude in sorted(scored)
    ]
    return DialCost(pd.DataFrame(rows, columns=list(COLUMNS)), tuple(logs[place] for place in sorted(logs)))


def _placed(run: Path | str | None, yes_rates: Sequence[float]) -> dict[float, float]:
    """Find the magnitudes of the sweep at which the yes rates are nearest: magnitude -> yes rate."""
    if not yes_rates:
        return {}
    if run is None:
        raise InputError("yes rates are those of a sweep; name it in model_args, as run")
    swept = SweepRun.open(run)
    settings = swept_at(fitting_answers(swept, swept.under_test()), yes_rates)
    return dict(zip(settings["setting"], settings["rate"], strict=True))


def scores_of(log: EvalLog) -> pd.Series:
    """Read the first score of each question, as a number, over its epochs; nan where none was given."""
    number = value_to_float()
    rows = [
        (sample.id, number(next(iter(sample.scores.values())).value) if sample.scores else np.nan)
        for sample in log.samples or []
    ]
    return pd.DataFrame(rows, columns=["id", "score"]).groupby("id")["score"].mean()


def _compared(scores: pd.Series, unsteered: pd.Series, seed: int) -> dict[str, float]:
    both = pd.concat([scores, unsteered], axis=1, keys=["steered", "plain"])
    known = both.dropna()
    n, change = len(known), known["steered"] - known["plain"]
    weights = unit_weights(np.arange(n), N_BOOTSTRAP, seed)
    means = {name: weights @ values.to_numpy() / max(n, 1) for name, values in (("", known["steered"]), ("d", change))}
    low, high = resampled_interval(known["steered"].mean(), means[""], n, 0.0, 1.0)
    change_low, change_high = resampled_interval(change.mean(), means["d"], n, -1.0, 1.0)
    return {
        "n": n,
        "n_failed": len(both) - n,
        "score": known["steered"].mean(),
        "low": low,
        "high": high,
        "change": change.mean(),
        "change_low": change_low,
        "change_high": change_high,
    }
