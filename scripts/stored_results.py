"""Which command made each stored result of tests/reference, docs/images and notebooks/, and how to make it again.

    python scripts/stored_results.py --list                          # every run: its command, cost, files and pages
    python scripts/stored_results.py default --runs runs/stored      # run it into runs/stored/default, copy its files
    python scripts/stored_results.py default --runs runs/stored --copy-only     # that run is there: only copy
    python scripts/stored_results.py --embedded --runs runs/stored   # all that rest on elicitation/data's questions
    python scripts/stored_results.py --all --runs runs/stored

A run that is there already goes on with --resume; after a change of the questions or the panel give another --runs. A
run that reads another one (`after`) takes it from the same folder. Files are copied byte for byte; of a few tables a
part is stored, as `made` says. Then run scripts/check_numbers.py, which holds the pages to what is stored.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from common import InputError, atomic_path, program_parser, run_command

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
REFERENCE, PICTURES, GALLERY = "tests/reference", "docs/images", "docs/images/gallery"
TESTS_OF_BATTERY = (
    "choices,pairs,correction,confidence,properties,failing,passages,beliefs,honesty,unknowable,hedges,critics"
)


# ---- tables of which a part is stored; each is given the folder of all runs and the sources, beneath it --------------


def dial_table(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """dials.csv in the columns of docs/dials.md, with KL and flips of rates.csv at three of the rates; five digits."""
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


def five_digits(runs: Path, sources: tuple[str, ...]) -> "pd.DataFrame":
    """The table, rounded."""
    import pandas as pd

    return pd.read_csv(runs / sources[0]).round(5)


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

    pairs, properties, correction, honesty = (pd.read_csv(runs / source) for source in sources)
    language = properties.set_index("property").loc["language"]
    said = {
        "pairs of which A is taken in both orders": pairs["always_a"].item() * pairs["n"].item(),
        "answers in English": language["happened"],
        "foretold in English": language["positive_rate"],
        "right at first": correction["first"].item(),
        "right after the check": correction["second"].item(),
        "right where it stands by its answer": honesty["accuracy"].item(),
    }
    return pd.Series(said, name="value").rename_axis("what").reset_index().round(5)


# ---- the table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class File:
    """One stored file.

    Attributes:
        stored: path from the repository's root.
        sources: the files that it is copied from or made of, paths beneath --runs.
        made: how, where it is no copy.
    """

    stored: str
    sources: tuple[str, ...]
    made: "Callable[[Path, tuple[str, ...]], pd.DataFrame] | None" = None


@dataclass(frozen=True)
class Stored:
    """What is run, and which of its files are stored.

    Attributes:
        commands: {run} is this run's folder, {runs} the one of all runs.
        minutes: of CPU time, one thread.
        rests_on: what of elicitation/data it reads; "questions" are questions.jsonl, "panel" is panel.csv.
        after: the runs that it reads.
        text: what else hangs on it, above all numbers on pages that name no stored result.
        in_place: what the commands themselves write, from the repository's root.
    """

    commands: tuple[str, ...]
    files: tuple[File, ...]
    minutes: float
    rests_on: tuple[str, ...]
    after: tuple[str, ...] = ()
    text: str = ""
    in_place: tuple[str, ...] = ()

    @property
    def embedded(self) -> bool:
        return bool({"questions", "panel"} & set(self.rests_on))


def copies(run: str, folder: str, *names: str) -> tuple[File, ...]:
    """Files of a run's folder that are stored under their own names, or under another: `FILE as NAME`."""
    parted = [name.partition(" as ") for name in names]
    return tuple(File(f"{folder}/{stored or source}", (f"{run}/{source}",)) for source, _, stored in parted)


