"""Count how often the statistics of the probes err, and how often they find what is there (docs/evidence.md).

Size: the share of p <= .05, or of 95% intervals that leave out the value of nothing, where nothing was planted. Power:
the same where something was. Coverage: how often the 95% interval of an AUROC holds the AUROC of endlessly many topics.

Each function draws one sample and gives what a report would have said of it: name -> p of a test, or 0 where a 95%
interval leaves out the value of nothing and 1 where it holds it, so that `<= .05` counts what was found in either case.
Names that begin with "mean" are numbers to be averaged. 17 topics and 340 questions where nothing else is said, 40
coordinates, and topics that move labels and activations.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from onedial.stats.arrays import Floats
from onedial.stats.intervals import unit_weights
from probes.fitting.concordance import Concordance
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask, measure_layer
from probes.fitting.reads_at_all import auroc_of_copies, readers_of, reads_by_chance
from probes.residualise import beyond_known, beyond_shared
from simulations.frame import Cell, Found, Rows, Simulation, by_cell

N_TOPICS, N_QUESTIONS, D_MODEL = 17, 340, 40
FOLDS = TopicFolds.of([f"t{place % N_TOPICS}" for place in range(N_QUESTIONS)])
TEXTS = tuple(f"what is thing {place}?" for place in range(N_QUESTIONS))
N_DRAWS, SAMPLES = 199, 500


def off(value: float, low: float, high: float) -> float:
    """Give 0 where an interval leaves the value out, 1 where it holds it or is not there."""
    return 0.0 if low > value or high < value else 1.0


def unit(vector: Floats) -> Floats:
    """Scale a direction to length 1."""
    of_length_1: Floats = vector / np.linalg.norm(vector)
    return of_length_1


def pair_of_directions(rng: np.random.Generator, cosine: float) -> Floats:
    """Draw (2, d_model) unit vectors with this cosine."""
    one, other = (unit(vector) for vector in rng.standard_normal((2, D_MODEL)))
    return np.stack([one, cosine * one + np.sqrt(1 - cosine**2) * unit(other - (other @ one) * one)])


def streams(rng: np.random.Generator, directions: Floats, shift: float, effect: float) -> tuple[Floats, Floats]:
    """Draw (question, d_model) noise, and (question, label) coins that move it along their directions."""
    topics = effect * rng.standard_normal((N_TOPICS, D_MODEL))[FOLDS.topic]
    odds = effect * rng.standard_normal((N_TOPICS, len(directions)))[FOLDS.topic]
    labels = (rng.random((N_QUESTIONS, len(directions))) < 1 / (1 + np.exp(-odds))).astype(float)
    return rng.standard_normal((N_QUESTIONS, D_MODEL)) + topics + shift * labels @ directions, labels


def one_label(rng: np.random.Generator, shift: float, effect: float) -> Found:
    """Measure a label as the table of probes does: logistic, all controls, the lead over words that say nothing."""
    rows, labels = streams(rng, pair_of_directions(rng, 0.0)[:1], shift, effect)
    task = ProbeTask(pd.DataFrame(labels, columns=["a"]), TEXTS, FOLDS, n_bootstrap=N_DRAWS)
    row = measure_layer(rows, task, ["logistic"]).table.iloc[0]
    return {
        "AUROC off .5": off(0.5, row["low"], row["high"]),
        "gain over the words off 0": off(0.0, row["over_text_low"], row["over_text_high"]),
        "mean AUROC": row["auroc"],
        "mean selectivity": row["selectivity"],
    }


def by_chance(rng: np.random.Generator, shift: float, effect: float) -> Found:
    """Ask whether a label reads, by LDA: p among shuffled copies that are read anew, and the interval over topics."""
    rows, labels = streams(rng, pair_of_directions(rng, 0.0)[:1], shift, effect)
    fitted = cross_fit(of_rows(rows), ["a"], labels, FOLDS, ["lda"])["lda"]
    area = Concordance.of(fitted.score[:, 0], labels[:, 0], FOLDS).area(unit_weights(np.arange(N_TOPICS), N_DRAWS, 0))
    copies = auroc_of_copies(readers_of(rows, FOLDS), labels[:, 0], FOLDS, N_DRAWS, int(rng.integers(10**6)))
    return {
        "reads (p)": reads_by_chance(area.auroc, copies),
        "AUROC off .5": off(0.5, area.low, area.high),
        "mean AUROC": area.auroc,
    }


def beyond_the_words(rng: np.random.Generator, shift: float, effect: float, in_words: float) -> Found:
    """Ask whether a stream adds to words that tell the label with this weight; the stream reads it and no words."""
    rows, labels = streams(rng, pair_of_directions(rng, 0.0)[:1], shift, effect)
    words = in_words * labels + rng.standard_normal((N_QUESTIONS, 1))
    gain = beyond_known(rows, labels[:, 0], words, FOLDS, N_DRAWS, int(rng.integers(10**6)))
    return {"adds to the words (p)": gain.p, "mean correlation": gain.correlation}


def beyond_what_is_shared(rng: np.random.Generator, shared: float, private: float, noise: float, kinds: int) -> Found:
    """Draw a stream of the shared ease and of what the subject alone knows; others measure the ease with this noise.

    With two kinds of ease (of saying yes, and of being right; they correlate at .6) the stream holds both, the
    respondents' yes measures the one and the correctness of four models the other, which is the subject's.
    """
    being_right = rng.standard_normal(N_QUESTIONS) + 0.3 * rng.standard_normal(N_TOPICS)[FOLDS.topic]
    saying_yes = being_right if kinds == 1 else 0.6 * being_right + 0.8 * rng.standard_normal(N_QUESTIONS)
    secret, rows = rng.standard_normal(N_QUESTIONS), rng.standard_normal((N_QUESTIONS, D_MODEL))
    rows[:, :3] += 2 * np.column_stack([shared * being_right, private * secret, (kinds - 1) * shared * saying_yes])
    right = being_right + private * secret + rng.logistic(0, 0.6, N_QUESTIONS) > 0
    others = being_right[:, None] + noise * rng.logistic(0, 0.6, (N_QUESTIONS, 4)) > 0
    yes = saying_yes[:, None] + noise * rng.standard_normal((N_QUESTIONS, 12)) > 0
    measures = np.column_stack([1 - yes.mean(axis=1), others.mean(axis=1)])
    gain = beyond_shared(rows, right.astype(float), measures, FOLDS, n_shuffles=N_DRAWS, seed=int(rng.integers(10**6)))
    return {"more than what is shared (p)": gain.p, "mean correlation": gain.correlation}


def coverage(rng: np.random.Generator, effect: float) -> Found:
    """Ask whether intervals hold the truth: of scores held out in five folds, and of one probe's scores (transfer)."""
    covered, draws = {}, unit_weights(np.arange(N_TOPICS), 399, 0)
    for name, topics_per_fold in (("coverage, five folds", N_TOPICS / 5), ("coverage, one probe", np.inf)):
        area = _pairs(rng, N_TOPICS, effect, topics_per_fold).area(draws)
        covered[name] = float(area.low <= true_auroc(effect, topics_per_fold) <= area.high)
    return covered


