"""The case that a verdict is about: one intervention's answers, the panel's, and what is known of the questions.

    case = sweep_grid(sweep, splits).beside(panel, about=questions)
    judge(case)

Everything that follows from these is a property that is computed once: splits as masks, what is chosen for each target
on the fitting split (`criteria.choice`), the predictions that are compared on the test split, who is judged, and what
counts as one base model.

An answer is 1.0 (yes), 0.0 (no) or nan. The subject says yes where its margin is above 0; where the mass of all yes and
no tokens is too small (`onedial.asking.yes_no.is_read`) its answer was not read and is nan, at every magnitude alike.

Three predictions of each target are compared on the same questions, those that it answered and where the subject was
read both unsteered and at the chosen magnitude: the steered subject's, the majority answer, and the threshold shift's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.panels import nobodys_panel
from onedial.panels.splits import EXTRACTION, FITTING, SPLITS, TEST, wordings_of
from onedial.scale.checks.near_copies import NearCopies, near_copies
from onedial.stats.resampling import FEWEST_TOPICS, N_RESAMPLES, counted_once, groups_among, strata_of
from onedial.verdict.criteria import choice, status
from onedial.verdict.dial import ControlDial, Turns, dial_of_margins
from onedial.verdict.match import match_table

SWEEP_COLUMNS = ("question_id", "magnitude", "margin", "mass")
UNNAMED = {"framing": "", "family": ""}


@dataclass(frozen=True)
class Choices:
    """What the fitting split says per target; positions in the magnitudes, -1 where there is nothing to fit.

    Attributes:
        best, low, high: the magnitude of best agreement, and the ends of its interval.
        rate_matched: the magnitude of equal yes rates.
        at_edge: the interval reaches the first or the last magnitude that stands for choice. cut: the threshold shift.
    """

    best: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rate_matched: np.ndarray
    at_edge: np.ndarray
    cut: np.ndarray


@dataclass(frozen=True, eq=False)
class Case:
    """See the module's text. Q questions, K magnitudes, T targets.

    Attributes:
        questions: question ids (Q), sorted, so that no result depends on the order of rows.
        splits: extraction, fitting or test of each question (Q).
        magnitudes: ascending (K); 0.0 is among them.
        margins: Q x K, nan where the answer was not read. masses: Q x K.
        direct: Q, of answers that were written: the unsteered margin read before any of it was, nan where unread; None
            where the answers themselves have margins.
        panel: question x target, all of its answers. respondents: index target; model, framing, family.
        about: index question; what is known of questions, as far as it is: topic, question (the text), level (a label
            of the data set), wording_of.
        thresholds: target -> threshold on the shared factor (higher = more often yes); None: Phi^-1(yes rate).
        samples: Q x T, how many samples of the answer said yes, and how many were read; None where none was asked for
            twice.
        copies: which base models count as one; None: as the answers tell it.
        instructed: Q x level, the margin under each instructed threshold and without one; None where it was not asked.
        norms_per_unit: residual norms that one unit of the magnitude is. kl: what the push costs on neutral text, nan
            where that was not measured.
        controls: the dial of every control, by its identifier.
        facts: question_id, magnitude, margin, mass, truth of unrelated facts; None where they were not asked.
        reversed_wordings: columns `asking.WORDING_COLUMNS`; None where nothing was reversed. intervention: under test.
        asked_otherwise: whether the subject is asked something else than the panel was, or in another form.
        n_resamples, seed: of all resamples and permutations.
    """

    questions: pd.Index
    splits: np.ndarray
    magnitudes: np.ndarray
    margins: np.ndarray
    masses: np.ndarray
    direct: np.ndarray | None = None
    panel: pd.DataFrame = field(default_factory=pd.DataFrame)
    respondents: pd.DataFrame = field(default_factory=pd.DataFrame)
    about: pd.DataFrame = field(default_factory=pd.DataFrame)
    thresholds: pd.Series | None = None
    samples: tuple[np.ndarray, np.ndarray] | None = None
    copies: NearCopies | None = None
    instructed: np.ndarray | None = None
    norms_per_unit: float = 1.0
    kl: float = float("nan")
    controls: Mapping[str, ControlDial] = field(default_factory=dict)
    facts: pd.DataFrame | None = None
    reversed_wordings: pd.DataFrame | None = None
    intervention: str = ""
    asked_otherwise: bool = False
    n_resamples: int = N_RESAMPLES
    seed: int = 0

    __repr__ = one_line

    def beside(self, panel: Any, respondents: pd.DataFrame | None = None, **known: Any) -> "Case":
        """Put the sweep beside a panel.

        Args:
            panel: `onedial.panels.ResponseMatrix` or DataFrame question x target (1, 0, nan).
            respondents: index respondent; model, framing, family; by default the panel's own. known: other attributes.

        Raises:
            InputError: no question in the fitting or the test split, or shared with the panel, a target or a question
                that stands there twice, or an answer that is not 1, 0 or nan.
        """
        n_fitting, n_test = int(self.fitting.sum()), int(self.test.sum())
        if not n_fitting or not n_test:
            raise InputError(f"the sweep holds {n_fitting} fitting and {n_test} test questions; both are needed")
        answers = all_answers(panel)
        check_shared(answers, self.questions)
        table = respondents if respondents is not None else getattr(panel, "respondents", None)
        return replace(self, panel=answers, respondents=describe_targets(answers.columns, table), **known)

    def alone(self, **known: Any) -> "Case":
        """Put the sweep beside a panel of nobody: what can be said without a target.

        Args:
            known: other attributes.
        """
        panel = nobodys_panel(list(self.questions))
        return replace(self, panel=panel.answers, respondents=describe_targets(panel.answers.columns), **known)

    def knowing(self, given: np.ndarray) -> "Case":
        """Forget all answers of the targets but these (Q x T).

        All that rests on answers is made anew; which base models there are stays as the whole panel tells it.
        """
        answers = pd.DataFrame(given, self.questions, self.targets)
        return replace(self, panel=answers, copies=self.near_copies)

    # ---- the subject -------------------------------------------------------------------------------------------------

    @cached_property
    def answers(self) -> np.ndarray:
        """Q x K: the subject's."""
        return choice.answers_of(self.margins)

    @cached_property
    def unsteered(self) -> int:
        """Column of magnitude 0."""
        return int(np.flatnonzero(self.magnitudes == 0.0)[0])

    @cached_property
    def unsteered_margins(self) -> np.ndarray:
        """Q: the margin that a threshold shift is moved on."""
        return self.margins[:, self.unsteered] if self.direct is None else self.direct

    @cached_property
    def allowed(self) -> np.ndarray:
        """Mask (K) of the magnitudes that may be chosen."""
        return choice.readable_magnitudes(self.answers[self.fitting], self.unsteered)

    @cached_property
    def readable(self) -> np.ndarray:
        """Positions of the magnitudes from 0 outwards until, on either side, too much of the fitting split is
        unread."""
        first = last = self.unsteered
        while first > 0 and self.allowed[first - 1]:
            first -= 1
        while last < len(self.allowed) - 1 and self.allowed[last + 1]:
            last += 1
        return np.arange(first, last + 1)

    @cached_property
    def dial(self) -> Turns:
        """Where the answers turn, over the magnitudes around 0 at which the subject can be read.

        An answer that was not read inside the range is bridged by its neighbours'; at an end the nearest one that was
        read is taken to last.
        """
        return dial_of_margins(self.questions, self.magnitudes[self.readable], self.margins[:, self.readable])

    # ---- the questions -----------------------------------------------------------------------------------------------

    def rows(self, split: str) -> np.ndarray:
        """Return the mask (Q) of the questions in one split."""
        return np.asarray(self.splits == split)

    @cached_property
    def fitting(self) -> np.ndarray:
        """Mask (Q)."""
        return self.rows(FITTING)

    @cached_property
    def test(self) -> np.ndarray:
        """Mask (Q)."""
        return self.rows(TEST)

    def _about(self, column: str) -> np.ndarray | None:
        """Read what a column says of the questions (Q); None where there is none."""
        if column not in self.about:
            return None
        return self.about[column].reindex(self.questions).to_numpy(dtype=object)

    @cached_property
    def topics(self) -> np.ndarray:
        """Q: the topic as it is named, "" where none is."""
        named = self._about("topic")
        names = [""] * len(self.questions) if named is None else [_text(topic) for topic in named]
        return np.array(names, dtype=object)

    @cached_property
    def texts(self) -> list[str]:
        """Of the questions; empty unless all are known."""
        texts = self._about("question")
        return [] if texts is None or pd.isna(texts).any() else [str(text) for text in texts]

    @cached_property
    def levels(self) -> np.ndarray | None:
        """Q: the data set's own label, nan where unknown; None where it tells no question from another."""
        levels = self._about("level")
        if levels is None:
            return None
        values = pd.to_numeric(pd.Series(levels), errors="coerce").to_numpy(float)
        return values if len(np.unique(values[~np.isnan(values)])) > 1 else None

    @cached_property
    def wordings(self) -> np.ndarray | None:
        """Q: the number of what each is a wording of; None where each is its own."""
        return (
            wording_groups(wordings_of(self.about.reset_index(names="id")), self.questions) if len(self.about) else None
        )

    def groups(self, rows: np.ndarray) -> np.ndarray | None:
        """Number what each of these questions is a wording of; None where each is its own."""
        return groups_among(self.wordings, rows)

    @cached_property
    def strata(self) -> np.ndarray:
        """Test question -> topic, those with few questions together."""
        return strata_of(self.topics[self.test])

    @cached_property
    def ordering(self) -> np.ndarray:
        """Mask (Q) of the questions that the dial's order is judged by: fitting and test, or test alone where no topic
        of one is among the other's."""
        held_out = not set(self.topics[self.fitting]) & set(self.topics[self.test])
        return self.test if held_out else self.splits != EXTRACTION

    @cached_property
    def ordered(self) -> np.ndarray:
        """Positions of the same."""
        return np.flatnonzero(self.ordering)

    @cached_property
    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        """Their place in the dial's order, and their unsteered margin; nan for both where either is missing."""
        ease, margins = self.dial.ease[self.ordered], self.unsteered_margins[self.ordered]
        known = ~np.isnan(ease) & ~np.isnan(margins)
        return np.where(known, ease, np.nan), np.where(known, margins, np.nan)

    # ---- the targets -------------------------------------------------------------------------------------------------

    @property
    def targets(self) -> pd.Index:
        """Their names (T)."""
        return self.panel.columns

    @cached_property
    def given(self) -> np.ndarray:
        """Q x T: the targets' answers, nan where the panel has none."""
        return self.panel.reindex(self.questions).to_numpy(float)

    @cached_property
    def near_copies(self) -> NearCopies:
        """Base models that answer so nearly alike that they count as one."""
        if self.copies is not None:
            return self.copies
        return base_models(self.given, self.respondents["model"], self.wordings, self.topics)

    @cached_property
    def models(self) -> np.ndarray:
        """T: what each target's base model counts as."""
        return np.array(self.near_copies.counted_as, dtype=object).astype(str)

    @cached_property
    def scores_made(self) -> dict[str, np.ndarray | None]:
        """Scores of baselines, which are made once (`baselines.scores_of`)."""
        return {}

    @cached_property
    def chosen(self) -> Choices:
        """What is chosen for each target on the fitting split."""
        answers, given = self.answers[self.fitting], self.given[self.fitting]
        places = []
        for scores in (choice.agreement_by_magnitude(answers, given), -choice.rate_distance(answers, given)):
            best_and_ends = choice.middle_of_best(scores, self.magnitudes, self.allowed)
            fitted = ~np.isnan(scores[:, self.allowed]).all(axis=1)
            places.append([np.where(fitted, place, -1) for place in best_and_ends])
        (best, low, high), (rate_matched, _, _) = places
        first, last = np.flatnonzero(self.allowed)[[0, -1]]
        margins = self.unsteered_margins[self.fitting]
        return Choices(
            best=best,
            low=low,
            high=high,
            rate_matched=rate_matched,
            at_edge=(low == first) | (high == last),
            cut=np.array([choice.best_cut(margins, answers) for answers in given.T]),
        )

    @cached_property
    def compared(self) -> np.ndarray:
        """Q x T: answered by the target, and by the subject both unsteered and at the chosen magnitude."""
        best = self.chosen.best
        read, unsteered = ~np.isnan(self.margins), ~np.isnan(self.unsteered_margins)[:, None]
        return ~np.isnan(self.given) & read[:, best] & unsteered & (best >= 0)

    def _of_compared(self, predicted: np.ndarray) -> np.ndarray:
        return np.where(self.compared[self.test], predicted, np.nan)

    @cached_property
    def steered(self) -> np.ndarray:
        """Test question x T: the subject at each target's magnitude of best agreement."""
        return self._of_compared(self.answers[self.test][:, self.chosen.best])

    @cached_property
    def majority(self) -> np.ndarray:
        """Test question x T."""
        return self._of_compared(choice.majority_answers(np.where(self.compared, self.given, np.nan)[self.test]))

    @cached_property
    def threshold_shift(self) -> np.ndarray:
        """Test question x T."""
        return self._of_compared((self.unsteered_margins[self.test][:, None] > self.chosen.cut).astype(float))

    @cached_property
    def rate_matched(self) -> np.ndarray:
        """Test question x T: the subject at each target's rate-matched magnitude."""
        places = self.chosen.rate_matched
        return np.where(places >= 0, self.answers[self.test][:, places], np.nan)

    @cached_property
    def status(self) -> np.ndarray:
        """T: see `criteria.status`."""
        groups = self.groups(self.test)
        n_fitting = counted_once(self.compared[self.fitting], self.groups(self.fitting))
        read, every = ~np.isnan(self.steered), self.panel.to_numpy()
        answers, given, test = (
            self.answers[self.fitting][:, self.allowed],
            self.given[self.fitting],
            self.given[self.test],
        )
        statuses = [
            status.target_status(
                answers=answers,
                given=given[:, t],
                test=test[read[:, t], t],
                n_fitting=int(n_fitting[t]),
                at_edge=bool(self.chosen.at_edge[t]),
                groups=None if groups is None else groups[read[:, t]],
            )
            for t in range(every.shape[1])
        ]
        always_same = (every == 1).any(axis=0) != (every == 0).any(axis=0)
        return np.where(always_same, status.CONSTANT, np.array(statuses, dtype=object))

    @cached_property
    def judged(self) -> np.ndarray:
        """Mask (T) of the targets that enter the verdict's numbers."""
        return np.isin(self.status, status.JUDGED)

    @cached_property
    def matches(self) -> pd.DataFrame:
        """One row per target (docs/report.md lists the columns). Saved as matches.csv."""
        return match_table(self)


