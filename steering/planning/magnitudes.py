"""Place magnitudes over the range in which the yes rate moves, and dense where it moves fast.

An even grid spends most of its points where nothing happens: with a good direction all answers flip within a narrow
band. So the range is found by doubling, the margins inside it are interpolated question by question, and the grid
is laid even in yes rate. All of it looks at the fitting split of the questions and at no target.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import margins_by
from onedial.asking.yes_no import is_read
from onedial.core.notices import notice
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.stats.arrays import Floats
from steering.interventions import Intervention
from steering.reading import answers_along, grid_of

FIRST, LAST = 0.05, 4.0
"""Doubling starts at +-0.05 residual norms and ends at 4."""
NEAR = 0.4
"""Up to here every intervention is tried; beyond it, only what has not turned by then."""
RATE_LOW, RATE_HIGH = 0.02, 0.98
MOST_UNREAD = 0.05
"""Share of the answers that steering may make unreadable; those that were unread without it are not its doing."""
COARSE_POINTS = 25
RANGE_QUESTIONS = 32
"""On which a range is found where many are: the first of those that are asked."""
GRID_POINTS = 41
NEAR_ENOUGH = 0.05
"""A yes rate this far from the wanted one, or nearer, is reached where only what was swept can be chosen."""
ROUNDS = 8
"""In which a setting is sought, beside the first."""
NARROWEST = 1e-6
"""Of the range of a dial: two settings nearer than this are one."""
SETTING_COLUMNS = ["rate", "setting", "rate_found", "reached"]
CONTROL_POINTS = 13
"""Along a control: along four of the embedded model (400 questions) C_A is then within .0008 of what 401 points give, a
tenth of its standard error."""


def doubling(units_per_norm: float = 1.0) -> list[float]:
    """0 and +-0.05, 0.1, 0.2 ... up to 4 residual norms, in units of which `units_per_norm` are one norm.

    >>> doubling()[:6]
    [-0.05, -0.1, -0.2, -0.4, -0.8, -1.6]
    """
    steps = [FIRST]
    while steps[-1] * 2 < LAST:
        steps.append(steps[-1] * 2)
    steps.append(LAST)
    return [sign * step * units_per_norm for sign in (-1, 1) for step in steps] + [0.0]


def yes_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Per magnitude: `yes_rate` among the answers that could be read, and `unread` (share of all).

    >>> table = pd.DataFrame({"question_id": ["q1", "q2"], "magnitude": 0.0, "margin": [1.0, -1.0], "mass": [0.9, 0.9]})
    >>> yes_rates(table)["yes_rate"].tolist()
    [0.5]
    """
    read = is_read(table["mass"])
    yes = (table["margin"] > 0).where(read)
    grouped = pd.DataFrame({"magnitude": table["magnitude"], "yes": yes.astype(float), "unread": ~read})
    rates = grouped.groupby("magnitude").agg(yes_rate=("yes", "mean"), unread=("unread", "mean"))
    return rates.sort_index()


def settings_at(
    table: pd.DataFrame, rates: Sequence[float], *, setting: str = "magnitude", within: float | None = None
) -> pd.DataFrame:
    """Of the settings that one dial was asked at, those whose yes rate is nearest to each of these; of equals that
    nearest to 0.

    Settings at which more answers become unread than 5 points are left out. Where a push either way turns answers to
    yes, a dial has a rate more than once: then the stretch of settings nearest to 0 that reaches the rate is taken, and
    in it the setting that comes nearest, so that no rate is placed far out for a better fit by one question.

    Args:
        table: columns question_id, margin, mass and `setting`, on the questions to place by.
        within: how far from the wanted rate a setting still reaches it; by default one answer.

    Returns:
        One row per rate: rate, setting, rate_found (measured there, on these questions), reached (whether it is that
        near).

    >>> table = pd.DataFrame({"question_id": ["a", "b"] * 2, "magnitude": [0.0, 0.0, 2.0, 2.0], "mass": 1.0})
    >>> table["margin"] = [-3.0, -1.0, 1.0, 3.0]
    >>> settings_at(table, [0.5], within=0.05)[["setting", "rate_found", "reached"]].values.tolist()
    [[0.0, 0.0, False]]
    """
    tried, answers = _usable(table, setting)
    n_read = np.isfinite(answers).sum(axis=0)
    if not n_read.any():
        return pd.DataFrame([(rate, 0.0, np.nan, False) for rate in rates], columns=SETTING_COLUMNS)
    tried, yes, n_read = tried[n_read > 0], _share_yes(answers[:, n_read > 0]), n_read[n_read > 0]
    near = (1 / n_read if within is None else np.full(len(tried), within)) + 1e-9
    rows = []
    for rate in rates:
        away = np.round(np.abs(yes - rate), 9)
        place = _nearest(tried, away, near)
        rows.append((rate, float(tried[place]), float(yes[place]), bool(away[place] <= near[place])))
    return pd.DataFrame(rows, columns=SETTING_COLUMNS)


