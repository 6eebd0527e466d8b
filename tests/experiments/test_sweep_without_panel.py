"""A sweep of somebody's own questions without a panel: one command to a page, and what may follow it."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from shared_runs import shared_run
from tiny_experiment import (
    JUDGE_RUN,
    ROOT,
    STEER_SWEEP,
    as_arguments,
    assert_bounded,
    files_of,
    foretold,
    write_experiment,
)

from onedial.panels import load_questions
from onedial.report.alone import OF_TARGETS
from onedial.report.report import contents_of
from onedial.report.results import SWEEP_RESULTS
from onedial.stats.shares import wilson_interval
from onedial.studies.options.sweep import CONTROLS_WITHOUT_PANEL
from onedial.verdict.sweep_run import SweepRun


def made():
    """Made once, of questions and a model alone."""
    return shared_run(n=80, drawn=True, panel="none", files={"prompt": "request.yaml"}, layer="1", facts=12, reversed=8)


@pytest.fixture(scope="module")
def run():
    return made().run


@pytest.fixture(scope="module")
def html(run):
    return (run.path / "report.html").read_text("utf-8")


def test_a_run_without_a_panel_is_finished_and_judges_nothing(run):
    assert run.is_finished
    assert run.verdict().sentence == "cannot be judged: no panel was given"
    assert run.panel().empty
    assert (run.config["panel"], run.config["controls"]) == ("none", CONTROLS_WITHOUT_PANEL)


def test_what_needs_targets_is_neither_stored_nor_shown(run, html):
    stored = {file.stem for file in run.path.iterdir() if file.suffix in (".csv", ".json")}
    assert not stored & OF_TARGETS
    sections = set(re.findall(r'<(?:section|details)[^>]* id="([a-z_-]+)"', html))
    assert {"verdict", "dial", "controls", "vector", "dose", "written", "bias", "facts", "limits"} <= sections
    assert not sections & OF_TARGETS
    assert set(SWEEP_RESULTS) >= OF_TARGETS


def test_yes_rates_on_the_page_are_those_of_the_stored_margins(run, html):
    """Recomputed from the parts of the sweep, with the interval that stands beside each."""
    table = pd.concat(pd.read_parquet(part) for part in sorted((run.path / "sweep").glob("part-*.parquet")))
    questions = pd.read_parquet(run.path / "questions.parquet").set_index("id")
    table = table[(table["question_id"].map(questions["split"]) == "test") & (table["mass"] >= 0.1)]
    yes = (table["margin"] > 0).groupby(table["magnitude"])
    rates, (low, high) = yes.mean(), wilson_interval(yes.sum(), yes.count())
    shown = re.findall(r"(\d+)% \((\d+)% to (\d+)%\)", html)[:3]
    expected = [(rates[m], low[m], high[m]) for m in (0.0, rates.index.min(), rates.index.max())]
    np.testing.assert_allclose(np.array(shown, dtype=float) / 100, expected, atol=0.0051)
    dose = run.dose_response()
    dose = dose[dose["split"] == "test"].set_index("magnitude")["yes_rate"]
    np.testing.assert_allclose(dose, rates.reindex(dose.index))


def test_directions_drawn_by_chance_are_ranked_by_the_push_they_take(run):
    direction, controls = run.verdict().direction, contents_of(run)["controls"]
    pushes = controls.loc[controls["drawn"], "push"].to_numpy(float)
    assert (direction.by, direction.n_controls) == ("push", CONTROLS_WITHOUT_PANEL)
    assert direction.rank == 1 + (pushes <= direction.vector["push"]).sum()
    assert set(direction.ranks) == {"push", "kl"}


def test_each_stage_asks_what_its_dry_run_tells(run):
    assert_bounded(foretold(STEER_SWEEP, made().options), made().asked, "sweep", "facts", searched=["controls"])


def test_it_is_judged_later_beside_a_panel_and_stays_as_it_is(unreported, run, tmp_path, call):
    panel, before = write_experiment(tmp_path / "inputs", n=80)["panel"], files_of(run.path)
    ended = call(JUDGE_RUN, run.path, f"--panel={panel}", f"--out={tmp_path / 'judged'}")
    assert ended.code == 0, ended.err
    judged = SweepRun.open(tmp_path / "judged")
    assert judged.has_panel
    assert len(judged.matches()) == 12
    assert files_of(run.path) == before


def test_comparing_and_matching_a_target_are_refused_in_a_sentence(run, tmp_path, call):
    other = shutil.copytree(run.path, tmp_path / "other")
    ended = call(ROOT / "experiments" / "compare_runs.py", run.path, other, f"--out={tmp_path / 'compared'}")
    assert ended.code == 2
    assert "was made without a panel" in ended.err
    ended = call(ROOT / "experiments" / "gate.py", f"--run={run.path}", "--target=gpt", f"--save={tmp_path / 'gate'}")
    assert ended.code == 2
    assert "choose --yes-rate or --beta" in ended.err


@pytest.mark.parametrize("n_shared", [1, 6])
def test_few_questions_of_the_built_in_panel_name_the_way_without_it(tmp_path, call, n_shared):
    """They meet by their texts, under whatever ids."""
    others = [f"What is {place} times {place + 1}?" for place in range(32 - n_shared)]
    texts = [question.text for question in load_questions("embedded", n=n_shared)] + others
    rows = [{"id": f"mine-{place}", "question": text} for place, text in enumerate(texts)]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    options = {**write_experiment(tmp_path, n=40), "questions": file, "panel": None, "dry_run": True}
    ended = call(STEER_SWEEP, *as_arguments(options))
    assert ended.code == 2
    assert f"--panel none asks all of {file}" in ended.err
    assert f"{n_shared} questions" in ended.err


def test_an_id_of_the_built_in_panel_with_another_text_is_no_match(tmp_path, call):
    ids = [question.id for question in load_questions("embedded", n=40)]
    rows = [{"id": name, "question": f"What is {place} times 3?"} for place, name in enumerate(ids)]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    options = {**write_experiment(tmp_path, n=40), "questions": file, "panel": None, "show_prompt": True}
    ended = call(STEER_SWEEP, *as_arguments(options))
    assert ended.code == 0, ended.err
    assert "the built-in panel answers none of" in ended.out + ended.err


def test_own_questions_that_the_built_in_panel_does_not_know_take_none(tmp_path, call):
    """Said in one line, and nobody has to name the panel; a panel of one's own that knows none is refused."""
    options = write_experiment(tmp_path, n=40)
    ended = call(STEER_SWEEP, *as_arguments({**options, "panel": None, "show_prompt": True}))
    assert ended.code == 0, ended.err
    assert "the built-in panel answers none of" in ended.out + ended.err
    assert "Which" in ended.out
    ended = call(STEER_SWEEP, *as_arguments({**options, "panel": None, "target": "gpt", "show_prompt": True}))
    assert ended.code == 2
    assert "--target is about targets, and there is no panel" in ended.err
