"""Simulations keep what they have drawn, go on from it, and find what was planted."""

import importlib
import math

import numpy as np
import pandas as pd
import pytest
from simulations import red_team, verdicts, zoo
from simulations.frame import Draws, by_cell, mean_and_error
from tiny_experiment import ROOT

from onedial.core.errors import InputError
from onedial.selfreport.battery import BATTERY
from onedial.verdict.comparing.dial_profile import PROFILE_VERDICTS

SIMULATE = ROOT / "scripts" / "simulate.py"


# ---- the frame -------------------------------------------------------------------------------------------------------


def test_draws_are_there_again_and_others_refused(tmp_path):
    """Draws are there again when their file is opened and those under other settings are refused."""
    file = tmp_path / "deep" / "draws.csv"
    draws = Draws(file, {"rule": 2})
    draws.add(("one", "a, b", 0), [{"found": 0.5}, {"found": None}])
    draws.add(("one", "None", 1), [])
    draws.write()
    again = Draws(file, {"rule": 2})
    assert all(key in again for key in (("one", "a, b", 0), ("one", "None", 1)))
    assert ("one", "a, b", 1) not in again
    pd.testing.assert_frame_equal(again.frame(), draws.frame(), check_dtype=False)
    assert list(again.frame([("one", "None", 1)])["cell"]) == ["None"]
    with pytest.raises(InputError, match=r"draws\.csv holds rows with rule 2, and now it is 1; give another file"):
        Draws(file, {"rule": 1})
    with pytest.raises(InputError, match="has no column 'draws'"):
        Draws(file, {"draws": 1})


def test_a_draw_of_which_nothing_can_be_said_is_a_set_and_no_value():
    draws = Draws(None, {})
    for seed, result in enumerate(({"x": 1.0}, [], {"x": 0.0})):
        draws.add(("one", "a", seed), result)
    assert by_cell(mean_and_error, "cell", "sets")(draws.frame()).to_dict("records") == [
        {"cell": "a", "sets": 3, "what": "x", "found": 0.5, "se": 0.5}
    ]


@pytest.mark.parametrize(
    ("name", "study", "again"),
    [
        ("structure", "bundles", "simulations.structure.bundle_invariance"),
        ("matching", "falls", "simulations.matching.falls"),
        ("probes", "by chance", "simulations.probes.off"),
    ],
)
def test_what_was_drawn_is_not_drawn_anew(name, study, again, tmp_path, call, monkeypatch):
    given = [name, study, "--sets", 3, "--draws", tmp_path / "d.csv", "--table", tmp_path / "t.csv"]
    first = call(SIMULATE, *given)
    assert first.code == 0
    rows = pd.read_csv(tmp_path / "t.csv")
    assert {"found", "mean"} & set(rows.columns)
    assert rows["se"].ge(0).all()
    monkeypatch.setattr(again, lambda *_, **__: pytest.fail("drawn anew"))
    second = call(SIMULATE, *given)
    assert (second.code, second.out) == (0, first.out)


def test_a_study_that_is_none_is_refused_with_those_that_are(call):
    ended = call(SIMULATE, "matching", "nothing")
    assert ended.code == 2
    assert "no study is called nothing; choose of unrelated" in ended.err


# ---- what they find --------------------------------------------------------------------------------------------------


def test_a_plateau_is_not_said_to_fall_and_one_that_falls_is(call, tmp_path):
    call(SIMULATE, "matching", "falls", "--sets", 30, "--table", tmp_path / "t.csv")
    result = pd.read_csv(tmp_path / "t.csv").set_index(["case", "what"])["mean"]
    assert result["a plateau", "two standard errors somewhere"] > 0.5  # what the rule guards against
    assert result["a plateau", "said to fall"] <= 2 / 30
    assert result["a plateau that falls by .1", "said to fall"] > 0.8


@pytest.mark.long
def test_the_rule_half_makes_a_second_factor_out_of_one():
    from simulations.empty_cells import drawn

    result = drawn("half", 300, 0)
    assert result["second eigenvalue's share"] > 2 * result["the same, answers shuffled"]
    assert result["second eigenvalue's share"] == pytest.approx(result["the same, simulated from one factor"], abs=0.05)
    assert result["the same by marginal likelihood"] == pytest.approx(0.8, abs=0.1)


