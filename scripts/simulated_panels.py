"""Draw subjects and panels with a known truth, to find out what the procedure says of them.

The margins here are synthetic: they study the match and the verdict, and stand for no model.

    subject   margin(q, m) = s_q + m (1 + h g_q),  s and g standard normal; h = 0: steering only moves the cut
    targets   unrelated      cut from a difficulty of their own that they share with each other, not with the subject
              steered        cut from the subject's margin at a magnitude of their own, with noise
              threshold shift      cut from the subject's unsteered margin at a place of their own, with noise
              dial order     cut from the order in which the subject's answers turn, with noise
              models differ  cut from a mixture of these two orders that is each base model's own, as its noise is
              base rates     independent coins that nearly always fall on the same side
    controls  alike          directions that chance draws as it drew the vector
              weak           such that move every question a little, and its neighbours otherwise

Targets come in threes of one base model under three framings, and leave more answers out on hard questions. With
`clustering` c, questions of a topic are alike: a share c of the variance of s, and of the unrelated targets'
difficulty, lies between topics, and the two are independent.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from onedial.asking.yes_no import MASS_FLOOR
from onedial.panels.splits import assign_splits
from onedial.verdict.dial import ControlDial, Turns

FRAMINGS = ("neutral", "cautious", "eager")
_UNREAD_AT_THE_ENDS = 0.05
_CONTROL_RANGE = 60.0


def simulate_sweep(
    rng: np.random.Generator,
    n_questions: int = 400,
    n_magnitudes: int = 41,
    reordering: float = 0.4,
    clustering: float = 0.0,
    n_topics: int = 8,
    topics: np.ndarray | None = None,
) -> pd.DataFrame:
    """A long sweep table with splits and topics, its magnitudes even in yes rate, as far as it goes within .02 and .98.

    Args:
        n_magnitudes: at most; ends that no magnitude reaches fall together.
        reordering: h, the spread between questions of what one unit of magnitude does.
        clustering: c, the share of the unsteered margin's variance that lies between topics.
        topics: of each question, 0 to the highest; None: drawn, of `n_topics`.
    """
    ids = np.array([f"q{number:04d}" for number in range(n_questions)])
    ease, slope = rng.standard_normal(n_questions), 1 + reordering * rng.standard_normal(n_questions)
    if topics is None:
        topics = rng.integers(n_topics, size=n_questions)
    if clustering:
        ease = _clustered(rng, ease, topics, clustering)
    fine = np.linspace(-8, 8, 1601)
    rates = np.maximum.accumulate((ease[:, None] + slope[:, None] * fine > 0).mean(axis=0))
    rates += np.linspace(0, 1e-9, len(fine))
    magnitudes = np.interp(np.linspace(0.02, 0.98, n_magnitudes), rates, fine)
    magnitudes[np.abs(magnitudes).argmin()] = 0.0
    magnitudes = np.unique(magnitudes)
    margins = ease[:, None] + slope[:, None] * magnitudes
    share_unread = _UNREAD_AT_THE_ENDS * np.abs(magnitudes) / np.abs(magnitudes).max()
    masses = np.where(rng.random(margins.shape) < share_unread, MASS_FLOOR / 2, 0.9)
    splits = assign_splits(pd.DataFrame({"id": ids, "topic": topics.astype(str)}), seed=0)
    return pd.DataFrame(
        {
            "question_id": np.repeat(ids, len(magnitudes)),
            "split": np.repeat(splits.to_numpy(), len(magnitudes)),
            "topic": np.repeat(topics.astype(str), len(magnitudes)),
            "magnitude": np.tile(magnitudes, n_questions),
            "margin": margins.ravel(),
            "mass": masses.ravel(),
        }
    )


def unrelated_targets(
    rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int, clustering: float = 0.0
) -> pd.DataFrame:
    """Draw targets that follow one difficulty, which is not the subject's; yes rates from about .1 to .9."""
    own_scale = rng.standard_normal((sweep["question_id"].nunique(), 1))
    if clustering:
        topics = sweep.drop_duplicates("question_id").sort_values("question_id")["topic"].to_numpy()
        own_scale = _clustered(rng, own_scale[:, 0], np.unique(topics, return_inverse=True)[1], clustering)[:, None]
    noise = rng.standard_normal((len(own_scale), n_targets))
    return _panel(rng, sweep, 0.85 * own_scale + 0.53 * noise + np.linspace(-1.3, 1.3, n_targets) > 0)


