"""The page must say what was planted, and no more."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.scale.study.panel_fit import PanelFit
from onedial.scale.study.sameness import grouped
from onedial.scale.study.the_panel import copies_among
from onedial.stats.answers import PsychometricsWarning, as_answers

FEW = {"n_replicates": 39}


def page_of(*panel: pd.DataFrame | None, **choices: int) -> str:
    return words(analyse_panel(*panel, **(FEW | choices)))


def words(analysis: PanelAnalysis) -> str:
    return " ".join(analysis.page.split())


def planted(seed: int, n: int, loading: float, groups: int = 1, between: float = 1.0) -> pd.DataFrame:
    """Answers of groups of respondents whose scales correlate `between`."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 1))
    scales = np.sqrt(between) * shared + np.sqrt(1 - between) * rng.standard_normal((n, groups))
    latent = loading * scales[:, np.arange(12) % groups] + np.sqrt(1 - loading**2) * rng.standard_normal((n, 12))
    return pd.DataFrame((latent > rng.uniform(-0.6, 0.6, 12)).astype(float), columns=[f"m{i}" for i in range(12)])


def test_one_scale_is_called_one_scale():
    panel = planted(2, 1500, 0.8)
    families = pd.DataFrame({"family": ["a", "b"] * 6}, panel.columns)
    topics = pd.DataFrame({"topic": ["x", "y"] * 750}, panel.index)
    analysis = analyse_panel(panel, families, topics, **FEW)
    page = words(analysis)
    assert page.startswith("One scale is shared, and it explains most of the answers")
    assert "Nothing found here speaks against one scale for all." in page
    assert analysis.summary["n_factors_by_revised_parallel_analysis"] == 1
    assert "factors" not in analysis.tables
    share = analysis.fit.share
    assert share.value == pytest.approx(0.64, abs=0.02)
    assert share.low < 0.64 < share.high


@pytest.mark.long
def test_what_is_shared_beside_guesses_is_a_second_number():
    rng = np.random.default_rng(8)
    latent = 0.8 * rng.standard_normal((1000, 1)) + 0.6 * rng.standard_normal((1000, 16))
    answers = latent > rng.permutation(np.linspace(-1, 1, 16))
    panel = pd.DataFrame(np.where(rng.random(answers.shape) < 0.2, 1.0, answers))
    analysis = analyse_panel(panel, **FEW)
    assert analysis.fit.share.value < 0.5
    guessed = analysis.fit.with_guesses.share.value
    assert guessed == pytest.approx(0.64, abs=0.07)
    assert f"{guessed:.0%}" in analysis.verdict


def test_framings_of_one_model_are_never_called_shared_between_models():
    known = pd.DataFrame({"model": "base"}, [f"m{i}" for i in range(12)])
    page = page_of(planted(1, 300, 0.8), known)
    assert page.startswith("All respondents are one model, base")
    assert "scale is shared" not in page


def test_two_halves_that_share_no_question_are_refused():
    panel = planted(1, 300, 0.8)
    panel.iloc[:150, :6] = np.nan
    panel.iloc[150:, 6:] = np.nan
    with pytest.raises(InputError, match=r"2 parts .*m0, m1.*\| m6, m7"):
        analyse_panel(panel, **FEW)


def test_any_number_of_topics_is_tested_if_each_has_enough_questions():
    topics = pd.DataFrame({"topic": [f"t{i % 14}" for i in range(500)], "subject": [f"s{i % 90}" for i in range(500)]})
    analysis = analyse_panel(planted(3, 500, 0.8), None, topics, **FEW)
    page = words(analysis)
    assert "Not tested by subject: 90 groups, more than 50" in page
    assert "a topic whose yes rate differs by 10 points for a respondent" in page
    assert len(analysis.tables["topic_by_respondent"]) == 14 * 12


@pytest.mark.long
def test_nothing_shared_is_called_nothing():
    page = page_of(planted(2, 500, 0.0))
    assert page.startswith("Nothing is shared that shuffled answers would not show")
    assert "there is no scale to speak of (one of 5% of the variance would be found in 80%)" in page
    assert "reliability" not in page
    few = page_of(planted(0, 60, 0.0).iloc[:, :5])
    assert "but it could have been missed: a scale would be found in 80% only from" in few


def test_two_scales_are_an_objection_and_are_told_apart():
    known = pd.DataFrame({"family": ["odd" if i % 2 else "even" for i in range(12)]}, [f"m{i}" for i in range(12)])
    analysis = analyse_panel(planted(3, 500, 0.85, groups=2, between=0.4), known, **FEW)
    page = words(analysis)
    assert "2 factors, not one" in analysis.verdict
    assert "guess" not in analysis.verdict
    assert analysis.verdict.startswith("There is no scale that is common to all")
    assert "of them are of one family" in page
    assert {"factor_1", "factor_2"} <= set(analysis.tables["factors"])


