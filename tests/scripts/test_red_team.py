"""The red team: its cells hold what they say, and what is counted is what was said."""

import importlib

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def red_team():
    return importlib.import_module("red_team")


@pytest.mark.long
def test_every_cell_has_the_targets_and_yes_rates_that_it_is_named_for(red_team):
    for cell, own in red_team.CELLS.items():
        options = {**own, "n_questions": 200}
        sweep, questions, panel, respondents = red_team.panel_of(np.random.default_rng(0), **options)
        assert list(panel.index) == list(questions["id"]) == sorted(sweep["question_id"].unique()), cell
        assert panel.shape[1] == options.get("n_models", 6) * options.get("framings", 3)
        assert (respondents is None) == (not options.get("told", True))
        if "rates" in options:
            assert panel.mean().mean() == pytest.approx(np.mean(options["rates"]), abs=0.05)
        assert (panel.isna().to_numpy().mean() > 0.05) == bool({"blank", "no_blank"} & set(options)), cell
        assert set(sweep["topic"]) == set(questions["topic"])
        assert (set(questions["topic"]) == {""}) == (not options.get("labelled", True)), cell


def test_topics_alone_are_not_called_reproduced_for_want_of_their_names_and_an_honest_dial_is(red_team):
    for cell, reproduced in (("exams untold", False), ("exams honest, untold", True)):
        found = red_team.one_row(cell, 1, 99)
        assert found["reproduced_if_named"], cell
        assert (found["reproduced"] == "reproduced") == reproduced, cell


def test_topics_that_no_text_knows_of_stand_for_none(red_team):
    seed = 5
    rng = np.random.default_rng([seed, *b"honest, misnamed"])
    assert len(set(red_team.panel_of(rng, **red_team.CELLS["honest, misnamed"])[1]["topic"])) == 8
    found = red_team.one_row("honest, misnamed", seed, 99)
    assert (found["reproduced"], found["flags"]) == ("reproduced", "no topics known")


@pytest.mark.parametrize(
    ("cell", "n_models", "hangs"),
    [("fine-tunes .95", 3, False), ("fine-tunes .7", 6, True), ("fine-tunes, apart", 6, True)],
)
def test_fine_tunes_of_one_model_are_not_called_reproduced_as_the_better_half_of_a_panel(
    red_team, cell, n_models, hangs
):
    found = red_team.one_row(cell, 0, 99)
    assert (found["n_models"], found["hangs_on_kin"], found["reproduced"] == "reproduced") == (n_models, hangs, False)


@pytest.mark.parametrize("cell", ["20 framings", "20 framings, untold"])
def test_framings_of_one_model_cannot_be_judged_whether_or_not_a_table_says_so(red_team, cell):
    assert red_team.one_row(cell, 0, 19)["reproduced"] == "cannot be judged"


def test_answers_and_flags_are_counted_and_numbers_averaged(red_team):
    rows = [("reproduced", "a; copies among the targets", 0.1, 0.01), ("not reproduced", None, 0.3, 0.01)]
    table = pd.DataFrame(rows, columns=["reproduced", "flags", "bits", "gain_low"])
    table = table.assign(cell="one", n_predicted=1, n_models=2, yes_rate=0.9, share=0.5)
    table = table.assign(reproduced_if_named=True, hangs_on_kin=[False, True])
    found = red_team.operating_table(table).loc["one"]
    assert (found["n"], found["reproduced"], found["not reproduced"], found["copies among the targets"]) == (2, 1, 1, 1)
    assert found["hangs on kin"] == 1
    assert (found["reproduced by rule 3"], found["reproduced were topics named"]) == (1, 2)
    assert found["bits"] == pytest.approx(0.2)
