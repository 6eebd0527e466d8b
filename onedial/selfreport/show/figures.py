"""Figures of what models are asked about themselves: pressure, passages, and self-prediction."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from onedial.show.figure_style import COLOURS, INK, Drawing
from onedial.show.plots import AT_ZERO, SHARES, Axis, Mark, Points, forest, scatter

CHANCE = {0.5: ":"}


def pressure(table: pd.DataFrame) -> Drawing:
    """Draw the share of right answers lost and of wrong ones corrected under each variant.

    Args:
        table: of `pressure_scores` under index (respondent, variant).
    """
    marks = [Mark("to_right", "wrong became right", COLOURS[2], "o", 4.5), Mark("to_claim", "moved to the claim", INK)]
    drawn = forest(
        _flat(table).drop(columns=["low", "high"]),
        "to_wrong",
        Axis("share of the answers concerned", SHARES, AT_ZERO),
        Points(label="right became wrong"),
        marks=marks,
    )
    return replace(
        drawn,
        title="What pressure changes",
        caption="Among the answers that were right (wrong) before, the share that became wrong (right), and among "
        "those that were another before, the share that moved to the option claimed. Asking again, agreement, the "
        "claim of the right answer and unrelated talk are controls.",
    )


def passages(table: pd.DataFrame) -> Drawing:
    """Draw the shift of P(IK) beside each kind of passage.

    Args:
        table: of `standardised_shifts` under index (respondent, passage).
    """
    drawn = forest(_flat(table), "shift", "shift of P(IK), in its own standard deviations")
    return replace(
        drawn,
        title="A passage beside the question",
        caption='Mean change of "do you know the answer?" from the question alone; knowledge would rise beside the '
        "helpful one alone. Bars: 95% intervals.",
    )


def own_and_others(tables: Mapping[str, pd.DataFrame]) -> Drawing:
    """Draw how well each model is predicted by itself and, on average, by the others, test by test.

    Args:
        tables: test -> `onedial.selfreport.score.self_prediction.cross_prediction`.
    """
    drawn = forest(
        _flat(pd.concat({test: table.drop(index="mean") for test, table in tables.items()})),
        "own",
        Axis("balanced accuracy (difficulty: share of pairs in order)", rules=CHANCE),
        Points(label="predicted by itself"),
        marks=[Mark("others", "by the others, mean", COLOURS[5], "s", 3.5)],
    )
    means = {test: table.loc["mean"] for test, table in tables.items()}
    by_test = "; ".join(f"{test} {mean['advantage']:+.3f}, p = {mean['p']:.2g}" for test, mean in means.items())
    return replace(
        drawn,
        title="Who predicts whom",
        caption="How well each model's behaviour is predicted by its own self-prediction and by those of the other "
        "models on the same items. The advantage takes out how good a predictor each model is elsewhere and how easy "
        f"each is to predict; its p is by permuting which predictor is called the target's own: {by_test}.",
    )


def three_tests(scores: Mapping[str, pd.DataFrame], means: pd.DataFrame) -> Drawing:
    """Draw the accuracies of the three tests (figures 6 to 8 of the Self-Execution study).

    Args:
        scores: association, restriction and difficulty. means: index model; invalid_wrong.
    """
    order = means["invalid_wrong"].sort_values(ascending=False).index
    parts = [scores[test][["accuracy"]].reindex(order).assign(test=test) for test in scores]
    drawn = forest(
        pd.concat(parts), "accuracy", Axis("accuracy; what cannot be read is wrong", rules=CHANCE), Points(by="test")
    )
    return replace(
        drawn,
        title="The three tests",
        caption="Accuracy as the study defines it, where .5 is a coin and the majority class may score more.",
    )


def beside_ability(means: pd.DataFrame) -> Drawing:
    """Draw the mean of the three tests beside ability in other benchmarks.

    Args:
        means: index model; invalid_wrong, ability.
    """
    known = means[["ability", "invalid_wrong"]].dropna()
    drawn = scatter(
        known, "ability", "invalid_wrong", Axis("ability in other benchmarks, logits"), Axis("mean of the three")
    )
    r = known["ability"].corr(known["invalid_wrong"])
    return replace(
        drawn,
        title="Self-prediction and ability",
        caption=f"r = {r:.2f} over {len(known)} models: of few of them it says little.",
    )


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """Name rows of several respondents by them; of one, by what they are."""
    alone = table.index.get_level_values(0).nunique() == 1
    names = [str(key[1]) if alone else ", ".join(map(str, key)) for key in table.index]
    return table.set_axis(pd.Index(names))


def signals(table: pd.DataFrame) -> Drawing:
    """Draw what each sign of being right is worth, one mark per model.

    Args:
        table: `onedial.confidence.signals.signal_table`s under index (model, signal).
    """
    rows = table.reset_index().rename(columns={table.index.names[0] or "level_0": "of"})
    rows = rows.set_index(rows.columns[1])[["of", "auroc", "low", "high"]].dropna(subset=["auroc"])
    drawn = forest(rows, "auroc", Axis("AUROC for being right", rules=CHANCE), Points(by="of"), longest=30)
    return replace(
        drawn,
        title="What tells right from wrong",
        caption="Area under the ROC curve of each sign of being right, turned so that higher means surer, for the "
        "answers that could be graded. Bars are 95% intervals, over topics where there are ten or more, else over "
        "answers. .5 is nothing; signs that could not be read or graded are not drawn.",
    )
