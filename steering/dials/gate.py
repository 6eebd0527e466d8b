"""Choose a setting of the dial once, at which the subject says yes or no to new questions: a gate.

    gate = choose_gate(table, splits, intervention, template, yes_rate=0.3)  # from a sweep's fitting and test split
    gate.save("gate"); gate = Gate.load("gate")
    gate.answer(model, questions)                                            # yes, no, unread; margin and mass

The setting is chosen on the fitting split: for a risk attitude the one with the highest

    F_beta = (1 + beta^2) P R / (beta^2 P + R)      precision P, recall R; low beta punishes a yes that turns out wrong

or the one whose yes rate is nearest to the wanted one, which must be reached to .05; of several the one nearest 0. What
to expect is counted on the test split, where nothing was chosen:

    coverage    share of the questions answered with yes
    precision   share of these that the subject then answers rightly
    recall      share of the questions that it answers rightly to which it says yes

The intervals are predictive: of 95% of further sets of `NEXT` cases (questions, yes answers, questions that it knows)
the share lies inside, if these are exchangeable with the test questions. With k of n so far the number among the next m
lies between the quantiles of beta-binomials with (k, n - k + 1) and (k + 1, n - k), whatever the distribution.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.sweep_tables import margins_by
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tensor_files import read_tensors, write_tensors
from steering.interventions import Intervention, SteeringVector, template_from
from steering.planning.magnitudes import MOST_UNREAD, NEAR_ENOUGH, settings_at
from steering.reading import answers_along

FORMAT, FILE = "onedial-gate-3", "gate.safetensors"
NEXT = 100
LEAST = 20
"""Fitting and test questions, each, that a gate is chosen and counted on."""


@dataclass(frozen=True)
class Expected:
    """A share with its predictive interval for the next `NEXT` cases; nan where no case was seen.

    Attributes:
        n: cases that it was counted on.
    """

    share: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if not self.n:
            return "unknown (no case)"
        return f"{self.share:.2f} ({self.low:.2f} to {self.high:.2f} of the next {NEXT}; {self.n} cases)"


@dataclass(frozen=True)
class Gate:
    """See the module's text.

    Attributes:
        intervention, magnitude: the setting. template: of the prompt.
        choice: what it was chosen for, in words. model: by which name the subject was loaded.
        expected: "yes rate" (coverage), and where correctness is known "precision" and "recall".
        n_unread: test questions whose answer was not read; they count for nothing.
    """

    intervention: Intervention
    magnitude: float
    template: PromptTemplate
    choice: str
    model: str
    expected: Mapping[str, Expected]
    n_unread: int

    def answer(self, model: OpenModel, questions: Sequence[Question | str]) -> pd.DataFrame:
        """Yes or no to questions.

        Returns:
            One row per question: question_id, question, said_yes (1, 0; nan where it was not read), margin (at this
            setting, + is yes), mass.

        Raises:
            InputError: no question, or the model is another than the gate's.
        """
        asked = [
            each if isinstance(each, Question) else Question(f"question {place}", each)
            for place, each in enumerate(questions)
        ]
        if not asked:
            raise InputError("the gate was given no question; give at least one")
        prompts = PromptSet.build(model, asked, self.template)
        table = answers_along(model, [self.intervention], prompts, [self.magnitude])
        table = table.set_index("question_id").loc[[question.id for question in asked]].reset_index()
        said_yes = (table["margin"] > 0).astype(float).where(is_read(table["mass"]))
        answered = table.assign(question=[question.rendered for question in asked], said_yes=said_yes)
        return answered[["question_id", "question", "said_yes", "margin", "mass"]]

    def save(self, folder: Path | str) -> None:
        """Write gate.safetensors into a folder: the directions, and everything else as metadata.

        Raises:
            InputError: the folder holds a gate already.
        """
        file = Path(folder) / FILE
        if file.exists():
            raise InputError(f"{file.parent} holds a gate already; choose another folder or remove it")
        vectors = {vector.vector_id: vector for vector in self.intervention.vectors}
        how = self.intervention.as_dict([self.magnitude])
        facts = {field: getattr(self, field) for field in ("magnitude", "choice", "model", "n_unread")} | {
            "intervention": {name: value for name, value in how.items() if name != "cosine"},
            "vectors": {name: vector.facts() for name, vector in vectors.items()},
            "template": asdict(self.template),
            "expected": {name: asdict(share) for name, share in self.expected.items()},
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        write_tensors(file, {name: vector.direction for name, vector in vectors.items()}, facts, FORMAT)

    @classmethod
    def load(cls, folder: Path | str) -> "Gate":
        """Read what `save` wrote.

        Raises:
            InputError: no gate, one of another format, or a damaged one.
        """
        remedy = f"save one with onedial gate --run RUN --save {folder}"
        return read_tensors(Path(folder) / FILE, FORMAT, cls._of, what="gate", remedy=remedy)

    @classmethod
    def _of(cls, directions: Mapping[str, Tensor], facts: Mapping[str, Any]) -> "Gate":
        vectors = {name: SteeringVector.of_facts(each, facts["vectors"][name]) for name, each in directions.items()}
        return cls(
            Intervention.from_dict(facts["intervention"], vectors),
            float(facts["magnitude"]),
            template_from(facts["template"]),
            str(facts["choice"]),
            str(facts["model"]),
            {
                str(name): Expected(float(held["share"]), float(held["low"]), float(held["high"]), int(held["n"]))
                for name, held in facts["expected"].items()
            },
            int(facts["n_unread"]),
        )

    def lines(self) -> list[str]:
        """What it is and what to expect of it, for people."""
        return [
            f"gate: {self.intervention.intervention_id} at {self.magnitude:+.4g}, {self.choice}, model {self.model}",
            *(f"expected {name} {share}" for name, share in self.expected.items()),
            *([f"{self.n_unread} test questions were not read"] if self.n_unread else []),
        ]


def choose_gate(
    table: pd.DataFrame,
    splits: pd.Series,
    intervention: Intervention,
    template: PromptTemplate,
    *,
    beta: float | None = None,
    yes_rate: float | None = None,
    correct: pd.Series | None = None,
    choice: str = "",
) -> Gate:
    """Choose a setting on the fitting split, and count what to expect on the test split.

    Args:
        table: the sweep of the intervention: question_id, magnitude, margin, mass. splits: question id -> split.
        beta, yes_rate: one of them; beta needs `correct`.
        correct: question id -> 1 where the subject answers it rightly, 0 where not, nan where that is not known.
        choice: in words, for people; by default from beta or yes_rate.

    Raises:
        InputError: neither or both of beta and yes_rate, values out of range, correctness that is missing where it is
            needed, fewer than `LEAST` questions in a split, or a yes rate that no magnitude has.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import Intervention, extract_vector
    >>> rng, ids = np.random.default_rng(0), [f"q{number}" for number in range(80)]
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> dial = Intervention.of(extract_vector(model, questions, layer=21))
    >>> at = [(id, m, rng.normal(4 * m), 1.0) for id in ids for m in (-0.5, 0.0, 0.5)]
    >>> table = pd.DataFrame(at, columns=["question_id", "magnitude", "margin", "mass"])
    >>> splits = pd.Series(["fitting", "test"] * 40, index=ids)
    >>> choose_gate(table, splits, dial, METACOGNITIVE, yes_rate=0.5).magnitude
    0.0
    """
    if (beta is None) == (yes_rate is None):
        raise InputError("give either a risk attitude (--beta) or a yes rate (--yes-rate), one of them")
    if beta is not None and not (math.isfinite(beta) and beta > 0):
        raise InputError(
            f"beta is {beta}; give a number above 0: below 1 a wrong yes weighs more, above 1 a missed one"
        )
    if yes_rate is not None and not 0 < yes_rate < 1:
        raise InputError(f"the yes rate is {yes_rate}; give a share between 0 and 1")
    if beta is not None and (correct is None or correct.notna().sum() < LEAST):
        raise InputError(
            "a risk attitude needs to know which questions the subject answers rightly, and this run does not hold it; "
            "choose a yes rate instead (--yes-rate)"
        )
    margins = margins_by(table)
    fitting, test = (margins[splits.reindex(margins.index).eq(split).to_numpy()] for split in ("fitting", "test"))
    for split, part in (("fitting", fitting), ("test", test)):
        if len(part) < LEAST:
            raise InputError(f"the sweep holds {len(part)} {split} questions; a gate needs {LEAST} or more")
    measured = ""
    if beta is not None and correct is not None:
        score, words = _f_beta(fitting, correct.reindex(fitting.index), beta), f"beta {beta:g}"
        unread = fitting.isna().mean()
        score = score[np.isfinite(score) & (unread <= unread.min() + MOST_UNREAD)]
        best = score.index[score >= score.max() - 1e-12].to_numpy(float)
        magnitude = float(best[np.abs(best).argmin()])
    else:
        assert yes_rate is not None
        asked = table[table["question_id"].isin(fitting.index)]
        placed = settings_at(asked, [yes_rate], within=NEAR_ENOUGH)
        magnitude, rate = map(float, placed.loc[0, ["setting", "rate_found"]])
        if not placed["reached"].item():
            raise InputError(
                f"no magnitude of the sweep has the yes rate {yes_rate:.2f} on its fitting questions: the nearest is "
                f"{rate:.2f}, at {magnitude:+.4g}; choose a yes rate near that, or sweep other magnitudes"
            )
        words = f"yes rate {yes_rate:g}"
        measured = f", {rate:.2f} on the {len(fitting)} fitting questions"
    known = test[magnitude].dropna()
    said_yes = (known > 0).to_numpy()
    expected = {"yes rate": expected_share(said_yes)}
    if correct is not None:
        right = correct.reindex(known.index).to_numpy(float)
        marked = np.isfinite(right)
        expected["precision"] = expected_share(right[marked & said_yes] == 1)
        expected["recall"] = expected_share(said_yes[marked & (right == 1)])
    name, n_unread = intervention.vectors[0].model.name, len(test) - len(known)
    words = (choice or f"chosen for {words}") + measured
    return Gate(intervention, magnitude, template, words, name, expected, n_unread)


def expected_share(hits: np.ndarray, m: int = NEXT, level: float = 0.95) -> Expected:
    """The share of hits, and the predictive interval for m further exchangeable cases; see the module's text.

    >>> result = expected_share(np.array([1] * 80 + [0] * 20))
    >>> result.low < 0.8 < result.high
    True
    """
    n, k = len(hits), int(np.sum(hits))
    if not n:
        return Expected(math.nan, math.nan, math.nan, 0)
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(stats.betabinom.ppf(tail, m, k, n - k + 1)) / m
    high = 1.0 if k == n else float(stats.betabinom.ppf(1 - tail, m, k + 1, n - k)) / m
    return Expected(k / n, low, high, n)


def _f_beta(margins: pd.DataFrame, correct: pd.Series, beta: float) -> pd.Series:
    """F-beta of each magnitude, over questions that were read and whose correctness is known; nan without a yes."""
    values, right = margins.to_numpy(float), correct.to_numpy(float)[:, None]
    known = np.isfinite(values) & np.isfinite(right)
    yes, knows = known & (values > 0), known & (right == 1)
    both, missed, wrong = (yes & knows).sum(axis=0), (~yes & knows).sum(axis=0), (yes & known & ~knows).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (1 + beta**2) * both / ((1 + beta**2) * both + beta**2 * missed + wrong)
    return pd.Series(scores, margins.columns)