@pytest.mark.long
def test_a_push_among_pushes_is_rarely_a_mover():
    """A large effect is found no effect stays still and a push among pushes is rarely called a mover."""
    one_verdict = importlib.import_module("simulations.profile").one_verdict
    verdicts = {
        name: [one_verdict(pushes, effect, seed, 99) for seed in range(n)]
        for name, pushes, effect, n in (("large", 0.1, 1.0, 4), ("none", 0.0, 0.0, 6), ("as random", 0.5, None, 12))
    }
    movers = ("moves with the dial", "moves against it")
    assert verdicts["large"].count("moves with the dial") == 4
    assert verdicts["none"].count("does not move") >= 3
    assert sum(verdicts["as random"].count(name) for name in movers) <= 3
    assert {verdict for each in verdicts.values() for verdict in each} <= set(PROFILE_VERDICTS)


@pytest.mark.long
def test_every_case_of_the_probes_recovers_what_is_planted():
    """Every case of the probes gives chances and finite means and what is planted strongly is found."""
    probes = importlib.import_module("simulations.probes")
    for group, cells in probes.STUDIES.items():
        for name, value in cells[0].draw(0).items():
            assert np.isfinite(value), (group, name)
            assert str(name).startswith("mean") or 0 <= value <= 1, (group, name)
    planted, rng = probes, np.random.default_rng(1)
    assert planted.one_label(rng, shift=2.0, effect=0.0)["AUROC off .5"] == 0
    private = planted.beyond_what_is_shared(rng, shared=1.0, private=2.0, noise=1.0, kinds=1)
    assert private["more than what is shared (p)"] < 0.01


# ---- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_every_scenario_has_its_answers_rates_and_intervals(monkeypatch):
    monkeypatch.setattr(verdicts, "N_QUESTIONS", 160)
    monkeypatch.setattr(verdicts, "N_TARGETS", 6)
    monkeypatch.setattr(verdicts, "N_PERMUTATIONS", 19)
    draws = Draws(None, {})
    for name in ("unrelated", "pure shift", "towards, much"):
        draws.add(("scenarios", name, 0), verdicts.judged(name, 0))
    result = verdicts.told(draws.frame()).set_index("scenario")
    assert result["n"].tolist() == [1, 1, 1]
    assert result["push"].notna().tolist() == [False, True, True]
    stored = pd.read_csv(ROOT / "tests" / "reference" / "simulated" / "verdicts.csv")
    assert {"signal_p_found", "C_A", "order_models", "threshold_shift"} <= set(result) & set(stored)


def test_intervals_that_leave_out_0_are_counted_by_scenario_and_over_all():
    summarise = importlib.import_module("simulations.null_orders").told
    table = summarise(pd.DataFrame({"cell": ["a", "b"] * 3, "towards": True, "away": False}))
    assert table.iloc[-1].tolist() == ["all", 6, 1.0, 0.0, 1.0, pytest.approx(0.60967, abs=2e-5), 1.0]


@pytest.mark.long
def test_every_cell_has_what_it_is_named_for():
    """Every cell of the red team has the targets and yes rates that it is named for."""
    for cell, cell_options in red_team.CELLS.items():
        options = {**cell_options, "n_questions": 200}
        sweep, questions, panel, respondents = red_team.Planted(**options).panel(np.random.default_rng(0))
        assert list(panel.index) == list(questions["id"]) == sorted(sweep["question_id"].unique()), cell
        assert panel.shape[1] == options.get("n_models", 6) * options.get("framings", 3)
        assert (respondents is None) == (not options.get("models_known", True))
        if "rates" in options:
            assert panel.mean().mean() == pytest.approx(np.mean(options["rates"]), abs=0.05)
        assert (panel.isna().to_numpy().mean() > 0.05) == bool({"blank", "no_blank"} & set(options)), cell
        assert set(sweep["topic"]) == set(questions["topic"])
        assert (set(questions["topic"]) == {""}) == (not options.get("labelled", True)), cell


def test_topics_alone_are_not_called_reproduced():
    """Topics alone are not called reproduced for want of their names and an honest dial is."""
    for cell, reproduced in (("exams untold", False), ("exams honest, untold", True)):
        result = red_team.one_row(cell, 1, 99)
        assert result["reproduced_if_named"], cell
        assert (result["reproduced"] == "reproduced") == reproduced, cell


def test_topics_that_no_text_knows_of_stand_for_none():
    result = red_team.one_row("honest, misnamed", 5, 99)
    assert (result["reproduced"], result["flags"]) == ("reproduced", "no topics known")


