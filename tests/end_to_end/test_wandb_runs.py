"""A sweep that is mirrored while it runs, broken off and gone on with: read back from what W&B wrote offline."""

import shlex
import shutil
import sys

import pytest
import yaml
from shared_runs import quick_run
from tiny_experiment import ROOT, STEER_SWEEP, as_arguments, main_of, run_here, write_experiment
from wandb_files import artifacts_of, complete_records, history_of, items_of, start_of

from onedial.core.options import parse_options
from onedial.core.run.parts import Parts
from onedial.core.run.run import Run
from onedial.show.results import captions_of
from onedial.verdict.sweep_run import SweepRun

ASK, FIT_FACTOR = ROOT / "experiments" / "ask.py", ROOT / "experiments" / "study_panel.py"
MAGNITUDES = "-1,-0.5,0.5,1"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("wandb")))
        patch.setenv("NETRC", str(tmp_path_factory.mktemp("no_login") / "netrc"))
        for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_RUN_ID", "WANDB_PROJECT", "WANDB_ENTITY"):
            patch.delenv(name, raising=False)
        yield patch


@pytest.fixture(scope="module")
def pieces(environment, tmp_path_factory):
    """The records of a run that was broken off in its sweep, and of the start that finished it."""
    folder = tmp_path_factory.mktemp("streamed")
    given = write_experiment(folder, n=120, n_targets=8) | {
        "layer": "2",
        "magnitudes": MAGNITUDES,
        "facts": 12,
        "instructed": True,
        "out": folder / "run",
        "wandb": "offline",
    }
    variables = {"PROJECT": "trial", "ENTITY": "a-team", "RUN_GROUP": "sizes", "TAGS": "tiny,first", "NAME": "my run"}
    append, n_parts = Parts.append, []

    def breaking_off(parts, part, **more):
        append(parts, part, **more)
        n_parts.append(part)
        if len(n_parts) == 3:
            raise KeyboardInterrupt

    environment.setattr(Parts, "append", breaking_off)
    with environment.context() as named:
        for name, value in variables.items():
            named.setenv(f"WANDB_{name}", value)
        assert run_here(STEER_SWEEP, *as_arguments(given)) == 130
        environment.setattr(Parts, "append", append)
        assert run_here(STEER_SWEEP, *as_arguments(given | {"resume": True})) == 0
    run = SweepRun.open(folder / "run")
    files = sorted((run.path / "wandb").glob("offline-run-*/*.wandb"), key=lambda file: file.stat().st_ctime)
    assert len(files) == 2
    return run, [complete_records(file) for file in files]


def told_in(pieces):
    """Every logged key and its last value."""
    return {key: value for records in pieces for step in history_of(records) for key, value in step.items()}


@pytest.mark.launched
def test_a_resumed_run_is_the_same_wandb_run(pieces):
    """A run that goes on is the same wandb run under the names of its variables."""
    run, (first, second) = pieces
    start, again = start_of(first), start_of(second)
    assert (start.project, start.entity, start.run_group) == ("trial", "a-team", "sizes")
    assert (start.display_name, list(start.tags)) == ("my run", ["tiny", "first"])
    assert start.run_id == again.run_id
    steps = [step["_step"] for records in (first, second) for step in history_of(records)]
    assert steps == sorted(set(steps))
    mirrored = told_in((first, second))
    done = {stage["stage"]: stage["seconds"] for stage in run.run.manifest.stages if stage["completed"]}
    assert {key: value for key, value in mirrored.items() if key.startswith("stages/")} == {
        f"stages/{name}": seconds for name, seconds in done.items()
    }
    assert mirrored["progress/sweep/of"] > 0


@pytest.mark.launched
def test_the_end_brings_summary_tables_and_artifacts(pieces):
    run, (first, second) = pieces
    summary = {}
    for record in second:
        if record.WhichOneof("record_type") == "summary":
            summary |= items_of(record.summary.update)
    assert summary["verdict.sentence"] == run.verdict().sentence
    assert set(artifacts_of(first)) == {"vector"}
    artifacts = artifacts_of(second)
    assert set(artifacts) >= {"vector", "sweep", "report"}
    asked = {str(file.relative_to(run.path)) for file in run.path.glob("*/part-*.parquet")}
    assert {name.split("/")[0] for name in asked} == {"sweep", "facts", "instructed"}
    held = {entry.path for entry in artifacts["sweep"].manifest.contents}
    assert held == asked | {"questions.parquet", "panel.parquet", "prompt.txt"}


