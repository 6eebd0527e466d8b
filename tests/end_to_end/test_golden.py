"""Two old runs: what their tables say, and what the model says today.

`default` is the main command without options, `all_positions` was made with `--positions all --controls 3 --layer 10,20
--n-questions 160`; both on the embedded model. matches.csv and verdict.json are of today's rule, and are
renewed by `python experiments/judge_run.py` where a number is meant to change. Numbers are held to 1e-12, not to the
byte: another processor adds up in another order, which moves the last digit.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_experiment import JUDGE_RUN

from onedial.asking.prompts import load_prompt
from onedial.asking.questions import questions_from_frame
from onedial.models.model import load_model
from onedial.models.prompt_set import PromptSet
from onedial.verdict.sweep_run import SweepRun
from steering.interventions import Intervention, SteeringVector
from steering.sweeping import sweep
from steering.vectors import extract_vector

GOLDEN = Path(__file__).parents[1] / "reference" / "golden"
NAMES = ("default", "all_positions")


@pytest.fixture(scope="module")
def model():
    torch.set_num_threads(1)
    return load_model(dtype="float32", device="cpu")


@pytest.fixture(params=NAMES)
def golden(request):
    return SweepRun.open(GOLDEN / request.param)


def asked(run, model, ids):
    chosen = run.questions().set_index("id").loc[ids].reset_index()
    return PromptSet.build(model, questions_from_frame(chosen), load_prompt(run.config["prompt"]))


def vector_of(run):
    return SteeringVector.load(run.path / run.vector_file(run.under_test()))


def leaves(value, place=()):
    """Every value in nested lists and dictionaries by where it stands."""
    if not isinstance(value, dict | list):
        return {place: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {where: leaf for key, inner in items for where, leaf in leaves(inner, (*place, key)).items()}


def test_a_run_is_read_with_its_controls(golden):
    interventions, sweep = golden.interventions(), golden.sweep()
    assert set(sweep["intervention_id"]) == set(interventions["intervention_id"])
    n_controls = int(golden.config["controls"])
    assert interventions["role"].tolist().count("random") == n_controls
    assert interventions["positions"].unique().tolist() == [golden.config["positions"]]
    swept = sum(len(grid) for grid in interventions["magnitudes"]) * len(golden.questions())
    assert len(sweep) == swept


@pytest.mark.parametrize("name", NAMES)
def test_its_matches_and_verdict_are_what_its_tables_give(name, tmp_path, call):
    run = Path(shutil.copytree(GOLDEN / name, tmp_path / name))
    for file in ("matches.csv", "verdict.json", "factor.json"):
        (run / file).unlink()
    ended = call(JUDGE_RUN, run)
    assert ended.code == 0, ended.err
    now, before = (pd.read_csv(path / "matches.csv") for path in (run, GOLDEN / name))
    pd.testing.assert_frame_equal(now, before, rtol=1e-12, atol=1e-12)
    for file in ("verdict.json", "factor.json"):
        now, before = (leaves(json.loads((path / file).read_text())) for path in (run, GOLDEN / name))
        assert file == "factor.json" or list(now) == list(before)  # the stored one holds no shuffled panels
        for place, value in before.items():
            if place == ("null",):
                continue
            assert now[place] == (pytest.approx(value, abs=1e-12) if isinstance(value, float) else value), place
    assert (run / "report.html").exists()


@pytest.mark.long
def test_the_model_gives_the_same_margins_along_its_vector(golden, model):
    """A vector of the earlier format, with the earlier fingerprint of the same weights."""
    table = golden.interventions().set_index("intervention_id")
    grid = table.loc[golden.under_test(), "magnitudes"]
    chosen = (
        sorted({grid[0], 0.0, *grid[::12]})
        if golden.config["positions"] == "last"
        else [grid[0], 0.0, grid[len(grid) // 2]]
    )
    ids = golden.questions()["id"].tolist()[::120]
    prompts = asked(golden, model, ids)
    intervention = Intervention.of(vector_of(golden), positions=golden.config["positions"])
    now = sweep(model, [intervention], prompts, chosen).table
    then = golden.sweep()
    joined = now.merge(then, on=["question_id", "intervention_id", "magnitude"], suffixes=("", "_then"))
    assert len(joined) == len(ids) * len(chosen)
    np.testing.assert_allclose(joined["margin"], joined["margin_then"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(joined["mass"], joined["mass_then"], rtol=0, atol=1e-5)


@pytest.mark.long
def test_the_same_vector_is_read_from_the_same_questions(model):
    golden = SweepRun.open(GOLDEN / "all_positions")
    splits, vector = golden.splits(), vector_of(golden)
    prompts = asked(golden, model, splits.index[splits == "extraction"].tolist())
    (again,) = extract_vector(model, prompts, [vector.layer])
    assert (again.n_yes, again.n_no, again.prompt_hash) == (vector.n_yes, vector.n_no, vector.prompt_hash)
    assert again.raw_norm == pytest.approx(vector.raw_norm, rel=1e-4)
    assert again.residual_norm == pytest.approx(vector.residual_norm, rel=1e-5)
    assert (again.direction @ vector.direction).item() == pytest.approx(1.0, abs=1e-6)
    assert golden.prompt() == model.render(
        load_prompt(golden.config["prompt"]).fill(golden.questions()["question"].iloc[0])
    )