def swept_at(table: pd.DataFrame, rates: Sequence[float]) -> pd.DataFrame:
    """Of the magnitudes of a finished sweep those that come nearest to each yes rate, as `settings_at`; a rate that
    none comes near enough to is left out, with a notice.
    """
    placed = settings_at(table, rates, within=NEAR_ENOUGH)
    for row in placed[~placed["reached"]].itertuples():
        notice(
            f"the dial does not reach the yes rate {row.rate:g} on the questions it is set by: the nearest is "
            f"{row.rate_found:.2f}, at magnitude {row.setting:+.3g}; nothing is asked there for it"
        )
    return placed[placed["reached"]]


def seek_settings(
    ask: Callable[[int, Mapping[str, Sequence[float]]], pd.DataFrame],
    first: Mapping[str, Sequence[float]],
    rates: Sequence[float],
    sought: Collection[str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Seek the settings of dials at which they have these yes rates, by their answers there.

    Each dial is asked over its range; then between the settings that stand around a rate, where margins that are taken
    for straight question by question would have it, and again, until the rate that is measured is within one answer of
    the wanted one, no setting is left between two at which it jumps, or `ROUNDS` have gone by.

    Args:
        ask: round (0, 1, ...) and settings by dial -> columns dial, setting, question_id, margin, mass, the same
            questions in every round.
        first: settings of each dial over its range. sought: dials that turn steadily between two settings.

    Returns:
        `settings_at` of each dial, with column dial; and all answers that were asked.
    """
    tables, wanted = [ask(0, first)], first
    for number in range(1, ROUNDS + 1):
        by_dial = {str(name): answers for name, answers in pd.concat(tables).groupby("dial", sort=False)}
        wanted = {
            name: _settings_between(by_dial[name], rates) if name in sought and name in by_dial else []
            for name in first
        }
        if not any(wanted.values()):
            break
        tables.append(ask(number, wanted))
    answers = pd.concat(tables, ignore_index=True)
    placed = [
        settings_at(answers[answers["dial"] == name], rates, setting="setting").assign(dial=name) for name in first
    ]
    return pd.concat(placed, ignore_index=True), answers


def _settings_between(table: pd.DataFrame, rates: Sequence[float]) -> list[float]:
    """Where to ask one dial next: for each rate the setting that should come nearest, if it was not asked there.

    Straight margins turn at single settings; between two of these the yes rate stays, and the middle is asked.
    """
    tried, answers = _usable(table, "setting")
    known = np.isfinite(answers)
    if not known.any():
        return []
    rows = np.array(
        [np.interp(tried, tried[seen], row[seen]) for row, seen in zip(answers, known, strict=True) if seen.any()]
    )
    left, right = rows[:, :-1], rows[:, 1:]
    question, step = np.nonzero((left > 0) != (right > 0))
    share = left[question, step] / (left - right)[question, step]
    edges = np.union1d(tried, tried[step] + share * np.diff(tried)[step])
    middles = ((edges[:-1] + edges[1:]) / 2)[np.diff(edges) > NARROWEST * np.abs(edges).max()]
    settings = np.concatenate([tried, middles])
    order, asked = np.argsort(settings, kind="stable"), np.arange(len(settings)) < len(tried)
    straight = np.array([np.interp(middles, tried, row) for row in rows])
    yes = np.concatenate([_share_yes(answers), _share_yes(straight)])[order]
    settings, asked, wanted = settings[order], asked[order], set()
    near = np.full(len(settings), 1 / len(rows)) + 1e-9
    for rate in rates:
        away = np.round(np.abs(yes - rate), 9)
        place = _nearest(settings, away, near, asked)
        if not asked[place] and away[place] <= near[place]:
            wanted.add(float(f"{settings[place]:.9g}"))
    return sorted(wanted - set(tried.tolist()))


def _usable(table: pd.DataFrame, setting: str) -> tuple[Floats, Floats]:
    """Settings at which not too much is unread, ascending, and question x setting: margins, nan where unread."""
    margins = margins_by(table, setting)
    settings, unread = margins.columns.to_numpy(float), margins.isna().mean()
    limit = MOST_UNREAD + float(unread[0.0] if 0.0 in unread.index else unread.min())
    usable = (unread <= limit).to_numpy()
    return settings[usable], margins.to_numpy(float)[:, usable]


def _share_yes(margins: Floats) -> Floats:
    """Of each setting, among the answers that were read."""
    return np.asarray((margins > 0).sum(axis=0) / np.isfinite(margins).sum(axis=0))


def _nearest(settings: Floats, away: Floats, near: Floats, asked: np.ndarray | None = None) -> int:
    """Place of the setting that comes nearest to a rate, of equals one that was asked, of these that nearest to 0;
    where some are near enough, in the stretch of these that is nearest to 0."""
    places = np.flatnonzero(away <= near)
    if len(places):
        stretches = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
        places = min(stretches, key=lambda stretch: float(np.abs(settings[stretch]).min()))
    else:
        places = np.arange(len(settings))
    guessed = np.zeros(len(places)) if asked is None else ~asked[places]
    return int(places[np.lexsort((np.abs(settings[places]), guessed, away[places]))[0]])


def most_unread(rates: pd.DataFrame) -> float:
    """The largest share of unread answers at a usable magnitude: 5% more than at magnitude 0.

    Args:
        rates: of `yes_rates`, magnitude 0 among them.
    """
    return MOST_UNREAD + float(rates["unread"][0.0])


def find_range(rates: pd.DataFrame) -> tuple[float, float]:
    """The stretch of magnitudes that is worth looking at, low and high: outwards from 0 through the doubled ones until
    the yes rate has passed .02 and .98, or before 5% more than at 0 cannot be read.

    Args:
        rates: of `yes_rates`, at the magnitudes of `doubling`.
    """
    limit = most_unread(rates)

    def walk(magnitudes: Floats, passed: Callable[[float], bool]) -> float:
        last = magnitudes[0]
        for magnitude in magnitudes:
            if rates.loc[magnitude, "unread"] > limit:
                break
            last = magnitude
            if passed(rates.loc[magnitude, "yes_rate"]):
                break
        return float(last)

    grid = rates.index.to_numpy()
    low = walk(grid[grid < 0][::-1], lambda rate: rate <= RATE_LOW)
    return low, walk(grid[grid > 0], lambda rate: rate >= RATE_HIGH)


def coarse_grid(low: float, high: float) -> list[float]:
    """Even points over a range, 0 among them."""
    return grid_of([0.0, *np.linspace(low, high, COARSE_POINTS)])


def few_magnitudes(low: float, high: float) -> list[float]:
    """`CONTROL_POINTS` over a range: even ones, and 0.

    >>> few_magnitudes(-0.05, 0.8)[:3]
    [-0.05, 0.0, 0.0272727]
    """
    return grid_of(float(f"{value:.6g}") for value in (0.0, *np.linspace(low, high, CONTROL_POINTS - 1)))


def even_in_yes_rate(margins: pd.DataFrame, points: int = GRID_POINTS) -> list[float]:
    """Lay a grid whose neighbours differ by about the same change of the yes rate, 0 among them.

    Args:
        margins: question x magnitude on a coarse grid; interpolated linearly in between, question by question.
        points: how many magnitudes to return.

    Where the yes rate falls and rises again, both movements count. A twentieth of the points follows the magnitude
    itself, so that a stretch without any movement still gets a few.
    """
    coarse = margins.columns.to_numpy(dtype=float)
    dense = np.union1d(np.linspace(coarse[0], coarse[-1], 2001), coarse)
    values = margins.to_numpy(dtype=float)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) == 0:
        return _with_zero(np.linspace(coarse[0], coarse[-1], points))
    rate = np.mean([np.interp(dense, coarse, row) > 0 for row in values], axis=0)
    movement = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(rate)))])
    travelled = (dense - dense[0]) / (dense[-1] - dense[0])
    share = 0.05 if movement[-1] > 0 else 1.0
    clock = (1 - share) * movement / max(movement[-1], 1e-12) + share * travelled
    return _with_zero(np.interp(np.linspace(0.0, clock[-1], points), clock, dense))


def _with_zero(grid: Floats) -> list[float]:
    """The same number of points, the inner one nearest 0 moved to 0 (the ends stay)."""
    moved = np.unique(grid)
    if 0.0 not in moved:
        inner = moved[1:-1]
        moved[1 + int(np.abs(inner).argmin())] = 0.0
    return sorted(float(f"{value:.6g}") for value in moved)


def rates_along(
    model: OpenModel,
    prompts: PromptSet,
    interventions: Sequence[Intervention],
    progress: Callable[[int], None] | None = None,
    further: Callable[[dict[str, pd.DataFrame]], Sequence[Intervention]] | None = None,
) -> dict[str, pd.DataFrame]:
    """intervention_id -> its `yes_rates`, at the doubled magnitudes, 0 among them.

    Those up to `NEAR` are asked first. Beyond it only a side that is not `turned` by then is followed.

    Args:
        progress: is told how many questions more were asked up to `NEAR`.
        further: which interventions are followed beyond `NEAR`, from the rates up to there; by default all.
    """
    grids = {each.intervention_id: doubling(each.units_per_norm) for each in interventions}

    def asked(
        wanted: Mapping[str, Sequence[float]], advance: Callable[[int], None] | None = None
    ) -> dict[str, pd.DataFrame]:
        some = [each for each in interventions if wanted.get(each.intervention_id)]
        if not some:
            return {}
        table = answers_along(model, some, prompts, wanted, progress=advance)
        return {str(name): yes_rates(rows) for name, rows in table.groupby("intervention_id", sort=False)}

    ends = {each.intervention_id: NEAR * each.units_per_norm * (1 + 1e-9) for each in interventions}
    rates = asked({name: [m for m in grids[name] if abs(m) <= end] for name, end in ends.items()}, progress)
    followed = [each.intervention_id for each in (further(rates) if further else interventions)]
    beyond = {name: [m for m in grids[name] if abs(m) > ends[name] and not turned(rates[name], m)] for name in followed}
    for name, more in asked(beyond).items():
        rates[name] = pd.concat([rates[name], more]).sort_index()
    return rates


def turned(rates: pd.DataFrame, side: float) -> bool:
    """Whether nothing is to be learnt further out on a side of 0: the yes rate has passed .02 or .98, or too much of it
    cannot be read.

    Args:
        rates: of `yes_rates`, magnitude 0 among them. side: any number of its sign.
    """
    there = rates[rates.index * side > 0]
    passed = there["yes_rate"] >= RATE_HIGH if side > 0 else there["yes_rate"] <= RATE_LOW
    return bool((passed | (there["unread"] > most_unread(rates))).any())


def choose_magnitudes(
    model: OpenModel,
    fitting: PromptSet,
    intervention: Intervention,
    rates: pd.DataFrame,
    progress: Callable[[int], None] | None = None,
) -> list[float]:
    """`--magnitudes auto`: the range from the doubled magnitudes' `rates`, then 41 points even in yes rate."""
    coarse = answers_along(model, [intervention], fitting, coarse_grid(*find_range(rates)), progress=progress)
    return even_in_yes_rate(margins_by(coarse))