SWEEP, DIALS = "python experiments/steer_sweep.py", "python experiments/compare_dials.py"
BOTH = ("questions", "panel")
RUNS: dict[str, Stored] = {
    "data": Stored(
        ("python -m elicitation.describe elicitation/data --out {run}",),
        copies(
            "data",
            f"{REFERENCE}/data",
            "eigenvalues.csv",
            "kinship.csv",
            "levels.csv",
            "outcomes.csv",
            "respondents.csv",
        ),
        minutes=0.2,
        rests_on=(*BOTH, "closed_book.csv"),
        text="tests/elicitation/test_describe.py makes them anew and compares. By hand in docs/data.md: what "
        "elicitation.balance and elicitation.kinship print.",
    ),
    "default": Stored(
        (f"{SWEEP} --out {{run}}",),
        (
            *copies("default", f"{REFERENCE}/default", "path.json", "rivals.csv", "verdict.json"),
            *copies("default", PICTURES, "figures/magnitude_threshold.png as magnitude_threshold.png"),
            *copies(
                "default",
                GALLERY,
                *(f"figures/{name}.svg as {name}.svg" for name in ("agreement", "dose_response")),
                *(f"figures/{name}.svg as {name}.svg" for name in ("layer_map", "magnitude_threshold")),
            ),
        ),
        minutes=5,
        rests_on=BOTH,
        text="By hand: what README.md and docs/experiment_log.md say of single base models.",
    ),
    "controls99": Stored(
        (f"{SWEEP} --controls 99 --out {{run}}",),
        (
            *copies("controls99", f"{REFERENCE}/controls99", "controls.csv", "verdict.json"),
            *copies("controls99", GALLERY, "figures/controls.svg as controls.svg"),
        ),
        minutes=15,
        rests_on=BOTH,
    ),
    "multiverse": Stored(
        ("python experiments/multiverse.py --out {run}",),
        (
            *copies("multiverse", f"{REFERENCE}/multiverse", "summary.json", "universes.csv"),
            *copies("multiverse", PICTURES, "figures/multiverse.png as multiverse.png"),
        ),
        minutes=13,
        rests_on=BOTH,
    ),
    "probes": Stored(
        (
            "python experiments/train_probes.py --dial {runs}/default --n-reasoned 48 --store {run}-activations "
            "--out {run}",
        ),
        (
            *copies("probes", f"{REFERENCE}/probes", "chosen.csv", "chosen_facts.csv"),
            *copies("probes", f"{REFERENCE}/probes", "direct.csv", "distance.csv", "effects.csv", "replacement.csv"),
            *(
                File(f"{REFERENCE}/probes/{name}.csv", (f"probes/{name}.csv",), rows_named_by(*columns))
                for name, columns in {
                    "cross": ("probe", "label"),
                    "directions": ("method", "label", "other"),
                    "distraction": ("method", "distraction"),
                    "erasure": ("erased", "label"),
                    "own": ("label", "where"),
                    "patching": ("kind", "layer"),
                    "statements": ("method", "marker", "layer"),
                    "transfer": ("probe", "label"),
                    "writing": ("label", "verdict", "progress"),
                }.items()
            ),
            File(f"{REFERENCE}/probes/by_layer.csv", ("probes/probes.csv",), probes_by_layer),
            File(f"{REFERENCE}/probes/lens.csv", ("probes/lens.csv",), turns_of_the_lens),
            File(f"{REFERENCE}/probes/where.csv", ("probes/where.csv",), positions_over_layers),
            File(
                f"{REFERENCE}/probes/counts.csv",
                tuple(
                    f"probes/{name}"
                    for name in (
                        *("questions.parquet", "chosen.csv", "effects.csv"),
                        *("readings.csv", "tokens_written.parquet", "writing.csv"),
                    )
                ),
                counts_of_probes,
            ),
        ),
        minutes=8,
        rests_on=BOTH,
        after=("default",),
        text="By hand in docs/probes.md: what is worked out from two stored numbers, and what it costs. Of other runs: "
        "the neutral prompt (--prompt neutral), --embedding, and scripts/calibrate_probes.py.",
    ),
    "profile": Stored(
        ("python experiments/dial_profile.py {runs}/default --out {run}",),
        (
            *copies("profile", f"{REFERENCE}/profile", "accuracy.csv", "reports.csv", "written.csv"),
            File(
                f"{REFERENCE}/profile/settings.csv",
                tuple(f"profile/{name}" for name in ("cells.csv", "reports.csv", "truths.csv", "summary.json")),
                settings_of_the_profile,
            ),
            File(
                f"{REFERENCE}/profile/pushes.csv", ("profile/cells.csv", "profile/reports.csv"), pushes_of_the_profile
            ),
            File(f"{REFERENCE}/profile/orders.csv", ("profile/orders.csv",), order_effects),
            *copies("profile", GALLERY, "figures/dial_profile.svg as dial_profile.svg"),
        ),
        minutes=14,
        rests_on=BOTH,
        after=("default",),
        text="The panel is met through the default run alone.",
    ),
    "profile99": Stored(
        (
            "python experiments/dial_profile.py {runs}/default --controls 99 --no-answers --instruments "
            '"can you answer,confidence in words,unrelated facts" --out {run}',
        ),
        copies("profile99", f"{REFERENCE}/profile", "reports.csv as reports99.csv"),
        minutes=8,
        rests_on=BOTH,
        after=("default",),
    ),
    "simulated": Stored(
        ("python scripts/simulate_profile.py --subjects 120 --table {run}/simulated.csv",),
        copies("simulated", f"{REFERENCE}/profile", "simulated.csv"),
        minutes=3,
        rests_on=(),
    ),
    "battery": Stored(
        (
            "python experiments/ask_battery.py --items 16 --n-each 4 --samples 2 "
            f"--tests {TESTS_OF_BATTERY} --out {{run}}",
        ),
        (
            *copies("battery", f"{REFERENCE}/battery", "overview.csv"),
            File(
                f"{REFERENCE}/battery/said.csv",
                tuple(f"battery/{name}.csv" for name in ("pairs", "properties", "correction", "honesty")),
                said_of_the_battery,
            ),
        ),
        minutes=6,
        rests_on=("questions", "passages.txt"),
        text="By hand: passages, pairs and pressure in docs/experiment_log.md, of runs with --tests ONE --items 16 (12 "
        "for pressure).",
    ),
    "written": Stored(
        ("python experiments/score_written.py --n-questions 80 --samples 1 --out {run}",),
        copies("written", f"{REFERENCE}/written", "signals.csv"),
        minutes=4,
        rests_on=("questions",),
    ),
    "dials": Stored(
        (f"{DIALS} --out {{run}}",),
        (
            File(f"{REFERENCE}/dials/default.csv", ("dials/dials.csv", "dials/rates.csv"), dial_table),
            *copies("dials", f"{REFERENCE}/dials", "comparison.json as default.json"),
            File(
                f"{REFERENCE}/dials/directions.csv",
                ("dials/directions.csv", "dials/layer.json"),
                directions_at_the_layer,
            ),
        ),
        minutes=9,
        rests_on=BOTH,
    ),
    "dials-lora": Stored(
        (
            f"{DIALS} --dials interventions,cut,lora --methods mean_difference --operators add --layer 21 --facts 40 "
            "--passages 4 --out {run}",
        ),
        (File(f"{REFERENCE}/dials/lora.csv", ("dials-lora/dials.csv", "dials-lora/rates.csv"), dial_table),),
        minutes=16,
        rests_on=BOTH,
        text="Needs peft (requirements-adapters.txt).",
    ),
    "dials-seeds": Stored(
        tuple(
            f"{DIALS} --seed {seed} --layer 21 --methods mean_difference,lda,random --operators add,clamp --dials "
            f"interventions,cut --facts 20 --passages 4 --out {{run}}/{seed}"
            for seed in (1, 2, 3)
        ),
        (
            File(
                f"{REFERENCE}/dials/seeds.csv",
                tuple(
                    f"{run}/{name}.csv"
                    for run in ("dials", "dials-seeds/1", "dials-seeds/2", "dials-seeds/3")
                    for name in ("dials", "rates")
                ),
                draws_side_by_side,
            ),
        ),
        minutes=6,
        rests_on=BOTH,
        after=("dials",),
    ),
    "dials-reasoned": Stored(
        (
            f"{SWEEP} --answer reasoned --reasoned-settings 3 --reasoned-tokens 60 --side-effects --n-questions 160 "
            "--facts 200 --layer 21 --out {run}",
        ),
        (
            *copies("dials-reasoned", f"{REFERENCE}/dials", "reasoned_settings.csv", "side_effects.json"),
            File(f"{REFERENCE}/dials/side_effects.csv", ("dials-reasoned/side_effects.csv",), five_digits),
        ),
        minutes=7,
        rests_on=BOTH,
        text="By hand: the counts of texts in docs/dials.md.",
    ),
    "frontier-all": Stored(
        (f"{SWEEP} --panel frontier --model qwen2.5-coder-1.5b-instruct --out {{run}}",),
        (
            *copies("frontier-all", f"{REFERENCE}/frontier/all", "matches.csv", "rivals.csv", "verdict.json"),
            *copies(
                "frontier-all",
                PICTURES,
                "figures/rivals.png as frontier_rivals.png",
                "figures/magnitude_threshold.png as frontier_threshold.png",
            ),
        ),
        minutes=30,
        rests_on=("frontier",),
    ),
    "frontier-safe": Stored(
        (f"{SWEEP} --panel frontier --questions frontier-safe --model qwen2.5-coder-1.5b-instruct --out {{run}}",),
        copies("frontier-safe", f"{REFERENCE}/frontier/safe", "matches.csv", "rivals.csv", "verdict.json"),
        minutes=20,
        rests_on=("frontier",),
    ),
    "notebooks": Stored(
        ("python scripts/run_notebooks.py --save",),
        (),
        minutes=6,
        rests_on=BOTH,
        text="04 and 05 open tests/reference/golden/default, too. The prose under the figures is to be read again.",
        in_place=("notebooks",),
    ),
}
KEPT = {
    "golden": "Two runs of format 1 (commit ef2b90b, before this history begins), which no program of today writes: "
    "`default` by `python experiments/steer_sweep.py`, `all_positions` by the same with `--positions all --controls 3 "
    "--layer 10,20 --n-questions 160`. They hold their own questions and panel, so that nothing in elicitation/data "
    "changes them. matches.csv, verdict.json and factor.json alone are renewed, where a number is meant to change: "
    "`python experiments/judge_run.py COPY`, of a copy of the folder.",
    "imports": "Logs of inspect_ai, lm_eval, every_eval_ever and HELM, as tests/elicitation/test_importing.py says.",
    "self_execution": "Raw answers of another study; README.md in the folder says which.",
}
"""Folders of tests/reference that no command here makes again, and why."""