# ---- reading ---------------------------------------------------------------------------------------------------------


def sweep_grid(
    sweep: pd.DataFrame,
    splits: pd.Series | None = None,
    intervention_id: str | None = None,
    direct: pd.Series | None = None,
) -> Case:
    """Lay a long sweep table out as questions x magnitudes: a case without a panel.

    Args:
        sweep: columns question_id, magnitude, margin, mass; also split (unless `splits` is given) and intervention_id
            (needed where the table holds several).
        splits: Series question id -> split; questions that it leaves out are left out.
        intervention_id: whose rows to take.
        direct: question id -> unsteered margin, nan where unread: `Case.direct`.

    Raises:
        InputError: a column is missing, several interventions and none chosen, a (question, magnitude) twice or never,
            no magnitude 0, an unknown split.

    >>> sweep = pd.DataFrame({"question_id": list("aabb"), "magnitude": [0.0, 1.0] * 2, "margin": [-1.0, 1, 2, 3]})
    >>> sweep_grid(sweep.assign(split="test", mass=0.9)).answers.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    sweep = _one_intervention(sweep, intervention_id)
    needed = [*SWEEP_COLUMNS, *([] if splits is not None else ["split"])]
    missing = [name for name in needed if name not in sweep.columns]
    if missing:
        raise InputError(f"the sweep has no column {', '.join(missing)}; it needs {', '.join(needed)}")
    split_of = _splits_of(sweep, splits)
    sweep = sweep[sweep["question_id"].isin(split_of.index)]
    if sweep.empty:
        raise InputError("the sweep and the splits share no question; give the splits of the run that made the sweep")
    rows, questions = pd.factorize(sweep["question_id"], sort=True)
    magnitudes, columns = np.unique(sweep["magnitude"].to_numpy(float), return_inverse=True)
    shape = (len(questions), len(magnitudes))
    times = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    if (times != 1).any():
        raise InputError(
            f"the sweep holds {int((times > 1).sum())} (question, magnitude) pairs more than once and lacks "
            f"{int((times == 0).sum())} of {times.size}; finish the run with --resume or sweep again"
        )
    if 0.0 not in magnitudes:
        raise InputError("the sweep has no magnitude 0, so the unsteered subject is unknown; sweep with 0 among them")
    margins, masses = np.empty(shape), np.empty(shape)
    masses[rows, columns] = sweep["mass"].to_numpy(float)
    margins[rows, columns] = sweep["margin"].to_numpy(float)
    margins = np.where(is_read(masses), margins, np.nan)
    before = None if direct is None else direct.reindex(questions).to_numpy(float)
    return Case(pd.Index(questions), split_of.loc[questions].to_numpy(), magnitudes, margins, masses, before)


def check_shared(answers: pd.DataFrame, questions: pd.Index) -> None:
    """Raise InputError unless the panel answers one of these questions."""
    if not answers.index.isin(questions).any():
        raise InputError(
            f"the panel ({len(answers)} questions) shares no question with the sweep ({len(questions)} questions); "
            f"panel ids look like {answers.index[0]!r}, the sweep's like {questions[0]!r}"
        )


def all_answers(panel: Any) -> pd.DataFrame:
    """Check every answer of the panel, as floats: questions x targets.

    Args:
        panel: an `onedial.panels.ResponseMatrix`, or a DataFrame question x target of 1, 0 and nan.

    Raises:
        InputError: it is empty, a target or a question stands there twice, or an answer is not 1, 0 or nan.
    """
    frame = panel.answers if hasattr(panel, "answers") else panel
    if frame.empty:
        raise InputError("the panel is empty; it needs at least one question and one target")
    for axis, name in ((frame.index, "question id"), (frame.columns, "target")):
        if axis.has_duplicates:
            raise InputError(f"the panel's {name} {axis[axis.duplicated()][0]!r} stands there more than once")
    answers = frame.astype(float)
    values = answers.to_numpy()
    strange = ~(np.isnan(values) | (values == 0) | (values == 1))
    if strange.any():
        raise InputError(f"the panel holds {values[strange][0]:g}; an answer is 1 (yes), 0 (no) or empty")
    return answers


def describe_targets(targets: pd.Index, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Name base model, framing and family of each target, by default the target itself, "" and "".

    Args:
        table: index respondent, any of the columns model, framing, family.
    """
    described = pd.DataFrame(index=targets, columns=["model", "framing", "family"], dtype=object)
    if table is not None:
        described = table.reindex(index=targets, columns=described.columns).astype(object)
    own_name = pd.Series(targets, index=targets).astype(str)
    described["model"] = described["model"].fillna(own_name)
    described.loc[described["model"] == "", "model"] = own_name
    return described.fillna(UNNAMED).rename_axis("target")


