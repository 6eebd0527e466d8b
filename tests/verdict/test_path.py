"""The dial's path through the factor: level where only the threshold moves, falling where answers break."""

import numpy as np
import pandas as pd
from simulated_panels import TARGETS, simulate_sweep, with_own_difficulty

from onedial.verdict.case import sweep_grid
from onedial.verdict.path import dial_path


def simulated(seed, breaking=0.0, kind="threshold shift", n_targets=9, reordering=0.0):
    """A subject that follows the targets' difficulty with some noise of its own; turned up, it may lose it."""
    rng = np.random.default_rng(seed)
    sweep = simulate_sweep(rng, reordering=reordering)
    answers = TARGETS[kind](rng, sweep, n_targets)
    sweep = with_own_difficulty(rng, sweep, breaking=breaking)
    models = [f"base {number // 3}" for number in range(n_targets)]
    respondents = pd.DataFrame({"model": models, "framing": "", "family": ""}, index=answers.columns)
    return sweep_grid(sweep).beside(answers, respondents)


def test_a_threshold_shift_runs_level_and_one_that_breaks_the_answers_falls():
    """Of 200 sets each (scripts/simulate.py matching) the change is told from 0 in 7% and in 95%."""
    wrong = [path.change for seed in range(4) if (path := dial_path(simulated(seed))) is not None]
    assert sum(not change.low <= 0 <= change.high for change in wrong) <= 1
    for seed in range(2):
        path = dial_path(simulated(seed, breaking=1.0))
        assert path.change.high < 0
        assert path.slope.low > 0


def test_no_target_is_compared_with_what_its_own_answers_made():
    """A base model that answers by coins: in the scale its coins would seem to follow something."""
    case = simulated(5)
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(len(case.panel))
    odd = case.panel.copy()
    for name in odd.columns[:3]:
        odd[name] = (2 * shared + rng.standard_normal(len(odd)) > 0).astype(float)
    path = dial_path(case.beside(odd, case.respondents))
    own = path.targets.iloc[:3]
    assert (own["loading"].abs() < 3.5 * own["loading_se"]).all()
    assert (path.targets.iloc[3:]["loading"] > 0.5).all()


def test_targets_that_count_as_one_base_model_are_placed_without_each_other():
    case = simulated(5)
    one = case.respondents["model"].where(np.arange(9) > 3, "one")
    joined = dial_path(case.beside(case.panel, case.respondents.assign(model=one)))
    assert not joined.targets.equals(dial_path(case).targets)


def test_questions_of_the_vector_have_no_part():
    case = simulated(1)
    path = dial_path(case)
    assert path.settings["n"].max() <= (case.splits != "extraction").sum()
    assert 0.0 in path.settings.index
    assert not path.over_topics


def test_a_panel_too_small_for_a_scale_has_no_path():
    case = simulated(1, n_targets=2)
    assert dial_path(case) is None