# ---- the program -----------------------------------------------------------------------------------------------------


def main() -> int:
    options = parse_options()
    names = chosen_names(options)
    if options.list:
        print("\n\n".join([*(told(name) for name in names), *(f"{name}: kept\n  {why}" for name, why in KEPT.items())]))
        return 0
    if options.runs is None:
        raise InputError("no folder is named for the runs; give one, for example --runs runs/stored")
    runs = options.runs.resolve()
    for name in names:
        if not options.copy_only:
            make(name, runs)
        for path in copy(name, runs, options.into):
            print(path.relative_to(options.into))
    return 0


def chosen_names(options: argparse.Namespace) -> list[str]:
    """The runs that are asked for, in the order of the table, in which each comes after those that it reads."""
    for name in options.names:
        if name in KEPT:
            raise InputError(f"{name} is not made again; --list says why")
        if name not in RUNS:
            raise InputError(f"there is no stored run {name!r}; it is one of {', '.join(RUNS)}")
    if options.list and not options.names and not options.embedded:
        return list(RUNS)
    names = [
        name for name in RUNS if options.all or name in options.names or (options.embedded and RUNS[name].embedded)
    ]
    if not names:
        raise InputError("no run is named; name some, or give --embedded, --all or --list")
    return names


def told(name: str) -> str:
    """What --list says of one run."""
    own = RUNS[name]
    rests = " and ".join(own.rests_on) or "nothing in elicitation/data"
    lines = [
        f"{name}: {own.minutes:g} CPU minutes; rests on {rests}"
        + (f"; after {', '.join(own.after)}" if own.after else ""),
        *(f"  {command}" for command in own.commands),
        *(
            f"  -> {file.stored}" + (f"  ({file.made.__name__} of {', '.join(file.sources)})" if file.made else "")
            for file in own.files
        ),
        *(f"  -> {place}/, in place" for place in own.in_place),
    ]
    if pages := pages_of(own):
        lines.append(f"  quoted in {', '.join(pages)}")
    return "\n".join([*lines, *([f"  {own.text}"] if own.text else [])])