def test_framings_of_a_few_models_are_not_taken_for_a_shared_scale():
    known = pd.DataFrame({"model": [f"base{i % 3}" for i in range(12)]}, [f"m{i}" for i in range(12)])
    page = page_of(planted(4, 300, 0.85, groups=3, between=0.0), known)
    assert page.startswith("There is no scale that models share")
    assert "12 respondents are 3 models" in page


def test_without_replicates_nothing_is_compared_with_chance():
    analysis = analyse_panel(planted(6, 200, 0.7), n_replicates=0)
    assert "nothing was compared with chance" in words(analysis)
    assert set(analysis.tables["eigenvalues"]) == {"observed"}


def test_the_same_sentence_is_said_once():
    panel = planted(7, 200, 0.7).assign(always=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analyse_panel(panel, n_replicates=9)
    sentences = [str(one.message) for one in caught if issubclass(one.category, PsychometricsWarning)]
    assert any("always gave only one kind" in sentence for sentence in sentences)
    assert len(sentences) == len(set(sentences))


def test_what_is_known_becomes_groups():
    names = pd.Index([f"q{i}" for i in range(120)])
    known = pd.DataFrame(
        {
            "topic": ["a", "b", "c"] * 40, "same": ["x", "y", "z"] * 40, "alone": "one", "own": list(names),
            "length": np.arange(120.0), "gap": [None, *["a", "b"] * 59, "a"],
        },
        names,
    )  # fmt: skip
    result, left_out = grouped(known, names, most=12)
    assert set(result) == {"topic", "length"}
    assert result["length"].value_counts().tolist() == [40, 40, 40]
    assert result["length"].iloc[0] == "low"
    assert left_out == {"gap": "1 of 120 have none"}
    assert grouped(None, names, 12) == ({}, {})


def test_where_most_pairs_share_nothing_the_likelihood_holds():
    """Six of forty answer each question: pairs share two or so, and their correlations make half of the true share."""
    rng, loading = np.random.default_rng(3), np.linspace(0.65, 0.85, 40)
    hidden = loading * rng.standard_normal((400, 1)) + np.sqrt(1 - loading**2) * rng.standard_normal((400, 40))
    answers = (hidden > 0).astype(float)
    answers[np.argsort(rng.random(answers.shape), axis=1) >= 6] = np.nan
    analysis = analyse_panel(answers, n_replicates=0)
    share, truth = analysis.fit.share, (loading**2).mean()
    assert share.low < truth < share.high
    assert share.low < share.value < share.high
    pairs = analysis.summary["explained"]["squared_loadings_of_total_variance"]["factor_1"]
    assert pairs < share.low
    assert "The two differ by more than their errors" in words(analysis)


@pytest.mark.parametrize(("seed", "guessed", "better"), [(4, 0.0, False), (0, 0.2, True), (2, 0.2, True)])
def test_guesses_fit_better_only_where_some_guess(seed: int, guessed: float, better: bool):
    """One normal scale gains 9.7 in log likelihood by guesses and another shape; a fifth that guess yes gain 25."""
    rng = np.random.default_rng(seed)
    latent = 0.8 * rng.standard_normal((300, 1)) + 0.6 * rng.standard_normal((300, 20))
    answers = latent > rng.permutation(np.linspace(-1, 1, 20))
    fit = PanelFit.of(pd.DataFrame(np.where(rng.random(answers.shape) < guessed, 1.0, answers)))
    assert fit.gain_of_guesses > 9.5
    assert fit.guesses_fit_better is better


def test_nothing_absurd_is_said_where_nothing_is_shared():
    """Nobody is named and nothing absurd is said where nothing is shared."""
    answers = np.random.default_rng(1).integers(0, 2, (300, 12)).astype(float)
    analysis = analyse_panel(answers, n_replicates=39)
    assert analysis.verdict.startswith("Nothing is shared")
    table = analysis.tables["respondents_fit"]
    assert not table["reversed"].any()
    assert table["belongs"].all()
    few = words(analyse_panel(planted(0, 24, 0.7), n_replicates=0))
    for name, widest in (("loading", 1), ("threshold", 2)):
        after = few.partition(f"a {name} is ")[2].split()
        assert after[:2] == ["not", "known,"] or after[:2] == ["not", "known."] or float(after[3].strip(",.")) < widest


def test_three_respondents_are_never_called_one_scale():
    rng = np.random.default_rng(2)
    answers = pd.DataFrame((0.8 * rng.standard_normal((500, 1)) + 0.6 * rng.standard_normal((500, 3)) > 0) * 1.0)
    page = page_of(answers, n_replicates=19)
    assert "respondents cannot say" in page
    assert "R^2" not in page
    assert "nan" not in page


CASES = Path(__file__).parents[1] / "reference" / "scale_cases"


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(CASES / f"{name}.csv", index_col=0)


def test_the_headline_of_lsat6_is_the_share_of_its_loadings():
    """Bock and Lieberman (1970): loadings of .34 to .47, of mean square .157, as R prints it, to which their errors
    add .009; and not the 24% that guesses for all would leave."""
    analysis = analyse_panel(read("lsat6"), **FEW)
    share = analysis.fit.share
    assert share.value == pytest.approx(0.157, abs=0.0005)
    assert share.without_errors == pytest.approx(0.157 - 0.009, abs=0.001)
    assert share.low < share.without_errors < share.value < share.high
    assert analysis.verdict.startswith("Something is shared (16% of the variance")


def test_too_few_answers_are_said_before_anything_else():
    verdict = analyse_panel(read("tiny12x5"), **FEW).verdict
    assert verdict.startswith("Too small to say")
    assert "12 questions, and 20 are the least" in verdict


def test_who_answers_the_other_way_stays_on_the_scale():
    """Who answers the other way round is called that and stays on the scale."""
    panel = planted(4, 400, 0.75)
    panel[["m9", "m10"]] = 1 - panel[["m9", "m10"]]
    analysis = analyse_panel(panel, **FEW)
    table = analysis.tables["respondents_fit"]
    assert table.index[table["reversed"]].tolist() == ["m9", "m10"]
    page = words(analysis)
    assert "Not on this scale" not in page
    assert "equally closely" not in page
    assert "2 of 12 answer the other way round" in analysis.verdict


def test_who_answers_by_dice_is_named_and_stands_in_the_verdict():
    panel = planted(4, 400, 0.75)
    panel["m9"] = np.random.default_rng(0).integers(0, 2, 400).astype(float)
    analysis = analyse_panel(panel, n_replicates=0)
    assert "1 of 12 does not follow it" in analysis.verdict
    assert "Not on this scale, by a loading below 0.3: m9 " in words(analysis)


def test_copies_are_named_by_how_they_copy():
    rng = np.random.default_rng(5)
    panel = planted(5, 300, 0.7)
    panel["copy"], panel["turned"] = panel["m1"], 1 - panel["m2"]
    panel["near"] = np.where(rng.random(300) < 0.01, 1 - panel["m3"], panel["m3"])
    assert [name.split(" (")[0] for name in copies_among(as_answers(panel))] == [
        "copy answers as m1",
        "turned answers the other way round to m2",
        "near answers as m3",
    ]
    close = planted(6, 300, 0.95)
    assert copies_among(as_answers(close)) == []


def test_one_respondent_under_two_names_counts_as_one_though_it_errs():
    """A tenth of its answers differ: kappa is .8, and the scale turns to the two."""
    panel = planted(4, 300, 0.7)
    panel["again"] = np.where(np.random.default_rng(5).random(300) < 0.1, 1 - panel["m0"], panel["m0"])
    analysis = analyse_panel(panel, n_replicates=0)
    assert "2 respondents count as 1" in analysis.verdict
    assert "m0 and again" in words(analysis) or "again and m0" in words(analysis)


@pytest.mark.parametrize(("kind", "word", "answer"), [(0, "hard", "no"), (1, "easy", "yes")])
def test_gaps_on_easy_questions_are_not_called_gaps_on_hard_ones(kind, word, answer):
    """Half of one kind of answer is missing: the page says where, and what the share would be with that kind."""
    panel = planted(9, 300, 0.75)
    panel = panel.mask((panel == kind) & (np.random.default_rng(0).random(panel.shape) < 0.5))
    page = page_of(panel, n_replicates=0)
    assert f"Answers are missing on {word} questions." in page
    assert f"and would all have been {answer}, the share is" in page


def with_a_pair(seed: int, n: int, correlation: float) -> pd.DataFrame:
    """Ten respondents with loadings of .3 to .5; what the scale leaves of the first two correlates."""
    rng = np.random.default_rng(seed)
    loadings, noise = rng.uniform(0.3, 0.5, 10), rng.standard_normal((n, 10))
    noise[:, 1] = correlation * noise[:, 0] + np.sqrt(1 - correlation**2) * noise[:, 1]
    latent = loadings * rng.standard_normal((n, 1)) + np.sqrt(1 - loadings**2) * noise
    return pd.DataFrame((latent > rng.uniform(-0.8, 0.8, 10)) * 1.0, columns=[f"m{i}" for i in range(10)])


def test_a_loading_that_a_pair_makes_is_named_with_its_partner():
    page = page_of(with_a_pair(2, 300, 0.9), n_replicates=0)
    assert "few answers, or of a pair that shares something of its own: m1 (with m0)." in page


def test_a_strong_pair_is_not_taken_for_guesses():
    """Guesses and a bent scale gain 34 in log likelihood from a pair; without one of it they gain nothing."""
    analysis = analyse_panel(with_a_pair(507, 400, 0.8), n_replicates=0)
    assert analysis.fit.gain_of_guesses > 20
    assert "m0 and m1" in " ".join(analysis.sections["Is one factor enough?"])
