"""Baselines, facts and what the order knows: planted truths are found, and nothing is made of nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from verdict_tables import case_of, plain_sweep, simulated

from onedial.core.errors import InputError
from onedial.verdict.baselines.baselines import (
    BASELINES,
    Baseline,
    baseline_table,
    ceiling,
    cut_at_rate,
    instructed_margins,
)
from onedial.verdict.baselines.facts import facts_result
from onedial.verdict.baselines.knowing import SUBJECT, knowing_table
from onedial.verdict.case import Case, sweep_grid
from onedial.verdict.judgement import SweepTables, judge_tables
from onedial.verdict.prediction.prediction import predict


def table_for(*given, **named):
    """Baselines of a simulated sweep."""
    case = case_for(*given, **named)
    return baseline_table(case), case


def case_for(sweep, panel, texts=None, topics=None, instructed=None, levels=None):
    case = case_of(sweep, panel, respondents=simulated_panels.framings_of(panel.columns), n_resamples=99)
    texts = texts or [f"What is {name}?" for name in case.questions]
    about = pd.DataFrame({"question": texts}, case.questions)
    if topics is not None:
        about["topic"] = topics
    if levels is not None:
        about["level"] = levels(list(case.questions))
    asked = instructed_margins(instructed, case.questions, case.unsteered_margins)
    case = replace(case, about=about, instructed=asked)
    case.__dict__["wordings"] = None  # texts that stand there twice are questions of their own here
    return case


@pytest.fixture(scope="module")
def shared():
    """Targets that share a difficulty which is not the subject's."""
    sweep, panel = simulated("unrelated", n_targets=12)
    return table_for(sweep, panel)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_data_sets_own_label_is_a_baseline_whichever_way_it_is_written(sign):
    sweep, panel = simulated("unrelated", n_targets=12)
    safe = panel.mean(axis=1).groupby(level=0).mean() > 0.5
    baselines, _ = table_for(sweep, panel, levels=lambda ids: sign * safe.reindex(ids).astype(int).to_numpy())
    assert baselines.loc["level", "signal"] > 0.2
    assert baselines.loc["level", "difference_high"] < 0


def test_a_shared_difficulty_is_seen_by_others_answers(shared):
    """A difficulty that targets share is found by the others answers and not by the subject."""
    baselines, _ = shared
    assert baselines.loc["mean of other models", "signal"] > 0.4
    assert baselines.loc["shared difficulty", "signal"] > 0.4
    assert abs(baselines.loc["unsteered margin", "signal"]) < 0.1
    assert baselines.loc["mean of other models", "difference_high"] < 0
    result = ceiling(baselines, 0.1)
    assert result.account in ("mean of other models", "shared difficulty")
    assert result.share == pytest.approx(0.1 / result.signal)


def test_words_that_tell_the_answer_are_found_by_the_text_and_noise_is_not():
    rng = np.random.default_rng(0)
    sweep, panel = simulated("unrelated", n_questions=800, n_targets=9)
    ids = np.sort(sweep["question_id"].unique())
    hard = rng.random(len(ids)) < 0.5
    words = np.array(["river", "stone", "garden", "window", "paper"])[rng.integers(5, size=len(ids))]
    texts = [f"Who {'invented' if h else 'painted'} the {word}?" for h, word in zip(hard, words, strict=True)]
    noisy = rng.random((len(ids), 9)) < 0.2
    answers = pd.DataFrame((~hard[:, None] ^ noisy).astype(float), index=ids, columns=panel.columns)
    baselines, _ = table_for(sweep, answers, texts)
    assert baselines.loc["text", "signal"] > 0.4
    assert baselines.loc["text, from other models", "signal"] > 0.4
    by_chance, _ = table_for(sweep, answers.sample(frac=1, random_state=0).set_axis(ids), texts)
    assert abs(by_chance.loc["text", "signal"]) < 0.12


def test_topics_that_tell_the_answer_are_found_by_their_means():
    sweep, panel = simulated("unrelated", n_targets=9)
    ids = np.sort(sweep["question_id"].unique())
    topics = np.where(np.arange(len(ids)) % 2, "easy", "hard")
    rng = np.random.default_rng(0)
    likely = np.where(topics == "easy", 0.9, 0.1)[:, None]
    answers = pd.DataFrame((rng.random((len(ids), 9)) < likely).astype(float), index=ids, columns=panel.columns)
    baselines, _ = table_for(sweep, answers, topics=topics)
    assert baselines.loc["topic means", "signal"] > 0.6
    without, _ = table_for(sweep, answers)
    assert without.loc["topic means", "n_targets"] == 0


