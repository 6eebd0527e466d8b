"""Say in sentences what the study's tables hold."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from onedial.confidence.predictors import OTHERS, OWN
from onedial.scale.factor.quadratic import FEWEST_FOR_PARABOLA
from onedial.scale.response_curves import SALIENT
from onedial.show.columns import interval, number, p_value, percent
from onedial.show.results import Stored
from onedial.stats.answers import names
from onedial.stats.level import Z_95

if TYPE_CHECKING:
    from onedial.studies.panel.case import StudyCase

CHANCE = 0.5
WORTH_SAYING = 0.05  # of confidence above the share right
NO_GRADES = "The panel does not say which answers were correct, so that confidence cannot be held against anything."


def summary(case: "StudyCase") -> dict[str, Any]:
    """The headline, what the panel is, what it is too small for, and numbers that stand in no table."""
    parts = []
    if case.with_scale:
        first = case.readings.iloc[0]
        parts.append(first_share(first) + not_on_it(case.respondents, first))
    if case.correctness is None:
        parts += [] if case.with_scale else [NO_GRADES]
        return {"sentence": " ".join(parts), "lead": panel_in_words(case), "limits": limits(case)}
    if not case.with_scale:
        telling = case.screening["tells"]
        parts.append(f"The confidence of {telling.sum()} of {len(telling)} tells their right from their wrong answers.")
    if case.calibration is not None:
        parts.append(overconfidence_in_short(case.calibration))
    lines = case.lines()
    parts.append(line_in_short(None if lines is None else _row(lines, "as is")))
    numbers: dict[str, Any] = {"line_of_those_that_tell": case.line_of_those_that_tell()}
    if case.predictors is not None:
        parts.append(others_in_short(case.predictors.summary))
        by_model = case.predictors_by_model()
        assert by_model is not None
        tells = case.screening["tells"].groupby(case.panel.respondents["model"]).any()
        numbers["one_other"] = by_model["one model of another family"].mean()
        numbers["auroc_of_those_that_tell"] = by_model[tells[by_model.index]].mean().to_dict()
    return {"sentence": " ".join(parts), "lead": panel_in_words(case), "limits": limits(case), **numbers}


def panel_in_words(case: "StudyCase") -> str:
    """What the panel is."""
    panel, answers = case.panel, case.panel.answers
    blank, n_models = int(answers.isna().to_numpy().sum()), panel.respondents["model"].nunique()
    who = (
        f"{n_models} models" if n_models == answers.shape[1] else f"{answers.shape[1]} respondents of {n_models} models"
    )
    words = "" if panel.elicitation is None else panel.elicitation.in_words()
    asked = f", {words}" if words else ""
    graded = "nobody knows which are right" if case.correctness is None else "answers are graded"
    return f"{who} on {len(answers)} questions{asked}; {blank} of {answers.size} answers are blank; {graded}."


def limits(case: "StudyCase") -> list[str]:
    """What this panel is too small for, and where a number rests on a rule."""
    sentences = []
    if (case.families == "").all():
        sentences.append("No families are known, so relatives count as other families.")
    if case.with_scale:
        model, n_all = case.as_answered.model, case.panel.answers.shape[1]
        n = len(model.eigenvalues)
        if n < FEWEST_FOR_PARABOLA:
            sentences.append(
                f"{n} respondents are few: how closely each follows the scale hangs on who the others are."
            )
        if n < n_all:
            sentences.append(f"{n_all - n} of {n_all} respondents gave only one kind of answer and have no place.")
        if empty := model.tetrachoric.n_zero_cell_pairs:
            sentences.append(
                f"In {empty} of {n * (n - 1) // 2} pairs of respondents one of the four patterns of answers never "
                "occurs: how strongly these two correlate depends on what is put into the empty cell."
            )
    return sentences


def first_share(reading: "pd.Series[Any]") -> str:
    """How much is shared, by marginal likelihood."""
    if reading.get("n_factors") == 0:
        return "Nothing is shared that shuffled answers would not show."
    share = f"{percent(reading['share'])} ({percent(reading['share_low'])} to {percent(reading['share_high'])})"
    return f"One scale explains {share} of the variance."


def not_on_it(respondents: pd.DataFrame, reading: "pd.Series[Any]") -> str:
    """Who does not follow the scale, or answers the other way round; nobody where nothing is shared.

    A loading counts with its error where nothing is shared and both answers are as frequent, (pi / 2) / sqrt(n).
    """
    n_answers = respondents["n_questions"] - respondents["n_unread"]
    most = respondents["loading"] + Z_95 * np.pi / 2 / np.sqrt(n_answers.clip(lower=1))
    away = respondents.index[most < SALIENT]
    if not len(away) or reading.get("n_factors") == 0:
        return ""
    return f" Not on it: {names(map(short, away), 3)}."


def short(name: object) -> str:
    """A model's name without its maker."""
    return str(name).rpartition("/")[2]


