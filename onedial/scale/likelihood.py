"""One marginal likelihood for every response model of the house.

    L = prod over questions of  sum_z w(z)  prod_i P_i(x_qi | z)

P_i are the curves of `onedial.scale.response_curves`, w the scale. Yes/no or ordered categories; slopes free or equal;
answers at random of nobody, or equally often by all. The scale is

    normal      N(0, 1)
    smooth      N(0, 1) times exp(c3 L3(Phi(z)) + c4 L4(Phi(z))), normalised, L = Legendre polynomials on (0, 1):
                Neyman's smooth alternatives, two parameters
    histogram   any weight at every node (Bock and Aitkin, 1981, Psychometrika 46, 443-459), drawn towards the smooth
                scale as 10 questions of known place would draw it, w ~ Dirichlet(1 + 10 smooth weights): else lumps
                that few answers tell of creep up for ever, and stand in for answers at random

Gradient by Fisher's identity: the derivative of the log likelihood is that of the expected complete log likelihood,

    d log L / d theta = sum over nodes, respondents, categories of  E[count | answers]  d log P / d theta,

so that any tie between parameters is a sum of derivatives. scipy's L-BFGS-B climbs. Each fit begins with a model that
is nested in it, and tries the boundary (no answers at random) as well as the inside. Log likelihood and log prior are
told apart; their sum is what is climbed, and is not below the nested model's; the likelihood alone can be, by what the
prior gains (up to .016 on 11 panels).
"""

from collections.abc import Hashable
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy.optimize import minimize
from scipy.special import eval_legendre, ndtr

from onedial.core.errors import InputError
from onedial.scale.correlations.thresholds import normal_quantile
from onedial.scale.expectation import MISSING, Codes, Data
from onedial.scale.nodes import nodes_for, quadrature
from onedial.scale.response_curves import STEEPEST, UNUSED, Curves, log_categories
from onedial.stats.arrays import Booleans, Floats, Integers

ScaleKind = Literal["normal", "smooth", "histogram"]
AsymptoteKind = Literal["none", "common", "held"]
PRIOR_QUESTIONS = 10.0
"""How many questions of known place the prior of a histogram counts for."""
_LEAST_NODES, _HISTOGRAM_NODES, _WIDER = 61, 81, 1.5
_STARTING_LOADINGS = 0.3, 0.9
_LEAST_GAP, _LOG_GAPS = 1e-5, (-14.0, 4.0)
_LEAST_WEIGHT_ROOT = 1e-8  # of a histogram
_FAR = 38.0  # a cut: where nobody but at random says otherwise, it would run away
_START_FLOOR = 0.03
_MOST_ROOT, _NEAR_ZERO = 7.0, 0.03  # of the odds of answers at random against the others
_ENOUGH = {"normal": 1e-6, "smooth": 1e-6, "histogram": 1e-3}  # gain of a step of the climb, about
_LEFT = {"normal": 1e-3, "smooth": 1e-3, "histogram": 0.03}
"""What may be left to gain in log likelihood where a climb counts as converged; a histogram's creeps for ever."""
_SAME = 1e-6  # log likelihoods that differ by less are one
_MOST_STEPS, _ROUNDS = 400, 4


@dataclass(frozen=True)
class Model:
    """Which parameters there are, and which of them are the same.

    Attributes:
        scale: kind of distribution of the questions. asymptotes: kind of answers at random; `held` leaves those of the
            fit that this one starts from as they are.
        signs: (respondent,) of one slope for all; None = each has its own.
        whose: (respondent,) who may answer at random; None = everyone.
    """

    scale: ScaleKind = "normal"
    asymptotes: AsymptoteKind = "none"
    signs: Floats | None = None
    whose: Booleans | None = None

    def __post_init__(self) -> None:
        for name, kinds in (("scale", ScaleKind), ("asymptotes", AsymptoteKind)):
            if getattr(self, name) not in get_args(kinds):
                raise InputError(f"{name}={getattr(self, name)!r}; choose one of {', '.join(get_args(kinds))}")

    @property
    def key(self) -> Hashable:
        """The same for models that are the same."""
        return tuple(part.tobytes() if isinstance(part, np.ndarray) else part for part in astuple(self))


