"""Saved tables in, aligned arrays out: the sweep as questions x magnitudes, the panel as questions x targets.

An answer is 1.0 (yes), 0.0 (no) or nan. The subject says yes where its margin is above 0; where the mass of all yes
and no tokens is too small (`onedial.asking.is_read`) its answer was not read and is nan, at every magnitude alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import is_read
from onedial.core import InputError, one_line
from onedial.panels import SPLITS
from onedial.verdict.criteria.choice import answers_of

SWEEP_COLUMNS = ("question_id", "magnitude", "margin", "mass")
UNNAMED = {"framing": "", "family": ""}


@dataclass(frozen=True)
class SweepGrid:
    """One intervention's sweep as arrays.

    Attributes:
        questions: question ids (Q), sorted, so that no result depends on the order of rows.
        splits: extraction, fitting or test of each question (Q).
        magnitudes: ascending (K); 0.0 is among them.
        margins: Q x K, nan where the answer was not read.
        masses: Q x K.
        direct: Q, of answers that were written: the unsteered margin read before any of it was, nan where unread; None
            where the answers themselves have margins.
    """

    questions: pd.Index
    splits: np.ndarray
    magnitudes: np.ndarray
    margins: np.ndarray
    masses: np.ndarray
    direct: np.ndarray | None = None

    __repr__ = one_line

    @property
    def answers(self) -> np.ndarray:
        """Q x K: 1.0 yes, 0.0 no, nan not read."""
        return answers_of(self.margins)

    @property
    def unsteered(self) -> int:
        """Column of magnitude 0."""
        return int(np.flatnonzero(self.magnitudes == 0.0)[0])

    @property
    def unsteered_margins(self) -> np.ndarray:
        """Q: the margin that a moved cut is moved on."""
        return self.margins[:, self.unsteered] if self.direct is None else self.direct

    def rows(self, split: str) -> np.ndarray:
        """Mask (Q) of the questions in one split."""
        return self.splits == split


def sweep_grid(
    sweep: pd.DataFrame,
    splits: pd.Series | None = None,
    intervention_id: str | None = None,
    direct: pd.Series | None = None,
) -> SweepGrid:
    """Lay a long sweep table out as questions x magnitudes.

    Args:
        sweep: columns question_id, magnitude, margin, mass; also split (unless `splits` is given) and intervention_id
            (needed where the table holds several).
        splits: Series question id -> split; questions that it leaves out are left out.
        intervention_id: whose rows to take.
        direct: question id -> unsteered margin, nan where unread: `SweepGrid.direct`.

    Raises:
        InputError: a column is missing, several interventions and none chosen, a (question, magnitude) twice or never,
            no magnitude 0, an unknown split.

    >>> from onedial.verdict.simulation import dial_order_targets, simulate_sweep
    >>> rng = np.random.default_rng(0)
    >>> sweep = simulate_sweep(rng, 200, 11)
    >>> panel = dial_order_targets(rng, sweep, 6)
    >>> grid = sweep_grid(sweep)
    >>> grid.margins.shape
    (200, 11)
    """
    sweep = _one_intervention(sweep, intervention_id)
    needed = [*SWEEP_COLUMNS, *([] if splits is not None else ["split"])]
    missing = [name for name in needed if name not in sweep.columns]
    if missing:
        raise InputError(f"the sweep has no column {', '.join(missing)}; it needs {', '.join(needed)}")
    split_of = _splits_of(sweep, splits)
    sweep = sweep[sweep["question_id"].isin(split_of.index)]
    if sweep.empty:
        raise InputError("the sweep and the splits share no question; give the splits of the run that made the sweep")
    rows, questions = pd.factorize(sweep["question_id"], sort=True)
    magnitudes, columns = np.unique(sweep["magnitude"].to_numpy(float), return_inverse=True)
    shape = (len(questions), len(magnitudes))
    times = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    if (times != 1).any():
        raise InputError(
            f"the sweep holds {int((times > 1).sum())} (question, magnitude) pairs more than once and lacks "
            f"{int((times == 0).sum())} of {times.size}; finish the run with --resume or sweep again"
        )
    if 0.0 not in magnitudes:
        raise InputError("the sweep has no magnitude 0, so the unsteered subject is unknown; sweep with 0 among them")
    margins, masses = np.empty(shape), np.empty(shape)
    masses[rows, columns] = sweep["mass"].to_numpy(float)
    margins[rows, columns] = sweep["margin"].to_numpy(float)
    margins = np.where(is_read(masses), margins, np.nan)
    own = None if direct is None else direct.reindex(questions).to_numpy(float)
    return SweepGrid(pd.Index(questions), split_of.loc[questions].to_numpy(), magnitudes, margins, masses, own)


def panel_answers(panel: Any, questions: pd.Index) -> pd.DataFrame:
    """The panel's answers to these questions, nan where it has none: questions x targets.

    Args:
        panel: an `onedial.panels.ResponseMatrix`, or a DataFrame question x target of 1, 0 and nan.

    Raises:
        InputError: no question is shared, a target or a question stands there twice, or an answer is not 1, 0 or nan.
    """
    answers = all_answers(panel)
    shared = answers.index.isin(questions)
    if not shared.any():
        raise InputError(
            f"the panel ({len(answers)} questions) shares no question with the sweep ({len(questions)} questions); "
            f"panel ids look like {answers.index[0]!r}, the sweep's like {questions[0]!r}"
        )
    return answers.reindex(questions)


def all_answers(panel: Any) -> pd.DataFrame:
    """Every answer of the panel as floats, checked: questions x targets. See `panel_answers`."""
    frame = panel.answers if hasattr(panel, "answers") else panel
    if frame.empty:
        raise InputError("the panel is empty; it needs at least one question and one target")
    for axis, name in ((frame.index, "question id"), (frame.columns, "target")):
        if axis.has_duplicates:
            raise InputError(f"the panel's {name} {axis[axis.duplicated()][0]!r} stands there more than once")
    answers = frame.astype(float)
    values = answers.to_numpy()
    strange = ~(np.isnan(values) | (values == 0) | (values == 1))
    if strange.any():
        raise InputError(f"the panel holds {values[strange][0]:g}; an answer is 1 (yes), 0 (no) or empty")
    return answers


def describe_targets(panel: Any, targets: pd.Index, respondents: pd.DataFrame | None = None) -> pd.DataFrame:
    """Base model, framing and family of each target, by default the target itself, "" and "".

    Args:
        respondents: index respondent, any of the columns model, framing, family; else the panel's own is used.
    """
    table = respondents if respondents is not None else getattr(panel, "respondents", None)
    described = pd.DataFrame(index=targets, columns=["model", "framing", "family"], dtype=object)
    if table is not None:
        described = table.reindex(index=targets, columns=described.columns).astype(object)
    own_name = pd.Series(targets, index=targets).astype(str)
    described["model"] = described["model"].fillna(own_name)
    described.loc[described["model"] == "", "model"] = own_name
    return described.fillna(UNNAMED).rename_axis("target")


def _one_intervention(sweep: pd.DataFrame, intervention_id: str | None) -> pd.DataFrame:
    if "intervention_id" not in sweep.columns:
        return sweep
    present = sweep["intervention_id"].unique()
    if intervention_id is not None:
        if intervention_id not in present:
            raise InputError(
                f"the sweep holds no intervention {intervention_id!r}; it holds {', '.join(map(str, present[:8]))}"
            )
        return sweep[sweep["intervention_id"] == intervention_id]
    if len(present) > 1:
        raise InputError(f"the sweep holds {len(present)} interventions; name one: {', '.join(map(str, present[:8]))}")
    return sweep


def _splits_of(sweep: pd.DataFrame, splits: pd.Series | None) -> pd.Series:
    if splits is None:
        splits = sweep.drop_duplicates("question_id").set_index("question_id")["split"]
    elif splits.index.has_duplicates:
        name = splits.index[splits.index.duplicated()][0]
        raise InputError(f"the splits name the question {name!r} more than once")
    unknown = set(splits.unique()) - set(SPLITS)
    if unknown:
        raise InputError(f"unknown split {sorted(map(str, unknown))[0]!r}; a split is one of {', '.join(SPLITS)}")
    return splits


def wording_groups(wordings: Sequence[Sequence[str]], questions: pd.Index) -> np.ndarray | None:
    """Of each question, the number of what it is a wording of; None where each is its own.

    Args:
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.wordings_of`).

    >>> wording_groups([["a", "c"]], pd.Index(["a", "b", "c"])).tolist()
    [0, 1, 0]
    """
    first = {name: group[0] for group in wordings for name in group}
    groups = np.unique([first.get(name, name) for name in questions.astype(str)], return_inverse=True)[1]
    return groups if len(np.unique(groups)) < len(groups) else None
