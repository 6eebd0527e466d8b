"""How the questions are spread over the scale: families of distributions over nodes.

A family turns parameters into the weight of every node, and the mass that an E step finds at every node back into
parameters. What a curve a z + d leaves open, the place and unit of z, is settled after the fit (mean 0, variance 1).

    normal          N(0, 1); nothing to estimate
    histogram       every node its own weight (Bock and Aitkin, 1981, Psychometrika 46, 443-459): any distribution
    two_component   p N(m1, s1) + (1 - p) N(m2, s2)
    smooth          N(0, 1) times exp(c3 L3(Phi(z)) + c4 L4(Phi(z))), normalised; L = Legendre polynomials on (0, 1).
                    Neyman's smooth alternatives: two parameters, regular, for a test (`scale_distribution`)
"""

from typing import Literal, Protocol, get_args

import numpy as np
from scipy.special import eval_legendre, ndtr

from onedial.core import InputError
from onedial.stats import Floats

ScaleKind = Literal["normal", "histogram", "two_component", "smooth"]
HISTOGRAM_NODES = 81
_SMALLEST = -60.0
_NARROWEST = 0.1
_NEWTON_STEPS = 3


class ScaleFamily(Protocol):
    """A family of distributions over the nodes; parameters are one vector, so that a fit can extrapolate them."""

    def start(self, nodes: Floats) -> Floats: ...

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats: ...

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats: ...


class Normal:
    """N(0, 1)."""

    def start(self, nodes: Floats) -> Floats:
        return np.zeros(0)

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats:
        return _normalised(-(nodes**2) / 2)

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats:
        return parameters


class Histogram:
    """Parameters: the log weight of every node."""

    def start(self, nodes: Floats) -> Floats:
        return np.maximum(_normalised(-(nodes**2) / 2), _SMALLEST)

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats:
        return _normalised(np.maximum(parameters, _SMALLEST))

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(mass / mass.sum()), _SMALLEST)


class TwoComponent:
    """Parameters: m1, log s1, m2, log s2, logit p."""

    def start(self, nodes: Floats) -> Floats:
        return np.array([-1.0, -0.4, 1.0, -0.4, 0.0])

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats:
        return _normalised(np.logaddexp(*self._components(parameters, nodes)))

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats:
        for _ in range(5):
            first, second = self._components(parameters, nodes)
            share = mass / (1 + np.exp(np.clip(second - first, -500, 500)))
            m1, s1 = _moments(share, nodes)
            m2, s2 = _moments(mass - share, nodes)
            p = np.clip(share.sum() / mass.sum(), 1e-6, 1 - 1e-6)
            parameters = np.array([m1, np.log(s1), m2, np.log(s2), np.log(p / (1 - p))])
        return parameters

    @staticmethod
    def _components(parameters: Floats, nodes: Floats) -> tuple[Floats, Floats]:
        m1, log_s1, m2, log_s2, logit = parameters
        log_s1, log_s2 = max(log_s1, np.log(_NARROWEST)), max(log_s2, np.log(_NARROWEST))
        first = -np.logaddexp(0, -logit) - log_s1 - ((nodes - m1) / np.exp(log_s1)) ** 2 / 2
        second = -np.logaddexp(0, logit) - log_s2 - ((nodes - m2) / np.exp(log_s2)) ** 2 / 2
        return first, second


class Smooth:
    """Parameters: c3, c4."""

    def start(self, nodes: Floats) -> Floats:
        return np.zeros(2)

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats:
        return _normalised(-(nodes**2) / 2 + parameters @ smooth_basis(nodes))

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats:
        basis = smooth_basis(nodes)
        return _matched(self, basis, basis @ mass / mass.sum(), parameters, nodes)


class Tilted:
    """A group's distribution in a panel of several groups: N(0, 1) times exp(c . T), normalised.

    T = (z, z^2, L3, L4, L5, L6), parameters c. Place, spread and shape of each group are its own, and the family is
    regular. c is drawn to 0 by a normal prior (`PRIOR_PRECISION`), so that no group ends as a few points.
    """

    PRIOR_PRECISION = np.array([0.1, 1.0, 0.25, 0.25, 0.25, 0.25])

    def start(self, nodes: Floats) -> Floats:
        return np.zeros(len(self.PRIOR_PRECISION))

    def log_weight(self, parameters: Floats, nodes: Floats) -> Floats:
        return _normalised(-(nodes**2) / 2 + parameters @ self.statistics(nodes))

    def update(self, mass: Floats, parameters: Floats, nodes: Floats) -> Floats:
        statistics = self.statistics(nodes)
        wanted = statistics @ mass / max(mass.sum(), 1e-12)
        return _matched(self, statistics, wanted, parameters, nodes, self.PRIOR_PRECISION / max(mass.sum(), 1.0))

    @staticmethod
    def statistics(nodes: Floats) -> Floats:
        """(6, node) what the parameters weigh."""
        return np.concatenate([[nodes, nodes**2], smooth_basis(nodes, 6)])


def family_of(kind: str) -> ScaleFamily:
    """The family of that name.

    Raises:
        InputError: there is none.
    """
    if kind not in get_args(ScaleKind):
        raise InputError(f"scale={kind!r}; choose one of {', '.join(get_args(ScaleKind))}")
    families: dict[str, type[ScaleFamily]] = {
        "normal": Normal,
        "histogram": Histogram,
        "two_component": TwoComponent,
        "smooth": Smooth,
    }
    return families[kind]()


def smooth_basis(nodes: Floats, highest: int = 4) -> Floats:
    """(degree - 2, node) L3(Phi(z)), L4(Phi(z)), .., Legendre polynomials of mean square 1 on (0, 1)."""
    x = 2 * ndtr(nodes) - 1
    return np.stack([np.sqrt(2 * k + 1) * eval_legendre(k, x) for k in range(3, highest + 1)])


def standard_moments(log_weight: Floats, nodes: Floats) -> tuple[float, float]:
    """Mean and standard deviation of a distribution over nodes."""
    weight = np.exp(log_weight)
    mean = float(weight @ nodes)
    return mean, float(np.sqrt(weight @ (nodes - mean) ** 2))


def _matched(
    family: ScaleFamily,
    statistics: Floats,
    wanted: Floats,
    parameters: Floats,
    nodes: Floats,
    prior: Floats | float = 0.0,
) -> Floats:
    """Newton steps to where the family's mean statistics are the wanted ones; its log likelihood is concave.

    Args:
        prior: (parameter,) precisions of a normal prior around 0, for each question of the group.
    """
    for _ in range(_NEWTON_STEPS):
        weight = np.exp(family.log_weight(parameters, nodes))
        mean = statistics @ weight
        spread = (statistics * weight) @ statistics.T - np.outer(mean, mean)
        pull = wanted - mean - prior * parameters
        step = np.linalg.solve(spread + np.diag(prior + 1e-9 * np.ones(len(mean))), pull)
        parameters = parameters + np.clip(step, -1, 1)
    return parameters


def _moments(mass: Floats, nodes: Floats) -> tuple[float, float]:
    total = max(mass.sum(), 1e-12)
    mean = mass @ nodes / total
    return float(mean), float(max(np.sqrt(mass @ (nodes - mean) ** 2 / total), _NARROWEST))


def _normalised(log_weight: Floats) -> Floats:
    top = log_weight.max()
    return log_weight - top - np.log(np.exp(log_weight - top).sum())
