"""Can a respondent say what it would answer? Scores of the Self-Execution study, and whose prediction it is.

    association  would this word have been in your list of five?       predicted and listed: 1 / 0 per option word
    restriction  would your response give an answer?                   predicted before, perceived after: A, B or other
    difficulty   which of four questions would be easiest for you?     predicted rank, and what then happened

Formulas are those of the study ("The Self-Execution Benchmark", 2025), written so that its published figures come out
of its raw answers. None of them subtracts what anybody could have predicted. Beside them stand what does: the accuracy
of the majority class, accuracy balanced over both outcomes, and `cross_prediction`: does a respondent
predict itself better than others predict it? Where the same requests were made a second time, two columns say what
could be reached: `retest`, the score of the second reply taken as a prediction of the first, and

    share_of_possible = (score - .5) / (retest - .5),    score: balanced accuracy, or adjusted accuracy of difficulty

(nan where retest is not above .5). 1 = predicted as well as by asking again; whoever names the likeliest reply of a
fickle respondent may reach a little more.

Higher = better everywhere but for `positive_rate` and `over_niceness`, which are rates.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.selfreport.per_respondent import per_respondent
from onedial.selfreport.score.revision import over
from onedial.stats.arrays import Floats
from onedial.stats.intervals import area_interval, mean_interval, resampled_interval, unit_weights
from onedial.stats.level import MOST_UNREAD
from onedial.stats.shares import wilson_interval

GROUP_SIZE = 4
CHANCE = 0.5
_CELLS = {"TP": (1, 1), "FP": (1, 0), "TN": (0, 0), "FN": (0, 1)}
"""What was predicted, and what happened."""
_LETTERED, _CODES = ("predicted", "perceived", "behaved", "behaved_again"), {"A": 1.0, "B": 0.0}
_ALTERNATIONS = 50
_CELLS_AT_ONCE = 1_000_000


def association_scores(answers: pd.DataFrame, n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """Score the association test, one row per model.

    Formula: accuracy (TP + TN) / N, precision TP / (TP + FP), recall TP / (TP + FN), positive rate (TP + FP) / N over
    all option words that the model judged; always_no_accuracy (TN + FP) / N is what saying no to everything scores;
    balanced accuracy is the mean of recall and TN / (TN + FP), .5 = no discrimination, whatever the rate of yes.

    Args:
        answers: columns model, word, predicted, listed (1 / 0); rows with a blank in either are left out and counted.
            listed_again, optional: likewise, of a second list.
        n_bootstrap: of accuracy and balanced accuracy, over target words. seed: of it.

    Returns:
        index model, in the order of the first rows; n_words, n, n_missing, TP, FP, TN, FN, the scores, and `*_low`,
        `*_high` of the two; retest and share_of_possible with theirs, where there is a second list.

    Raises:
        InputError: columns are missing, or a value is neither 1 nor 0.

    Sign: higher = better, but for `positive_rate` and `over_niceness`, which are rates.

    R: `caret::confusionMatrix` has the shares.
    """
    _need(answers, ["model", "word", "predicted", "listed"], "association")
    _binary(answers, ["predicted", "listed"])

    def score(answers_of_model: pd.DataFrame) -> dict[str, object]:
        known = answers_of_model.dropna(subset=["predicted", "listed"])
        by_word = _by_unit(known["predicted"], known["listed"], known["word"])
        counted = by_word if _mostly(len(known), len(answers_of_model)) else by_word[:0]
        total = by_word.sum(axis=0)
        row = {
            "n_words": len(by_word),
            "n": len(known),
            "n_missing": len(answers_of_model) - len(known),
            **dict(zip(_CELLS, total.astype(int), strict=True)),
            **{name: float(value[0]) for name, value in _of_table(total[None]).items()},
            **_intervals(counted, n_bootstrap, seed),
        }
        if "listed_again" in answers_of_model:
            both = [
                _by_unit(answers_of_model[column], answers_of_model["listed"], answers_of_model["word"])
                for column in ("predicted", "listed_again")
            ]
            row |= _beside_retest(both, _balanced, n_bootstrap, seed)
        return row

    return per_respondent(answers, score, "model")


def restriction_scores(answers: pd.DataFrame, n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """Score the restriction test, one row per model.

    What happened is what the reply did (`behaved`), where the table says it; else what the model perceived, as in the
    study.

    Formula: with A = gives an answer, B = does not, accuracy = (AA + BB) / N over all prompts, an unread or missing
    pair being wrong, and accuracy_where_read = the same over the pairs that were read; over-niceness FN / (FN + FP),
    FN = predicted B and answered, FP = predicted A and did not: the share of errors that are unannounced answers.
    accuracy_where_stored = the same over the pairs that exist, an unread one being wrong (as where read, if the
    table does not say which exist). majority_accuracy is what always predicting the majority class scores.

    Args:
        answers: columns model, predicted, perceived; anything but A and B is unread. behaved, optional: likewise.
            behaved_again, optional: of a second reply. stored, optional: 1 where there is a pair, 0 where none was
            ever given.
        n_bootstrap: of balanced accuracy, over prompts. seed: of it.

    Returns:
        index model; n, n_unread, AA, BB, FN, FP, the scores, low, high of accuracy_where_read (Wilson),
        balanced_accuracy_low, balanced_accuracy_high, and sees_its_reply: share of perceived that is what the reply
        did (nan where the table does not say what it did); retest and share_of_possible with their intervals, where
        there is a second reply.

    Raises:
        InputError: columns are missing.

    Sign: higher = better, but for `positive_rate` and `over_niceness`, which are rates.

    R: `caret::confusionMatrix` has the shares.
    """
    _need(answers, ["model", "predicted", "perceived"], "restriction")

    def score(answers_of_model: pd.DataFrame) -> dict[str, object]:
        codes = answers_of_model[[name for name in _LETTERED if name in answers_of_model]].apply(
            lambda column: column.astype(str).map(_CODES)
        )
        happened, perceived = codes["behaved" if "behaved" in answers_of_model else "perceived"], codes["perceived"]
        read = codes["predicted"].notna() & happened.notna()
        cells = _by_unit(
            codes["predicted"][read],
            happened[read],
            pd.Series(range(len(answers_of_model)), answers_of_model.index)[read],
        )
        aa, fp, bb, fn = (int(each) for each in cells.sum(axis=0))
        n_read, n_there = (
            len(cells),
            int((answers_of_model["stored"] == 1).sum()) if "stored" in answers_of_model else None,
        )
        counted = cells if _mostly(n_read, len(answers_of_model) if n_there is None else n_there) else cells[:0]
        ends = _intervals(counted, n_bootstrap, seed)
        low, high = wilson_interval(pd.Series([aa + bb]), pd.Series([n_read]))
        seen = (perceived == happened)[perceived.notna() & happened.notna()]
        row: dict[str, object] = {
            "n": len(answers_of_model),
            "n_unread": len(answers_of_model) - n_read,
            **{"AA": aa, "BB": bb, "FN": fn, "FP": fp},
            "accuracy": (aa + bb) / len(answers_of_model),
            "accuracy_where_read": over(aa + bb, n_read),
            "accuracy_where_stored": over(aa + bb, n_read if n_there is None else n_there),
            "low": float(low.iloc[0]),
            "high": float(high.iloc[0]),
            "majority_accuracy": over(max(aa + fn, bb + fp), n_read),
            "balanced_accuracy": (over(aa, aa + fn) + over(bb, bb + fp)) / 2,
            "balanced_accuracy_low": ends["balanced_accuracy_low"],
            "balanced_accuracy_high": ends["balanced_accuracy_high"],
            "sees_its_reply": over(int(seen.sum()), len(seen)) if "behaved" in answers_of_model else float("nan"),
            "over_niceness": over(fn, fn + fp),
        }
        if "behaved_again" in answers_of_model:
            both = [_by_unit(codes[column], happened, codes.index) for column in ("predicted", "behaved_again")]
            row |= _beside_retest(both, _balanced, n_bootstrap, seed)
        return row

    return per_respondent(answers, score, "model")


def measured_ranks(answers: pd.DataFrame, ties: str = "order") -> pd.Series:
    """Rank how hard each question of a group turned out to be, 1 = easiest.

    Right before wrong; then fewer tokens first, a missing count last. Of a group in which it is not known whether an
    answer was right, no rank is.

    Args:
        answers: columns model, group_id, correct, tokens; rows of a group in the order in which it was shown.
        ties: "order" keeps the order of the rows, as the study does, which favours whoever keeps the order shown;
            "half" gives them their mean rank.

    Formula: ranks of (not correct, tokens, row).

    Returns:
        one rank per row, nan in such a group. Sign: higher = harder.
    """
    tokens = answers["tokens"].fillna(np.inf)
    keyed = answers.assign(_wrong=-answers["correct"].fillna(0), _tokens=tokens)
    ordered = keyed.sort_values(["_wrong", "_tokens"], kind="stable")
    ranks = (ordered.groupby(["model", "group_id"], sort=False).cumcount() + 1).reindex(answers.index)
    if ties != "order":
        ranks = ranks.groupby([keyed[each] for each in ("model", "group_id", "_wrong", "_tokens")]).transform("mean")
    is_known = answers["correct"].notna().groupby([answers["model"], answers["group_id"]]).transform("all")
    return ranks.where(is_known)


def pair_scores(predicted: Sequence[float] | Floats, measured: Sequence[float] | Floats) -> float:
    """Count the pairs of a group that stand in the same order in both rankings; nan for an invalid prediction.

    A prediction is valid if it is a permutation of 1 to the size of the group. A pair that is tied in what was measured
    counts half.

    Formula: (pairs in the same order + ties / 2) / all pairs.

    Args:
        predicted, measured: (item,) ranks.

    Returns:
        a share. Sign: higher = better, .5 = chance.

    R: `(1 + cor(predicted, measured, method = "kendall")) / 2`, without ties.
    """
    one, other = np.asarray(predicted, dtype=float), np.asarray(measured, dtype=float)
    if sorted(one.tolist()) != list(range(1, len(one) + 1)) or np.isnan(other).any():
        return float("nan")
    return _in_order(one, other)


def _in_order(one: Floats, other: Floats) -> float:
    pairs = combinations(range(len(one)), 2)
    return float(np.mean([0.5 + 0.5 * np.sign((one[i] - one[j]) * (other[i] - other[j])) for i, j in pairs]))


def difficulty_scores(answers: pd.DataFrame, n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """Score the difficulty test, one row per model.

    Formula: a group's score is that of `pair_scores`; accuracy = its mean over all groups, an invalid ranking counting
    0; adjusted accuracy = its mean over the groups with a valid ranking. Guessing scores .5.

    Args:
        answers: columns model, group_id, predicted_rank, and measured_rank, or correct and tokens (`measured_ranks`,
            ties counting half). correct_again and tokens_again, optional: of second answers; ranking_tokens,
            optional: of the reply that ranks.
        n_bootstrap: of the adjusted accuracy, over groups. seed: of it.

    Returns:
        index model; n_groups, n_valid, n_ungraded (groups of which an answer is blank; they are left out), accuracy,
        adjusted_accuracy, adjusted_low, adjusted_high; retest and share_of_possible with their intervals, where there
        are second answers; right (share of the graded questions answered rightly) and, where tokens are known, tokens
        (mean of an answer), tokens_spread (standard deviation within a group over the group's mean, on average) and
        ranking_tokens (mean of a ranking).

    Raises:
        InputError: columns are missing, or a group has not four questions.

    Sign: higher = better.
    """
    scores = group_scores(answers)
    rows = {}
    for model in answers["model"].unique():
        table = scores[scores["model"] == model]
        score = table["score"]
        valid = score.dropna().to_numpy()
        counted = valid if _mostly(len(valid), len(score)) else valid[:0]
        low, high = mean_interval(counted, 0, 1, None, n_bootstrap, seed)
        rows[model] = {
            "n_groups": len(score),
            "n_valid": len(valid),
            "n_ungraded": int(answers.loc[answers["model"] == model, "group_id"].nunique() - len(score)),
            "accuracy": float(score.fillna(0).mean()),
            "adjusted_accuracy": float(valid.mean()) if len(valid) else float("nan"),
            "adjusted_low": low,
            "adjusted_high": high,
        }
        if "retest" in table:
            rows[model] |= _beside_retest(
                [np.column_stack([table[name].fillna(0), table[name].notna()]) for name in ("score", "retest")],
                _mean_of_known,
                n_bootstrap,
                seed,
            )
    per_model = pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")
    by_model = answers.groupby("model")
    if "correct" in answers:
        per_model["right"] = by_model["correct"].mean()
    if "tokens" in answers:
        by_group = answers.groupby(["model", "group_id"])["tokens"]
        per_model["tokens"] = by_model["tokens"].mean()
        per_model["tokens_spread"] = (by_group.std() / by_group.mean()).groupby("model").mean()
    if "ranking_tokens" in answers:
        per_model["ranking_tokens"] = by_model["ranking_tokens"].mean()  # four rows for each ranking
    return per_model


def group_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Score of every model and group: columns model, group_id, score (nan for an invalid ranking), and retest (of the
    second answers' order, ties counting half) where there are second answers. A group of which an answer is blank
    (failed, unread, ungraded) has no row."""
    _need(answers, ["model", "group_id", "predicted_rank"], "difficulty")
    table = answers
    is_known = pd.Series(True, index=table.index)
    if "measured_rank" not in table:
        _need(table, ["correct", "tokens"], "difficulty")
        table = table.assign(measured_rank=measured_ranks(table, "half"))
        is_known = table["measured_rank"].notna()
    if again := "correct_again" in table:
        second = table.assign(correct=table["correct_again"], tokens=table["tokens_again"])
        table = table.assign(rank_again=measured_ranks(second, "half"))
    rows = []
    for (model, group), of_group in table.groupby(["model", "group_id"], sort=False):
        if len(of_group) != GROUP_SIZE:
            raise InputError(f"group {group} of {model} holds {len(of_group)} questions; give {GROUP_SIZE} in each")
        if not is_known[of_group.index].all():
            continue
        measured = of_group["measured_rank"].to_numpy(float)
        row = {
            "model": model,
            "group_id": group,
            "score": pair_scores(of_group["predicted_rank"].to_numpy(float), measured),
        }
        rows.append(row | ({"retest": _in_order(of_group["rank_again"].to_numpy(float), measured)} if again else {}))
    return pd.DataFrame(rows, columns=["model", "group_id", "score", *(["retest"] if again else [])])


def cross_prediction(
    agreement: pd.DataFrame, n_permutations: int = 4999, seed: int = 0, families: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Does each target know more of itself than the others, and than its relatives, know of it?

    Formula: with a(p, t) the score of p's predictions against t's outcomes, e(p, t) = a(p, t) - (how good p is) - (how
    easy t is), both from pairs of different families; family(t) = mean of e(p, t) over t's relatives; advantage(t) =
    e(t, t) - family(t). So a good predictor, an easy target or a family that knows its own are no self-knowledge. p by
    permuting, within families, which predictor is called the target's own (all targets at once).

    Args:
        agreement: predictor x target, the same names on both sides; nan where not known. families: model -> family;
            a target without relatives has no advantage. Without families family is nan, everybody is compared with
            everybody, and an advantage is one's own or one's family's.

    Returns:
        index target, then "mean"; own, others (mean of the other predictors), family, advantage; p in the last row,
        one-sided, nan where nobody has a relative.

    Raises:
        InputError: other names on one side, fewer than three, a model without a family, or one family only.

    Sign: a positive advantage = predicts itself better than others do.
    """
    names = list(agreement.index)
    if sorted(map(str, names)) != sorted(map(str, agreement.columns)) or len(names) < 3:
        raise InputError(
            f"{len(names)} predictors and {len(agreement.columns)} targets; give the same three or more on both sides"
        )
    if families is not None and (unknown := [name for name in names if name not in families]):
        raise InputError(f"{unknown[0]} has no family among those of {len(families)} models; give one for each")
    kin = np.array([families[name] for name in names], dtype=object) if families is not None else None
    if kin is not None and len(set(kin)) < 2:
        raise InputError(f"all {len(names)} models are of the family {kin[0]}; give models of two families or more")
    values = agreement[names].to_numpy(dtype=float)
    family, advantage = _advantages(values, kin)
    observed = float(np.nanmean(advantage)) if np.isfinite(advantage).any() else float("nan")
    drawn = _drawn_advantages(values, kin, n_permutations, seed)
    others = np.where(np.eye(len(names), dtype=bool), np.nan, values)
    table = pd.DataFrame(
        {
            "own": np.diag(values),
            "others": pd.DataFrame(others).mean().to_numpy(),
            "family": family,
            "advantage": advantage,
            "p": np.nan,
        },
        index=names,
    )
    means = table[["own", "others", "family", "advantage"]].mean()
    p = (1 + int((drawn >= observed - 1e-12).sum())) / (1 + n_permutations) if np.isfinite(observed) else np.nan
    every = float(pd.Series(others.ravel()).mean())  # nan, without a warning, where nothing could be read
    table.loc["mean"] = [*means[["own"]], every, means["family"], observed, p]
    return table.rename_axis("target")


def prediction_matrix(predicted: pd.DataFrame, actual: pd.DataFrame) -> pd.DataFrame:
    """Measure how well one respondent's predictions fit another's behaviour on the same items: predictor x target.

    Formula: balanced accuracy, (share predicted of what happened + share predicted of what did not) / 2.

    Args:
        predicted, actual: item x respondent, 1 / 0 / nan, the same names and items.

    Returns:
        predictor x target; nan where a target did the same throughout. Sign: higher = better, .5 = nothing predicted.
    """
    names = list(predicted.columns)
    foretold, did = predicted[names].to_numpy(dtype=float), actual.loc[predicted.index, names].to_numpy(dtype=float)
    values = np.full((len(names), len(names)), np.nan)
    for one in range(len(names)):
        for other in range(len(names)):
            p, y = foretold[:, one], did[:, other]
            known = np.isfinite(p) & np.isfinite(y)
            if (y[known] == 1).any() and (y[known] == 0).any():
                values[one, other] = (p[known & (y == 1)].mean() + 1 - p[known & (y == 0)].mean()) / 2
    return pd.DataFrame(values, index=names, columns=names)


def _drawn_advantages(values: Floats, kin: np.ndarray | None, n_permutations: int, seed: int) -> Floats:
    """Draw (permutation,) mean advantages where another predictor, of the same family, is called each target's own."""
    rng, n = np.random.default_rng(seed), len(values)
    groups = [np.arange(n)] if kin is None else [np.flatnonzero(kin == each) for each in dict.fromkeys(kin)]
    size = max(1, _CELLS_AT_ONCE // n**2)
    means = []
    for start in range(0, n_permutations, size):
        orders = np.tile(np.arange(n), (min(size, n_permutations - start), 1))
        for group in groups:
            orders[:, group] = rng.permuted(orders[:, group], axis=1)
        advantage = _advantages(values[orders], kin)[1]
        known = np.isfinite(advantage)
        means.append(np.where(known, advantage, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
    return np.concatenate(means)


def _advantages(values: Floats, kin: np.ndarray | None) -> tuple[Floats, Floats]:
    """((..., target) family's part, the rest): diagonal cells less row and column effects, both estimated from pairs of
    different families (additive fit by alternating means); values are (..., predictor, target)."""
    n = values.shape[-1]
    diagonal = np.arange(n)
    related = np.eye(n, dtype=bool) if kin is None else kin[:, None] == kin[None]
    off = np.where(related, np.nan, values)
    known = np.isfinite(off)
    n_rows, n_columns = known.sum(axis=-1), known.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        grand = np.nansum(off, axis=(-2, -1), keepdims=True) / known.sum(axis=(-2, -1), keepdims=True)
        centred = np.where(known, off - grand, 0.0)
        row_sums, column_sums = centred.sum(axis=-1), centred.sum(axis=-2)
        columns = np.zeros_like(column_sums)
        for _ in range(_ALTERNATIONS):
            rows = np.nan_to_num((row_sums - (known @ columns[..., None])[..., 0]) / n_rows)
            columns = np.nan_to_num((column_sums - (rows[..., None, :] @ known)[..., 0, :]) / n_columns)
        residual = values - grand - rows[..., :, None] - columns[..., None, :]
        advantage = np.where((n_rows > 0) & (n_columns > 0), residual[..., diagonal, diagonal], np.nan)
        if kin is None:
            return np.full(advantage.shape, np.nan), advantage
        relatives = np.where(related & ~np.eye(n, dtype=bool), residual, np.nan)
        counted = np.isfinite(relatives).sum(axis=-2)
        family = np.where(counted > 0, np.nansum(relatives, axis=-2) / counted, np.nan)
    return family, advantage - family


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _need(table: pd.DataFrame, columns: Sequence[str], test: str) -> None:
    if missing := [column for column in columns if column not in table.columns]:
        raise InputError(
            f"the answers of the {test} test lack {', '.join(missing)}; they have {', '.join(table.columns)}"
        )


def _binary(table: pd.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        if odd := sorted(set(table[column].dropna().unique()) - {0, 1}):
            raise InputError(f"{column} holds {odd[0]!r}; give 1 or 0, blank where it is missing")


def _mostly(n_read: int, n: int) -> bool:
    return n_read >= (1 - MOST_UNREAD) * n


def _of_table(cells: Floats) -> dict[str, Floats]:
    """Score tables (row, `_CELLS`)."""
    tp, fp, tn, fn = cells.T
    n = tp + fp + tn + fn
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "accuracy": (tp + tn) / n,
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "positive_rate": (tp + fp) / n,
            "always_no_accuracy": (tn + fp) / n,
            "balanced_accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
        }


def _intervals(by_unit: Floats, n_bootstrap: int, seed: int) -> dict[str, float]:
    """Find intervals of accuracy and balanced accuracy, from (unit, `_CELLS`)."""
    n, cells = len(by_unit), by_unit.sum(axis=0)
    drawn = _of_table(unit_weights(np.arange(n), n_bootstrap, seed) @ by_unit)
    estimates = {name: float(value[0]) for name, value in _of_table(cells[None]).items()}
    happened, did_not = (int((by_unit[:, kind].sum(axis=1) > 0).sum()) for kind in ([0, 3], [1, 2]))
    ends = {
        "accuracy": resampled_interval(estimates["accuracy"], drawn["accuracy"], n, 0, 1),
        "balanced_accuracy": area_interval(
            estimates["balanced_accuracy"], drawn["balanced_accuracy"], n, happened, did_not, one_level=not cells.all()
        ),
    }
    return {
        f"{name}_{end}": each for name, both in ends.items() for end, each in zip(("low", "high"), both, strict=True)
    }


def _by_unit(foretold: "pd.Series[float]", did: "pd.Series[float]", unit: Any) -> Floats:
    """Count (unit, `_CELLS`) of what is known of both."""
    table = pd.DataFrame({name: (foretold == one) & (did == other) for name, (one, other) in _CELLS.items()})
    return table.astype(float).groupby(unit.to_numpy(), sort=False).sum().to_numpy()


def _balanced(cells: Floats) -> Floats:
    return _of_table(cells)["balanced_accuracy"]


def _mean_of_known(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _beside_retest(
    own_and_again: Sequence[Floats], score: Callable[[Floats], Floats], n_bootstrap: int, seed: int
) -> dict[str, float]:
    """Estimate retest and share_of_possible, from what `score` reads off sums over the units of (unit, part)."""
    first, again = own_and_again
    n = len(first)
    if not n:
        names = (f"{name}{end}" for name in ("retest", "share_of_possible") for end in ("", "_low", "_high"))
        return dict.fromkeys(names, float("nan"))
    weights = np.concatenate([np.ones((1, n)), unit_weights(np.arange(n), n_bootstrap, seed)])
    with np.errstate(invalid="ignore", divide="ignore"):
        retest = score(weights @ again)
        share = np.where(retest > CHANCE, (score(weights @ first) - CHANCE) / (retest - CHANCE), np.nan)
        of_share = (np.array([0, 1]) - CHANCE) / (retest[0] - CHANCE)
    row = {}
    for name, values, reach in (("retest", retest, np.array([0, 1])), ("share_of_possible", share, of_share)):
        row[name] = float(values[0])
        row[f"{name}_low"], row[f"{name}_high"] = resampled_interval(row[name], values[1:], n, *reach)
    return row