def pages_of(own: Stored) -> list[str]:
    """The pages that name one of its files, in a comment of check_numbers.py or as a picture."""
    quoted = [rf"=\s*{re.escape(file.stored.removeprefix(f'{REFERENCE}/'))}\s" for file in own.files]
    shown = [rf"\((docs/)?{re.escape(file.stored.removeprefix('docs/'))}\)" for file in own.files]
    return [page for page, text in _pages().items() if re.search("|".join([*quoted, *shown]), text)] if quoted else []


@cache
def _pages() -> dict[str, str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages}


def make(name: str, runs: Path) -> None:
    """Run its commands, or go on with them.

    Raises:
        InputError: a run that it reads is not there, or a command ended with an error.
    """
    own = RUNS[name]
    for other in own.after:
        if not (runs / other).is_dir():
            raise InputError(f"{name} reads the run {other}, which is not in {runs}; make {other} first")
    if own.files:
        (runs / name if "--table" in own.commands[0] else runs).mkdir(parents=True, exist_ok=True)
    found = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    for command in own.commands:
        words = words_of(command, name, runs)
        print(f"{name}: {shlex.join(words)}", flush=True)
        began = time.monotonic()
        code = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, env=environment, check=False).returncode
        if code:
            raise InputError(f"{name} ended with exit code {code}; mend what it says, and the same command goes on")
        print(f"{name}: {(time.monotonic() - began) / 60:.1f} minutes", flush=True)