@dataclass(frozen=True, eq=False)
class MarginalFit:
    """A fitted model on a scale of mean 0 and variance 1.

    Attributes:
        model: which parameters there are. codes: (question, respondent) the answers. curves: of the respondents.
        nodes: (node,). log_weight: (node,). bends: (parameter, node) derivatives of the log weights by the parameters
            of a smooth scale. point: where the climb ended, before mean and variance were set.
        log_likelihood: of the answers, where likelihood times prior is greatest. log_prior: of a histogram there; 0
            where the model is the one nested in it, and below 0 elsewhere.
        converged: whether no more than `_LEFT` is left to gain.
        known_posterior: (question, node) where more than these answers tells it.
    """

    model: Model
    codes: Codes
    curves: Curves
    nodes: Floats
    log_weight: Floats
    bends: Floats
    point: "Point"
    log_likelihood: float
    log_prior: float
    converged: bool
    known_posterior: Floats | None = None

    @property
    def log_posterior(self) -> float:
        """What was climbed: log likelihood and log prior together."""
        return self.log_likelihood + self.log_prior

    @property
    def weights(self) -> Floats:
        """(node,)."""
        return np.exp(self.log_weight)

    @cached_property
    def log_p(self) -> Floats:
        """(category, respondent, node) log probabilities."""
        return log_categories(self.curves, self.nodes)

    def log_likelihoods(self, codes: Codes) -> Floats:
        """(question, node) log likelihoods of answers of its respondents, those in hand or others."""
        return np.asarray(sum((codes == k).astype(float) @ one for k, one in enumerate(self.log_p)))

    @cached_property
    def data(self) -> Data:
        """The answers, ready for an E step."""
        return Data(self.codes)

    @cached_property
    def posterior(self) -> Floats:
        """(question, node) where each question probably lies."""
        if self.known_posterior is not None:
            return self.known_posterior
        return self.data.posterior(self.curves, self.nodes, self.log_weight)

    def scores(self) -> tuple[Floats, Floats]:
        """(question,), (question,): EAP easiness and posterior standard deviation."""
        mean = self.posterior @ self.nodes
        return mean, np.sqrt(np.maximum(self.posterior @ self.nodes**2 - mean**2, 0))

    def yes_rates(self) -> Floats:
        """(cut, respondent) rate of answers above each cut that the model expects over all questions, gaps included."""
        reached = np.exp(self.log_p)[::-1].cumsum(axis=0)[::-1][1:]
        return reached @ self.weights


def fit_marginal(
    codes: Codes,
    model: Model | None = None,
    start: MarginalFit | None = None,
    n_nodes: int | None = None,
    enough: float | None = None,
    known: dict[Hashable, MarginalFit] | None = None,
) -> MarginalFit:
    """Curves and the scale's distribution of greatest marginal likelihood, times the prior of a histogram.

    Args:
        codes: (question, respondent); every respondent must use at least two categories, numbered from 0 without holes.
        model: which parameters there are; default: free slopes on a normal scale.
        start: a fit of a model nested in this one, to begin with; default: what is nested is fitted first.
        n_nodes: default: as many as the sharpest posterior needs.
        enough: log likelihood that a step must gain for the climb to go on, about; default: by the kind of scale.
        known: fits to these answers by `Model.key`; what is fitted without a `start` is added.
    """
    model, known = model or Model(), {} if known is None else known
    if start is None and model.key in known:
        return known[model.key]
    data = Data(codes)
    enough = enough or _ENOUGH[model.scale]
    if start is not None:
        return _climbed(data, model, [start.point], [start], n_nodes, enough)
    nested = [fit_marginal(codes, simpler, known=known) for simpler in _simpler(model)]
    if not nested:
        known[model.key] = _climbed(data, model, [_starting_point(data)], nested, n_nodes, enough)
        return known[model.key]
    points = [replace(fit.point, bend=_bend_of(fit)) for fit in nested]
    first = _inside(data, model, points[0])
    if len(nested) > 1:  # answers at random as on the simpler scale, where they do not stand in for its shape
        first = replace(first, curves=replace(first.curves, floors=points[1].curves.floors))
    ranked = sorted(zip(nested, points, strict=True), key=lambda pair: -pair[0].log_posterior)
    others = [point for _, point in ranked]
    known[model.key] = _climbed(data, model, [first, *others], nested, n_nodes, enough)
    return known[model.key]


def _simpler(model: Model) -> list[Model]:
    """The models that a fit begins with: no asymptotes, a simpler scale."""
    simpler = []
    if model.asymptotes == "common":
        simpler.append(replace(model, asymptotes="none"))
    if model.scale != "normal":
        is_between = model.scale == "histogram" and model.asymptotes == "none"
        simpler.append(replace(model, scale="smooth" if is_between else "normal"))
    return simpler


def _bend_of(fit: MarginalFit) -> Floats | None:
    """The smooth scale that a histogram is drawn towards: the one that it begins with."""
    return fit.point.scale if fit.model.scale == "smooth" else fit.point.bend