@cache
def true_auroc(effect: float, topics_per_fold: float) -> float:
    """Average the AUROC of so many topics that the draw hardly matters."""
    rng = np.random.default_rng(0)
    return float(np.mean([_pairs(rng, 170, effect, topics_per_fold).auroc for _ in range(20)]))


def _pairs(rng: np.random.Generator, n_topics: int, effect: float, topics_per_fold: float) -> Concordance:
    """Draw twenty questions of each topic, whose label and score both move with the topic."""
    topic = np.arange(n_topics * 20) % n_topics
    shift = rng.normal(0, effect, (2, n_topics))[:, topic]
    truth = (rng.random(len(topic)) < 1 / (1 + np.exp(-shift[0]))).astype(float)
    score = truth + shift[1] + rng.standard_normal(len(topic))
    n_folds = max(round(n_topics / topics_per_fold), 1)
    folds = TopicFolds((topic % n_folds).astype(np.intp), topic, tuple(map(str, range(n_topics))), n_folds)
    return Concordance.of(score, truth, folds)


# ---- what is counted -----------------------------------------------------------------------------------------------


def each(draw: Callable[..., Found], *settings: Mapping[str, Any], samples: int = SAMPLES) -> list[Cell]:
    """Draw so many samples under each of some settings."""

    def seeded(given: Mapping[str, Any]) -> Callable[[int], Found]:
        return lambda seed: draw(np.random.default_rng(seed), **given)

    names = [", ".join(f"{name} {value}" for name, value in given.items()) for given in settings]
    return [Cell(name, samples, seeded(given)) for name, given in zip(names, settings, strict=True)]


def grid(draw: Callable[..., Found], samples: int = SAMPLES, **axes: Sequence[Any]) -> list[Cell]:
    """Draw under every combination of values."""
    settings = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return each(draw, *settings, samples=samples)


STUDIES: dict[str, list[Cell]] = {
    "coverage": grid(coverage, effect=(0.0, 0.5, 1.0)),
    "one label": grid(one_label, SAMPLES // 2, shift=(0.0, 0.6), effect=(0.0, 1.0)),  # each takes longer
    "by chance": grid(by_chance, shift=(0.0, 0.6), effect=(0.0, 1.0)),
    "beyond words": grid(beyond_the_words, shift=(0.0, 0.6), effect=(0.0, 1.0), in_words=(0.0, 0.5)),
    "beyond": each(
        beyond_what_is_shared,
        *(
            {"shared": 1.0, "private": private, "noise": noise, "kinds": kinds}
            for private in (0.0, 0.5, 1.0)
            for noise, kinds in ((1.0, 1), (3.0, 1), (1.0, 2))
        ),
    ),
}


def count(samples: pd.DataFrame) -> Rows:
    """Count for each statistic the share of samples in which it was found, or its mean, with the standard error."""
    rows = []
    for column in samples:
        values = samples[column].dropna()
        if not str(column).startswith(("mean", "coverage")):
            values = (values <= 0.05).astype(float)
        rows.append({"statistic": str(column), "n": len(values), "found": values.mean(), "se": values.sem()})
    return rows


SIMULATION = Simulation(STUDIES, by_cell(count, "group", "planted", "samples"))
