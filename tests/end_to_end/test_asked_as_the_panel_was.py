"""A subject is asked what its panel was asked, and a run that asks otherwise says so everywhere."""

import shutil

import pytest
import yaml
from blank import report_nothing
from tiny_experiment import JUDGE_RUN, STEER_SWEEP, as_arguments, run_here, write_experiment

from onedial.asking.questions import questions_frame
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions
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


@pytest.fixture(scope="module")
def numbers(model, tmp_path_factory):
    """The panel of stated confidence; the tiny model reads 512 letters and no more."""
    folder = tmp_path_factory.mktemp("numbers")
    short = questions_frame([each for each in load_questions("frontier-confidence") if len(each.text) < 300])
    short[["id", "question", "topic"]].to_csv(folder / "short.csv", index=False)
    few = ",".join(load_panel("frontier-confidence:90").answers.columns[::5])
    more = {"questions": folder / "short.csv", "target": few}
    with pytest.MonkeyPatch.context() as patched:
        report_nothing(patched.setattr)
        return swept(folder / "run", model=model, panel="frontier-confidence:90", **more)


def report_of(run):
    return (run.path / "report.html").read_text(encoding="utf-8")


def test_the_subject_of_the_panel_of_requests_is_asked_whether_it_would_answer(frontier):
    assert "Would you answer this request? Yes or No?" in frontier.prompt()[0]
    asked = frontier.run.manifest.facts["asked"]
    assert asked["panel"]["question"] == "Would you answer this request?"
    assert asked["otherwise"] == []
    assert ASKED_OTHERWISE not in frontier.verdict()["sentence"]
    assert "How the panel was asked" in report_of(frontier)
    assert any("6 of 6 targets answered after reasoning" in note for note in frontier.run.manifest.notes)


def test_another_prompt_is_said_in_manifest_notes_report_and_sentence(neutral):
    assert "Can you answer this question correctly?" in neutral.prompt()[0]
    said = neutral.run.manifest.facts["asked"]["otherwise"]
    assert said == ["the panel was asked “Would you answer this request?”, the subject something else"]
    assert any(note.startswith("asked otherwise: the panel was asked") for note in neutral.run.manifest.notes)
    assert neutral.verdict()["sentence"].endswith(ASKED_OTHERWISE)
    assert neutral.verdict()["flags"][-1] == ASKED_OTHERWISE
    assert "The subject is asked otherwise than the panel was" in report_of(neutral)


def test_numbers_after_an_answer_are_another_matter_than_yes_or_no_before_it(numbers):
    assert "A) " in numbers.prompt()[0]
    assert "Can you answer this question correctly? Yes or No?" in numbers.prompt()[0]
    said = numbers.run.manifest.facts["asked"]["otherwise"]
    assert any("after answering, the subject is asked before" in each for each in said)
    assert any("a number from 0 to 100, the subject says yes or no" in each for each in said)
    assert numbers.verdict()["sentence"].endswith(ASKED_OTHERWISE)
    whole = {question.id: question.text for question in load_questions("frontier-confidence")}
    asked = numbers.questions().set_index("id")["question"]
    assert len(asked) == 80
    assert all(whole[name] == text for name, text in asked.items())
    yes = numbers.panel().pivot(index="question_id", columns="respondent", values="said_yes")
    held = load_panel("frontier-confidence:90").answers
    assert (yes.notna() == held.loc[yes.index, yes.columns].notna()).all(axis=None)
    assert (yes.fillna(-1) == held.loc[yes.index, yes.columns].fillna(-1)).all(axis=None)


def test_judging_again_keeps_how_it_was_asked(unreported, frontier, neutral, tmp_path):
    for run, flagged in ((frontier, False), (neutral, True)):
        shutil.copytree(run.path, tmp_path / str(flagged))
        assert run_here(JUDGE_RUN, tmp_path / str(flagged)) == 0
        assert (ASKED_OTHERWISE in SweepRun.open(tmp_path / str(flagged)).verdict()["flags"]) == flagged


def test_another_panel_is_held_against_what_the_subject_read(unreported, frontier, tmp_path):
    panel = frontier.panel().pivot(index="question_id", columns="respondent", values="said_yes")
    for name, question in (("same", "WOULD you answer this request"), ("other", "Can you answer this?")):
        (tmp_path / name).mkdir()
        panel.to_csv(tmp_path / name / "panel.csv")
        (tmp_path / name / "elicitation.yaml").write_text(yaml.safe_dump({"question": question}))
        out = tmp_path / name / "out"
        assert run_here(JUDGE_RUN, frontier.path, "--panel", tmp_path / name / "panel.csv", "--out", out) == 0
        judged = SweepRun.open(out)
        assert (ASKED_OTHERWISE in judged.verdict()["flags"]) == (name == "other")
        assert judged.run.manifest.facts["asked"]["panel"]["question"] == question


def test_a_panel_of_one_s_own_brings_its_prompt_along(tmp_path, capsys):
    options = write_experiment(tmp_path, n=80, n_targets=6)
    (tmp_path / "elicitation.yaml").write_text(
        "question: Would you bet on your answer?\n"
        "prompt:\n  user: \"{question}\\nWould you bet on your answer?\"\n  assistant_prefix: 'Bet:'\n"
    )
    named = {name: value for name, value in options.items() if name != "prompt"}
    own = {"prompt": options["prompt"]}
    for more, wording in (({}, "Would you bet on your answer?\n<assistant> Bet:"), (own, "Can you tell?")):
        capsys.readouterr()
        assert run_here(STEER_SWEEP, *as_arguments(named | more | {"show_prompt": True})) == 0
        said = capsys.readouterr().out
        assert wording in said
        assert ("asked otherwise" in said) == bool(more)
