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

Averages are over targets of one base model, then over base models, near-copies as one (`match.base_models`).
Intervals are 95% percentiles over the same resamples of the test questions for all dials (wordings of one question
together; whole topics where there are ten or more), so that differences are paired.
What is chosen is chosen by the same numbers on the fitting split.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix
from onedial.panels.splits import FITTING, TEST
from onedial.stats.agreement import count, count_resampled, interval
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.level import interval_95
from onedial.stats.numbers import FEWEST_TOPICS, average_within_models
from onedial.stats.resampling import groups_among, resampled_weights
from onedial.stats.roc import auc, auc_resampled
from onedial.stats.shares import rates as yes_rates
from onedial.verdict.case import base_models, describe_targets, panel_answers, wording_groups

CUT = "threshold shift"
COMPARISON_COLUMNS = [
    "kind", "n_rates", "n_targets", "signal", "signal_low", "signal_high", "signal_gain", "signal_gain_low",
    "signal_gain_high", "order_gain", "order_gain_low", "order_gain_high", "rho", "rho_low", "rho_high",
    "fitting_order_gain", "fitting_signal", "chosen", "n_questions", "n_unread",
]  # fmt: skip
N_BOOTSTRAP = 999
KL_LIMITS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Nats of the next token on neutral text."""


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


def compare_dials(
    answers: pd.DataFrame,
    placed: pd.DataFrame,
    kinds: pd.Series,
    panel: ResponseMatrix,
    splits: pd.Series,
    topics: pd.Series | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
    wordings: Sequence[Sequence[str]] = (),
) -> DialComparison:
    """Compare dials by their answers; see the module's text.

    Args:
        answers: dial, rate, question_id, margin, mass on the fitting and test splits, at rates that are reached; and at
            rate nan the unsteered answers of the threshold shift.
        placed: dial, rate, setting, rate_found, reached. kinds: index dial.
        splits: question id -> split. topics: question id -> topic.
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.splits.wordings_of`).

    Raises:
        InputError: the threshold shift is not among the dials.

    >>> from onedial.panels import panel_from_long
    >>> rng, ids, rates = np.random.default_rng(0), [f"q{number}" for number in range(60)], (0.25, 0.5, 0.75)
    >>> ease = pd.Series(rng.standard_normal(60), index=ids)
    >>> asked = {rate: ease - ease.quantile(1 - rate) for rate in rates} | {np.nan: ease}
    >>> tables = [pd.DataFrame({"rate": rate, "question_id": ids, "margin": each}) for rate, each in asked.items()]
    >>> answers = pd.concat(tables).assign(dial=CUT, mass=1.0)
    >>> placed = pd.DataFrame({"dial": CUT, "rate": rates, "setting": 0.0, "rate_found": rates, "reached": True})
    >>> said = pd.DataFrame({"respondent": "gpt-x", "question_id": ids, "said_yes": (ease > 0).to_numpy() * 1})
    >>> splits = pd.Series([FITTING, TEST] * 30, index=ids)
    >>> found = compare_dials(answers, placed, pd.Series({CUT: "cut"}), panel_from_long(said), splits, n_bootstrap=19)
    >>> found.table.index.tolist()
    ['threshold shift']
    """
    if CUT not in kinds.index:
        raise InputError(f"{CUT!r} is not among the dials, and all others are compared with it; add --dials cut")
    asked = sorted(set(answers["question_id"]) & set(splits[splits.isin([FITTING, TEST])].index))
    questions = pd.Index(asked)
    given = panel_answers(panel, questions)
    named = None if topics is None else topics.reindex(questions).fillna("").astype(str).to_numpy()
    same = wording_groups(wordings, questions)
    described = describe_targets(given.columns, getattr(panel, "respondents", None))
    models = np.array(base_models(given.to_numpy(), described["model"], same, named).counted_as)
    split = splits.loc[questions].to_numpy()
    groups = groups_among(same, split == TEST)
    if named is not None:
        names, codes = np.unique(named[split == TEST], return_inverse=True)
        groups = codes if len(names) >= FEWEST_TOPICS else groups
    read = answers.assign(margin=answers["margin"].where(is_read(answers["mass"])))
    plain = read[(read["dial"] == CUT) & read["rate"].isna()].set_index("question_id")["margin"].reindex(questions)
    rates = np.array(sorted(placed["rate"].unique()))
    said = {str(name): _grid(own, questions, rates) for name, own in read[read["rate"].notna()].groupby("dial")}
    wanted = np.nanmean(np.where((split == FITTING)[:, None], given.to_numpy(float), np.nan), axis=0)
    half_step = float(np.diff(rates).min()) / 2 if len(rates) > 1 else 0.05
    empty = np.full((len(questions), len(rates)), np.nan)
    rows, by_target, by_rate = {}, [], []
    for name in map(str, kinds.index):
        own = said.get(name, empty)
        both = np.isfinite(own).any(axis=0) & np.isfinite(said[CUT]).any(axis=0)
        row = {"kind": str(kinds[name]), "n_rates": int(both.sum())}
        numbers, targets = _judge(
            own, said[CUT], both, rates, given, wanted, half_step, models, plain.to_numpy(float), split == TEST,
            groups, n_bootstrap, seed,
        )  # fmt: skip
        before, _ = _judge(
            own, said[CUT], both, rates, given, wanted, half_step, models, plain.to_numpy(float), split == FITTING,
            None, 0, seed,
        )  # fmt: skip
        test = own[split == TEST][:, both]
        rows[name] = (
            row
            | numbers
            | {
                "fitting_order_gain": before["order_gain"],
                "fitting_signal": before["signal"],
                "n_questions": int((split == TEST).sum()),
                "n_unread": int(np.isnan(test).sum()),
            }
        )
        by_target.append(targets.assign(dial=name))
        by_rate.append(
            _by_rate(own[split == TEST], rates, given[split == TEST].to_numpy(float), models).assign(dial=name)
        )
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("dial")
    pushes = table[(table["kind"] == "intervention") & table["fitting_order_gain"].notna()]
    chosen = "" if pushes.empty else str(pushes["fitting_order_gain"].idxmax())
    table["chosen"] = table.index == chosen
    found = placed.merge(pd.concat(by_rate), on=["dial", "rate"], how="left")
    return DialComparison(table[COMPARISON_COLUMNS], pd.concat(by_target, ignore_index=True), found, chosen)


def reach_at_kl(rates: pd.DataFrame, limits: tuple[float, ...] = KL_LIMITS) -> pd.DataFrame:
    """At equal KL: between which yes rates does each dial turn the subject without changing other text by more?

    Args:
        rates: dial, rate, reached, kl (of the next token on neutral text, at that rate's setting), usable (whether the
            facts allow that setting).

    Returns:
        One row per dial and limit: lowest and highest rate with a KL of at most the limit, how many rates, and how many
        of them are usable; nan and 0 where there is none.

    >>> rates = pd.DataFrame({"dial": "cut", "rate": [0.1, 0.5, 0.9], "kl": [0.3, 0.0, 0.2]})
    >>> within = reach_at_kl(rates.assign(reached=True, usable=True), limits=(0.25,))
    >>> within[["lowest_rate", "highest_rate"]].to_numpy().tolist()
    [[0.5, 0.9]]
    """
    rows = []
    for name, own in rates.groupby("dial", sort=False):
        for limit in limits:
            within = own[own["reached"].astype(bool) & (own["kl"] <= limit)]
            usable = int(within["usable"].fillna(False).astype(bool).sum())
            rows.append((name, limit, within["rate"].min(), within["rate"].max(), len(within), usable))
    return pd.DataFrame(rows, columns=["dial", "kl_limit", "lowest_rate", "highest_rate", "n_rates", "n_usable"])


def _grid(own: pd.DataFrame, questions: pd.Index, rates: np.ndarray) -> np.ndarray:
    """Question x rate: 1, 0, nan."""
    wide = own.pivot(index="question_id", columns="rate", values="margin").reindex(index=questions, columns=rates)
    margins = wide.to_numpy(float)
    return np.where(np.isnan(margins), np.nan, (margins > 0).astype(float))


def _ease(answers: np.ndarray) -> np.ndarray:
    read = np.isfinite(answers)
    with np.errstate(invalid="ignore"):
        return np.nansum(answers, axis=1) / np.where(read.any(axis=1), read.sum(axis=1), np.nan)


def _judge(
    own: np.ndarray,
    cut: np.ndarray,
    both: np.ndarray,
    rates: np.ndarray,
    given: pd.DataFrame,
    wanted: np.ndarray,
    half_step: float,
    models: np.ndarray,
    plain: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
    n_bootstrap: int,
    seed: int,
) -> tuple[dict[str, float], pd.DataFrame]:
    """The numbers of one dial on some of the questions, and its targets."""
    nothing = dict.fromkeys(
        [f"{name}{end}" for name in ("signal", "signal_gain", "order_gain", "rho") for end in ("", "_low", "_high")],
        float("nan"),
    )
    columns = ["target", "rate", "kappa", "kappa_cut", "difference", "low", "high"]
    if not both.any():
        return nothing | {"n_targets": 0}, pd.DataFrame(columns=columns)
    answers, reference, truth = own[rows][:, both], cut[rows][:, both], given.to_numpy(float)[rows]
    used = rates[both]
    nearest = np.abs(wanted[:, None] - used[None, :]).argmin(axis=1)
    met = np.abs(wanted - used[nearest]) <= half_step + 1e-9
    met &= np.array([np.nanmin(t) != np.nanmax(t) if np.isfinite(t).any() else False for t in truth.T])
    found: dict[str, float] = {"n_targets": int(met.sum())}
    targets = np.flatnonzero(met)
    ease, ease_cut = _ease(answers), _ease(reference)
    known = np.isfinite(ease) & np.isfinite(ease_cut)
    weights = resampled_weights(len(ease), n_bootstrap, seed, groups) if n_bootstrap else ()
    found |= rank_correlation(np.where(known, ease, np.nan), plain[rows], weights).columns("rho")
    sides = {"own": np.where(known, ease, np.nan), "cut": np.where(known, ease_cut, np.nan)}
    areas = {side: auc(order, truth) for side, order in sides.items()}
    gain = average_within_models(areas["own"] - areas["cut"], models)
    drawn = np.array([])
    if n_bootstrap:
        by = {side: auc_resampled(order, truth, n_bootstrap, seed, groups) for side, order in sides.items()}
        drawn = average_within_models(by["own"] - by["cut"], models)
    found |= _with_interval("order_gain", float(gain), drawn)
    if not len(targets):
        return nothing | found, pd.DataFrame(columns=columns)
    said = {"own": answers[:, nearest[targets]], "cut": reference[:, nearest[targets]]}
    both_read = np.isfinite(said["own"]) & np.isfinite(said["cut"])
    said = {side: np.where(both_read, part, np.nan) for side, part in said.items()}
    kappas = {side: count(part, truth[:, targets]).kappa() for side, part in said.items()}
    signal = {side: float(average_within_models(part, models[targets])) for side, part in kappas.items()}
    table = pd.DataFrame(
        {
            "target": given.columns[targets].astype(str),
            "rate": used[nearest[targets]],
            "kappa": kappas["own"],
            "kappa_cut": kappas["cut"],
            "difference": kappas["own"] - kappas["cut"],
            "low": np.nan,
            "high": np.nan,
        }
    )
    drawn_signal, drawn_gain = np.array([]), np.array([])
    if n_bootstrap:
        by = {
            side: count_resampled(part, truth[:, targets], n_bootstrap, seed, groups).kappa()
            for side, part in said.items()
        }
        drawn_signal = average_within_models(by["own"], models[targets])
        drawn_gain = average_within_models(by["own"] - by["cut"], models[targets])
        table["low"], table["high"] = interval(by["own"] - by["cut"])
    found |= _with_interval("signal", signal["own"], drawn_signal)
    found |= _with_interval("signal_gain", signal["own"] - signal["cut"], drawn_gain)
    return nothing | found, table


def _with_interval(name: str, value: float, drawn: np.ndarray) -> dict[str, float]:
    return Estimate(value, *interval_95(drawn[np.isfinite(drawn)], fewest=2)).columns(name)


def _by_rate(answers: np.ndarray, rates: np.ndarray, truth: np.ndarray, models: np.ndarray) -> pd.DataFrame:
    read = np.isfinite(answers)
    yes, n = yes_rates(answers)
    kappa = [
        float(
            average_within_models(count(np.repeat(answers[:, [place]], truth.shape[1], axis=1), truth).kappa(), models)
        )
        for place in range(len(rates))
    ]
    return pd.DataFrame(
        {
            "rate": rates,
            "n": n,
            "n_unread": (~read).sum(axis=0) * read.any(axis=0),
            "yes_rate": yes,
            "kappa": kappa,
        }
    )