@pytest.mark.launched
def test_a_factor_model_is_mirrored(pieces, environment, tmp_path):
    """A factor model is mirrored and without the option wandb is not even imported."""
    run, _ = pieces
    given = [run.path.parent / "panel.csv", "--replicates", 0]
    with environment.context() as hidden:
        hidden.setitem(sys.modules, "wandb", None)
        assert run_here(FIT_FACTOR, *given, "--deep", "--out", tmp_path / "plain") == 0
    assert run_here(FIT_FACTOR, *given, "--deep", "--out", tmp_path / "out", "--wandb", "offline") == 0
    (file,) = (tmp_path / "out" / "wandb").glob("offline-run-*/*.wandb")
    records = complete_records(file)
    mirrored, fitted = told_in([records]), Run.open(tmp_path / "out")
    shown = {key.split("/")[1].removesuffix(".nrows") for key in mirrored if key.endswith(".nrows")}
    assert shown == {file.stem for file in (tmp_path / "plain").glob("*.csv")}
    assert {key.split("/")[1].split(".")[0] for key in mirrored if key.startswith("figures/")} == set(
        captions_of(fitted)
    )
    held = {entry.path for entry in artifacts_of(records)["study_panel"].manifest.contents}
    assert {"report.html", "factor.json", "manifest.json", *(f"{name}.csv" for name in shown)} <= held


@pytest.mark.parametrize(
    ("program", "work"),
    [
        ("study_panel", "onedial.studies.panel.readings.fit_factor_model"),
        ("ask", "onedial.studies.battery.predict.score_self_prediction"),
        ("compare_runs", "onedial.verdict.comparing.comparison.Comparison"),
    ],
)
def test_online_without_a_login_is_refused_before_anything_is_done(environment, tmp_path, capsys, program, work):
    run = quick_run().run
    (tmp_path / "other").mkdir()
    for name in ("config.yaml", "manifest.json"):
        shutil.copy(run.path / name, tmp_path / "other")
    reads = {
        "study_panel": [run.path.parent / "panel.csv"],
        "ask": ["score", ROOT / "tests" / "reference" / "self_prediction"],
        "compare_runs": [run.path, tmp_path / "other"],
    }
    with environment.context() as idle:
        idle.setattr(work, lambda *_: pytest.fail("the work has begun"))
        given = [*reads[program], "--out", tmp_path / "out", "--wandb", "online"]
        assert run_here(ROOT / "experiments" / f"{program}.py", *given) == 2
    assert "W&B knows no API key" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_refused_leaves_no_wandb_run_behind(environment, tmp_path, capsys):
    (tmp_path / "panel.csv").write_text(
        "question_id,a,b\n" + "".join(f"q{n},{n % 2},{n % 3 == 0:d}\n" for n in range(40))
    )
    given = [tmp_path / "panel.csv", "--out", tmp_path / "out", "--wandb", "offline"]
    assert run_here(FIT_FACTOR, *given, "--deep") == 2
    assert "needs at least 3 such respondents" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_every_choice_of_the_sweep_file_is_one_that_the_program_takes():
    described = yaml.safe_load((ROOT / "scripts" / "wandb_sweep.yaml").read_text())
    assert (ROOT / described["program"]) == STEER_SWEEP
    assert set(described["parameters"]) == {"layer", "method", "positions"}
    main = main_of(STEER_SWEEP)
    fixed = [word for word in described["command"] if not word.startswith("${")]
    for name, choice in described["parameters"].items():
        for value in choice["values"]:
            options = parse_options(main.options, None, [*shlex.split(" ".join(fixed)), f"--{name}={value}"])
            assert str(getattr(options, name)) == str(value)
            assert options.wandb == "offline"