def scale(readings: pd.DataFrame) -> str:
    """Is it one scale?"""
    first = readings.iloc[0]
    words = f"{first_share(first)} By eigenvalues the first factor holds {percent(first['first'])}"
    words += f" ({percent(first['first_shuffled'])} if answers are shuffled)" if "first_shuffled" in first else ""
    words += f"; the second eigenvalue is {first['second'] * first['n_models']:.2f}"
    makes = first.get("second_expected", np.nan)
    words += f", where one scale makes {makes:.2f}." if makes == makes else "."
    if first["rmsea"] == first["rmsea"]:
        fit = ", ".join(f"{index.upper()} {number(first[index])}" for index in ("rmsea", "cfi", "srmr"))
        words += f" One factor on a normal scale: {fit}."
    if first.get("n_factors", np.nan) > 0:
        n, alone = first["n_factors"], "" if first["n_factors"] <= 1 else ": the first is not alone"
        words += f" By parallel analysis {n:.0f} {'factor stands' if n == 1 else 'factors stand'} out{alone}."
    if len(readings) > 1:
        shares, lost = readings["first"], int(readings["first"].isna().sum())
        words += f" Read in {len(readings)} ways, the first factor holds {shares.min():.0%} to {shares.max():.0%}"
        words += " by eigenvalue."
        words += f" In {lost} of them too few respondents say both yes and no." if lost else ""
    return words


def turned(respondents: pd.DataFrame, reading: "pd.Series[Any]") -> str:
    """Who answers the other way round, to stand before what is said of all; nobody where nothing is shared."""
    reversed_names = respondents.index[respondents["loading"] <= -SALIENT]
    if not len(reversed_names) or reading.get("n_factors") == 0:
        return ""
    how = f"{'answers' if len(reversed_names) == 1 else 'answer'} the other way round, by a loading of −.3 or less"
    return f"{names(reversed_names, 6)} {how} (--deep tells how surely). "


def parabola(readings: pd.DataFrame) -> str:
    """Do those that say yes rarely or often follow the scale less?"""
    first, r2 = readings.iloc[0], readings["parabola_r2"]
    if first["n_models"] < FEWEST_FOR_PARABOLA:
        return f"{first['n_models']:.0f} models are too few for a parabola of loading on threshold."
    words = f"A parabola of loading on threshold has R² {number(first['parabola_r2'], 2)}"
    words += f", p = {p_value(first['parabola_p'])}." if "parabola_p" in first else " (not tested: --replicates 0)."
    if len(readings) > 1:
        words += f" It is {r2.min():.2f} to {r2.max():.2f} as the numbers are read: it depends on where they are cut."
    return (
        f"{words} The study found .95. Random answers and skewed scales make a parabola too: p is beside such panels."
    )


def line(means: pd.DataFrame, stored: Stored) -> str:
    """Confidence on accuracy between base models."""
    if "confidence_accuracy" not in stored:
        return (
            f"The panel holds {len(means)} base models with grades, and a line between models takes 3; their framings "
            "are no further models."
        )
    row = _row(stored["confidence_accuracy"], "as is")
    if row["slope"] != row["slope"]:
        return f"The {len(means)} base models are all equally accurate: there is no line of confidence on accuracy."
    words = (
        f"Between {row['n']:.0f} base models (framings averaged first) confidence on accuracy has a slope of "
        f"{_slope(row)}, p = {p_value(row['p'])}. 1 is calibrated, 0 is no knowledge of who knows more."
    )
    tell = stored.numbers("summary").get("line_of_those_that_tell")
    if tell is None:
        return words
    ends = interval(tell["low"], tell["high"], 2)
    return f"{words} Between the {tell['n']} whose confidence tells, it is {number(tell['slope'], 2)} {ends}."


def _slope(row: Mapping[str, Any]) -> str:
    return f"{number(row['slope'], 2)} {interval(row['slope_low'], row['slope_high'], 2)}"


def line_in_short(row: Mapping[str, Any] | None) -> str:
    """The same for a headline."""
    if row is None or row["slope"] != row["slope"]:
        return "No line of confidence on accuracy can be drawn."
    ends = f"slope {_slope(row)}"
    if row["slope_low"] <= 0 <= row["slope_high"]:
        return f"No relation between how sure models are and how much they get right is found ({ends})."
    return f"Surer models get {'more' if row['slope'] > 0 else 'less'} right ({ends})."


