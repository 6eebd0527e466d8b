"""Tables of which a stored result holds a part, or what is worked out of several.

Each is given the folder of all runs, and the sources beneath it; what is stored is the table that it returns.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def dial_table(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """dials.csv in the columns of docs/dials_evidence.md, KL and flips at three of the rates; five digits."""
    import pandas as pd

    dials, rates = (pd.read_csv(runs / source) for source in sources)
    columns = ["dial", "kind", "n_rates", "n_targets", "signal", "signal_low", "signal_high", "order_gain"]
    columns += ["order_gain_low", "order_gain_high", "rho", "fitting_order_gain", "chosen"]
    table = dials[columns].set_index("dial")
    reached = rates[rates["reached"].astype(bool)]
    for rate in (0.1, 0.5, 0.9):
        there = reached[(reached["rate"] - rate).abs() < 1e-9].set_index("dial")
        for column in ("kl", "negative_flips"):
            table[f"{column}_at_{rate}"] = there[column].reindex(table.index)
    return table.reset_index().round(5)


def directions_at_the_layer(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """directions.csv at the layer that was chosen; five digits."""
    import pandas as pd

    table, layer = pd.read_csv(runs / sources[0]), json.loads((runs / sources[1]).read_text(encoding="utf-8"))["layer"]
    return table[table["layer"] == layer].round(5)


def draws_side_by_side(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The dials of the later draws in every draw, which stands behind the column's name; five digits."""
    import pandas as pd

    draws = [
        dial_table(runs, (source, str(Path(source).with_name("rates.csv")))).set_index("dial")
        for source in sources
        if source.endswith("dials.csv")
    ]
    columns = ["order_gain", "order_gain_low", "order_gain_high", "signal", "kl_at_0.5"]
    beside = {f"{name}_{number}": own[name] for name in columns for number, own in enumerate(draws)}
    order = ["mean_difference, add", "lda, add", "random, add", "mean_difference, clamp", "moved cut"]
    return pd.DataFrame(beside).reindex(order).rename_axis("dial").reset_index()


