"""How often the statistics of the probes err, and how often they find what is there (docs/probes_evidence.md).

Size: the share of p <= .05, or of 95% intervals that leave out the value of nothing, where nothing was planted. Power:
the same where something was. Coverage: how often the 95% interval of an AUROC holds the AUROC of endlessly many topics.
What is planted, and how, stands in probe_cases.py.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from probes import (
    Concordance,
    ProbeTask,
    TopicFolds,
    added_test,
    direction_table,
    topic_draws,
    transfer_table,
)
from simulations import probe_cases as planted
from simulations.frame import Cell, Rows, Simulation, by_cell
from simulations.probe_cases import D_MODEL, FOLDS, N_QUESTIONS, N_TOPICS, TEXTS, off, pair_of_directions

TOPIC_EFFECTS = (0.0, 0.5, 1.0)
Draws = tuple[np.ndarray, ...]
Draw = Callable[[np.random.Generator], dict[str, float]]


def labelled_scores(rng: np.random.Generator, gain: float, effect: float) -> Draws:
    """A label, a base reading, and another that goes with it; the label follows the base, and `gain` of the rest."""
    base, rest = rng.standard_normal((2, N_QUESTIONS))
    topics = rng.normal(0, effect, (2, N_TOPICS))[:, FOLDS.topic]
    odds = -0.4 + base + gain * rest + topics[0]
    truth = (rng.random(N_QUESTIONS) < 1 / (1 + np.exp(-odds))).astype(float)
    return truth, base[:, None], 0.6 * base + 0.8 * rest + topics[1]


def added(rng: np.random.Generator, gain: float, effect: float) -> dict[str, float]:
    """p of the test that a reading adds nothing."""
    truth, base, score = labelled_scores(rng, gain, effect)
    return {"added, topics drawn": added_test(truth, base, score, FOLDS, n_flips=999)}


def streams(rng: np.random.Generator, cosine: float, shift: float, effect: float) -> Draws:
    """Activations with noise alike in all directions, so that every method has the planted cosine."""
    raw = pair_of_directions(rng, cosine)
    topics = effect * rng.standard_normal((N_TOPICS, D_MODEL))[FOLDS.topic]
    labels = (rng.random((N_QUESTIONS, 2)) < 0.5).astype(float)
    return rng.standard_normal((N_QUESTIONS, D_MODEL)) + topics + shift * labels @ raw, labels


def directions(rng: np.random.Generator, cosine: float, effect: float) -> dict[str, float]:
    """p of a cosine by ridge and by the difference of means, and 0 where its interval leaves out 0."""
    rows, labels = streams(rng, cosine, 1.5, effect)
    task = ProbeTask(pd.DataFrame(labels, columns=["a", "b"]), TEXTS, FOLDS, n_bootstrap=19)
    found = {}
    for method in ("ridge", "mean_difference"):
        table = direction_table(rows, task, {"a": 0.3, "b": 0.3}, ["a", "b"], method, n_null=49, n_halves=0)
        found[f"cosine, {method}"] = float(table["p"].iloc[0])
        found[f"cosine off 0, {method}"] = off(0.0, table["low"].iloc[0], table["high"].iloc[0])
    return found


def transfers(rng: np.random.Generator, cosine: float, effect: float) -> dict[str, float]:
    """p of an AUROC on another set, whose label lies at this cosine to the probe's."""
    rows, labels = streams(rng, cosine, 1.5, effect)
    half = np.arange(N_QUESTIONS) % N_TOPICS < N_TOPICS // 2
    sets = []
    for name, own, column in (("a", half, 0), ("b", ~half, 1)):
        topics = [f"t{topic}" for topic in FOLDS.topic[own]]
        task = ProbeTask(
            pd.DataFrame({name: labels[own, column]}), TEXTS[: len(topics)], TopicFolds.of(topics), n_bootstrap=19
        )
        sets.append((rows[own], task))
    (one, task), (other, judged) = sets
    table = transfer_table(one, task, {"a": 0.3}, ["a"], other, judged, ["b"], "ridge", n_null=49)
    return {"transfer, ridge": float(table["p"].iloc[0])}


def coverage(rng: np.random.Generator, effect: float) -> dict[str, float]:
    """Whether the intervals hold the truth: of scores held out in five folds, and of one probe's scores (transfer)."""
    found, draws = {}, topic_draws(N_TOPICS, 399)
    for name, topics_per_fold in (("coverage, five folds", N_TOPICS / 5), ("coverage, one probe", np.inf)):
        if (name, effect) not in _TRUE:
            many = [_pairs(rng, 170, effect, topics_per_fold).auroc for _ in range(20)]
            _TRUE[name, effect] = float(np.mean(many))
        area = _pairs(rng, N_TOPICS, effect, topics_per_fold).area(draws)
        found[name] = float(area.low <= _TRUE[name, effect] <= area.high)
    return found


