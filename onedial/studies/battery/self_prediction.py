"""Score the Self-Execution study's three tests, whoever gave the answers: tables, a figure, sentences."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from onedial.core.errors import InputError
from onedial.selfreport.battery.reply_screening import screen_replies, screening_sentences
from onedial.selfreport.score.published import benchmark_abilities, beside_self_execution
from onedial.selfreport.score.self_prediction import (
    association_scores,
    cross_prediction,
    difficulty_scores,
    measured_ranks,
    pair_scores,
    prediction_matrix,
    restriction_scores,
)
from onedial.selfreport.show import figures as draw
from onedial.show.figure_style import Drawing
from onedial.stats.level import LEVEL

TESTS = {"association": association_scores, "restriction": restriction_scores, "difficulty": difficulty_scores}
FEWEST_MODELS = 3
CHANCE = 0.5
STUDY_CORRELATION = 0.59
"""Of the mean accuracy of 15 models, invalid rankings left out, with their ability in nine benchmarks."""


@dataclass(frozen=True)
class Scored:
    """What the answers say.

    Attributes:
        scores: test -> its metrics. tables: who predicts whom (matrix_TEST, cross_TEST), means, correlations, rasch and
            beside_study. figures: of who predicts whom and of the three tests, from three models on.
        sentences: one for each test.
    """

    scores: dict[str, pd.DataFrame]
    tables: dict[str, pd.DataFrame]
    figures: dict[str, Drawing]
    sentences: list[str]


def score_self_prediction(answers: Mapping[str, pd.DataFrame], n_bootstrap: int, seed: int) -> Scored:
    """Every score of the answers to any of the three tests.

    Args:
        answers: test -> answers; and, where known, `benchmarks` (model, benchmark, score) and `families` (model,
            family).

    Raises:
        InputError: none of the tests is there, or a table lacks columns or connection.
    """
    tests = [name for name in TESTS if name in answers]
    if not tests:
        raise InputError(f"answers to none of {', '.join(TESTS)}; give one of these tables")
    scores = {name: TESTS[name](answers[name], n_bootstrap, seed) for name in tests}
    kin = answers.get("families")
    families = None if kin is None else dict(zip(kin["model"], kin["family"], strict=True))
    matrices = {name: who_predicts_whom(name, answers[name]) for name in tests}
    crossed = {
        name: cross_prediction(each, n_bootstrap, seed, families)
        for name, each in matrices.items()
        if len(each) >= FEWEST_MODELS
    }
    tables = {f"matrix_{name}": each for name, each in matrices.items()}
    tables |= {f"cross_{name}": each for name, each in crossed.items()}
    figures = {"who_predicts_whom": draw.own_and_others(crossed)} if crossed else {}
    if "benchmarks" in answers:
        tables["rasch"] = benchmark_abilities(answers["benchmarks"])
    if len(tests) == len(TESTS):
        tables["means"] = mean_of_three(scores, tables.get("rasch"))
        if len(tables["means"]) >= FEWEST_MODELS:
            tables["correlations"] = correlations_of_tests(scores, tables["means"])
            figures["three_tests"] = draw.three_tests(scores, tables["means"])
            if "ability" in tables["means"]:
                figures["beside_ability"] = draw.beside_ability(tables["means"])
    tables["beside_study"] = beside = beside_self_execution(
        scores | {name: tables[name] for name in ("means",) if name in tables}
    )
    asked = {name: answers[name].rename(columns={"model": "respondent"}) for name in tests}
    sentences = [*sentences_of(scores, crossed, families), *screening_sentences(screen_replies(asked))]
    if "means" in tables and "ability" in tables["means"]:
        means = tables["means"].dropna()
        together = means.drop(columns="ability").corrwith(means["ability"])
        remarks = ", ".join(f"{str(name).replace('_', ' ')} {value:.3f}" for name, value in together.items())
        sentences.append(
            f"correlation with ability over {len(means)} models: {remarks} (the study: {STUDY_CORRELATION})"
        )
    if same := int(beside["same"].sum()):
        sentences.append(f"{beside['as_published'].sum()} of {same} figures of the study's own models are as published")
    return Scored(scores, tables, figures, sentences)


def sentences_of(
    scores: Mapping[str, pd.DataFrame], crossed: Mapping[str, pd.DataFrame], families: Mapping[str, str] | None
) -> list[str]:
    """For how many models prediction beats chance, and whose knowledge it is."""
    sentences = []
    for name, table in scores.items():
        low = table["balanced_accuracy_low" if "balanced_accuracy_low" in table else "adjusted_low"]
        known = low.dropna()
        words = f"{name}: {(known > CHANCE).sum()} of {len(known)} models predict themselves better than chance"
        if known.empty:
            words = (
                f"{name}: none of {len(table)} models can be scored, since too little was read or all of it is alike"
            )
        elif len(known) < len(table):
            words += f", and {len(table) - len(known)} cannot be scored"
        if "retest" in table and table["retest"].notna().any():
            words += f"; asked again they repeat {table['retest'].mean():.3f} themselves"
            if table["share_of_possible"].notna().any():
                words += f", and predict {table['share_of_possible'].mean():.0%} of what could be predicted"
        if name in crossed and crossed[name]["advantage"].notna().any():
            row = crossed[name].loc["mean"]
            whose = "of oneself over one's family" if families else "of oneself or one's family"
            words += (
                f"; predicted by itself {row['own']:.3f}, by the others {row['others']:.3f}; advantage {whose} "
                f"{row['advantage']:+.3f}, p = {row['p']:.2g}"
            )
            least = least_p([each for each in crossed[name].index if each != "mean"], families)
            if least > LEVEL:
                words += f" (of these models p is never below {least:.2g}; three of each of two families can tell)"
        sentences.append(words)
    return sentences


def least_p(models: Sequence[str], families: Mapping[str, str] | None = None) -> float:
    """The smallest p that permuting predictors, within families where they are known, can give.

    >>> families = {"a": "x", "b": "x", "c": "y", "d": "y"}
    >>> least_p(list(families), families), round(least_p(["a", "b", "c"]), 3)
    (0.25, 0.167)
    """
    sizes = Counter(families[name] for name in models).values() if families else [len(models)]
    return 1 / math.prod(math.factorial(size) for size in sizes)


def who_predicts_whom(test: str, answers: pd.DataFrame) -> pd.DataFrame:
    """Predictor x target: balanced accuracy of one model's predictions against another's outcomes on the same items."""
    names = list(dict.fromkeys(answers["model"]))
    if test == "difficulty":
        ranked = (
            answers if "measured_rank" in answers else answers.assign(measured_rank=measured_ranks(answers, "half"))
        )
        ranked = ranked.sort_values(["group_id", "question_id"], kind="stable")
        groups = list(dict.fromkeys(ranked["group_id"]))
        by = {
            column: {key: part.to_numpy(float) for key, part in ranked.groupby(["model", "group_id"])[column]}
            for column in ("predicted_rank", "measured_rank")
        }

        def ordered(one: str, other: str) -> float:
            scores = [
                pair_scores(by["predicted_rank"][one, group], by["measured_rank"][other, group])
                for group in groups
                if (one, group) in by["predicted_rank"] and (other, group) in by["measured_rank"]
            ]
            known = [score for score in scores if score == score]
            return sum(known) / len(known) if known else float("nan")

        return pd.DataFrame({other: {one: ordered(one, other) for one in names} for other in names})
    if test == "restriction":
        index, foretold, did = ["prompt_id"], "predicted", "behaved" if "behaved" in answers else "perceived"
        coded = answers.assign(**{column: answers[column].map({"A": 1.0, "B": 0.0}) for column in (foretold, did)})
    else:
        index, foretold, did, coded = ["word", "option"], "predicted", "listed", answers
    coded = coded.drop_duplicates(["model", *index])
    predicted, outcome = (coded.pivot(index=index, columns="model", values=each)[names] for each in (foretold, did))
    return prediction_matrix(predicted, outcome)


def correlations_of_tests(scores: Mapping[str, pd.DataFrame], means: pd.DataFrame) -> pd.DataFrame:
    """Correlations over models of the three accuracies, their mean and, where it is known, ability (figure 9)."""
    table = pd.DataFrame({name: scores[name]["accuracy"] for name in TESTS}).join(
        means.drop(columns="invalid_left_out")
    )
    return table.drop(columns="restriction_where_read").rename(columns={"invalid_wrong": "mean"}).corr()


def mean_of_three(scores: Mapping[str, pd.DataFrame], rasch: pd.DataFrame | None) -> pd.DataFrame:
    """Mean accuracy over the three tests: invalid rankings left out, counted as wrong, and restriction where read."""
    association, restriction = scores["association"]["accuracy"], scores["restriction"]
    difficulty = scores["difficulty"]
    table = pd.DataFrame(
        {
            "invalid_left_out": (association + restriction["accuracy"] + difficulty["adjusted_accuracy"]) / 3,
            "invalid_wrong": (association + restriction["accuracy"] + difficulty["accuracy"]) / 3,
            "restriction_where_read": (association + restriction["accuracy_where_read"] + difficulty["accuracy"]) / 3,
        }
    ).dropna()
    return table if rasch is None else table.join(rasch["logits"].xs("model").rename("ability"))
