"""Count how often the statistics of the probes err, and how often they find what is there.

    python scripts/calibrate_probes.py                # the figures of docs/probes.md; about ten minutes on one core
    python scripts/calibrate_probes.py --n 100        # rougher

Every sample has 17 topics and 340 questions, with topics that move labels and activations. Size: the share of p <= .05
where nothing was planted. Power: the same where something was. Coverage: how often the 95% interval of an AUROC holds
the AUROC of endlessly many topics.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from common import program_parser
from probes import (
    Concordance,
    ProbeTask,
    TopicFolds,
    added_test,
    direction_table,
    likelihood_ratio,
    topic_draws,
    transfer_table,
)

N_TOPICS, N_QUESTIONS, D_MODEL = 17, 340, 40
TOPIC_EFFECTS = (0.0, 0.5, 1.0)
Draws = tuple[np.ndarray, ...]
FOLDS = TopicFolds.of([f"t{place % N_TOPICS}" for place in range(N_QUESTIONS)])
TEXTS = tuple(f"what is thing {place}?" for place in range(N_QUESTIONS))


def labelled_scores(rng: np.random.Generator, gain: float, effect: float) -> Draws:
    """A label, a base reading, and another that goes with it; the label follows the base, and `gain` of the rest."""
    base, rest = rng.standard_normal((2, N_QUESTIONS))
    topics = rng.normal(0, effect, (2, N_TOPICS))[:, FOLDS.topic]
    odds = -0.4 + base + gain * rest + topics[0]
    truth = (rng.random(N_QUESTIONS) < 1 / (1 + np.exp(-odds))).astype(float)
    return truth, base[:, None], 0.6 * base + 0.8 * rest + topics[1]


def added(rng: np.random.Generator, gain: float, effect: float) -> dict[str, float]:
    """p of both tests that a reading adds nothing."""
    truth, base, score = labelled_scores(rng, gain, effect)
    return {
        "added, topics drawn": added_test(truth, base, score, FOLDS, n_flips=999),
        "added, likelihood ratio": likelihood_ratio(truth, base, score, FOLDS)[1],
    }


def streams(rng: np.random.Generator, cosine: float, shift: float, effect: float) -> Draws:
    """Activations with noise alike in all directions, so that every method has the planted cosine."""
    raw = rng.standard_normal((2, D_MODEL))
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    raw[1] = cosine * raw[0] + np.sqrt(1 - cosine**2) * _unit(raw[1] - (raw[1] @ raw[0]) * raw[0])
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
        apart = table["low"].iloc[0] > 0 or table["high"].iloc[0] < 0
        found[f"cosine off 0, {method}"] = 0.0 if apart else 1.0
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


def coverage(rng: np.random.Generator, effect: float, draws: np.ndarray) -> dict[str, float]:
    """Whether the intervals hold the truth: of scores held out in five folds, and of one probe's scores (transfer)."""
    found = {}
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


def share(name: str, n: int, draw: Callable[[np.random.Generator], dict[str, float]], level: float | None) -> None:
    """Print how often each p is at most `level`; the mean where there is no level."""
    found = pd.DataFrame([draw(np.random.default_rng(seed)) for seed in range(n)])
    for column in found:
        value = float((found[column] <= level).mean() if level is not None else found[column].mean())
        error = (value * (1 - value) / n) ** 0.5
        print(f"{column:28} {name:34} {value:.3f} +- {error:.3f}  (n = {n})", flush=True)


def main() -> None:
    """Everything, one line at a time."""
    parser = program_parser(__doc__)
    parser.add_argument("--n", type=int, default=1000, help="samples of the quick ones (%(default)s)")
    parser.add_argument("--n-slow", type=int, help="samples of the directions (a fifth)")
    parser.add_argument("--only-directions", action="store_true", help="leave the quick ones out")
    options = parser.parse_args()
    slow = options.n_slow or max(options.n // 5, 1)
    draws = topic_draws(N_TOPICS, 399)
    for effect in () if options.only_directions else TOPIC_EFFECTS:
        share(f"topic effect {effect}", options.n, lambda rng, e=effect: coverage(rng, e, draws), None)
    for effect in () if options.only_directions else TOPIC_EFFECTS:
        for gain in (0.0, 0.3, 0.5):
            said = f"gain {gain}, topic effect {effect}"
            share(said, options.n, lambda rng, g=gain, e=effect: added(rng, g, e), 0.05)
    for cosine in (0.0, 0.3, 0.6, 0.9):
        said = f"cosine {cosine}, topic effect 0.3"
        share(said, slow, lambda rng, c=cosine: directions(rng, c, 0.3), 0.05)
        share(said, slow, lambda rng, c=cosine: transfers(rng, c, 0.3), 0.05)


def _unit(vector: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vector / np.linalg.norm(vector)
    return unit


if __name__ == "__main__":
    main()