def steered_targets(rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int, noise: float = 1.0) -> pd.DataFrame:
    """Draw targets that answer as the subject does at magnitudes spread over its range, but for noise on the margin."""
    margins = _margins(sweep)
    columns = np.linspace(0.1, 0.9, n_targets) * (margins.shape[1] - 1)
    at_settings = margins.to_numpy()[:, columns.round().astype(int)]
    return _panel(rng, sweep, at_settings + noise * rng.standard_normal(at_settings.shape) > 0)


def threshold_shift_targets(
    rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int, noise: float = 0.5
) -> pd.DataFrame:
    """Draw targets that answer as the unsteered subject would with its cut elsewhere, but for noise on the margin."""
    unsteered = _margins(sweep)[0.0].to_numpy()[:, None]
    cuts = stats.norm.ppf(np.linspace(0.1, 0.9, n_targets))
    return _panel(rng, sweep, unsteered + noise * rng.standard_normal((len(unsteered), n_targets)) > cuts)


def dial_order_targets(
    rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int, noise: float = 0.5
) -> pd.DataFrame:
    """Draw targets that put the questions in the order in which the subject's answers turn, but for noise."""
    ease = dial_ease(rng, sweep)
    cuts = stats.norm.ppf(np.linspace(0.1, 0.9, n_targets))
    return _panel(rng, sweep, ease + noise * rng.standard_normal((len(ease), n_targets)) > cuts)


def differing_targets(
    rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int, noise: float = 0.5
) -> pd.DataFrame:
    """Targets of base models that differ: in how far they follow the dial's order rather than the unsteered margin's
    (weight from a normal distribution about 1/2, standard deviation 1/2) and in their noise (log-normal, sigma .4)."""
    ease, unsteered = dial_ease(rng, sweep), _margins(sweep)[0.0].to_numpy()[:, None]
    model = np.arange(n_targets) // len(FRAMINGS)
    weight = (0.5 + 0.5 * rng.standard_normal(model.max() + 1))[model]
    own_noise = noise * np.exp(0.4 * rng.standard_normal(model.max() + 1))[model]
    latent = weight * ease + (1 - weight) * unsteered + own_noise * rng.standard_normal((len(ease), n_targets))
    cuts = stats.norm.ppf(rng.permutation(np.linspace(0.1, 0.9, n_targets)))
    return _panel(rng, sweep, latent > cuts)


def base_rate_targets(rng: np.random.Generator, sweep: pd.DataFrame, n_targets: int) -> pd.DataFrame:
    """Draw targets that say yes to 10% or 90% of the questions, whichever they are."""
    rates = np.where(np.arange(n_targets) % 2 == 0, 0.1, 0.9)
    return _panel(rng, sweep, rng.random((sweep["question_id"].nunique(), n_targets)) < rates)


TARGETS: dict[str, Callable[[np.random.Generator, pd.DataFrame, int], pd.DataFrame]] = {
    "unrelated": unrelated_targets,
    "steered": steered_targets,
    "threshold shift": threshold_shift_targets,
    "dial order": dial_order_targets,
    "models differ": differing_targets,
    "base rates": base_rate_targets,
}


