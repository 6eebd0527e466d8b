"""How often does the verdict say what is true?

    python scripts/calibrate_verdict.py         # 60 seeds of each scenario, ten minutes on a core; goes on where it was
    python scripts/calibrate_verdict.py --seeds 10 --n-questions 1000 --table /tmp/thousand.csv
    python scripts/calibrate_verdict.py --null-orders 300      # C_A alone where nothing is shared: a second for each

Margins and answers are synthetic (`simulated_panels.SCENARIOS` says how each is made): what is studied is the
procedure, no model. Every verdict is a row of the table, which is kept as it grows. Printed are, for each scenario, how
often each answer was given to each of the three questions; size and power of S, G, C_A and of the rank among controls;
and how often an interval held the mean over seeds, which stands for the truth. The program ends with exit code 1 where
a mark is missed; a rate misses its mark where, were it just kept, so bad a count would come in under 5% of
calibrations:

    S      p <= .05 in at most 7.5% where subject and targets have nothing in common, in at least 80% where they have
    C_A    said to reorder in at most 7.5% where nothing is reordered; said to reorder the wrong way in at most 7.5%
    alike  "a moved cut" in at most 7.5% of dials that truly reorder, by .02 or more of C_A
    push   p <= .05 in at most 7.5% where vector and controls are drawn from one urn, of which the targets know nothing;
           in at least 80% among weak controls, and in one urn where the targets follow the vector's own order
    95%    intervals hold the truth in at least 92.5%: C_A's in this panel where the dial reorders (under a pure shift
           the two orders are one, and there is no width to speak of), all three for models like these where they differ
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulating import GrowingTable, by_seed

from onedial.core import Options, flat, option, parse_options, run_command

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = {"reproduced": "Is it reproduced?", "dial": "What is the dial?", "push": "Which push?"}
NUMBERS = ("signal", "gain", "order")
NOTHING_SHARED = ("unrelated", "unrelated, by topic", "base rates")
CLUSTERED = ("unrelated, by topic",)
"""Where S is also tested by permutations over all questions, for comparison."""
NOTHING_REORDERED = ("pure shift", "pure shift, weak")
WITH_CONTROLS = ("pure shift", "away", "towards, much")
FOLLOWED = ("towards, much",)
"""Of these, where the targets follow the vector's own order, so that it is not one of many among those drawn alike."""
DRAWN_ANEW = ("models differ",)
"""Scenarios whose base models are another draw in every seed: the others' are the same, and only questions vary."""
SIZE, POWER, COVERAGE = 0.075, 0.8, 0.925
NULL_SEED = 20000


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    if options.null_orders:
        return null_orders(options)
    options = replace(options, table=options.table or Path("runs/calibration.csv"))
    table = filled_table(options)
    import pandas as pd

    pd.set_option("display.width", 200)
    print(f"{options.n_questions} questions, {options.n_targets} targets, {options.seeds} seeds; {options.table}\n")
    for name, question in ANSWERS.items():
        given = table.dropna(subset=name)
        print(pd.crosstab(given["scenario"], given[name], rownames=[question], colnames=[""]).to_string(), end="\n\n")
    rates = rates_of(table)
    print(rates.to_string(float_format="{:.3f}".format, na_rep="-"), end="\n\n")
    print(coverage_of(table).to_string(float_format="{:.2f}".format, na_rep="-"), end="\n\n")
    failures = missed_marks(table)
    for failure in failures:
        print(f"missed: {failure}", file=sys.stderr)
    return 1 if failures else 0


# ---- the table -------------------------------------------------------------------------------------------------------


def filled_table(options: "ScriptOptions") -> "pd.DataFrame":
    """A row for every scenario and seed; those that the file holds are taken from it."""
    from simulated_panels import SCENARIOS

    from onedial.verdict import RULE

    settings = {"rule": RULE, "n_questions": options.n_questions, "n_targets": options.n_targets}
    settings["n_permutations"] = options.n_permutations
    missing = {"signal_p_over_all": float("nan"), "push": None, "push_p": float("nan"), "push_p_alike": float("nan")}
    table = GrowingTable(options.table, ("scenario", "seed"), settings)

    def rows_of(name: str, seed: int) -> list[dict[str, Any]]:
        return [{"scenario": name, "seed": seed, **missing, **one_row(name, seed, options)}]

    return by_seed(table, options.seeds, ((name,) for name in SCENARIOS), rows_of)


