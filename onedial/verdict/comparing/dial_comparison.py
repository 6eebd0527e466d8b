"""Dials at equal yes rates: which order of the questions does each go through, and which targets does it meet?

Every dial was set to the same yes rates on the fitting split, to one answer (`seek_settings`), and is judged on the
test split by its answers there, where nothing is set: the rates there are measured, and a rate at which a dial stands
further than `EQUAL` from the threshold shift is void for it. The reference is the threshold shift at the same rates: it
asks nothing of the model but where to cut the unsteered margin, so that whatever a dial does better is what its order
is worth.

    ease         share of a dial's rates at which it says yes to a question
    order_gain   C_A at equal rates: mean over targets of A_t(ease) - A_t(ease of the threshold shift), A_t as in
                 `onedial.stats.roc`
    signal       S: mean over targets of kappa where the dial's rate is nearest to the target's fitting yes rate; a
                 target further than half a step of the rates from every rate that is compared is left out
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
from onedial.stats.agreement import interval
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.level import interval_95
from onedial.stats.resampling import FEWEST_TOPICS, resampled_weights
from onedial.stats.shares import rates as yes_rates
from onedial.verdict.case import Case
from onedial.verdict.numbers import Drawn, areas, average_within_models, counts

CUT = "threshold shift"
EQUAL = 0.1
"""Yes rates on the test split that are further apart are not equal. At rates this far apart kappa of answers that are
equally alike is 2% smaller than at equal ones in the middle, and 8% at the ends (.1 and .2)."""
N_BOOTSTRAP = 999
NUMBERS = ("signal", "signal_gain", "order_gain", "rho")
TARGET_COLUMNS = ["dial", "target", "rate", "kappa", "kappa_cut", "difference", "low", "high"]


@dataclass(frozen=True)
class DialComparison:
    """See the module's text.

    Attributes:
        table: index dial: kind, n_rates (that are compared), n_void, apart (the furthest that a rate which is compared
            lies from the threshold shift's on the test split), n_targets, each of `NUMBERS` with its ends,
            fitting_order_gain and fitting_signal, n_questions, n_unread (answers on the test split that were not read,
            over its rates), chosen.
        targets: one row per dial and target: rate, kappa, kappa_cut, difference with its interval.
        rates: one row per dial and rate: setting, rate_found (measured on the fitting split) and reached; n, n_unread
            and yes_rate (measured on the test split), void, mean kappa over targets.
        chosen: the intervention with the highest order gain on the fitting split; "" where there is none.
    """

    table: pd.DataFrame
    targets: pd.DataFrame
    rates: pd.DataFrame
    chosen: str

    __repr__ = one_line

    def sentence(self) -> str:
        """Say the result in one sentence."""
        others = self.table[(self.table.index != CUT) & self.table["order_gain"].notna()]
        if others.empty:
            return "No dial reaches enough yes rates to be compared with a threshold shift." + self._void()
        ends = zip(others["order_gain"], others["order_gain_low"], others["order_gain_high"], strict=True)
        gains = {
            str(name): f"{name} {value:+.3f} ({low:+.3f} to {high:+.3f})"
            for name, (value, low, high) in zip(others.index, ends, strict=True)
        }
        better, worse = int((others["order_gain_low"] > 0).sum()), int((others["order_gain_high"] < 0).sum())
        best = str(others["order_gain"].idxmax())
        chosen = f"; chosen on the fitting split: {gains[self.chosen]}" if self.chosen not in ("", best) else ""
        return (
            f"At equal yes rates {better} of {len(others)} dials order the questions more as the targets do than "
            f"a threshold shift does, and {worse} less so. Best: {gains[best]}{chosen}. "
            f"The rates differ by up to {others['apart'].max():.2f} on the test questions.{self._void()}"
        )

    def _void(self) -> str:
        """Say how many rates are void, and why."""
        n_void = int(self.table["n_void"].sum())
        void = "1 rate is void: there it differs" if n_void == 1 else f"{n_void} rates are void: there they differ"
        return f" {void} by more than {EQUAL:g}." if n_void else ""


def unsteered_case(answers: pd.DataFrame, about: pd.DataFrame, panel: Any, seed: int = 0, n: int = N_BOOTSTRAP) -> Case:
    """Put the unsteered subject beside the panel, on the fitting and test questions that the dials were asked.

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
    settings = np.array(sorted(placed["rate"].unique()))
    names, topics = np.unique(case.topics[case.test], return_inverse=True)
    drawn = (case.n_resamples, case.seed, topics if len(names) >= FEWEST_TOPICS else case.groups(case.test))
    cut, rows, by_target, by_rate = _answers(answers, CUT, settings, case), {}, [], []
    for name, kind in zip(map(str, kinds.index), kinds, strict=True):
        dial = _answers(answers, name, settings, case)
        both = np.isfinite(dial).any(axis=0) & np.isfinite(cut).any(axis=0)
        apart = np.abs(yes_rates(dial[case.test])[0] - yes_rates(cut[case.test])[0])
        equal = both & (apart <= EQUAL + 1e-9)
        sides = _Sides(case, dial, cut, settings, equal)
        on_test, targets = sides.numbers(case.test, drawn)
        # What is chosen must not rest on the test split, and so neither on what is void there.
        on_fitting, _ = _Sides(case, dial, cut, settings, both).numbers(case.fitting, None)
        rows[name] = {"kind": str(kind), "n_rates": int(equal.sum()), "n_void": int((both & ~equal).sum())}
        rows[name] |= {"apart": float(apart[equal].max(initial=0.0)) if equal.any() else float("nan"), **on_test}
        rows[name] |= {f"fitting_{number}": on_fitting[number] for number in ("order_gain", "signal")}
        n_unread = int(np.isnan(sides.answers[0][case.test]).sum())
        rows[name] |= {"n_questions": int(case.test.sum()), "n_unread": n_unread}
        by_target.append(targets.assign(dial=name))
        by_rate.append(_by_rate(dial[case.test], settings, case).assign(dial=name, void=both & ~equal))
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("dial")
    pushes = table.loc[(table["kind"] == "intervention") & table["fitting_order_gain"].notna(), "fitting_order_gain"]
    chosen = "" if pushes.empty else str(pushes.idxmax())
    rates = placed.merge(pd.concat(by_rate), on=["dial", "rate"], how="left")
    targets = pd.concat(by_target, ignore_index=True)[TARGET_COLUMNS]
    return DialComparison(table.assign(chosen=table.index == chosen), targets, rates, chosen)


def _answers(answers: pd.DataFrame, dial: str, rates: np.ndarray, case: Case) -> np.ndarray:
    """Lay answers out as question x rate: 1, 0, nan where the dial was not read or does not reach the rate."""
    asked = answers[(answers["dial"] == dial) & is_read(answers["mass"])]
    wide = asked.pivot(index="question_id", columns="rate", values="margin")
    margins = wide.reindex(index=case.questions, columns=rates).to_numpy(float)
    return np.where(np.isnan(margins), np.nan, margins > 0)


class _Sides:
    """One dial beside the threshold shift, at the rates that are compared.

    Attributes:
        answers: question x rate, of the dial and of the threshold shift. rates: those that are compared.
        place: target -> the rate nearest to its fitting yes rate. near: whether it is within half a step.
    """

    def __init__(self, case: Case, dial: np.ndarray, cut: np.ndarray, rates: np.ndarray, equal: np.ndarray) -> None:
        self.case, self.answers, self.rates = case, (dial[:, equal], cut[:, equal]), rates[equal]
        if equal.any():
            step = float(np.diff(rates).min()) if len(rates) > 1 else 0.1
            away = np.abs(np.nanmean(case.given[case.fitting], axis=0)[:, None] - self.rates)
            self.place = away.argmin(axis=1)
            self.near = away.min(axis=1) <= step / 2 + 1e-9

    def numbers(self, rows: np.ndarray, drawn: Drawn | None) -> tuple[dict[str, Any], pd.DataFrame]:
        """n_targets and `NUMBERS` of some of the questions, with intervals where resamples are named; the targets."""
        number: dict[str, Any] = {"n_targets": 0}
        estimates, targets = dict.fromkeys(NUMBERS, Estimate()), pd.DataFrame(columns=TARGET_COLUMNS)
        if len(self.rates):
            case, given = self.case, self.case.given[rows]
            answers = [side[rows] for side in self.answers]
            eases = _where_both([yes_rates(side.T)[0] for side in answers])
            weights = resampled_weights(len(given), *drawn) if drawn else ()
            estimates["rho"] = rank_correlation(eases[0], case.unsteered_margins[rows], weights)
            met = self.near & (given == 1).any(axis=0) & (given == 0).any(axis=0)
            at_rate = _where_both([side[:, self.place[met]] for side in answers])

            def statistics(drawn: Drawn | None) -> dict[str, np.ndarray]:
                """Compute the numbers of each target; of drawn questions, resample x target."""
                area, cut_area = (areas(ease, given, drawn) for ease in eases)
                kappa, cut_kappa = (counts(side, given[:, met], drawn).kappa() for side in at_rate)
                return {"order_gain": area - cut_area, "signal": kappa, "signal_gain": kappa - cut_kappa}

            values, resampled = statistics(None), statistics(drawn) if drawn else {}
            for name, value in values.items():
                models = case.models if name == "order_gain" else case.models[met]
                over = average_within_models(resampled[name], models) if resampled else np.array([])
                ends = interval_95(over[np.isfinite(over)], fewest=2)
                estimates[name] = Estimate(float(average_within_models(value, models)), *ends)
            number["n_targets"] = int(met.sum())
            kappa, gain = values["signal"], values["signal_gain"]
            low, high = interval(resampled["signal_gain"]) if resampled else (np.nan, np.nan)
            targets = pd.DataFrame({"target": case.targets[met].astype(str), "rate": self.rates[self.place[met]]})
            targets = targets.assign(kappa=kappa, kappa_cut=kappa - gain, difference=gain, low=low, high=high)
        for name, estimate in estimates.items():
            number |= estimate.columns(name)
        return number, targets


def _where_both(sides: list[np.ndarray]) -> list[np.ndarray]:
    """Return the two, nan where either is."""
    known = np.isfinite(sides[0]) & np.isfinite(sides[1])
    return [np.where(known, side, np.nan) for side in sides]


def _by_rate(answers: np.ndarray, rates: np.ndarray, case: Case) -> pd.DataFrame:
    """Count for each rate, on the test questions, how many were read, the yes rate, and mean kappa over targets."""
    given, (yes, n) = case.given[case.test], yes_rates(answers)
    kappas = [counts(np.broadcast_to(column[:, None], given.shape), given).kappa() for column in answers.T]
    table = pd.DataFrame({"rate": rates, "n": n, "n_unread": (len(answers) - n) * (n > 0), "yes_rate": yes})
    return table.assign(kappa=[float(average_within_models(kappa, case.models)) for kappa in kappas])
