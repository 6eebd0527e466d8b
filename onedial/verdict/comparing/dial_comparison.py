"""Dials at equal yes rates: which order of the questions does each go through, and which targets does it meet?

Every dial was set to the same yes rates on the fitting split (`place_settings`), and is judged on the test
split by its answers there. The reference is the threshold shift at the same rates: it asks nothing of the model but
where to cut the unsteered margin, so that whatever a dial does better is what its order is worth.

    ease         share of a dial's rates at which it says yes to a question
    order_gain   C_A at equal rates: mean over targets of A_t(ease) - A_t(ease of the threshold shift), A_t as in
                 `onedial.stats.roc`
    signal       S: mean over targets of kappa where the dial's rate is nearest to the target's fitting yes rate; a
                 target further than half a step of the rates from every rate that the dial reaches is left out
    signal_gain  S minus the threshold shift's, for the same targets
    rho          Spearman's correlation of the ease with the unsteered margin

Averages are over targets of one base model, then over base models, near-copies as one (`Case.models`).
Intervals are 95% percentiles over the same resamples of the test questions for all dials (wordings of one question
together; whole topics where there are ten or more), so that differences are paired.
What is chosen is chosen by the same numbers on the fitting split.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.splits import FITTING, TEST
from onedial.stats.agreement import count, count_resampled, interval
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.level import interval_95
from onedial.stats.numbers import FEWEST_TOPICS, average_within_models
from onedial.stats.resampling import resampled_weights
from onedial.stats.roc import auc, auc_resampled
from onedial.stats.shares import rates as yes_rates
from onedial.verdict.case import Case

CUT = "threshold shift"
COMPARISON_COLUMNS = [
    "kind", "n_rates", "n_targets", "signal", "signal_low", "signal_high", "signal_gain", "signal_gain_low",
    "signal_gain_high", "order_gain", "order_gain_low", "order_gain_high", "rho", "rho_low", "rho_high",
    "fitting_order_gain", "fitting_signal", "chosen", "n_questions", "n_unread",
]  # fmt: skip
N_BOOTSTRAP = 999
NUMBERS = ("signal", "signal_gain", "order_gain", "rho")


@dataclass(frozen=True)
class DialComparison:
    """See the module's text.

    Attributes:
        table: index dial, `COMPARISON_COLUMNS`; n_unread: answers on the test split that were not read, over its rates.
        targets: one row per dial and target: rate, kappa, kappa_cut, difference with its interval.
        rates: one row per dial and rate: reached, n, n_unread and yes_rate on the test split, mean kappa over targets.
        chosen: the intervention with the highest order gain on the fitting split; "" where there is none.
    """

    table: pd.DataFrame
    targets: pd.DataFrame
    rates: pd.DataFrame
    chosen: str

    __repr__ = one_line

    def sentence(self) -> str:
        """The result in one sentence."""
        table = self.table
        others = table[(table.index != CUT) & table["order_gain"].notna()]
        if others.empty:
            return "No dial reaches enough yes rates to be compared with a threshold shift."
        better = others[others["order_gain_low"] > 0]
        worse = others[others["order_gain_high"] < 0]

        def said(name: str) -> str:
            row = table.loc[name]
            return f"{name} {row['order_gain']:+.3f} ({row['order_gain_low']:+.3f} to {row['order_gain_high']:+.3f})"

        best = str(others["order_gain"].idxmax())
        chosen = f"; chosen on the fitting split: {said(self.chosen)}" if self.chosen and self.chosen != best else ""
        return (
            f"At equal yes rates {len(better)} of {len(others)} dials order the questions more as the targets do than "
            f"a threshold shift does, and {len(worse)} less so: best {said(best)}{chosen}."
        )


def unsteered_case(answers: pd.DataFrame, about: pd.DataFrame, panel: Any, seed: int = 0, n: int = N_BOOTSTRAP) -> Case:
    """The unsteered subject beside the panel, on the fitting and test questions that the dials were asked.

    Args:
        answers: as in `compare_dials`. about: index question id; split, topic, wording_of. n: resamples.

    Raises:
        InputError: the threshold shift is not among the dials; or as `Case.beside`.
    """
    if not (answers["dial"] == CUT).any():
        raise InputError(f"{CUT!r} is not among the dials, and all others are compared with it; add --dials cut")
    about = about[about["split"].isin([FITTING, TEST])]
    questions = pd.Index(sorted(set(answers["question_id"]) & set(about.index)))
    plain = answers[(answers["dial"] == CUT) & answers["rate"].isna()].set_index("question_id").reindex(questions)
    margins = plain["margin"].where(is_read(plain["mass"])).to_numpy(float)[:, None]
    case = Case(questions, about["split"].loc[questions].to_numpy(), np.zeros(1), margins, np.ones_like(margins))
    return case.beside(panel, about=about, seed=seed, n_resamples=n)


def compare_dials(answers: pd.DataFrame, placed: pd.DataFrame, kinds: pd.Series, case: Case) -> DialComparison:
    """Compare dials by their answers; see the module's text.

    Args:
        answers: dial, rate, question_id, margin, mass on the fitting and test splits, at rates that are reached; and at
            rate nan the unsteered answers of the threshold shift.
        placed: dial, rate, setting, rate_found, reached. kinds: index dial. case: `unsteered_case`.

    >>> rng, ids, rates = np.random.default_rng(0), [f"q{number}" for number in range(60)], (0.25, 0.5, 0.75)
    >>> ease = pd.Series(rng.standard_normal(60), index=ids)
    >>> asked = {rate: ease - ease.quantile(1 - rate) for rate in rates} | {np.nan: ease}
    >>> tables = [pd.DataFrame({"rate": rate, "question_id": ids, "margin": each}) for rate, each in asked.items()]
    >>> answers = pd.concat(tables).assign(dial=CUT, mass=1.0)
    >>> placed = pd.DataFrame({"dial": CUT, "rate": rates, "setting": 0.0, "rate_found": rates, "reached": True})
    >>> panel = pd.DataFrame({"gpt-x": (ease > 0) * 1.0}, index=ids)
    >>> case = unsteered_case(answers, pd.DataFrame({"split": [FITTING, TEST] * 30}, index=ids), panel, n=19)
    >>> compare_dials(answers, placed, pd.Series({CUT: "cut"}), case).table.index.tolist()
    ['threshold shift']
    """
    read = answers.assign(margin=answers["margin"].where(is_read(answers["mass"])))
    rates = np.array(sorted(placed["rate"].unique()))
    grids = {str(name): _grid(own, case.questions, rates) for name, own in read[read["rate"].notna()].groupby("dial")}
    names, topics = np.unique(case.topics[case.test], return_inverse=True)
    groups = topics if len(names) >= FEWEST_TOPICS else case.groups(case.test)
    rows, by_target, by_rate = {}, [], []
    for name in map(str, kinds.index):
        dial = grids.get(name, np.full((len(case.questions), len(rates)), np.nan))
        both = np.isfinite(dial).any(axis=0) & np.isfinite(grids[CUT]).any(axis=0)
        sides, used = (dial[:, both], grids[CUT][:, both]), rates[both]
        reach = float(np.diff(rates).min()) / 2 if len(rates) > 1 else 0.05
        numbers, targets = _judge(case, sides, used, reach, case.test, _Draws(case, groups))
        before, _ = _judge(case, sides, used, reach, case.fitting, None)
        rows[name] = {"kind": str(kinds[name]), "n_rates": int(both.sum()), **numbers}
        rows[name] |= {f"fitting_{number}": before[number] for number in ("order_gain", "signal")}
        rows[name] |= {"n_questions": int(case.test.sum()), "n_unread": int(np.isnan(sides[0][case.test]).sum())}
        by_target.append(targets.assign(dial=name))
        by_rate.append(_by_rate(dial[case.test], rates, case).assign(dial=name))
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("dial")
    pushes = table[(table["kind"] == "intervention") & table["fitting_order_gain"].notna()]
    chosen = "" if pushes.empty else str(pushes["fitting_order_gain"].idxmax())
    table["chosen"] = table.index == chosen
    found = placed.merge(pd.concat(by_rate), on=["dial", "rate"], how="left")
    return DialComparison(table[COMPARISON_COLUMNS], pd.concat(by_target, ignore_index=True), found, chosen)


def _grid(own: pd.DataFrame, questions: pd.Index, rates: np.ndarray) -> np.ndarray:
    """Question x rate: 1, 0, nan."""
    wide = own.pivot(index="question_id", columns="rate", values="margin").reindex(index=questions, columns=rates)
    margins = wide.to_numpy(float)
    return np.where(np.isnan(margins), np.nan, (margins > 0).astype(float))


def _ease(answers: np.ndarray) -> np.ndarray:
    read = np.isfinite(answers)
    with np.errstate(invalid="ignore"):
        return np.nansum(answers, axis=1) / np.where(read.any(axis=1), read.sum(axis=1), np.nan)


class _Draws:
    """The same resamples of the test questions for every number."""

    def __init__(self, case: Case, groups: np.ndarray | None) -> None:
        self.how = (case.n_resamples, case.seed, groups)
        self.weights = list(resampled_weights(int(case.test.sum()), *self.how))

    def areas(self, scores: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Resample x target."""
        return auc_resampled(scores, given, *self.how)

    def kappas(self, answers: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Resample x target."""
        return count_resampled(answers, given, *self.how).kappa()


def _judge(
    case: Case,
    sides: tuple[np.ndarray, np.ndarray],
    rates: np.ndarray,
    reach: float,
    rows: np.ndarray,
    draws: _Draws | None,
) -> tuple[dict[str, float], pd.DataFrame]:
    """The numbers of one dial on some of the questions, and its targets.

    Args:
        sides: question x rate, of the dial and of the threshold shift. reach: how far a target may be from a rate.
        draws: of the intervals; None: without any.
    """
    found: dict[str, float] = {f"{name}{end}": np.nan for name in NUMBERS for end in ("", "_low", "_high")}
    targets = pd.DataFrame(columns=["target", "rate", "kappa", "kappa_cut", "difference", "low", "high"])
    if not len(rates):
        return found | {"n_targets": 0}, targets
    truth, (answers, cut) = case.given[rows], (side[rows] for side in sides)

    def tell(name: str, value: np.ndarray, drawn: np.ndarray | None, models: np.ndarray) -> None:
        over = np.array([]) if drawn is None else average_within_models(drawn, models)
        ends = interval_95(over[np.isfinite(over)], fewest=2)
        found.update(Estimate(float(average_within_models(value, models)), *ends).columns(name))

    eases = [_ease(answers), _ease(cut)]
    known = np.isfinite(eases[0]) & np.isfinite(eases[1])
    eases = [np.where(known, ease, np.nan) for ease in eases]
    weights = draws.weights if draws else ()
    found |= rank_correlation(eases[0], case.unsteered_margins[rows], weights).columns("rho")
    areas = None if draws is None else draws.areas(eases[0], truth) - draws.areas(eases[1], truth)
    tell("order_gain", auc(eases[0], truth) - auc(eases[1], truth), areas, case.models)

    wanted = np.nanmean(case.given[case.fitting], axis=0)
    nearest = np.abs(wanted[:, None] - rates[None, :]).argmin(axis=1)
    varies = np.array([len(np.unique(own[np.isfinite(own)])) > 1 for own in truth.T])
    met = np.flatnonzero(varies & (np.abs(wanted - rates[nearest]) <= reach + 1e-9))
    found["n_targets"] = len(met)
    if not len(met):
        return found, targets
    given, models, place = truth[:, met], case.models[met], nearest[met]
    at_rate = [answers[:, place], cut[:, place]]
    both_read = np.isfinite(at_rate[0]) & np.isfinite(at_rate[1])
    at_rate = [np.where(both_read, side, np.nan) for side in at_rate]
    kappas = [count(side, given).kappa() for side in at_rate]
    drawn = apart = None
    low = high = np.array(np.nan)
    if draws is not None:
        drawn = draws.kappas(at_rate[0], given)
        apart = drawn - draws.kappas(at_rate[1], given)
        low, high = interval(apart)
    tell("signal", kappas[0], drawn, models)
    tell("signal_gain", kappas[0] - kappas[1], apart, models)
    targets = pd.DataFrame({"target": case.targets[met].astype(str), "rate": rates[place]}).assign(
        kappa=kappas[0], kappa_cut=kappas[1], difference=kappas[0] - kappas[1], low=low, high=high
    )
    return found, targets


def _by_rate(answers: np.ndarray, rates: np.ndarray, case: Case) -> pd.DataFrame:
    """Of each rate on the test questions: how many were read, yes rate, mean kappa over targets."""
    given, (yes, n) = case.given[case.test], yes_rates(answers)
    kappas = [count(np.repeat(own[:, None], given.shape[1], axis=1), given).kappa() for own in answers.T]
    table = pd.DataFrame({"rate": rates, "n": n, "n_unread": (len(answers) - n) * (n > 0), "yes_rate": yes})
    return table.assign(kappa=[float(average_within_models(own, case.models)) for own in kappas])
