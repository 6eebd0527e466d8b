"""Every stored run: its commands, what of it is stored and where, what it costs and what it rests on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stored_parts import (
    accounts_of_panels,
    correlations_with_ability,
    counts_of_probes,
    dial_table,
    directions_at_the_layer,
    draws_side_by_side,
    five_digits,
    growth_side_by_side,
    joined,
    order_effects,
    panels_of_families,
    peers_side_by_side,
    placing_by_size,
    positions_over_layers,
    probes_by_layer,
    pushes_of_the_profile,
    rates_under_a_bad_server,
    readings_of_the_zoo,
    rows_named_by,
    said_of_the_battery,
    sentences_of_the_red_team,
    settings_of_the_profile,
    shares_of_null_orders,
    tests_of_structure,
    tests_on_kinds_of_scale,
    turns_of_the_lens,
    verdicts_of_the_rule,
    verdicts_on_scenarios,
)

if TYPE_CHECKING:
    import pandas as pd

REFERENCE, PICTURES, GALLERY = "tests/reference", "docs/images", "docs/images/gallery"
TESTS_OF_BATTERY = (
    "choices,pairs,correction,confidence,properties,failing,passages,beliefs,honesty,unknowable,hedges,critics"
)


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
        rests_on: what of onedial/panels/data it reads; "questions" are questions.jsonl, "panel" is panel.csv.
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
BENCH = "python scripts/bench_sweep.py"
BOTH = ("questions", "panel")
_JUDGED = ("prediction.csv", "rivals.csv", "verdict.json")
RUNS: dict[str, Stored] = {
    "data": Stored(
        ("python scripts/describe_panel.py onedial/panels/data --out {run}",),
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
        text="tests/scripts/test_describe_panel.py makes them anew and compares. By hand in docs/data.md: what "
        "onedial.scale.study.kinship prints.",
    ),
    "balance": Stored(
        ("python scripts/question_balance.py embedded --out {run}",),
        copies("balance", f"{REFERENCE}/balance", "make_up.csv", "told_apart.csv"),
        minutes=0.4,
        rests_on=("questions",),
        text="By hand in docs/data.md: what the texts told before they were reworded.",
    ),
    "default": Stored(
        (f"{SWEEP} --out {{run}}",),
        (
            *copies("default", f"{REFERENCE}/default", "path.json", *_JUDGED),
            *copies(
                "default",
                PICTURES,
                "figures/magnitude_threshold.png as magnitude_threshold.png",
            ),
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
    "causes": Stored(
        (f"{SWEEP} --tests interchange,mediation --out {{run}}",),
        copies("causes", f"{REFERENCE}/causes", "interchange.csv", "mediation.csv"),
        minutes=8,
        rests_on=BOTH,
        text="Its verdict is that of default.",
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
    "hold_out": Stored(
        (f"{SWEEP} --hold-out topics --out {{run}}",),
        copies("hold_out", f"{REFERENCE}/hold_out", "verdict.json"),
        minutes=5,
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
        text="By hand in docs/probes_evidence.md: what is worked out from two stored numbers. Of other runs: "
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
        ("python scripts/simulate_profile.py --table {run}/simulated.csv",),
        (File(f"{REFERENCE}/profile/simulated.csv", ("simulated/simulated.csv",), verdicts_of_the_rule),),
        minutes=3,
        rests_on=(),
    ),
    "empty_cells": Stored(
        ("python scripts/simulate_empty_cells.py --table {run}/empty_cells.csv",),
        copies("empty_cells", f"{REFERENCE}/simulated", "empty_cells.csv"),
        minutes=1,
        rests_on=(),
    ),
    "structure_tests": Stored(
        ("python scripts/simulate_structure_tests.py --table {run}/structure_tests.csv",),
        (
            File(
                f"{REFERENCE}/simulated/scales.csv", ("structure_tests/structure_tests.csv",), tests_on_kinds_of_scale
            ),
            File(
                f"{REFERENCE}/simulated/structure_tests.csv",
                ("structure_tests/structure_tests.csv",),
                tests_of_structure,
            ),
        ),
        minutes=20,
        rests_on=(),
    ),
    "place": Stored(
        tuple(
            f"python experiments/place.py {panel} --evaluate --out {{run}}/{panel}"
            for panel in ("frontier-confidence", "frontier", "embedded")
        ),
        (
            File(
                f"{REFERENCE}/place/by_size.csv",
                tuple(f"place/{panel}/summary.csv" for panel in ("frontier-confidence", "frontier", "embedded")),
                placing_by_size,
            ),
            *copies("place", GALLERY, "frontier-confidence/figures/quality.svg as placing.svg"),
        ),
        minutes=8,
        rests_on=(*BOTH, "frontier", "frontier_confidence"),
    ),
    "placing": Stored(
        ("python scripts/simulate_placing.py --table {run}/placing.csv",),
        (File(f"{REFERENCE}/simulated/placing.csv", ("placing/placing.csv",), five_digits),),
        minutes=2,
        rests_on=(),
    ),
    "accounts": Stored(
        ("python scripts/simulate_accounts.py --table {run}/accounts.csv",),
        (File(f"{REFERENCE}/simulated/accounts.csv", ("accounts/accounts.csv",), accounts_of_panels),),
        minutes=20,
        rests_on=(),
    ),
    "matching": Stored(
        ("python scripts/simulate_matching.py --table {run}/matching.csv",),
        (File(f"{REFERENCE}/simulated/matching.csv", ("matching/matching.csv",), five_digits),),
        minutes=6,
        rests_on=(),
    ),
    "shared_or_own": Stored(
        ("python scripts/simulate_shared_or_own.py --table {run}/shared_or_own.csv",),
        (File(f"{REFERENCE}/simulated/shared_or_own.csv", ("shared_or_own/shared_or_own.csv",), panels_of_families),),
        minutes=20,
        rests_on=(),
    ),
    "study": Stored(
        ("python experiments/study_panel.py --out {run}",),
        copies(
            "study",
            f"{REFERENCE}/study",
            "readings.csv",
            "predictors.csv",
            "predictors_by_model.csv",
            "shared_or_own.csv",
            "shared_or_own_mean.json",
            "confidence_accuracy.csv",
            "attitudes.csv",
            "screening.csv",
            "topics.csv",
            "summary.json",
        )
        + copies(
            "study",
            PICTURES,
            *(f"figures/{name}.png as study_{name}.png" for name in ("loadings", "base_models", "predictors")),
        ),
        minutes=1,
        rests_on=("frontier_confidence",),
    ),
    "verdicts": Stored(
        ("python scripts/calibrate_verdict.py --seeds 200 --table {run}/verdicts.csv",),
        (File(f"{REFERENCE}/simulated/verdicts.csv", ("verdicts/verdicts.csv",), verdicts_on_scenarios),),
        minutes=12,
        rests_on=(),
    ),
    "red_team": Stored(
        ("python scripts/red_team.py --seeds 28 --table {run}/red_team.csv",),
        (File(f"{REFERENCE}/simulated/red_team.csv", ("red_team/red_team.csv",), sentences_of_the_red_team),),
        minutes=15,
        rests_on=(),
    ),
    "server_battery": Stored(
        ("python scripts/server_battery.py --n 20 --table {run}/trials.csv",),
        (File(f"{REFERENCE}/batteries/server.csv", ("server_battery/trials.csv",), rates_under_a_bad_server),),
        minutes=10,
        rests_on=(),
        text="What the server does to a request hangs on its seed; the moments of the kills on the machine too.",
    ),
    "zoo": Stored(
        ("python scripts/zoo.py --seeds 10 --table {run}/zoo.csv",),
        (File(f"{REFERENCE}/simulated/zoo.csv", ("zoo/zoo.csv",), readings_of_the_zoo),),
        minutes=3,
        rests_on=("questions",),
    ),
    "null_orders": Stored(
        ("python scripts/calibrate_verdict.py --null-orders 261 --table {run}/null_orders.csv",),
        (File(f"{REFERENCE}/simulated/null_orders.csv", ("null_orders/null_orders.csv",), shares_of_null_orders),),
        minutes=3,
        rests_on=(),
    ),
    "probe_errors": Stored(
        ("python scripts/calibrate_probes.py --table {run}/probe_errors.csv",),
        (File(f"{REFERENCE}/simulated/probe_errors.csv", ("probe_errors/probe_errors.csv",), five_digits),),
        minutes=15,
        rests_on=(),
    ),
    "bench_sweep": Stored(
        (
            f"{BENCH} --framing self-doubting --parts peers --tables {{run}}/long",
            f"{BENCH} --framing self-doubting --n-questions 16 --magnitudes 41 --positions last --parts operators "
            "--tables {run}/last",
            f"{BENCH} --framing self-doubting --n-questions 8 --magnitudes 3 --positions all --parts operators "
            "--tables {run}/all",
            f"{BENCH} --parts memory growth critical processes --tables {{run}}/more",
        ),
        (
            File(f"{REFERENCE}/bench/peers.csv", ("bench_sweep/long/peers.csv",), peers_side_by_side),
            File(
                f"{REFERENCE}/bench/operators.csv",
                ("bench_sweep/last/operators.csv", "bench_sweep/all/operators.csv"),
                joined,
            ),
            File(f"{REFERENCE}/bench/growth.csv", ("bench_sweep/more/growth.csv",), growth_side_by_side),
            *(
                File(f"{REFERENCE}/bench/{part}.csv", (f"bench_sweep/more/{part}.csv",))
                for part in ("memory", "critical", "processes")
            ),
        ),
        minutes=48,
        rests_on=("questions",),
        text="By hand: the neutral prompt's ratios. Needs nnsight, "
        "steering-vectors and repeng (which needs numpy.float_ back). Of one machine: compare ratios within a run.",
    ),
    "bench_psychometrics": Stored(
        (
            "python scripts/bench_psychometrics.py --table {run}/small.csv",
            "python scripts/bench_psychometrics.py --size 1000 100000 --table {run}/large.csv",
        ),
        tuple(
            File(f"{REFERENCE}/bench/psychometrics_{size}.csv", (f"bench_psychometrics/{size}.csv",), five_digits)
            for size in ("small", "large")
        ),
        minutes=5,
        rests_on=(),
    ),
    "bench_probes": Stored(
        (
            'python scripts/bench_probes.py --framing "examples YN" --n-questions 32 --store {run}/store '
            "--table {run}/probes.csv",
        ),
        copies("bench_probes", f"{REFERENCE}/bench", "probes.csv"),
        minutes=3,
        rests_on=BOTH,
    ),
    "battery": Stored(
        (
            "python experiments/ask_battery.py --n-questions 16 --n-each 4 --samples 2 "
            f"--instruments {TESTS_OF_BATTERY} --out {{run}}",
        ),
        (
            *copies("battery", f"{REFERENCE}/battery", "overview.csv"),
            File(
                f"{REFERENCE}/battery/said.csv",
                tuple(f"battery/{name}.csv" for name in ("pairs", "properties", "correction")),
                said_of_the_battery,
            ),
        ),
        minutes=6,
        rests_on=("questions", "passages.txt"),
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
            f"{DIALS} --dials interventions,cut,lora --method mean_difference --operator add --layer 21 --facts 40 "
            "--passages 4 --out {run}",
        ),
        (File(f"{REFERENCE}/dials/lora.csv", ("dials-lora/dials.csv", "dials-lora/rates.csv"), dial_table),),
        minutes=16,
        rests_on=BOTH,
        text="Needs peft (onedial[adapters]).",
    ),
    "dials-seeds": Stored(
        tuple(
            f"{DIALS} --seed {seed} --layer 21 --method mean_difference,lda,random --operator add,clamp --dials "
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
        text="By hand: the counts of texts in docs/dials_evidence.md.",
    ),
    "frontier-135m": Stored(
        (f"{SWEEP} --panel frontier-confidence --n-questions 400 --layer 21 --out {{run}}",),
        copies("frontier-135m", f"{REFERENCE}/frontier_confidence/135m", "prediction.csv", "verdict.json"),
        minutes=8,
        rests_on=("frontier_confidence",),
    ),
    "frontier-270m": Stored(
        (
            f"{SWEEP} --panel frontier-confidence --n-questions 400 --model gemma-3-270m --prompt 'examples YN' "
            "--layer 13 --facts 30 --dtype bfloat16 --out {run}",
        ),
        copies("frontier-270m", f"{REFERENCE}/frontier_confidence/270m", *_JUDGED),
        minutes=5,
        rests_on=("frontier_confidence",),
    ),
    "frontier-0.5b": Stored(
        (
            f"{SWEEP} --panel frontier-confidence --n-questions 400 --model qwen2.5-coder-0.5b-instruct --layer 17 "
            "--facts 30 --dtype bfloat16 --out {run}",
        ),
        copies("frontier-0.5b", f"{REFERENCE}/frontier_confidence/0.5b", *_JUDGED),
        minutes=12,
        rests_on=("frontier_confidence",),
    ),
    "frontier-1.5b": Stored(
        (
            f"{SWEEP} --panel frontier-confidence --n-questions 120 --model qwen2.5-coder-1.5b-instruct --layer 20 "
            "--facts 0 --dtype bfloat16 --magnitudes=-0.3,-0.2,-0.15,-0.1,-0.075,-0.05,-0.025,0.025,0.05,0.075,0.1,"
            "0.15,0.2,0.3 --out {run}",
        ),
        copies("frontier-1.5b", f"{REFERENCE}/frontier_confidence/1.5b", *_JUDGED),
        minutes=10,
        rests_on=("frontier_confidence",),
    ),
    "frontier-sizes": Stored(
        ("python scripts/dials_by_size.py --out {run}",),
        (
            *copies("frontier-sizes", f"{REFERENCE}/frontier_sizes", "sizes.csv"),
            *copies("frontier-sizes", PICTURES, "sizes.png as frontier_sizes.png"),
        ),
        minutes=0.1,
        rests_on=("frontier_confidence",),
        after=("frontier-135m", "frontier-270m", "frontier-0.5b", "frontier-1.5b"),
        text="Rests on tests/reference/frontier_confidence, which these runs have filled.",
    ),
    "frontier-all": Stored(
        (
            f"{SWEEP} --panel frontier --model qwen2.5-coder-1.5b-instruct --layer 17 --facts 30 --dtype bfloat16 "
            "--out {run}",
        ),
        (
            *copies("frontier-all", f"{REFERENCE}/frontier/all", *_JUDGED, "matches.csv"),
            *copies(
                "frontier-all",
                PICTURES,
                "figures/rivals.png as frontier_rivals.png",
                "figures/magnitude_threshold.png as frontier_threshold.png",
            ),
        ),
        minutes=14,
        rests_on=("frontier",),
    ),
    "frontier-safe": Stored(
        ("python experiments/judge_run.py {runs}/frontier-all --panel frontier --questions frontier-safe --out {run}",),
        copies("frontier-safe", f"{REFERENCE}/frontier/safe", *_JUDGED, "matches.csv"),
        minutes=0.5,
        rests_on=("frontier",),
        after=("frontier-all",),
    ),
    "self_prediction": Stored(
        ("python experiments/score_self_prediction.py tests/reference/self_execution --out {run}",),
        (
            *(
                File(f"{REFERENCE}/self_prediction/{name}.csv", (f"self_prediction/{name}.csv",), five_digits)
                for name in ("association", "restriction", "cross_association", "cross_difficulty", "cross_restriction")
            ),
            File(
                f"{REFERENCE}/self_prediction/correlations.csv",
                tuple(f"self_prediction/{name}.csv" for name in ("means", "difficulty", "restriction")),
                correlations_with_ability,
            ),
        ),
        minutes=1,
        rests_on=(),
        text="Rests on tests/reference/self_execution.",
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
    "golden": "Two runs of commit ef2b90b, before this history begins, put into the present format: "
    "`default` by `python experiments/steer_sweep.py`, `all_positions` by the same with `--positions all --controls 3 "
    "--layer 10,20 --n-questions 160`. They hold their own questions and panel, so that nothing in onedial/panels/data "
    "changes them. matches.csv, verdict.json and factor.json alone are renewed, where a number is meant to change: "
    "`python experiments/judge_run.py COPY`, of a copy of the folder.",
    "imports": "Logs of inspect_ai, lm_eval, every_eval_ever and HELM, as tests/panels/test_importing.py says.",
    "self_execution": "Raw answers of another study; README.md in the folder says which.",
}
"""Folders of tests/reference that no command here makes again, and why."""
