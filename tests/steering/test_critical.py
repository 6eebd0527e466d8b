"""Critical magnitudes are where plain hooks flip the answer, found with far fewer forwards than a grid."""

import numpy as np
import pytest
from tiny_models import outspoken_model, tiny_model, vectors_at

from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.prompt_set import PromptSet
from steering.critical import critical_magnitudes
from steering.interventions import Intervention
from steering.planning.margin_curves import CONVERGED_MOVE, MarginCurve
from steering.sweeping import sweep

WORDS = ["river", "mountain", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "battle", "sea", "ode"]
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first {WORDS[i % 12]} of {WORDS[i // 2]}?") for i in range(12)
]

# A wording of its own: random models answer each wording otherwise, and these seeds say both yes and no to this one.
WORDING = PromptTemplate(
    "Here is a question of general knowledge.\n\nQuestion: {question}\n\n"
    "If you had to answer this question, would your answer be correct? Yes or No?",
    assistant_prefix="Answer:",
)
SEEDS_WITH_BOTH_ANSWERS = {"mistral": 2, "gemma2": 1}


def setting(model, layer=2):
    prompts = PromptSet.build(model, QUESTIONS, WORDING)
    (vector,) = vectors_at(model, [layer])
    return prompts, vector


def flips_on_a_grid(model, prompts, intervention, low, high, n=51):
    grid = np.linspace(low, high, n)
    table = sweep(model, [intervention], prompts, grid.tolist()).table
    margins = table.pivot(index="question_id", columns="magnitude", values="margin").loc[list(prompts.question_ids)]
    yes = margins.to_numpy() > 0
    return grid, {q: np.flatnonzero(yes[i, 1:] != yes[i, :-1]) for i, q in enumerate(prompts.question_ids)}, yes


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "positions"), [("mistral", "last"), ("gemma2", "all")])
def test_crossings_stand_where_a_fine_grid_has_its_flips(architecture, positions):
    model = tiny_model(architecture, seed=SEEDS_WITH_BOTH_ANSWERS.get(architecture, 0))
    prompts, vector = setting(model)
    intervention = Intervention.of(vector, positions=positions)
    result = critical_magnitudes(
        model, prompts, intervention, low=-1.0, high=1.0, scan=6 if positions == "last" else 17
    )
    grid, flips, _ = flips_on_a_grid(model, prompts, intervention, -1.0, 1.0)
    n_flips = sum(len(places) for places in flips.values())
    n_matched = 0
    for question, places in flips.items():
        roots = result.table.loc[result.table.question_id == question, "magnitude"].dropna().to_numpy()
        n_matched += sum(((roots >= grid[p] - 1e-4) & (roots <= grid[p + 1] + 1e-4)).any() for p in places)
    assert n_flips > 3
    assert n_matched >= 0.9 * n_flips  # a pair of flips within one step of the first points may stay unseen


@pytest.mark.parametrize("positions", ["last", "prompt"])
def test_the_answer_changes_within_the_tolerance_of_every_crossing(positions):
    model = tiny_model("qwen3")
    prompts, vector = setting(model)
    intervention = Intervention.of(vector, positions=positions)
    result = critical_magnitudes(model, prompts, intervention, low=-1.0, high=1.0, tolerance=1e-3)
    crossings = result.table.dropna(subset="magnitude")
    assert len(crossings) > 3
    for question, magnitude in zip(crossings.question_id, crossings.magnitude, strict=True):
        beside = [magnitude - 1e-3, magnitude + 1e-3]
        margins = sweep(model, [intervention], prompts.subset([question]), beside).table.margin.to_numpy()
        assert (margins[0] > 0) != (margins[1] > 0)


def test_yes_rate_and_answers_at_any_magnitude_equal_a_sweep():
    model = outspoken_model()
    prompts, vector = setting(model)
    result = critical_magnitudes(model, prompts, vector, low=-1.0, high=1.0, scan=8)
    grid = np.linspace(-1, 1, 41)
    table = sweep(model, [vector], prompts, grid.tolist()).table
    said = (table.pivot(index="question_id", columns="magnitude", values="margin") > 0).loc[list(prompts.question_ids)]
    for magnitude in said.columns:
        assert (result.answers_at(magnitude) == said[magnitude]).all()
    assert np.allclose(result.yes_rate(list(said.columns)), said.mean())
    assert list(result.n_roots.index) == list(prompts.question_ids)
    with pytest.raises(InputError, match="wider range"):
        result.answers_at(1.5)


def test_a_question_without_a_crossing_says_which_answer_it_keeps():
    model = tiny_model("llama")
    prompts, vector = setting(model)
    result = critical_magnitudes(model, prompts, vector, low=-1e-3, high=1e-3, tolerance=1e-5)
    unsteered = sweep(model, [vector], prompts, [0.0]).table.set_index("question_id").margin > 0
    kept = result.table[result.table.n_roots == 0].set_index("question_id")
    assert len(kept) > 6
    assert kept.magnitude.isna().all()
    expected = unsteered.map({True: "none in range: always yes", False: "none in range: always no"})
    assert (kept.status == expected.loc[kept.index]).all()


@pytest.mark.parametrize("steepness", [1.0, 30.0, 1000.0])
def test_a_curve_converges_to_a_known_root_within_the_tolerance(steepness):
    for root in (-0.71, -0.011, 0.3333, 0.98):
        curve = MarginCurve(-1.0, 1.0, 1e-4)
        at = [-1.0, -0.25, 0.0, 0.25, 1.0]
        n_points = 5
        curve.add(at, [np.tanh(steepness * (m - root)) for m in at])
        while wanted := curve.wanted():
            curve.add(wanted, [np.tanh(steepness * (m - root)) for m in wanted])
            n_points += len(wanted)
        (found,) = curve.roots
        assert abs(found - root) <= 1e-4
        assert n_points < 60


def test_a_curve_that_only_jumps_is_closed_in_on_too():
    curve = MarginCurve(0.0, 1.0, 1e-5)
    curve.add([0.0, 1.0], [-0.5, 3.0])
    while wanted := curve.wanted():
        curve.add(wanted, [-0.5 if m < 0.123456 else 3.0 for m in wanted])
    assert curve.roots == pytest.approx([0.123456], abs=CONVERGED_MOVE * 1e-5)


def test_all_three_roots_of_a_cubic_are_found():
    curve = MarginCurve(-1.0, 1.0, 1e-4)
    at = [-1.0, -0.25, 0.0, 0.25, 1.0]

    def cubic(m):
        return (m + 0.8) * (m - 0.1) * (m - 0.6)

    curve.add(at, [cubic(m) for m in at])
    while wanted := curve.wanted():
        curve.add(wanted, [cubic(m) for m in wanted])
    assert curve.roots == pytest.approx([-0.8, 0.1, 0.6], abs=1e-4)


def test_a_pair_of_crossings_between_points_that_agree_is_found_where_the_curve_dips():
    for sign in (1, -1):
        curve = MarginCurve(-1.0, 1.0, 1e-4)
        wanted = [-1.0, -0.5, 0.0, 0.5, 1.0]
        while wanted:
            curve.add(wanted, [sign * (np.cosh(2 * (m - 0.25)) - 1.02) for m in wanted])
            wanted = curve.wanted()
        assert curve.roots == pytest.approx(0.25 + np.array([-0.5, 0.5]) * np.arccosh(1.02), abs=1e-4)