def overconfidence_in_short(table: pd.DataFrame) -> str:
    """Whose mean confidence is surely above or below its share right, and by how much.

    Formula: d = mean(c - y), its variance (Brier score - d^2) / n; what is below `WORTH_SAYING` is called calibrated.

    >>> table = pd.DataFrame({"mean_confidence": [0.9, 0.7], "accuracy": [0.6, 0.69], "brier": [0.3, 0.2], "n": 400})
    >>> overconfidence_in_short(table)
    'Of 2, 1 is overconfident by 0.30; 1 is not shown to be off by 0.05 or more.'
    """
    gap = table["mean_confidence"] - table["accuracy"]
    error = Z_95 * np.sqrt((table["brier"] - gap**2).clip(lower=0) / table["n"])
    sure = gap[(gap.abs() >= WORTH_SAYING) & (gap.abs() > error)]
    parts = []
    for gaps, word in ((sure[sure > 0], "overconfident"), (-sure[sure < 0], "underconfident")):
        if n := len(gaps):
            ends = sorted({number(gaps.min(), 2), number(gaps.max(), 2)})
            parts.append(f"{n} {'is' if n == 1 else 'are'} {word} by {' to '.join(ends)}")
    if left := len(gap) - len(sure):
        parts.append(f"{left} {'is' if left == 1 else 'are'} not shown to be off by {number(WORTH_SAYING, 2)} or more")
    return f"Of {len(gap)}, {'; '.join(parts)}."


def others_in_short(table: pd.DataFrame) -> str:
    """Whether others know better what a model gets right, for a headline."""
    itself, others = _row(table, OWN), _row(table, OTHERS)
    both = f"AUROC {number(others['auroc'], 2)} and {number(itself['auroc'], 2)}"
    if not max(itself["auroc_low"], others["auroc_low"]) > CHANCE:
        return f"Neither a model's own confidence nor that of others is shown to tell what it gets right ({both})."
    low, high = others["auroc_less_low"], others["auroc_less_high"]
    words = "about as well as" if low <= 0 <= high else "better than" if low > 0 else "less well than"
    return f"The mean confidence of other families tells what a model gets right {words} its own ({both})."


def attitudes(best_by_beta: "pd.Series[Any]") -> str:
    """Is one respondent best for everybody?

    Args:
        best_by_beta: beta -> the best respondent, over the betas of the figure.
    """
    best, betas = list(dict.fromkeys(best_by_beta.dropna())), best_by_beta.index
    if len(best) == 1:
        return f"{best[0]} is best whatever an error costs."
    return (
        f"No model is best for every attitude to error: from beta {betas.min():g} to {betas.max():g}, "
        f"{len(best)} are best somewhere ({', '.join(map(str, best))})."
    )


def predictors(table: pd.DataFrame, numbers: Mapping[str, Any]) -> str:
    """What tells a model's right from its wrong answers."""
    itself, others, telling = _row(table, OWN), _row(table, OTHERS), numbers["auroc_of_those_that_tell"]
    return (
        f"A model's own confidence tells its right from its wrong answers with an AUROC of {_auroc(itself)}, the mean "
        f"confidence of the models of other families with {_auroc(others)}, a single one of them with "
        f"{number(numbers['one_other'], 2)} on average. Among the models whose confidence tells at all, it is "
        f"{number(telling[OWN], 2)} and {number(telling[OTHERS], 2)}. Where all the other predictors are known, its "
        f"own confidence saves {number(itself['bits_more'])} bits per question "
        f"{interval(itself['bits_more_low'], itself['bits_more_high'])}. A difference of AUROCs is no test of "
        "self-knowledge; the next section holds one."
    )


def _row(table: pd.DataFrame, name: str) -> dict[str, Any]:
    return {str(column): value for column, value in table.loc[name].items()}


def _auroc(row: Mapping[str, Any]) -> str:
    return f"{number(row['auroc'], 2)} {interval(row['auroc_low'], row['auroc_high'], 2)}"


def own_of_all(case: "StudyCase") -> dict[str, Any]:
    """The mean over models with its sentence; or the reason why there is none."""
    if isinstance(case.own, str):
        return {"reason": case.own}
    mean = {str(name): value for name, value in case.own.mean.to_dict().items()}
    return mean | {"scales": case.own.scales, "words": case.own.sentence()}