@pytest.mark.parametrize(
    ("cell", "n_models", "hangs"),
    [("fine-tunes .95", 3, False), ("fine-tunes .7", 6, True), ("fine-tunes, apart", 6, True)],
)
def test_fine_tunes_of_one_model_are_not_called_reproduced(cell, n_models, hangs):
    """Fine tunes of one model are not called reproduced as the better half of a panel."""
    result = red_team.one_row(cell, 0, 99)
    assert (result["n_models"], result["hangs_on_kin"], result["reproduced"] == "reproduced") == (
        n_models,
        hangs,
        False,
    )


@pytest.mark.parametrize("cell", ["20 framings", "20 framings, untold"])
def test_framings_of_one_model_cannot_be_judged(cell):
    """Framings of one model cannot be judged whether or not a table says so."""
    assert red_team.one_row(cell, 0, 19)["reproduced"] == "cannot be judged"


def test_answers_and_flags_are_counted_and_numbers_averaged():
    rows = [("reproduced", "a; copies among the targets", 0.1, 0.01), ("not reproduced", None, 0.3, 0.01)]
    table = pd.DataFrame(rows, columns=["reproduced", "flags", "bits", "gain_low"])
    table = table.assign(cell="one", n_predicted=1, n_models=2, yes_rate=0.9, share=0.5)
    table = table.assign(reproduced_if_named=True, hangs_on_kin=[False, True])
    result = red_team.operating_table(table).set_index("cell").loc["one"]
    assert (result["n"], result["reproduced"], result["not_reproduced"], result["copies_among_the_targets"]) == (
        2,
        1,
        1,
        1,
    )
    assert result["hangs_on_kin"] == 1
    assert (result["reproduced_by_rule_3"], result["reproduced_were_topics_named"]) == (1, 2)
    assert result["bits"] == pytest.approx(0.2)


# ---- the zoo ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def read():
    """What every instrument says of the first respondent of each kind."""
    return pd.DataFrame([row for cells in zoo.SIMULATION.studies.values() for cell in cells for row in cell.draw(0)])


@pytest.mark.long
def test_chance_errs_as_rarely_as_an_interval(read):
    """What knows nothing gives nothing what is planted is found and chance errs as rarely as an interval."""
    nothing, by_chance = read["expected"] == zoo.NOTHING, read["kind"].isin(zoo.BY_CHANCE)
    fixed = read[nothing & ~by_chance & ~read["kind"].isin(zoo.CARRIES)]
    assert set(fixed["says"]) <= {zoo.NOTHING, zoo.NO_NUMBER}, fixed
    missed = read[~nothing & (read["says"] != read["expected"])]
    assert missed.empty, missed
    assert read[nothing & by_chance]["says"].isin([zoo.THERE, zoo.AGAINST]).mean() <= 0.1  # of some 350


@pytest.mark.long
def test_the_stored_table_is_of_all_instruments_and_none_of_them_fails(read):
    stored = pd.read_csv(ROOT / "tests" / "reference" / "simulated" / "zoo.csv").set_index("score")
    assert list(stored.index) == list(dict.fromkeys(read["score"]))
    assert (stored["fixed_taken"] == 0).all()
    assert (stored["chance_taken"] <= 0.2 * stored["chance_n"]).all()  # of 27 to 90
    assert stored["chance_taken"].sum() <= 0.1 * stored["chance_n"].sum()
    assert (stored["planted_found"] >= 0.9 * stored["planted_n"]).all()
    assert (stored["opposed_found"] >= 0.9 * stored["opposed_n"]).all()


def test_every_test_of_the_battery_is_in_the_zoo():
    """Every test of the battery is in the zoo and its first number has a value of nothing."""
    assert {name.partition(",")[0] for name in zoo.TRIALS} >= set(BATTERY)
    lines = {name: test.headline for name, test in BATTERY.items()}
    assert not [name for name, line in lines.items() if math.isnan(line.chance)]
    assert all(line.share or line.low for line in lines.values())


def test_a_reading_is_there_only_where_its_interval_leaves_nothing_out():
    assert zoo.Reading(0.6, 0.55, 0.7, 0.5).says == zoo.THERE
    assert zoo.Reading(0.4, 0.3, 0.45, 0.5).says == zoo.AGAINST
    assert zoo.Reading(0.5, 0.5, 0.5, 0.5).says == zoo.NOTHING
    assert zoo.Reading(0.6, math.nan, math.nan, 0.5).says == zoo.NO_NUMBER