def test_a_baseline_is_cut_at_the_targets_rate_on_the_fitting_questions():
    rng = np.random.default_rng(1)
    scores, fitting = rng.standard_normal(400), np.arange(400) < 200
    given = (rng.random(400) < 0.3).astype(float)
    answers = cut_at_rate(scores, given, fitting)
    assert np.nanmean(answers[fitting]) == pytest.approx(given[fitting].mean(), abs=0.01)
    assert (scores[answers == 1].min()) > scores[answers == 0].max()
    assert np.isnan(cut_at_rate(scores, np.full(400, np.nan), fitting)).all()


@pytest.fixture(scope="module")
def asked_case():
    """Three base models of three targets each, 120 questions of 30 topics, and two instructed levels."""
    rng = np.random.default_rng(7)
    ease, ids = rng.standard_normal((120, 1)), [f"q{number:03d}" for number in range(120)]
    given = (ease + rng.standard_normal((120, 9)) > np.linspace(-0.8, 0.8, 9)).astype(float)
    given[rng.random(given.shape) < 0.03] = np.nan
    words = np.array(["river", "stone", "garden", "window", "paper", "who", "when", "very"])
    about = {
        "question": [" ".join(rng.choice(words, 6)) for _ in ids],
        "topic": [f"topic {number // 4}" for number in range(120)],
    }
    splits = rng.permutation(np.repeat(["extraction", "fitting", "test"], [30, 30, 60]))
    instructed = rng.standard_normal((120, 6)) + np.linspace(-1.5, 1.5, 6)
    about["level"] = np.round(ease[:, 0] + rng.standard_normal(120))
    panel = pd.DataFrame(given, index=ids, columns=[f"t{number}" for number in range(9)])
    respondents = pd.DataFrame({"model": np.repeat(["a", "b", "c"], 3)}, panel.columns)
    subject = Case(pd.Index(ids), splits, np.zeros(1), ease, np.ones_like(ease))
    return subject.beside(panel, respondents, about=pd.DataFrame(about, ids), instructed=instructed)


OWN_ANSWERS = [name for name, baseline in BASELINES.items() if baseline.own_answers]


@pytest.mark.parametrize("baseline", BASELINES)
def test_no_baseline_sees_what_the_target_says_to_the_test_questions(baseline, asked_case):
    """Not even through the other targets of its base model. Its yes rate over all questions may find its neighbour."""
    scores, of_b = BASELINES[baseline].scores, asked_case.models == "b"
    given, test = asked_case.given.copy(), np.flatnonzero(asked_case.test)
    if baseline == "nearest threshold":
        given[np.ix_(test, np.flatnonzero(of_b))] = given[np.ix_(np.random.default_rng(1).permutation(test), of_b)]
    else:
        given[np.ix_(test, np.flatnonzero(of_b))] = 1 - given[np.ix_(test, of_b)]
    changed = asked_case.knowing(given)
    np.testing.assert_array_equal(scores(changed)[:, of_b], scores(asked_case)[:, of_b])


@pytest.mark.parametrize("baseline", sorted(set(BASELINES) - set(OWN_ANSWERS)))
def test_what_other_models_tell_comes_from_other_base_models_alone(baseline, asked_case):
    scores, of_b = BASELINES[baseline].scores, asked_case.models == "b"
    given = asked_case.given.copy()
    given[:, of_b] = np.random.default_rng(1).permutation(given[:, of_b])
    changed = asked_case.knowing(given)
    np.testing.assert_array_equal(scores(changed)[:, of_b], scores(asked_case)[:, of_b])
    if baseline not in ("unsteered margin", "level"):  # of the label they tell which way it goes, and nothing else
        assert not np.array_equal(scores(changed)[:, ~of_b], scores(asked_case)[:, ~of_b], equal_nan=True)


# ---- unrelated facts -------------------------------------------------------------------------------------------------

MAGNITUDES = np.linspace(-3, 3, 25)


