"""How much of an answer is the model's, the framing's, the question's, the sample's, and how many of each to ask.

    yes = mean + m + f + q + mf + mq + fq + mfq + sample,     every part random, with a variance of its own

(Cronbach, Gleser, Nanda and Rajaratnam, 1972, The Dependability of Behavioral Measurements). Two answers that agree in
the facets S and differ in the others share what hangs on parts of S alone, so that the mean product of such pairs is

    E(y y') = mean^2 + sum of the variances of the parts within S,

from which the variances follow one by one, with gaps as without. On complete data these are the estimates of the
analysis of variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core import InputError, one_line
from onedial.stats import Floats

OBJECT = "model"
FACETS = ("framing", "question")
SAMPLE = "sample"
_BLOCKS = 20
_FRAMINGS = (1, 2, 4, 8)
_MOST = 1_000_000  # of a facet
Part = tuple[str, ...]


@dataclass(frozen=True)
class Generalizability:
    """Variance components of single answers, and what they mean for a model's threshold.

    Attributes:
        components: index part (`model`, `model x question`, .., `sample`); `variance` (below 0 by chance is left as it
            is), `se` (jackknife over blocks of questions), `share` of their sum, those below 0 counting as 0. Where
            each model answered a question in a framing once, `sample` holds the highest interaction too.
        yes_rate: mean. sizes: how many of each facet there are.
    """

    components: pd.DataFrame
    yes_rate: float
    sizes: dict[str, int]

    __repr__ = one_line

    def threshold_se(self, n_questions: int, n_framings: int = 1, n_samples: int = 1, absolute: bool = False) -> float:
        """Standard error of a model's threshold Phi^-1(yes rate) over so many questions, framings and samples of each.

        Formula: sqrt(sum of variance / number of draws of the part) / phi(threshold); parts with the model in them, and
        those without, which move all models alike, only where `absolute`.
        """
        n = {"question": n_questions, "framing": n_framings, SAMPLE: n_samples}
        variance = 0.0
        for name, value in self._positive().items():
            part = str(name)
            facets = [*FACETS, SAMPLE] if part == SAMPLE else [each for each in part.split(" x ") if each != OBJECT]
            if facets and (absolute or OBJECT in part or part == SAMPLE):
                variance += value / float(np.prod([n[name] for name in facets]))
        density = np.exp(-(ndtri(self.yes_rate) ** 2) / 2) / np.sqrt(2 * np.pi)
        return float(np.sqrt(variance) / density)

    def needed(self, se: float = 0.1, n_framings: Sequence[int] = _FRAMINGS) -> pd.DataFrame:
        """How many questions a threshold to this standard error takes, for so many framings, one sample each.

        Returns:
            index n_framings; `relative` (between models that got the same questions and framings) and `absolute`; inf
            where no number of questions is enough, since framings alone err by more.
        """
        rows = {k: {"relative": self._least(se, k, False), "absolute": self._least(se, k, True)} for k in n_framings}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("n_framings")

    def sentence(self) -> str:
        """The largest parts, and what a threshold to .1 takes."""
        largest = self.components["share"].drop(SAMPLE).sort_values(ascending=False).iloc[:4]
        parts = ", ".join(f"{name} {share:.0%}" for name, share in largest.items())
        takes = [
            f"{count:,.0f} questions in {k} framing{'s' * (k > 1)}"
            for k, count in zip(_FRAMINGS, self.needed()["relative"], strict=True)
            if np.isfinite(count)
        ]
        few = len(_FRAMINGS) - len(takes)  # the fewest, since an error goes down with framings
        out_of = f"no number of questions in {_FRAMINGS[few - 1]} framing{'s' * (few > 1)}" + " or fewer" * (few > 1)
        reached = [*takes, f"{out_of} is enough"] if few else takes
        return (
            f"Of the variance of single answers: {parts}. For a threshold to .1 between models: {'; '.join(reached)}."
        )

    def _positive(self) -> "pd.Series[float]":
        return self.components["variance"].clip(lower=0)

    def _least(self, se: float, n_framings: int, absolute: bool) -> float:
        if self.threshold_se(_MOST, n_framings, 1, absolute) > se:
            return float("inf")
        low, high = 0, _MOST
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.threshold_se(middle, n_framings, 1, absolute) <= se
            low, high = (low, middle) if enough else (middle, high)
        return float(high)


def generalizability(measurements: pd.DataFrame) -> Generalizability:
    """Variance components of answers by model, framing, question and sample.

    Formula: see `onedial.scale.specific.generalizability`.

    Args:
        measurements: one row per answer: `model, framing, question, yes` (1 / 0 / nan); rows with the same three are
            samples of one another.

    Returns:
        Generalizability. Sign: larger variance = answers differ more by it.

    Raises:
        InputError: a column is missing, or there are fewer than two models, framings or questions.

    R: `gtheory::gstudy(data, yes ~ (1 | model) + (1 | framing) + .. )`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> every = pd.MultiIndex.from_product([range(8), range(4), range(300)], names=["model", "framing", "question"])
    >>> table = every.to_frame(index=False)
    >>> hard, eager = rng.standard_normal(300), 0.5 * rng.standard_normal(8)
    >>> ready = hard[table["question"]] + eager[table["model"]] + rng.standard_normal(len(table))
    >>> found = generalizability(table.assign(yes=ready > 0))
    >>> found.components["share"].idxmax(), bool(found.components["share"]["framing"] < 0.01)
    ('sample', True)
    """
    names = [OBJECT, *FACETS]
    missing = [name for name in (*names, "yes") if name not in measurements]
    if missing:
        raise InputError(f"the table of answers has no {', '.join(missing)}; give model, framing, question and yes")
    given = measurements.dropna(subset=["yes"])
    codes = {name: pd.factorize(given[name])[0] for name in names}
    sizes = {name: int(code.max()) + 1 if len(code) else 0 for name, code in codes.items()}
    few = [f"{size} {name}" for name, size in sizes.items() if size < 2]
    if few:
        raise InputError(f"variance needs at least two of each, and the answers are of {', '.join(few)}")
    yes = given["yes"].to_numpy(dtype=float)
    sampled = bool(given.duplicated(subset=names).any())
    found = _components(yes, codes, sizes, sampled)
    block = codes["question"] % min(_BLOCKS, sizes["question"])
    without = []
    for number in range(block.max() + 1):
        kept = block != number
        without.append(_components(yes[kept], {name: code[kept] for name, code in codes.items()}, sizes, sampled))
    each = pd.DataFrame(without)
    se = np.sqrt((len(each) - 1) / len(each) * ((each - each.mean()) ** 2).sum())
    positive = found.clip(lower=0)
    components = pd.DataFrame({"variance": found, "se": se, "share": positive / positive.sum()}).rename_axis("part")
    return Generalizability(components, float(yes.mean()), sizes)


def measurements_of(answers: pd.DataFrame, respondents: pd.DataFrame) -> pd.DataFrame:
    """The table for `generalizability` from a panel, question x respondent, whose respondents have `model, framing`.

    >>> answers = pd.DataFrame({"a": [1.0, 0.0]})
    >>> measurements_of(answers, pd.DataFrame({"model": ["m"], "framing": ["neutral"]}, ["a"])).shape
    (2, 4)
    """
    first, second = np.indices(answers.shape)
    known = respondents.loc[answers.columns]
    columns = {
        OBJECT: known[OBJECT].to_numpy()[second.ravel()],
        "framing": known["framing"].to_numpy()[second.ravel()],
        "question": answers.index.to_numpy()[first.ravel()],
        "yes": answers.to_numpy(dtype=float).ravel(),
    }
    return pd.DataFrame(columns)


def _components(yes: Floats, codes: dict[str, Any], sizes: dict[str, int], sampled: bool) -> "pd.Series[float]":
    """Variances by part; `sample` last."""
    names = list(codes)
    parts: list[Part] = [part for k in range(len(names) + 1) for part in combinations(names, k)]
    at_least = {part: _pair_sums(yes, [codes[name] for name in part], [sizes[name] for name in part]) for part in parts}
    itself = np.array([(yes**2).sum(), float(len(yes))])
    products: dict[Part, float] = {}
    exact: dict[Part, Any] = {}
    for part in reversed(parts):  # pairs that agree in these facets and in no other
        above = sum((exact[more] for more in parts if set(part) < set(more)), np.zeros(2))
        exact[part] = at_least[part] - itself - above
        products[part] = exact[part][0] / exact[part][1] if exact[part][1] else float("nan")
    variances: dict[Part, float] = {}
    for part in parts:
        if part == tuple(names) and not sampled:
            continue
        below = sum(variances[less] for less in parts if set(less) < set(part))
        variances[part] = products[part] - below
    variances[(SAMPLE,)] = itself[0] / itself[1] - sum(variances.values())
    return pd.Series({" x ".join(part): value for part, value in variances.items() if part})


def _pair_sums(yes: Floats, codes: list[Any], sizes: list[int]) -> Any:
    """Sum of products over all pairs of answers that agree in these facets, each with itself too, and their number."""
    cell = np.ravel_multi_index(codes, sizes) if codes else np.zeros(len(yes), dtype=int)
    total, n = np.bincount(cell, yes), np.bincount(cell)
    return np.array([total @ total, float(n.astype(float) @ n)])