def words_of(command: str, name: str, runs: Path) -> list[str]:
    """A command with its folders, and with --resume where its run has been begun."""
    words = [word.replace("{run}", str(runs / name)).replace("{runs}", str(runs)) for word in shlex.split(command)]
    if words[1].startswith("experiments/") and Path(words[words.index("--out") + 1]).exists():
        words.append("--resume")
    return words


def copy(name: str, runs: Path, into: Path = ROOT) -> list[Path]:
    """Store its files under `into`; nothing is written where one of them is missing.

    Returns:
        the files written.

    Raises:
        InputError: a file is missing.
    """
    own = RUNS[name]
    missing = [source for file in own.files for source in file.sources if not (runs / source).is_file()]
    if missing:
        raise InputError(
            f"{missing[0]} is not in {runs} ({len(missing)} missing); finish the run {missing[0].split('/')[0]}"
        )
    for source in {source for file in own.files for source in file.sources}:
        check_finished((runs / source).parent, runs)
    made = [file.made(runs, file.sources) if file.made else None for file in own.files]
    for file, table in zip(own.files, made, strict=True):
        with atomic_path(into / file.stored) as temporary:
            if table is None:
                shutil.copyfile(runs / file.sources[0], temporary)
            else:
                table.to_csv(temporary, index=False, lineterminator="\n")
    return [into / file.stored for file in own.files]


def check_finished(folder: Path, runs: Path) -> None:
    """Raise InputError where the run that a file lies in was broken off."""
    while folder != runs and not (folder / "manifest.json").is_file():
        folder = folder.parent
    if folder == runs:
        return
    stages = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("stages", [])
    if stages and not stages[-1]["completed"]:
        raise InputError(f"{folder} was broken off at {stages[-1]['stage']!r}; finish it with --resume, then copy")


def stored_files() -> Iterable[str]:
    """Every file that the table names."""
    return (file.stored for own in RUNS.values() for file in own.files)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which runs; --list names them")
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument("--all", action="store_true", help="every run, in order")
    parser.add_argument("--embedded", action="store_true", help="those that rest on the embedded questions or panel")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="folder of the runs, one folder each")
    parser.add_argument("--copy-only", action="store_true", help="run nothing: the runs are there")
    parser.add_argument(
        "--into", type=Path, default=ROOT, metavar="DIR", help="copy beneath another folder than this one"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run_command(main))