def one_row(name: str, seed: int, options: "ScriptOptions") -> dict[str, Any]:
    """The verdict on one simulated subject and panel, and its push among controls that are like it."""
    from dataclasses import asdict, replace

    import numpy as np
    from simulated_panels import SCENARIOS, framings_of, simulated_controls

    from onedial.verdict import control_table, judge, sweep_grid

    scenario = SCENARIOS[name]
    sweep, panel = scenario.draw(seed, options.n_questions, options.n_targets)
    topics = sweep.drop_duplicates("question_id").set_index("question_id")["topic"]
    known = {"n_resamples": options.n_permutations, "seed": seed}
    grid, respondents = sweep_grid(sweep), framings_of(panel.columns)
    case = grid.beside(panel, respondents, about=topics.to_frame(), **known)
    tables = {}
    if name in WITH_CONTROLS:
        rng, reordering = np.random.default_rng([seed, 11]), scenario.sweep["reordering"]
        for alike in (True, False):
            controls = simulated_controls(rng, sweep, reordering=reordering, alike=alike)
            tables[alike] = control_table(replace(case, controls=controls))
    verdict = judge(case, controls=tables.get(False))
    row: dict[str, Any] = {"reproduced": verdict.reproduced, "dial": verdict.dial, "flags": "; ".join(verdict.flags)}
    for number in NUMBERS:
        row |= {f"{number}_{part}".replace(".", "_"): value for part, value in flat(asdict(getattr(verdict, number)))}
    if name in CLUSTERED:
        row["signal_p_over_all"] = judge(grid.beside(panel, respondents, **known)).signal.p
    if tables:
        by = verdict.direction.by
        own, others = verdict.direction.own[by], tables[True][by]
        as_good = (others <= own) if by == "push" else (others >= own)
        p_alike = (1 + as_good.sum()) / (1 + len(others))
        row |= {"push": verdict.push, "push_p": verdict.direction.p, "push_p_alike": p_alike}
    return row


def null_orders(options: "ScriptOptions") -> int:
    """How often C_A's 95% interval leaves out 0 on panels that have nothing in common with the subject.

    Quicker than whole verdicts: one bootstrap of one number, 499 resamples. Seeds begin after those of the table.
    """
    from simulated_panels import SCENARIOS, framings_of

    from onedial.show import progress_bar
    from onedial.stats import LEVEL, auc, auc_resampled, panel_estimate
    from onedial.verdict import sweep_grid

    given_options = {"n_questions": options.n_questions, "n_targets": options.n_targets}
    found = GrowingTable(options.table or Path("runs/null_orders.csv"), ("seed",), given_options)
    with progress_bar(options.null_orders, "panels of each kind") as advance:
        for seed in range(NULL_SEED, NULL_SEED + options.null_orders):
            rows = []
            for name in NOTHING_SHARED if (seed,) not in found else ():
                sweep, panel = SCENARIOS[name].draw(seed, options.n_questions, options.n_targets)
                case = sweep_grid(sweep).beside(panel)
                orders, given = case.orders, case.given[case.ordered]
                models = framings_of(panel.columns)["model"].to_numpy()
                own, other = (auc(order, given) for order in orders)
                drawn, others = (auc_resampled(order, given, 499, seed) for order in orders)
                number = panel_estimate(own - other, drawn - others, None, models)
                rows.append({"seed": seed, "scenario": name, "towards": number.low > 0, "away": number.high < 0})
            if rows:
                found.add(rows)
            advance(1)
    shares = shares_of_null_orders(found.frame[found.frame["seed"] < NULL_SEED + options.null_orders])
    print(shares.to_string(float_format="{:.3f}".format))
    return int(shares.loc["all", "low"] > LEVEL)


def shares_of_null_orders(table: "pd.DataFrame") -> "pd.DataFrame":
    """By scenario and over all: panels, shares said to lie towards, away and either, and Wilson's interval of that."""
    import pandas as pd
    from scipy import stats

    table = table.assign(either=table["towards"] | table["away"])
    parts = {**dict(iter(table.groupby("scenario", sort=False))), "all": table}
    shares = pd.DataFrame({name: own[["towards", "away", "either"]].mean() for name, own in parts.items()}).T
    shares.insert(0, "n", pd.Series({name: len(own) for name, own in parts.items()}))
    for name, own in parts.items():
        interval = stats.binomtest(int(own["either"].sum()), len(own)).proportion_ci(method="wilson")
        shares.loc[name, ["low", "high"]] = interval.low, interval.high
    return shares.rename_axis("scenario")


# ---- what it says ----------------------------------------------------------------------------------------------------


