"""A subject is asked what its panel was asked, and a run that asks otherwise says so everywhere."""

import shutil

import pytest
import yaml
from tiny_experiment import JUDGE_RUN, STEER_SWEEP, as_arguments, run_here, write_experiment

from onedial.panels.panel_files import load_panel
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import ASKED_OTHERWISE

QUICK = {"layer": 1, "magnitudes": "-1,1", "facts": 0, "reversed": 0, "n_questions": 80, "without_verdict": True}
FEW = ",".join(load_panel("frontier").answers.columns[::3])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_experiment(tmp_path_factory.mktemp("model"), n=80, n_targets=6)["model"]


def swept(folder, **options):
    assert run_here(STEER_SWEEP, *as_arguments(QUICK | options | {"out": folder})) == 0
    return SweepRun.open(folder)


@pytest.fixture(scope="module")
def frontier(model, tmp_path_factory):
    """The panel of requests with nothing said about the prompt."""
    return swept(tmp_path_factory.mktemp("frontier") / "run", model=model, panel="frontier", target=FEW)


@pytest.fixture(scope="module")
def neutral(model, tmp_path_factory):
    """The same panel, and the subject asked whether it can answer."""
    folder = tmp_path_factory.mktemp("neutral") / "run"
    return swept(folder, model=model, panel="frontier", target=FEW, prompt="neutral")


def test_another_question_than_the_panels_is_said_everywhere(frontier, neutral):
    """Another question than the panels is said in manifest notes report and sentence."""
    for run, question, otherwise in (
        (frontier, "Would you answer this request? Yes or No?", []),
        (neutral, "Can you answer this question correctly?", ["the subject something else"]),
    ):
        assert question in run.prompt()
        differences = run.run.manifest.facts["asked"]["otherwise"]
        assert [each.rpartition(", ")[2] for each in differences] == otherwise
        assert run.verdict().sentence.endswith(ASKED_OTHERWISE) == bool(otherwise)
        assert (ASKED_OTHERWISE in run.verdict().flags) == bool(otherwise)
        assert any(note.startswith("asked otherwise") for note in run.run.manifest.notes) == bool(otherwise)
        page = (run.path / "report.html").read_text(encoding="utf-8")
        assert ("The subject is asked otherwise than the panel was" in page) == bool(otherwise)


def test_judging_again_keeps_how_it_was_asked(unreported, frontier, neutral, tmp_path):
    for run, flagged in ((frontier, False), (neutral, True)):
        shutil.copytree(run.path, tmp_path / str(flagged))
        assert run_here(JUDGE_RUN, tmp_path / str(flagged)) == 0
        assert (ASKED_OTHERWISE in SweepRun.open(tmp_path / str(flagged)).verdict().flags) == flagged


def test_another_panel_is_held_against_what_the_subject_read(unreported, frontier, tmp_path):
    panel = frontier.panel().pivot(index="question_id", columns="respondent", values="said_yes")
    for name, question in (("same", "WOULD you answer this request"), ("other", "Can you answer this?")):
        (tmp_path / name).mkdir()
        panel.to_csv(tmp_path / name / "panel.csv")
        (tmp_path / name / "elicitation.yaml").write_text(yaml.safe_dump({"question": question}))
        out = tmp_path / name / "out"
        assert run_here(JUDGE_RUN, frontier.path, "--panel", tmp_path / name / "panel.csv", "--out", out) == 0
        judged = SweepRun.open(out)
        assert (ASKED_OTHERWISE in judged.verdict().flags) == (name == "other")
        assert judged.run.manifest.facts["asked"]["panel"]["question"] == question


def test_a_panel_of_one_s_own_brings_its_prompt_along(tmp_path, capsys):
    options = write_experiment(tmp_path, n=80, n_targets=6)
    (tmp_path / "elicitation.yaml").write_text(
        "question: Would you bet on your answer?\n"
        "prompt:\n  user: \"{question}\\nWould you bet on your answer?\"\n  assistant_prefix: 'Bet:'\n"
    )
    named = {name: value for name, value in options.items() if name != "prompt"}
    with_prompt = {"prompt": options["prompt"]}
    for more, wording in (({}, "Would you bet on your answer?\n<assistant> Bet:"), (with_prompt, "Can you tell?")):
        capsys.readouterr()
        assert run_here(STEER_SWEEP, *as_arguments(named | more | {"show_prompt": True})) == 0
        output = capsys.readouterr().out
        assert wording in output
        assert ("asked otherwise" in output) == bool(more)
