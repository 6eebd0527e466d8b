"""Does a model predict itself better than another model that was taught as much about it?

After "Looking Inward" (arXiv 2410.13787): every model p is fine-tuned on the same answers of every model t, and then
predicts t's answers to questions that neither was tuned on. With a(p, t) the score of p tuned on t,

    advantage over p  = a(t, t) - a(p, t)
    beyond learning   = [a(t, t) - a(p, t) + a(p, p) - a(t, p)] / 2      of both directions

In the second a model that learns everything better than the other cancels out: what is left is that each learns itself
better. What all models do alike, or what shows in the question, is learnt by both; what relatives have in common shows
where p is a sibling of t.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.intervals import resampled_interval, unit_weights

COLUMNS = ("predictor", "target", "unit", "item", "margin", "answer", "share")
ITSELF, SIBLING, OTHER = "itself", "sibling", "other"


def tuned_prediction(
    answers: pd.DataFrame, families: Mapping[str, str] | None = None, n_bootstrap: int = 1999, seed: int = 0
) -> pd.DataFrame:
    """Score every predictor of every target, and what the target has over it.

    Formula: accuracy = share of items whose answer the margin's sign says; bits = mean over items of log2 p(answer) -
    log2 q(answer), p = sigmoid(margin), q = the target's share of yes in what was tuned on. Items of a target count
    where every predictor's margin is known.

    Args:
        answers: held-out ones: predictor, target, unit (what is resampled, such as a word), item, margin (nan where
            unread), answer (1 / 0), share (of yes among the target's answers in the tuning). families: model -> family.
        n_bootstrap: over units, the same in all cells. seed: of it.

    Returns:
        index target, predictor; relation (itself, sibling, other), n, n_unread, majority (accuracy of the answer that
        is more frequent in the tuning), accuracy, bits, each with _low and _high; and for each but itself advantage and
        beyond_learning (of accuracy), advantage_bits and beyond_learning_bits, with theirs. Last, under target "mean",
        a row for each relation.

    Raises:
        InputError: columns are missing, or not every model predicts every target.

    Sign: higher = predicted better; a positive advantage = better by itself.
    """
    if missing := [name for name in COLUMNS if name not in answers]:
        raise InputError(f"the tuned predictions lack {', '.join(missing)}; they have {', '.join(answers.columns)}")
    names = list(dict.fromkeys(answers["target"]))
    if len(names) < 2 or len(answers[["predictor", "target"]].drop_duplicates()) < len(names) ** 2:
        raise InputError(f"{len(names)} targets, and not every one predicts every one; give two models or more")
    sums, unread = _sums(answers, names)
    n_units = len(sums)
    weights = np.concatenate([np.ones((1, n_units)), unit_weights(np.arange(n_units), n_bootstrap, seed)])
    totals = np.tensordot(weights, sums, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        majority, accuracy, bits = (totals[..., k] / totals[..., 3] for k in range(3))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    gained: dict[str, list[dict[str, Floats]]] = {}
    for t, target in enumerate(names):
        for p, predictor in enumerate(names):
            kin = families is not None and families[target] == families[predictor]
            relation = ITSELF if p == t else SIBLING if kin else OTHER
            rows[target, predictor] = {
                "relation": relation,
                "n": int(totals[0, p, t, 3]),
                "n_unread": int(unread[p, t]),
                "majority": float(majority[0, p, t]),
            }
            values: dict[str, Floats] = {"accuracy": accuracy[:, p, t], "bits": bits[:, p, t]}
            if p != t:
                gains: dict[str, Floats] = {}
                for name, a in (("", accuracy), ("_bits", bits)):
                    gains[f"advantage{name}"] = a[:, t, t] - a[:, p, t]
                    gains[f"beyond_learning{name}"] = (a[:, t, t] - a[:, p, t] + a[:, p, p] - a[:, t, p]) / 2
                values |= gains
                gained.setdefault(relation, []).append(gains)
            rows[target, predictor] |= _with_ends(values, n_units)
    for relation, each in gained.items():
        means = {name: np.mean([gains[name] for gains in each], axis=0) for name in each[0]}
        rows["mean", relation] = {"relation": relation, **_with_ends(means, n_units)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["target", "predictor"])


def _sums(answers: pd.DataFrame, names: list[str]) -> tuple[Floats, Floats]:
    """(unit, predictor, target, [majority right, right, bits, n]) over the items that count, and (predictor, target)
    unread."""
    units = pd.Index(answers["unit"].unique())
    sums, unread = np.zeros((len(units), len(names), len(names), 4)), np.zeros((len(names), len(names)))
    for t, target in enumerate(names):
        of_target = answers[answers["target"] == target]
        margins = of_target.pivot(index=["unit", "item"], columns="predictor", values="margin")[names]
        first = of_target.drop_duplicates(["unit", "item"]).set_index(["unit", "item"]).loc[margins.index]
        unread[:, t] = margins.isna().sum()
        counts = margins.notna().all(axis=1).to_numpy()
        at = units.get_indexer(margins.index.get_level_values("unit"))[counts]
        y, share = (first[name].to_numpy(float)[counts] for name in ("answer", "share"))
        base = np.log2(np.where(y == 1, share, 1 - share))
        for p, predictor in enumerate(names):
            margin = margins[predictor].to_numpy(float)[counts]
            right = np.where(margin == 0, 0.5, (margin > 0) == (y == 1))
            gain = -np.logaddexp(0, np.where(y == 1, -margin, margin)) / np.log(2)
            parts = np.stack([(share > 0.5) == (y == 1), right, gain - base, np.ones(len(y))], axis=1)
            np.add.at(sums[:, p, t], at, parts)
    return sums, unread


def _with_ends(values: Mapping[str, Floats], n_units: int) -> dict[str, float]:
    """The first of each, and the interval of the others; accuracies and their differences have bounds, bits none."""
    row = {}
    for name, drawn in values.items():
        row[name] = float(drawn[0])
        reach = (float("nan"),) * 2 if name.endswith("bits") else (0, 1) if name == "accuracy" else (-1, 1)
        row[f"{name}_low"], row[f"{name}_high"] = resampled_interval(row[name], drawn[1:], n_units, *reach)
    return row