def _one_intervention(sweep: pd.DataFrame, intervention_id: str | None) -> pd.DataFrame:
    if "intervention_id" not in sweep.columns:
        return sweep
    present = sweep["intervention_id"].unique()
    if intervention_id is not None:
        if intervention_id not in present:
            raise InputError(
                f"the sweep holds no intervention {intervention_id!r}; it holds {', '.join(map(str, present[:8]))}"
            )
        return sweep[sweep["intervention_id"] == intervention_id]
    if len(present) > 1:
        raise InputError(f"the sweep holds {len(present)} interventions; name one: {', '.join(map(str, present[:8]))}")
    return sweep


def _splits_of(sweep: pd.DataFrame, splits: pd.Series | None) -> pd.Series:
    if splits is None:
        splits = sweep.drop_duplicates("question_id").set_index("question_id")["split"]
    elif splits.index.has_duplicates:
        name = splits.index[splits.index.duplicated()][0]
        raise InputError(f"the splits name the question {name!r} more than once")
    unknown = set(splits.unique()) - set(SPLITS)
    if unknown:
        raise InputError(f"unknown split {sorted(map(str, unknown))[0]!r}; a split is one of {', '.join(SPLITS)}")
    return splits


def wording_groups(wordings: Sequence[Sequence[str]], questions: pd.Index) -> np.ndarray | None:
    """Number what each question is a wording of; None where each is its own.

    Args:
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.splits.wordings_of`).

    >>> wording_groups([["a", "c"]], pd.Index(["a", "b", "c"])).tolist()
    [0, 1, 0]
    """
    first = {name: group[0] for group in wordings for name in group}
    groups = np.unique([first.get(name, name) for name in questions.astype(str)], return_inverse=True)[1]
    return groups if len(np.unique(groups)) < len(groups) else None


def base_models(
    answers: np.ndarray, models: pd.Series, wordings: np.ndarray | None, topics: np.ndarray | None
) -> NearCopies:
    """What each target's base model counts as, by its answers (question x target); errors are over wordings, or over
    whole topics where there are enough.

    >>> base_models(np.array([[1.0, 0], [0, 1]]), pd.Series(["one", "two"]), None, None).counted_as
    ['one', 'two']
    """
    if topics is not None and (by_topic := strata_of(topics)).max(initial=0) + 1 >= FEWEST_TOPICS:
        wordings = by_topic
    given, groups = np.asarray(answers, dtype=float), None if wordings is None else tuple(wordings.tolist())
    return _near_copies(given.tobytes(), given.shape, tuple(models.astype(str)), groups)


@lru_cache(maxsize=8)  # one panel is judged again and again in a multiverse
def _near_copies(
    answers: bytes, shape: tuple[int, ...], models: tuple[str, ...], groups: tuple[int, ...] | None
) -> NearCopies:
    return near_copies(np.frombuffer(answers).reshape(shape), models, None if groups is None else np.array(groups))


def _text(value: object) -> str:
    return "" if value is None or value != value else str(value)