@dataclass(frozen=True)
class Point:
    """Where a climb stands.

    Attributes:
        curves: of the respondents. nodes: (node,). scale: the scale's parameters on these nodes, none if it is normal.
        bend: the parameters of the smooth scale that a histogram is drawn towards, or None.
    """

    curves: Curves
    nodes: Floats
    scale: Floats
    bend: Floats | None = None


def _starting_point(data: Data) -> Point:
    """Slopes from the first eigenvector of the answers' correlations, cuts from the rates over each one's answers."""
    codes, times = data.rows, data.times  # in an order of their own, so that that of the questions does not matter
    answered = codes != MISSING
    n = times @ answered
    centred = np.where(answered, codes - times @ np.where(answered, codes, 0) / n, 0.0)
    unit = centred / np.sqrt(times @ centred**2 / n)
    seen = answered.astype(float)
    values, vectors = np.linalg.eigh(((unit.T * times) @ unit) / np.maximum((seen.T * times) @ seen, 1.0))
    loading = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
    loading *= 1 if loading.sum() >= 0 else -1
    loading = np.where(loading < 0, -1, 1) * np.clip(np.abs(loading), *_STARTING_LOADINGS)
    slope = loading / np.sqrt(1 - loading**2)
    above = np.stack([times @ (codes >= k) for k in range(1, data.n_categories)])
    threshold = normal_quantile(np.where(above > 0, above, 1), np.where(above > 0, n - above, 1))
    return Point(
        Curves(slope, np.where(above > 0, threshold * np.sqrt(1 + slope**2), UNUSED)), np.zeros(0), np.zeros(0)
    )


def _inside(data: Data, model: Model, below: Point) -> Point:
    """A point off the boundary at which the simpler model lies."""
    curves = below.curves
    if model.asymptotes == "none":
        return below
    floors = np.zeros((data.n_categories, len(curves.slope))) if curves.floors is None else curves.floors
    return replace(
        below, curves=replace(curves, floors=np.maximum(floors, _START_FLOOR) * _possible(data.codes, model))
    )


def _possible(codes: Codes, model: Model) -> Booleans:
    """(category, respondent) what each may answer at random: what it answered at all."""
    used = np.stack([(codes == k).any(axis=0) for k in range(int(codes.max()) + 1)])
    return used if model.whose is None else used & model.whose


def _climbed(
    data: Data, model: Model, begin: list[Point], nested: list[MarginalFit], n_nodes: int | None, enough: float
) -> MarginalFit:
    """The best fit from these points.

    The later ones are those of the nested models, on their nodes, where this model is as likely as they are. They are
    tried only where a climb ends below.
    """
    floor = max((fit.log_posterior for fit in nested), default=-np.inf)
    best: _Climb | None = None
    for number, point in enumerate(begin):
        wanted = n_nodes or _n_nodes(model, point.curves)
        is_same_scale = len(point.scale) == len(point.nodes) or model.scale == "smooth"
        stays = number > 0 or (len(point.scale) and is_same_scale)
        nodes = point.nodes if stays and n_nodes is None else quadrature(wanted)[0]
        climb = _climb(data, model, replace(point, nodes=nodes), enough)
        while n_nodes is None and model.scale == "normal" and _n_nodes(model, climb.top.curves) > len(climb.top.nodes):
            finer = quadrature(_n_nodes(model, climb.top.curves))[0]
            climb = _climb(data, model, replace(climb.top, nodes=finer), enough)
        if best is None or climb.value > best.value:
            best = climb
        if best.value >= floor - _SAME:
            break
    assert best is not None
    return _standardised(data, model, best)


def _n_nodes(model: Model, curves: Curves) -> int:
    if model.scale == "histogram":
        return nodes_for(curves.loading, _HISTOGRAM_NODES, _WIDER)
    return nodes_for(curves.loading, _LEAST_NODES)


@dataclass(frozen=True)
class _Climb:
    """Where a climb ended: log likelihood plus log prior, the log prior, and what may be left to gain."""

    top: Point
    value: float
    log_prior: float
    left: float


def _climb(data: Data, model: Model, point: Point, enough: float) -> _Climb:
    parameters = _Parameters(data, model, point)
    low, high = parameters.bounds.T
    x, value, left = parameters.packed(point), np.inf, np.inf
    for _ in range(_ROUNDS):
        options = {"maxiter": _MOST_STEPS, "maxcor": 20, "ftol": enough / data.codes.size, "gtol": 0.0}
        step = minimize(parameters.loss, x, jac=True, method="L-BFGS-B", bounds=parameters.bounds, options=options)
        x, gain, value = step.x, value - float(step.fun), float(step.fun)
        held = ((x <= low) & (step.jac > 0)) | ((x >= high) & (step.jac < 0))
        downhill = np.where(held, 0.0, step.jac)
        promised = float(downhill @ step.hess_inv.dot(downhill)) / 2
        left = min(gain, promised) if np.isfinite(promised) else np.inf
        if left < _LEFT[model.scale]:
            break
    top = parameters.unpacked(x)
    return _Climb(top, -value, parameters.log_prior(parameters.log_weight(top.scale)), left)


