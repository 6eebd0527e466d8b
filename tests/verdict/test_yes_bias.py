"""Yes-bias or confidence, in logits: planted splits are found, whatever the yes rates are."""

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from verdict_tables import case_of, judge, simulated

from onedial.asking.sweep_tables import AS_ASKED, REVERSED_WORDING
from onedial.stats.estimate import Estimate
from onedial.verdict.baselines.facts import MOSTLY_BIAS
from onedial.verdict.baselines.yes_bias import split_margin
from onedial.verdict.verdict import YES_BIAS

N, GRID = 99, np.linspace(-1, 1, 9)


def sweep_of(unsteered, slopes, wording, name="v", rng=None):
    """Margins of each question along GRID, with a little noise."""
    margins = unsteered[:, None] + slopes[:, None] * GRID
    if rng is not None:
        margins += rng.normal(0, 0.05, margins.shape)
    table = pd.DataFrame(margins, [f"q{i:03d}" for i in range(len(margins))], GRID)
    long = table.stack().rename("margin").rename_axis(["question_id", "magnitude"]).reset_index()
    return long.assign(mass=0.9, intervention_id=name, wording=wording)


def planted(bias, confidence, n=60, understood=True, base=0.0, seed=0):
    """Wordings and facts of a push of this bias and confidence; `base` shifts every unsteered margin towards yes."""
    rng = np.random.default_rng(seed)
    ability, spread = rng.normal(size=n), rng.normal(0, 0.3, (3, n))
    turned = (-ability if understood else ability) + rng.normal(0, 0.3, n)
    wordings = pd.concat(
        [
            sweep_of(base + ability, bias + confidence + spread[0], AS_ASKED, rng=rng),
            sweep_of(base + turned, bias - confidence + spread[1], REVERSED_WORDING, rng=rng),
        ]
    )
    facts = sweep_of(base + rng.normal(0, 2, n), bias + spread[2], "facts", rng=rng)
    return wordings, facts


@pytest.mark.parametrize("base", [-2.0, 0.0, 1.5])
@pytest.mark.parametrize(("bias", "confidence", "share"), [(4, 0, 1), (0, 4, 0), (1, 3, 0.25), (3, 1, 0.75)])
def test_a_planted_split_is_found_whatever_the_unsteered_yes_rates(bias, confidence, share, base):
    wordings, facts = planted(bias, confidence, base=base)
    result = split_margin(wordings, "v", facts=facts, n_bootstrap=499)
    split = result.dial
    for estimate, truth in (
        (split.bias, bias),
        (split.confidence, confidence),
        (split.share, share),
        (split.facts, bias),
        (split.facts_share, share),
    ):
        assert estimate.value == pytest.approx(truth, abs=0.15)
        assert estimate.low < estimate.value < estimate.high
    assert split.as_asked.value == pytest.approx(split.bias.value + split.confidence.value)
    assert split.reversed.value == pytest.approx(split.bias.value - split.confidence.value)
    unsteered = wordings[wordings["magnitude"] == 0].pivot(index="question_id", columns="wording", values="margin")
    assert split.alike.value == pytest.approx(unsteered.corr().iloc[0, 1])
    assert split.alike.high < 0
    assert result.mostly == (share > 0.5)


def test_slopes_are_per_residual_norm_whatever_the_unit_of_the_magnitudes():
    wordings, _ = planted(2, 1)
    rescaled = split_margin(
        wordings.assign(magnitude=wordings["magnitude"] * 4), "v", norms_per_unit=0.25, n_bootstrap=49
    )
    plain = split_margin(wordings, "v", n_bootstrap=49)
    assert rescaled.dial.bias.value == pytest.approx(plain.dial.bias.value)
    assert rescaled.dial.share.low == pytest.approx(plain.dial.share.low)


def test_where_both_wordings_are_read_as_one_the_facts_must_say_so_too():
    """A dial of confidence in a subject that does not read the reversal: only the facts tell it from a yes-bias."""
    wordings, still = planted(4, 0, understood=False, seed=1)[0], planted(0, 4, seed=2)[1]
    moved = planted(4, 0, seed=3)[1]
    assert split_margin(wordings, "v", n_bootstrap=99).dial.alike.low > 0
    assert not split_margin(wordings, "v", n_bootstrap=99).mostly
    assert not split_margin(wordings, "v", facts=still, n_bootstrap=99).mostly
    assert split_margin(wordings, "v", facts=moved, n_bootstrap=99).mostly


def test_unread_answers_are_left_out_and_counted():
    """Unread answers are left out and a question lost in one wording is counted."""
    wordings, _ = planted(3, 1)
    lost = (wordings["question_id"] < "q010") & (wordings["wording"] == REVERSED_WORDING) & (wordings["magnitude"] < 2)
    garbled = wordings.assign(mass=wordings["mass"].mask(lost, 0.01), margin=wordings["margin"].mask(lost, 99.0))
    split = split_margin(garbled, "v", n_bootstrap=99).dial
    assert (split.n, split.n_lost) == (50, 10)
    assert split.share.value == pytest.approx(0.75, abs=0.05)


def test_without_both_wordings_there_is_no_bias():
    """Yes minus no is the yardstick and a run without both wordings has nothing."""
    wordings, _ = planted(0, 4)
    words = planted(4, 0, seed=5)[0].assign(intervention_id="words")
    result = split_margin(pd.concat([wordings, words]), "v", n_bootstrap=99)
    assert result.dial.share.value == pytest.approx(0, abs=0.1)
    assert result.yardstick.share.value == pytest.approx(1, abs=0.1)
    assert split_margin(wordings[wordings["wording"] == AS_ASKED], "v") is None


def test_the_flag_rests_on_the_logits():
    """The flag rests on the logits and on the rates of facts only where there are none."""
    sweep, panel = simulated()
    matches = case_of(sweep, panel, respondents=simulated_panels.framings_of(panel.columns))
    biased, confident = (split_margin(planted(*each)[0], "v", n_bootstrap=99) for each in ((4, 0), (0, 4)))
    many = type("Rates", (), {"share": Estimate(MOSTLY_BIAS + 0.5)})()
    few = type("Rates", (), {"share": Estimate(MOSTLY_BIAS - 0.2)})()
    flagged, prediction = {}, judge(matches, N).prediction  # which does not rest on either
    for bias in (biased, confident, None):
        for facts in (many, few):
            flagged[bias is biased, bias is None, facts is many] = (
                YES_BIAS in judge(matches, N, prediction, facts=facts, bias=bias).flags
            )
    assert flagged == {
        (True, False, True): True,
        (True, False, False): True,
        (False, False, True): False,
        (False, False, False): False,
        (False, True, True): True,
        (False, True, False): False,
    }