@dataclass(frozen=True)
class Scenario:
    """A known truth: how the subject is made, how the targets are, and what the verdict should say.

    Attributes:
        sweep, targets: options of `simulate_sweep` and of the function that makes the targets.
    """

    kind: str
    sweep: dict[str, float]
    targets: dict[str, float]

    def draw(self, seed: int, n_questions: int, n_targets: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Draw a sweep and a panel."""
        rng = np.random.default_rng([seed, *self.kind.encode(), int(1000 * sum(self.sweep.values()))])
        sweep = simulate_sweep(rng, n_questions, **self.sweep)  # type: ignore[arg-type]
        return sweep, TARGETS[self.kind](rng, sweep, n_targets, **self.targets)  # type: ignore[call-arg]


SCENARIOS = {
    "unrelated": Scenario("unrelated", {}, {}),
    "unrelated, by topic": Scenario("unrelated", {"clustering": 0.1}, {"clustering": 0.1}),
    "base rates": Scenario("base rates", {}, {}),
    "pure shift": Scenario("threshold shift", {"reordering": 0.0}, {"noise": 0.5}),
    "pure shift, weak": Scenario("threshold shift", {"reordering": 0.0}, {"noise": 2.0}),
    "towards": Scenario("dial order", {"reordering": 0.4}, {"noise": 0.5}),
    "towards, much": Scenario("dial order", {"reordering": 0.9}, {"noise": 0.5}),
    "towards, weak": Scenario("dial order", {"reordering": 0.9}, {"noise": 2.0}),
    "each its own way": Scenario("steered", {"reordering": 0.4}, {"noise": 1.0}),
    "away": Scenario("threshold shift", {"reordering": 0.4}, {"noise": 0.5}),
    "models differ": Scenario("models differ", {"reordering": 0.4}, {"noise": 0.5}),
}


def simulated_controls(
    rng: np.random.Generator, sweep: pd.DataFrame, n: int = 99, reordering: float = 0.4, alike: bool = True
) -> dict[str, ControlDial]:
    """Draw directions by chance, of the subject of `simulate_sweep`.

    margin(q, m) = s_q + m a (1 + h g_q), with g anew for each. Alike: a is log-normal (sigma .5) relative to a draw of
    the vector's own, so that the vector is one of n + 1 from one urn. Weak: a (1 + h g_q) is .06 (z + g_q), z normal.
    """
    unsteered = _margins(sweep)[0.0]
    gains = rng.standard_normal(n + 1)
    controls = {}
    for number in range(n):
        of_control = rng.standard_normal(len(unsteered))
        slopes = np.exp(0.5 * (gains[number] - gains[-1])) * (1 + reordering * of_control)
        if not alike:
            slopes = 0.06 * (gains[number] + of_control)
        controls[f"random {number}"] = ControlDial("random", True, _straight_dial(unsteered, slopes), cosine=0.0)
    return controls


def _straight_dial(unsteered: pd.Series, slopes: np.ndarray) -> Turns:
    """Make a dial of margins that are straight lines: each turns once, or not within the range."""
    turns = -unsteered.to_numpy() / slopes
    crossings = [np.array([turn]) if abs(turn) < _CONTROL_RANGE else np.array([]) for turn in turns]
    at_low = unsteered.to_numpy() - _CONTROL_RANGE * slopes > 0
    return Turns(unsteered.index, crossings, at_low, -_CONTROL_RANGE, _CONTROL_RANGE)


def framings_of(targets: pd.Index) -> pd.DataFrame:
    """Describe a panel in which three neighbouring targets are one base model under three framings."""
    places = np.arange(len(targets))
    return pd.DataFrame(
        {
            "model": [f"model {place // len(FRAMINGS)}" for place in places],
            "framing": [FRAMINGS[place % len(FRAMINGS)] for place in places],
            "family": "",
        },
        index=targets,
    )


def _clustered(rng: np.random.Generator, of_question: np.ndarray, topics: np.ndarray, share: float) -> np.ndarray:
    """Draw standard normal values of which a share of the variance lies between topics."""
    return np.sqrt(1 - share) * of_question + np.sqrt(share) * rng.standard_normal(topics.max() + 1)[topics]


def dial_ease(rng: np.random.Generator, sweep: pd.DataFrame) -> np.ndarray:
    """Compute normal scores of the order in which the subject's answers turn, ties broken by chance: question x 1."""
    margins = _margins(sweep)
    order = stats.rankdata((margins.to_numpy() > 0).mean(axis=1) + 1e-9 * rng.random(len(margins)))
    return stats.norm.ppf(order / (len(order) + 1))[:, None]


def _margins(sweep: pd.DataFrame) -> pd.DataFrame:
    return sweep.pivot(index="question_id", columns="magnitude", values="margin")


def _panel(rng: np.random.Generator, sweep: pd.DataFrame, says_yes: np.ndarray) -> pd.DataFrame:
    """Leave gaps by each target's dice: 3% of the questions that few say yes to, 1% of the others."""
    hard = says_yes.mean(axis=1, keepdims=True) < 0.5
    missing = rng.random(says_yes.shape) < np.where(hard, 0.03, 0.01)
    targets = [f"target {number}" for number in range(says_yes.shape[1])]
    ids = np.sort(sweep["question_id"].unique())
    return pd.DataFrame(np.where(missing, np.nan, says_yes.astype(float)), index=ids, columns=targets)