class _Parameters:
    """All parameters in one vector, each where its gradient is about as steep as that of the others.

    Slopes are sinh(x), so that a loading near 1 is no longer way than others. Cuts are thresholds d / sqrt(1 + a^2):
    turning a slope then keeps the yes rate. Distances of neighbouring thresholds are exp(x). Answers at random, as odds
    against the others, and a histogram's weights are squares: that is their natural metric, and 0 is reached.
    """

    def __init__(self, data: Data, model: Model, point: Point) -> None:
        self.data, self.model, self.point, self.nodes = data, model, point, point.nodes
        self.held = point.curves.floors if model.asymptotes == "held" else None
        self.m, self.n = data.codes.shape[1], len(data.codes)
        self.used = np.stack([(data.codes >= k).any(axis=0) for k in range(1, data.n_categories)])
        self.possible = _possible(data.codes, model) & (model.asymptotes == "common")
        everyone = np.arange(self.m)
        self.sign = np.ones(self.m) if model.signs is None else model.signs
        self._bounds: list[tuple[float, float]] = []
        steepest = float(np.arcsinh(STEEPEST))
        self.slope = self._placed(everyone if model.signs is None else 0 * everyone, -steepest, steepest)
        self.first = self._placed(everyone, -_FAR, _FAR)
        gaps = self.used[1:]
        self.gaps = self._placed(np.where(gaps, np.cumsum(gaps).reshape(gaps.shape) - 1, -1), *_LOG_GAPS)
        of_all = np.broadcast_to(np.arange(data.n_categories)[:, None], self.possible.shape)
        self.floors = self._placed(np.where(self.possible, of_all, -1), 0.0, _MOST_ROOT)
        self.at = len(self._bounds)
        self.basis = smooth_basis(self.nodes) if model.scale == "smooth" else np.zeros((0, len(self.nodes)))
        self.towards = _bent(self.nodes, point.bend)
        n_weights = len(self.nodes) if model.scale == "histogram" else 0
        self._bounds += [(-9.0, 9.0)] * len(self.basis) + [(_LEAST_WEIGHT_ROOT, 9.0)] * n_weights
        self.bounds = np.array(self._bounds)

    def _placed(self, groups: Integers, low: float, high: float) -> Integers:
        """Positions in the vector of parameters numbered by their group; -1 = none."""
        kept, place = np.unique(groups[groups >= 0], return_inverse=True)
        places = np.full(groups.shape, -1)
        places[groups >= 0] = len(self._bounds) + place.ravel()
        self._bounds += [(low, high)] * len(kept)
        return places

    def packed(self, point: Point) -> Floats:
        """The vector of a point; parameters that are one take their mean."""
        curves = point.curves
        x, times = np.zeros(len(self.bounds)), np.zeros(len(self.bounds))

        def put(places: Integers, values: Floats) -> None:
            np.add.at(x, places[places >= 0], values[places >= 0])
            np.add.at(times, places[places >= 0], 1.0)

        put(self.slope, self.sign * np.arcsinh(curves.slope))
        thresholds = np.where(self.used, curves.thresholds, 0.0)
        put(self.first, thresholds[0])
        put(self.gaps, np.log(np.maximum(-np.diff(thresholds, axis=0), _LEAST_GAP)))
        if curves.floors is not None:
            odds = curves.floors / (1 - curves.floors.sum(axis=0))
            put(self.floors, np.sqrt(odds + _NEAR_ZERO**2) - _NEAR_ZERO)
        x /= np.maximum(times, 1)
        x[self.at :] = self._scale_to_begin(point)
        return np.clip(x, *self.bounds.T)

    def _scale_to_begin(self, point: Point) -> Floats:
        if len(point.scale) == len(self.bounds) - self.at:
            return point.scale
        return np.zeros(len(self.basis)) if self.model.scale != "histogram" else np.sqrt(self.towards * len(self.nodes))

    def unpacked(self, x: Floats) -> Point:
        """The point of a vector."""
        slope = np.sinh(self.sign * x[self.slope])
        curves = Curves(slope, np.zeros((0, self.m)))
        distance = np.where(self.gaps >= 0, np.exp(x[self.gaps]), 0.0)
        threshold = x[self.first] - np.concatenate([np.zeros((1, self.m)), np.cumsum(distance, axis=0)])
        cuts = np.where(self.used, threshold * curves.size, UNUSED)
        floors = self.held
        if self.possible.any():
            odds = self._odds(x)
            floors = odds / (1 + odds.sum(axis=0))
        return replace(self.point, curves=replace(curves, cuts=cuts, floors=floors), scale=x[self.at :])

    def log_weight(self, scale: Floats) -> Floats:
        """(node,) of the scale's parameters."""
        if self.model.scale == "histogram":
            return 2 * np.log(scale) - np.log((scale**2).sum())
        bent = -(self.nodes**2) / 2 + scale @ self.basis
        return bent - bent.max() - np.log(np.exp(bent - bent.max()).sum())

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log likelihood and log prior, and its gradient."""
        point = self.unpacked(x)
        curves, log_weight = point.curves, self.log_weight(point.scale)
        expected = self.data.expect(curves, self.nodes, log_weight)
        gradient = np.zeros(len(x))

        def add(places: Integers, values: Floats) -> None:
            np.add.at(gradient, places[places >= 0], values[places >= 0])

        size, by_cut = curves.size, np.where(self.used, expected.by_cut, 0.0)
        by_size = (by_cut * np.where(self.used, curves.thresholds, 0.0)).sum(axis=0) / size
        by_slope = expected.by_slope + by_size * curves.slope
        add(self.slope, self.sign * by_slope * np.sqrt(1 + curves.slope**2))
        by_threshold = by_cut * size
        add(self.first, by_threshold.sum(axis=0))
        below = np.cumsum(by_threshold[1:][::-1], axis=0)[::-1]
        add(self.gaps, -below * np.exp(np.where(self.gaps >= 0, x[self.gaps], 0.0)))
        if self.possible.any():
            odds = self._odds(x)
            whole = 1 + odds.sum(axis=0)
            by_odds = (expected.by_floor - (expected.by_floor * odds / whole).sum(axis=0)) / whole
            add(self.floors, 2 * (x[self.floors] + _NEAR_ZERO) * by_odds)
        over = expected.mass - self.n * np.exp(log_weight)
        if self.model.scale == "histogram":
            over += PRIOR_QUESTIONS * (self.towards - np.exp(log_weight))
        gradient[self.at :] = 2 * over / point.scale if self.model.scale == "histogram" else self.basis @ over
        return -expected.log_likelihood - self.log_prior(log_weight), -gradient

    def log_prior(self, log_weight: Floats) -> float:
        """Of a histogram, against that of the nested model: at most 0."""
        if self.model.scale != "histogram":
            return 0.0
        return PRIOR_QUESTIONS * float(self.towards @ (log_weight - np.log(self.towards)))

    def _odds(self, x: Floats) -> Floats:
        """(category, respondent) of answers at random: v^2 + 2 e v, so that 0 can be reached and left."""
        return np.where(self.possible, x[self.floors] * (x[self.floors] + 2 * _NEAR_ZERO), 0.0)


def _standardised(data: Data, model: Model, climb: _Climb) -> MarginalFit:
    point, parameters = climb.top, _Parameters(data, model, climb.top)
    curves, nodes, log_weight = point.curves, point.nodes, parameters.log_weight(point.scale)
    bends = parameters.basis
    if model.scale != "normal":
        weight = np.exp(log_weight)
        mean = float(weight @ nodes)
        spread = float(np.sqrt(weight @ (nodes - mean) ** 2))
        curves, nodes = curves.moved(mean, spread), (nodes - mean) / spread
    if curves.slope.sum() < 0:
        curves = replace(curves, slope=-curves.slope)
        nodes, log_weight, bends = -nodes[::-1], log_weight[::-1], bends[:, ::-1]
    return MarginalFit(
        model, data.codes, curves, nodes, log_weight, bends, point, climb.value - climb.log_prior, climb.log_prior,
        climb.left < _LEFT[model.scale],
    )  # fmt: skip


def _bent(nodes: Floats, bend: Floats | None) -> Floats:
    """(node,) weights of a smooth scale with these parameters; None = normal."""
    log_weight = -(nodes**2) / 2 + (0.0 if bend is None else bend @ smooth_basis(nodes))
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def smooth_basis(nodes: Floats) -> Floats:
    """(2, node) L3(Phi(z)) and L4(Phi(z)), Legendre polynomials of mean square 1 on (0, 1)."""
    x = 2 * ndtr(nodes) - 1
    return np.stack([np.sqrt(2 * k + 1) * eval_legendre(k, x) for k in (3, 4)])