def rates_under_a_bad_server(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What all trials of server_battery.py say together."""
    import pandas as pd
    from server_battery import rates_of

    return rates_of(pd.read_csv(runs / sources[0]))


def five_digits(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The table, rounded."""
    import pandas as pd

    return pd.read_csv(runs / sources[0]).round(5)


def verdicts_of_the_rule(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What simulate_profile.py found, without the number of subjects."""
    import pandas as pd

    return pd.read_csv(runs / sources[0]).drop(columns="sets")


def panels_of_families(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What simulate_shared_or_own.py found, and for each row what names it and its place."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0])
    table.insert(0, "kind", table["layout"] + ", 1500: " + table["planted"])
    table.insert(1, "place", table["layout"] + ", 1,500")
    table.insert(3, "questions", 1500)
    return table


def rows_named_by(*columns: str) -> "Callable[[Path, tuple[str, ...]], pd.DataFrame]":
    """What makes a table with a first column `row`: the values of these columns with commas between; five digits."""

    def with_named_rows(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
        table = five_digits(runs, sources)
        table.insert(0, "row", table[list(columns)].astype(str).agg(", ".join, axis=1))
        return table

    return with_named_rows


def probes_by_layer(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """probes.csv of the subject's labels and the logistic probe, the AUROC alone; five digits."""
    table = rows_named_by("label", "layer")(runs, sources)
    kept = table["label"].isin(["own margin high", "own correct", "easy for all"]) & (table["method"] == "logistic")
    return table.loc[kept, ["row", "label", "layer", "auroc", "low", "high"]].sort_values(["label", "layer"])


def positions_over_layers(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """where.csv as means over its layers; five digits."""
    import pandas as pd

    places = pd.read_csv(runs / sources[0]).groupby(["label", "position"], as_index=False)
    table = places[["auroc", "written", "n"]].mean().round(5)
    table.insert(0, "row", table["label"] + ", " + table["position"].astype(str))
    return table


def turns_of_the_lens(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The layers of lens.csv at which something begins or ends."""
    import pandas as pd

    lens = pd.read_csv(runs / sources[0]).set_index("layer")
    yes = lens.index[(lens["mass"] >= 0.1) & (lens["says_yes"] >= 0.9)]
    turns = {
        "first that has an answer and says yes to nine in ten": yes[0],
        "last that has an answer and says yes to nine in ten": yes[-1],
        "first at which nine in ten are settled": lens.index[lens["settled"] >= 0.9][0],
        "first whose rank correlation is above .5": lens.index[lens["rank_correlation"] > 0.5][0],
    }
    return pd.Series(turns, name="layer").rename_axis("turn").reset_index()


def counts_of_probes(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """How many there are of what no other table counts."""
    import pandas as pd

    questions, tokens = (pd.read_parquet(runs / sources[place]) for place in (0, 4))
    chosen, effects, readings, writing = (pd.read_csv(runs / sources[place]) for place in (1, 2, 3, 5))
    others = chosen[chosen["label"].str.startswith("yes: ")]
    answers = tokens.drop_duplicates("question_id")
    told = writing.drop_duplicates(["label", "progress"]).dropna(subset="auroc")
    told = told[told["progress"] < 0.8]
    counts = {
        "questions": len(questions),
        "topics": questions["topic"].nunique(),
        "other respondents": len(others),
        "other respondents read beyond the words": (others["p_adds"] <= 0.05).sum(),
        "random directions": (effects["kind"] == "random").sum(),
        "readings of facts": len(readings),
        "readings of facts from which the reader did not abstain": readings["reading"].notna().sum(),
        "reasoned answers": len(answers),
        "tokens of the median answer": answers["n_tokens"].median(),
        "intervals before the last fifth": len(told),
        "intervals before the last fifth that leave out .5": (
            (told["auroc_low"] > 0.5) | (told["auroc_high"] < 0.5)
        ).sum(),
    }
    return pd.Series(counts, name="n").astype(int).rename_axis("what").reset_index()


def settings_of_the_profile(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """By magnitude: yes rate as the run tells it, facts answered right, mean confidences; five digits."""
    import pandas as pd

    cells, reports, truths = (pd.read_csv(runs / source) for source in sources[:3])
    facts = truths[truths["report"] == "unrelated facts"].set_index("magnitude")
    table = pd.DataFrame({"facts_right": facts["share"]})
    for name in ("confidence in words", "confidence in numbers"):
        own = reports.set_index("report").loc[name]
        shift = cells[(cells["report"] == name) & (cells["role"] == "vector")].set_index("magnitude")["shift"]
        table[name.replace(" ", "_")] = own["mean"] + own["sd"] * shift.reindex(table.index, fill_value=0.0)
    asked = json.loads((runs / sources[3]).read_text(encoding="utf-8"))["asked"]
    rates = [float(rate) for rate in re.findall(r"yes (0\.\d+)", asked)]
    table.loc[table.index != 0, "yes_rate"] = rates
    return table.round(5).rename_axis("magnitude").reset_index()


def pushes_of_the_profile(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """How far the vector and the random directions move each instrument: sizes without sign, both ways; five digits."""
    import numpy as np
    import pandas as pd

    cells, reports = (pd.read_csv(runs / source) for source in sources)
    moved = cells.assign(one=np.sign(cells["magnitude"]) * cells["shift"])
    random = moved[moved["role"] == "random"].groupby(["report", "intervention_id"])["one"].mean()
    table = reports.set_index("report")[["together"]].abs().rename(columns={"together": "vector"})
    by_report = random.groupby("report")
    table["n_random"] = by_report.size()
    size = random.abs()
    table["n_further"] = (size >= table["vector"].reindex(size.index, level="report")).groupby("report").sum()
    table["furthest_up"], table["furthest_down"] = by_report.max().clip(lower=0), by_report.min().clip(upper=0).abs()
    return table.reset_index().round(5)


def order_effects(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """orders.csv with one line for each instrument, sizes without sign; five digits."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0]).pivot(index="report", columns="effect", values="difference")
    return table.abs().round(5).reset_index()


def said_of_the_battery(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What the page says of the battery beyond its overview; five digits."""
    import pandas as pd

    pairs, properties, correction = (pd.read_csv(runs / source) for source in sources)
    language = properties.set_index("property").loc["language"]
    said = {
        "pairs of which A is taken in both orders": pairs["always_a"].item() * pairs["n"].item(),
        "pairs": pairs["n"].item(),
        "answers in English": language["happened"],
        "predicted in English": language["positive_rate"],
        "right at first": correction["first"].item(),
        "right after the check": correction["second"].item(),
    }
    return pd.Series(said, name="value").rename_axis("what").reset_index().round(5)


def tests_on_kinds_of_scale(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The study `scale` of simulate_structure_tests.py, its kinds side by side; five digits."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0]).query("study == 'scale'")
    table = table.assign(kind=table["panel"].str.split().str[0])
    beside = table.pivot(index="what", columns="kind", values="found").reindex(table["what"].unique())
    return beside.reset_index().round(5)


def tests_of_structure(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The other studies of simulate_structure_tests.py; five digits."""
    return five_digits(runs, sources).query("study != 'scale'")[["study", "panel", "what", "sets", "found", "se"]]


def accounts_of_panels(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What simulate_accounts.py found, a row for each kind of panel; five digits."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0])
    beside = table.pivot(index=["panel", "sets"], columns="what", values="found")[table["what"].unique()]
    return beside.reindex(table["panel"].unique(), level="panel").reset_index().round(5)


def verdicts_on_scenarios(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """By scenario of calibrate_verdict.py: how often each answer was given, rates, what intervals held; five digits."""
    import pandas as pd
    from calibrate_verdict import ANSWERS, coverage_of, rates_of

    verdicts = pd.read_csv(runs / sources[0])
    given = [pd.crosstab(verdicts["scenario"], verdicts[name]).add_prefix(f"{name}: ") for name in ANSWERS]
    counted = verdicts.groupby("scenario", sort=False).size().rename("n")
    found = (verdicts[["signal_p", "push_p", "push_p_alike"]] <= 0.05).groupby(verdicts["scenario"]).sum()
    parts = [counted, *given, found.add_suffix(" found"), rates_of(verdicts), coverage_of(verdicts)]
    table = pd.concat([part.reindex(counted.index) for part in parts], axis=1).round(5).reset_index()
    return table.rename(columns=lambda name: re.sub(r"[^\w]+", "_", str(name)).strip("_"))


def sentences_of_the_red_team(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """How often each answer and flag was given in each cell of red_team.py, and means of numbers; five digits."""
    import pandas as pd
    from red_team import operating_table

    table = operating_table(pd.read_csv(runs / sources[0])).reset_index().round(5)
    return table.rename(columns=lambda name: re.sub(r"[^\w]+", "_", str(name)).strip("_"))


def readings_of_the_zoo(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What each instrument said of zoo.py's respondents; five digits."""
    import pandas as pd
    from zoo import operating_table

    return operating_table(pd.read_csv(runs / sources[0])).reset_index().round(5)


def shares_of_null_orders(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """What calibrate_verdict.py --null-orders prints; five digits."""
    import pandas as pd
    from calibrate_verdict import shares_of_null_orders

    return shares_of_null_orders(pd.read_csv(runs / sources[0])).reset_index().round(5)


def peers_side_by_side(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """Question-magnitudes per second of bench_sweep.py's peers, by positions and layer; and how many times ours are."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0])
    table["place"] = table["positions"] + "_" + table["layer"].astype(str)
    beside = table.pivot(index="who", columns="place", values="rate").reindex(table["who"].unique())
    ours, hand_tuned = beside.index[beside.index.str.startswith("ours")], "plain hook, last logits only"
    best, others = beside.loc[ours].max(), beside.drop([*ours, hand_tuned]).max()
    beside.loc["faster than the best peer by"] = best / others
    beside.loc["faster than last logits only by"] = best / beside.loc[hand_tuned]
    return beside.reset_index().round(5)


def growth_side_by_side(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """CPU seconds of bench_sweep.py by number of questions; a column for each positions and number of magnitudes."""
    import pandas as pd

    table = pd.read_csv(runs / sources[0])
    table["case"] = table["positions"] + "_" + table["magnitudes"].astype(str)
    beside = table.pivot(index="questions", columns="case", values="seconds")[table["case"].unique()]
    return beside.reset_index().round(5)


def joined(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The tables one below the other; five digits."""
    import pandas as pd

    return pd.concat([pd.read_csv(runs / source) for source in sources]).round(5)


def correlations_with_ability(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """Pearson correlations with the ability, of means.csv and of difficulty and restriction alone; five digits."""
    import pandas as pd

    means, difficulty, restriction = (pd.read_csv(runs / source).set_index("model") for source in sources)
    means = means.dropna(subset="ability").assign(
        difficulty=difficulty["accuracy"], restriction_as_published=restriction["accuracy"]
    )
    correlation = means.drop(columns="ability").corrwith(means["ability"])
    return correlation.rename("correlation").rename_axis("of").reset_index().assign(n=len(means)).round(5)


def placing_by_size(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """summary.csv of each panel at three numbers of answers: every method's error, and how the adaptive one does."""
    import pandas as pd

    tables = []
    for source in sources:
        summary = pd.read_csv(runs / source).set_index(["method", "k"]).loc[:, [10, 25, 50], :]
        table = summary["rmse"].unstack("method").rename(columns=lambda name: str(name).replace(" ", "_"))
        kept = ["n", "rmse_low", "rmse_high", "close", "coverage", "coverage_low", "coverage_high"]
        kept += ["width", "bits", "bits_low", "bits_high"]
        table = table.join(summary.loc["adaptive", kept])
        tables.append(table.reset_index().assign(panel=Path(source).parent.name))
    return pd.concat(tables).set_index("panel").reset_index().round(5)