def _pairs(rng: np.random.Generator, n_topics: int, effect: float, topics_per_fold: float) -> Concordance:
    """Twenty questions of each topic, whose label and score both move with the topic."""
    topic = np.arange(n_topics * 20) % n_topics
    shift = rng.normal(0, effect, (2, n_topics))[:, topic]
    truth = (rng.random(len(topic)) < 1 / (1 + np.exp(-shift[0]))).astype(float)
    score = truth + shift[1] + rng.standard_normal(len(topic))
    n_folds = max(round(n_topics / topics_per_fold), 1)
    folds = TopicFolds((topic % n_folds).astype(np.intp), topic, tuple(map(str, range(n_topics))), n_folds)
    return Concordance.of(score, truth, folds)


_TRUE: dict[tuple[str, float], float] = {}


# ---- what is counted -----------------------------------------------------------------------------------------------


def cases() -> dict[str, list[tuple[str, Draw]]]:
    """Group -> what is planted, and how a sample is drawn."""
    cosines, truths = (0.0, 0.3, 0.6), ((0.0, True), (0.5, True), (0.5, False), (1.0, True))

    def of(draw: Callable[..., dict[str, float]], *settings: dict[str, float]) -> list[tuple[str, Draw]]:
        return [
            (", ".join(f"{name} {value}" for name, value in given.items()), partial(draw, **given))
            for given in settings
        ]

    return {
        "coverage": of(coverage, *({"effect": effect} for effect in TOPIC_EFFECTS)),
        "added": of(added, *({"gain": gain, "effect": effect} for effect in TOPIC_EFFECTS for gain in (0.0, 0.3, 0.5))),
        "directions": of(directions, *({"cosine": cosine, "effect": 0.3} for cosine in cosines)),
        "transfer": of(transfers, *({"cosine": cosine, "effect": 0.3} for cosine in cosines)),
        "one label": of(
            planted.one_label,
            *({"shift": shift, "effect": effect} for effect in (0.0, 1.0) for shift in (0.0, 0.6)),
        ),
        "by chance": of(
            planted.by_chance,
            *({"shift": shift, "effect": effect} for effect in (0.0, 1.0) for shift in (0.0, 0.6)),
        ),
        "beyond words": of(
            planted.beyond_the_words,
            *(
                {"shift": shift, "effect": effect, "told": told}
                for told in (0.0, 0.5)
                for effect in (0.0, 1.0)
                for shift in (0.0, 0.6)
            ),
        ),
        "small topics": of(
            planted.small_topics,
            *(
                {"shift": shift, "per_topic": per_topic, "wordings": wordings}
                for per_topic, wordings in ((3, 1), (1, 1), (4, 3), (15, 3))
                for shift in (0.0, 3.0)
            ),
        ),
        "best layer": of(planted.best_layer, *({"shift": shift, "effect": 0.5} for shift in (0.0, 1.0))),
        "another label": of(planted.another_label, *({"cosine": cosine, "effect": 0.3} for cosine in cosines)),
        "statements": of(planted.without_labels, *({"truth": t, "understood": u} for t, u in truths)),
        "patches": of(planted.patches, *({"share": share} for share in (0.0, 0.2, 0.5))),
        "far away": of(
            planted.far_away, *({"scale": a, "shift": b} for a, b in ((1, 0), (1.1, 0), (1.25, 0), (1, 2), (1, 4)))
        ),
        "own ability": of(
            planted.own_ability,
            *({"shared": a, "private": b} for a, b in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))),
        ),
        "beyond": of(
            planted.beyond_what_is_shared,
            *(
                {"shared": 1.0, "private": private, "noise": noise, "kinds": kinds}
                for private in (0.0, 0.5, 1.0)
                for noise, kinds in ((1.0, 1), (3.0, 1), (1.0, 2))
            ),
        ),
        "written": of(planted.written_answers, *({"n": n, "apart": a} for n in (24, 96) for a in (0.0, 0.8))),
    }


SAMPLES = 500
SLOW = (
    "directions", "transfer", "one label", "best layer", "another label", "statements",
    "own ability",
)  # fmt: skip
"""Groups of which a sample takes longer than a tenth of a second: half as many are drawn."""


def count(samples: pd.DataFrame) -> Rows:
    """A row for each statistic: the share of samples in which it was found, or its mean, with the standard error."""
    rows = []
    for column in samples:
        own = samples[column].dropna()
        values = own if str(column).startswith(("mean", "coverage")) else (own <= 0.05).astype(float)
        rows.append({"statistic": str(column), "n": len(values), "found": values.mean(), "se": values.sem()})
    return rows


def seeded(draw: Draw) -> Callable[[int], dict[str, float]]:
    """The draw of a seed."""
    return lambda seed: draw(np.random.default_rng(seed))


SIMULATION = Simulation(
    {
        group: [Cell(said, SAMPLES // (1 + (group in SLOW)), seeded(draw)) for said, draw in own]
        for group, own in cases().items()
    },
    by_cell(count, "group", "planted", "samples"),
)