def facts_table(shift, knowledge=4.0, n=200, magnitudes=MAGNITUDES):
    """Facts whose margin is truth times knowledge plus shift times the magnitude."""
    rng = np.random.default_rng(0)
    truth = pd.Series(np.tile([1.0, 0.0], n // 2), index=[f"f{number}" for number in range(n)])
    unsteered = knowledge * (2 * truth.to_numpy() - 1) + rng.standard_normal(n)
    table = plain_sweep(unsteered[:, None] + shift * magnitudes, ["test"] * n, magnitudes)
    table["question_id"] = table["question_id"].str.replace("q", "f")
    return table.assign(truth=table["question_id"].map(truth)), truth


def facts_of(grid, facts, n_resamples=19):
    return facts_result(replace(grid, facts=facts, n_resamples=n_resamples))


@pytest.fixture(scope="module")
def own_grid():
    ease = np.random.default_rng(1).standard_normal(400)
    return sweep_grid(plain_sweep(ease[:, None] + MAGNITUDES, np.tile(["fitting", "test"], 200), MAGNITUDES))


def test_a_dial_that_turns_every_yes_shares_it_with_the_facts(own_grid):
    ignorant = facts_of(own_grid, facts_table(1.0, knowledge=0.0)[0], 199)
    assert ignorant.share.value == pytest.approx(1, abs=0.2)
    assert ignorant.share.low <= ignorant.share.value <= ignorant.share.high
    assert ignorant.accuracy.value == pytest.approx(0.5, abs=0.1)
    knowing = facts_of(own_grid, facts_table(3.0)[0], 99)
    assert 0.1 < knowing.share.value < 0.9
    assert knowing.loss.value > 0.1
    assert knowing.shrink < 1


def test_a_fact_that_cannot_be_read_counts_neither_as_yes_nor_as_no(own_grid):
    table, truth = facts_table(1.0)
    fewer = table["question_id"].isin(truth.index[:30])
    unread = facts_of(own_grid, table.assign(mass=table["mass"].mask(fewer, 0.0)))
    without = facts_of(own_grid, table[~fewer])
    assert (unread.n, unread.n_unread, without.n) == (200, 30, 170)
    assert all(getattr(unread, name).value == getattr(without, name).value for name in ("share", "accuracy", "loss"))


# ---- knowing ---------------------------------------------------------------------------------------------------------


def test_an_order_about_being_right_says_nothing_within():
    """An order that is about being right says nothing within right or wrong."""
    rng = np.random.default_rng(3)
    sweep, _ = simulated(n_questions=2000, reordering=0.0)
    grid = sweep_grid(sweep)
    ease = grid.margins[:, grid.unsteered]
    right = (np.nan_to_num(ease) + rng.standard_normal(2000) > 0).astype(float)
    says = np.where(rng.random((2000, 5)) < 0.9, right[:, None], 1 - right[:, None])
    panel = pd.DataFrame(says, index=grid.questions).add_prefix("t")
    matches = case_of(sweep, panel)
    correctness = pd.DataFrame({name: right for name in panel}, index=grid.questions)
    table = knowing_table(matches, correctness, pd.Series(right, grid.questions))
    assert list(table.index) == [SUBJECT, *panel.columns]
    assert (table["target_correct"] > 0.75).all()
    assert (table["low"] < table["target_correct"]).all()
    assert table["yes_within_right"].dropna().between(0.4, 0.6).all()
    both = table.loc[panel.columns, ["n_within_right", "n_within_wrong"]].sum(axis=1)
    assert (both == table.loc[panel.columns, "n_graded"]).all()  # every target answers every question here
    assert knowing_table(matches, None, None) is None


# ---- all of it from the tables of a run ------------------------------------------------------------------------------


def test_judging_from_tables_gives_every_part_and_controls_of_either_kind():
    sweep, panel = simulated(n_targets=9)
    rng = np.random.default_rng(4)
    control = simulated_panels.simulate_sweep(rng)
    ids = np.sort(sweep["question_id"].unique())
    crossed = pd.DataFrame({"question_id": ids, "turn": rng.uniform(-1, 1, len(ids))})
    crossed = crossed.merge(pd.DataFrame({"magnitude": [-1.0, 0.0, 1.0]}), how="cross").assign(mass=0.9)
    crossed = crossed.assign(margin=crossed["magnitude"] - crossed["turn"], intervention_id="L1-covariance-2")
    alike = {"operator": "add", "positions": "last", "unit": "residual_norm", "layers": [1], "norms_per_unit": 1.0}
    interventions = pd.DataFrame(
        [
            {**alike, "intervention_id": name, "role": role, "vectors": [name], "magnitudes": ends, "cosine": cosine}
            for name, role, ends, cosine in (
                ("v", "vector", [0.0], 1.0),
                ("L1-random-1", "random", [0.0], 0.0),
                ("L1-covariance-2", "covariance", [-1.0, 1.0], 0.0),
            )
        ]
    )
    both = pd.concat([sweep.assign(intervention_id="v"), control.assign(intervention_id="L1-random-1"), crossed])
    questions = sweep.drop_duplicates("question_id").rename(columns={"question_id": "id"})[["id", "split", "topic"]]
    facts, _ = facts_table(2.0, magnitudes=np.unique(sweep["magnitude"]))
    facts = facts.assign(intervention_id="v")
    tables = SweepTables(both, interventions, questions, facts)
    result = judge_tables(tables, panel_of(panel), seed=1)
    assert list(result.controls.index) == ["L1-random-1", "L1-covariance-2"]
    assert result.verdict.direction.n_controls == 2
    assert result.controls.loc["L1-covariance-2", "push"] == pytest.approx(1.6, abs=0.15)
    assert result.factor is not None
    assert result.knowing is None
    assert result.verdict.facts.n == 200
    assert 0 < result.verdict.facts.share.value < 0.5


def panel_of(answers):
    from onedial.panels.panels import ResponseMatrix

    return ResponseMatrix(answers, simulated_panels.framings_of(answers.columns))


# ---- instructed thresholds -------------------------------------------------------------------------------------------


def instructed_of(sweep, rng):
    """Answers under two levels that each put the questions in an order of its own, few yes under the higher one."""
    ids = np.sort(sweep["question_id"].unique())
    levels = {50.0: rng.normal(0.6, 1, len(ids)), 90.0: rng.normal(-0.9, 1, len(ids))}
    frames = [pd.DataFrame({"question_id": ids, "level": level, "margin": each}) for level, each in levels.items()]
    return pd.concat(frames).assign(mass=0.9)


def test_a_target_is_set_against_the_nearest_instructed_level():
    """A target is set against the instructed level whose yes rate is nearest."""
    sweep, _ = simulated(reordering=0.4)
    rng = np.random.default_rng(4)
    instructed = instructed_of(sweep, rng)
    margins = instructed.pivot(index="question_id", columns="level", values="margin")
    follows = {f"target {number}": margins[(50.0, 90.0)[number % 2]] for number in range(9)}
    panel = pd.DataFrame(
        {
            name: (follows_level + 0.3 * rng.normal(size=len(follows_level)) > 0) * 1.0
            for name, follows_level in follows.items()
        }
    )
    baselines, case = table_for(sweep, panel, instructed=instructed)
    sources = ("the dial", "mean of other models", "unsteered margin", "instructed threshold")
    _, predictions = predict(case, sources)
    assert predictions.set_index("source")["bits"].idxmax() == "instructed threshold"
    assert baselines.loc["instructed threshold", "signal"] > 0.6
    assert abs(baselines.loc["unsteered margin", "signal"]) < 0.15
    assert not baselines.loc["instructed threshold", "one_order"]
    swapped = instructed.assign(level=instructed["level"].map({50.0: 90.0, 90.0: 50.0}))  # a level is but a name
    again, _ = table_for(sweep, panel, instructed=swapped)
    assert again.loc["instructed threshold", "signal"] == pytest.approx(baselines.loc["instructed threshold", "signal"])


def test_an_added_baseline_stands_among_the_predictions(monkeypatch):
    """Planted: it knows the difficulty that the targets share, and so does as well as their mean."""
    sweep, panel = simulated("unrelated", n_targets=12)
    ease = panel.mean(axis=1)

    def planted(case):
        return np.repeat(ease.reindex(case.questions).to_numpy()[:, None], len(case.targets), axis=1)

    monkeypatch.setitem(BASELINES, "planted", Baseline(planted, one_order=True))
    baselines, matches = table_for(sweep, panel)
    assert baselines.loc["planted", "one_order"]
    assert baselines.loc["planted", "signal"] > baselines.loc["mean of other models", "signal"] - 0.05
    _, predictions = predict(matches)
    bits = predictions.set_index("source")["bits"]
    assert bits["planted"] > bits["mean of other models"] - 0.02
    assert bits["planted"] > bits["unsteered margin"] + 0.1


def test_a_baseline_whose_scores_have_another_shape_is_refused_by_its_name(monkeypatch, asked_case):
    monkeypatch.setitem(BASELINES, "broken", Baseline(lambda case: case.unsteered_margins))
    with pytest.raises(InputError, match=r"'broken' gives scores of shape \(120,\)"):
        BASELINES["broken"].of("broken", asked_case)