def rates_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Per scenario: means of the numbers, and how often each part claimed something."""
    import pandas as pd

    from onedial.stats import LEVEL
    from onedial.verdict.verdict import AWAY, MOVED_CUT, TOWARDS

    claims = {
        "S": table["signal_value"],
        "G": table["gain_value"],
        "C_A": table["order_value"],
        "rho": table["order_rho_value"],
        "S: p <= .05": (table["signal_p"] <= LEVEL).astype(float),
        "over all": (table["signal_p_over_all"] <= LEVEL).astype(float).where(table["signal_p_over_all"].notna()),
        "G: low > 0": (table["gain_low"] > 0).astype(float),
        "C_A: low > 0": (table["order_low"] > 0).astype(float),
        "towards": (table["dial"] == TOWARDS).astype(float),
        "away": (table["dial"] == AWAY).astype(float),
        "moved cut": (table["dial"] == MOVED_CUT).astype(float),
        "push": (table["push_p"] <= LEVEL).astype(float).where(table["push_p"].notna()),
        "push, alike": (table["push_p_alike"] <= LEVEL).astype(float).where(table["push_p_alike"].notna()),
        "unread decide": table["flags"].fillna("").str.contains("unread").astype(float),
    }
    return pd.DataFrame(claims).groupby(table["scenario"], sort=False).mean()


def coverage_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Per scenario: share of the 95% intervals that hold the mean over seeds, in both scopes."""
    import pandas as pd

    held = {}
    for name, own in table.groupby("scenario", sort=False):
        held[name] = {}
        for number in (*NUMBERS, "rho"):
            prefix = "order_rho" if number == "rho" else number
            truth = own[f"{prefix}_value"].mean()
            held[name][f"{number}, panel"] = own[f"{prefix}_low"].le(truth).mul(own[f"{prefix}_high"].ge(truth)).mean()
            if number != "rho":
                low, high = own[f"{prefix}_low_models"], own[f"{prefix}_high_models"]
                held[name][f"{number}, models"] = (low.le(truth) & high.ge(truth))[low.notna()].mean()
    return pd.DataFrame(held).T


def missed_marks(table: "pd.DataFrame") -> list[str]:
    """What the module's docstring promises and these rows do not keep."""
    rates, held = rates_of(table), coverage_of(table)
    counts = table["scenario"].value_counts()
    reordering = rates.index.difference([*NOTHING_SHARED, *NOTHING_REORDERED])
    missed: list[str] = []

    def at_most(scenario: str, what: str, rate: float, mark: float = SIZE) -> None:
        missed.extend(_too_many(scenario, what, rate, mark, counts[scenario]))

    def at_least(scenario: str, what: str, rate: float, mark: float) -> None:
        missed.extend(_too_many(scenario, f"{what} not given", 1 - rate, 1 - mark, counts[scenario]))

    for scenario in rates.index.intersection(NOTHING_SHARED):
        at_most(scenario, "S: p <= .05", rates.loc[scenario, "S: p <= .05"])
    for scenario in rates.index.difference(NOTHING_SHARED):
        at_least(scenario, "S: p <= .05", rates.loc[scenario, "S: p <= .05"], POWER)
    for scenario in rates.index.intersection(NOTHING_REORDERED):
        at_most(scenario, "C_A said to reorder", rates.loc[scenario, ["towards", "away"]].sum())
    for scenario in reordering:
        wrong = "away" if rates.loc[scenario, "C_A"] > 0 else "towards"
        if scenario not in DRAWN_ANEW:
            at_most(scenario, f"said to reorder {wrong}", rates.loc[scenario, wrong])
        if abs(rates.loc[scenario, "C_A"]) >= 0.02:
            at_most(scenario, "said to be a moved cut", rates.loc[scenario, "moved cut"])
    for scenario in rates.index.intersection(WITH_CONTROLS):
        alike = rates.loc[scenario, "push, alike"]
        if scenario in FOLLOWED:
            at_least(scenario, "p <= .05 among controls alike", alike, POWER)
        else:
            at_most(scenario, "p <= .05 among controls alike", alike)
        if scenario not in reordering or scenario in FOLLOWED:
            at_least(scenario, "p <= .05 among weak controls", rates.loc[scenario, "push"], POWER)
    for scenario in rates.index:
        if scenario in NOTHING_REORDERED:
            continue
        if scenario not in DRAWN_ANEW:
            at_least(scenario, "the truth by C_A's interval", held.loc[scenario, "order, panel"], COVERAGE)
        else:
            for number in NUMBERS:
                rate = held.loc[scenario, f"{number}, models"]
                if rate == rate:
                    at_least(scenario, f"the truth by the interval of {number} for models", rate, COVERAGE)
    return missed


def _too_many(scenario: str, what: str, rate: float, mark: float, n: int) -> list[str]:
    """A complaint where the count is above the 95% point of what the mark itself would give."""
    from scipy import stats

    most = int(stats.binom.ppf(0.95, n, mark))
    count = round(rate * n)
    return [f"{scenario}: {what} in {count} of {n}, at most {most} may"] if count > most else []


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    seeds: int = option(60, "verdicts on each scenario", at_least=1)
    n_questions: int = option(400, "questions of each", at_least=1)
    n_targets: int = option(18, "targets, three to a base model", at_least=1)
    n_permutations: int = option(999, "permutations and resamples", at_least=1)
    table: Path | None = option(None, "what is there so far (default runs/calibration.csv, runs/null_orders.csv)")
    null_orders: int = option(0, "instead: C_A on this many panels of each kind that share nothing", at_least=0)


if __name__ == "__main__":
    sys.exit(run_command(main))
