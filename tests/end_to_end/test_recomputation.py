"""The verdict's numbers again, from a run's tables by plain code written from docs/method*.md alone, evidence left out.

Nothing of `verdict` computes here: it only finds the files. Two old runs are recomputed (three base models under
framings, topics, unread answers), and a tiny new one (twelve base models).
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm, rankdata, t
from shared_runs import default_run

from onedial.panels.panels import panel_from_long
from onedial.verdict.sweep_run import SweepRun

GOLDEN = Path(__file__).parents[1] / "reference" / "golden"
B, SEED = 1999, 0
JUDGED = ("ok", "edge", "not monotone")


class Tables:
    """What a run holds, laid out: questions in the order of their ids, answers 1, 0 or nan."""

    def __init__(self, run):
        sweep = run.sweep()
        sweep = sweep[sweep["intervention_id"] == run.under_test()]
        wide = {name: sweep.pivot(index="question_id", columns="magnitude", values=name) for name in ("margin", "mass")}
        self.ids = sorted(wide["margin"].index)
        self.m = wide["margin"].columns.to_numpy(float)
        self.margin = np.where(wide["mass"].loc[self.ids] < 0.1, np.nan, wide["margin"].loc[self.ids])
        self.answer = np.where(np.isnan(self.margin), np.nan, self.margin > 0)
        self.zero = int(np.flatnonzero(self.m == 0)[0])
        questions = run.questions().set_index("id").loc[self.ids]
        self.split = questions["split"].to_numpy()
        self.topic = ["" if topic != topic or topic is None else str(topic) for topic in questions["topic"]]
        panel = panel_from_long(run.panel())
        self.targets = list(panel.answers.columns)
        self.x = panel.answers.reindex(self.ids).to_numpy(float)
        self.models = panel.respondents["model"].reindex(self.targets).fillna("").to_numpy()
        self.models = np.array([model or name for model, name in zip(self.models, self.targets, strict=True)])
        status = run.matches()["status"]
        self.judged = [number for number, name in enumerate(self.targets) if status[name] in JUDGED]
        fitting = self.split == "fitting"
        self.allowed = [
            k for k in range(len(self.m)) if np.isnan(self.answer[fitting, k]).mean() <= 0.2 or k == self.zero
        ]

    def mean(self, values):
        """Over the targets of a base model first, then over base models; values: ... x judged target."""
        values, models = np.asarray(values), self.models[self.judged]
        return np.mean([values[..., models == model].mean(axis=-1) for model in sorted(set(models))], axis=0)

    def by_model(self, values):
        models = self.models[self.judged]
        return np.array([np.asarray(values)[models == model].mean() for model in sorted(set(models))])

    def strata(self, rows):
        """Of these questions: names of topics, those with under five of them together under the empty name."""
        topics = [self.topic[row] for row in rows]
        return np.array([name if topics.count(name) >= 5 else "" for name in topics])


def middle_of_the_best(score, m, allowed):
    """Place of the chosen magnitude; score: one per magnitude, higher is better."""
    best = max(score[k] for k in allowed)
    stretches, last = [], None
    for k in range(len(m)):
        if k in allowed and score[k] >= best - 1e-9:
            stretches = [*stretches[:-1], [*stretches[-1], k]] if last == k - 1 else [*stretches, [k]]
            last = k

    def middle(stretch):
        return (m[stretch[0]] + m[stretch[-1]]) / 2

    longest = max(m[stretch[-1]] - m[stretch[0]] for stretch in stretches)
    stretches = [stretch for stretch in stretches if m[stretch[-1]] - m[stretch[0]] >= longest - 1e-9]
    chosen = min(stretches, key=lambda stretch: abs(middle(stretch)))
    nearest = min(abs(m[k] - middle(chosen)) for k in chosen)
    return min((k for k in chosen if abs(m[k] - middle(chosen)) <= nearest + 1e-9), key=lambda k: (abs(m[k]), k))


def rate_matched_place(tables, target):
    """Where the subject's yes rate on the fitting questions is nearest to the target's."""
    given, distance = tables.x[:, target], []
    for k in range(len(tables.m)):
        both = (tables.split == "fitting") & ~np.isnan(given) & ~np.isnan(tables.answer[:, k])
        distance.append(abs(tables.answer[both, k].mean() - given[both].mean()) if both.any() else np.inf)
    return middle_of_the_best(-np.array(distance), tables.m, tables.allowed)


def best_place(tables, target):
    """Where the subject agrees with the target on most fitting questions."""
    given, agreement = tables.x[:, target], []
    for k in range(len(tables.m)):
        both = (tables.split == "fitting") & ~np.isnan(given) & ~np.isnan(tables.answer[:, k])
        agreement.append((tables.answer[both, k] == given[both]).mean() if both.any() else -np.inf)
    return middle_of_the_best(np.array(agreement), tables.m, tables.allowed)


def kappa(predicted, given, weights):
    """Of 0/1 answers on both sides, for every row of weights."""
    n = weights.sum(axis=1)
    p, r = weights @ predicted / n, weights @ given / n
    agreement = weights @ (predicted == given) / n
    chance = p * r + (1 - p) * (1 - r)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((p == 0) | (p == 1) | (r == 0) | (r == 1), 0.0, (agreement - chance) / (1 - chance))


def resamples(n):
    """How often each of n questions is drawn, in each resample."""
    drawn = np.random.default_rng(SEED).integers(n, size=(B, n))
    return np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(float)


def resampled_topics(names):
    """The same where whole topics are drawn, numbered by sorted name."""
    numbers = np.unique(names, return_inverse=True)[1]
    return resamples(numbers.max() + 1)[:, numbers]


def permutations(strata):
    """Places of the questions, permuted within strata."""
    rng, places = np.random.default_rng(SEED), np.tile(np.arange(len(strata)), (B, 1))
    for name in sorted(set(strata)):
        stratum = np.flatnonzero(strata == name)
        places[:, stratum] = rng.permuted(places[:, stratum], axis=1)
    return places


def ease(tables):
    """Share of the range on which each question is answered yes."""
    low = high = tables.zero
    while low - 1 in tables.allowed:
        low -= 1
    while high + 1 in tables.allowed:
        high += 1
    m, shares = tables.m[low : high + 1], []
    for margin in tables.margin[:, low : high + 1]:
        read = np.flatnonzero(~np.isnan(margin))
        if not len(read):
            shares.append(np.nan)
            continue
        yes = margin[read[0]] > 0
        length, since = 0.0, m[0]
        for one, other in pairwise(read):
            if (margin[one] > 0) != (margin[other] > 0):
                turn = m[one] + margin[one] / (margin[one] - margin[other]) * (m[other] - m[one])
                length, since, yes = length + (turn - since) * yes, turn, not yes
        shares.append((length + (m[-1] - since) * yes) / (m[-1] - m[0]))
    return np.array(shares)


def area(order, given, weights):
    """P(order of a yes above that of a no), ties one half, for every row of weights."""
    yes, no = np.flatnonzero(given == 1), np.flatnonzero(given == 0)
    above = (order[yes][:, None] > order[no]) + 0.5 * (order[yes][:, None] == order[no])
    one, other = weights[:, yes], weights[:, no]
    return ((one @ above) * other).sum(axis=1) / (one.sum(axis=1) * other.sum(axis=1))


def check(result, estimate, drawn, by_topic, tables, parts):
    """A number of verdict.json against what was recomputed."""
    assert result["value"] == pytest.approx(estimate, abs=1e-9)
    for name, share in (("low", 0.025), ("high", 0.975), ("low_90", 0.05), ("high_90", 0.95)):
        assert result[name] == pytest.approx(np.quantile(drawn, share), abs=1e-6), name
    error = drawn.std(ddof=1)
    assert result["se"] == pytest.approx(error, abs=1e-6)
    for name, share in (("low_topics", 0.025), ("high_topics", 0.975)):
        expected = None if by_topic is None else pytest.approx(np.quantile(by_topic, share), abs=1e-6)
        assert result[name] == expected, name
    each = tables.by_model(parts)
    reach = t.ppf(0.975, len(each) - 1) * np.sqrt(error**2 + each.var(ddof=1) / len(each)) if len(each) >= 5 else None
    for name, sign in (("low_models", -1), ("high_models", 1)):
        assert result[name] == (None if reach is None else pytest.approx(estimate + sign * reach, abs=1e-6)), name


@pytest.fixture(scope="module", params=["default", "all_positions", "tiny"])
def case(request):
    """Tables and stored verdict of a run."""
    run = default_run().run if request.param == "tiny" else SweepRun.open(GOLDEN / request.param)
    return Tables(run), json.loads((run.path / "verdict.json").read_text())


def test_the_signal_its_p_and_its_intervals_follow_from_the_page(case):
    tables, verdict = case
    test = tables.split == "test"
    rows = np.flatnonzero(test)
    pairs = []
    for target in tables.judged:
        pairs.append((tables.answer[test, rate_matched_place(tables, target)], tables.x[test, target]))

    def signal(weights, places=None):
        values = []
        for predicted, given in pairs:
            if places is None:
                both = ~np.isnan(predicted) & ~np.isnan(given)
                values.append(kappa(predicted[both], given[both], weights[:, both]))
            else:
                moved = given[places]
                kappas = []
                for row in moved:
                    both = ~np.isnan(predicted) & ~np.isnan(row)
                    kappas.append(kappa(predicted[both], row[both], np.ones((1, both.sum())))[0])
                values.append(np.array(kappas))
        return np.stack(values, axis=-1)

    values = signal(np.ones((1, len(rows))))[0]
    estimate, strata = tables.mean(values), tables.strata(rows)
    by_topic = tables.mean(signal(resampled_topics(strata))) if len(set(strata)) >= 10 else None
    check(verdict["signal"], estimate, tables.mean(signal(resamples(len(rows)))), by_topic, tables, values)
    null = tables.mean(signal(None, permutations(strata)))
    assert verdict["signal"]["p"] == (1 + (null >= estimate - 1e-12).sum()) / (B + 1)
    assert verdict["signal"]["null_mean"] == pytest.approx(null.mean(), abs=1e-9)


def test_the_gain_and_its_intervals_follow_from_the_page(case):
    tables, verdict = case
    test = tables.split == "test"
    rows = np.flatnonzero(test)
    pairs = []
    for target in tables.judged:
        given, k = tables.x[:, target], best_place(tables, target)
        compared = ~np.isnan(given) & ~np.isnan(tables.answer[:, k]) & ~np.isnan(tables.answer[:, tables.zero])
        majority = float(given[compared & test].mean() >= 0.5)
        apart = (tables.answer[:, k] == given).astype(float) - (given == majority)
        pairs.append((apart[test], compared[test]))

    def gain(weights):
        return np.stack([weights @ (apart * used) / (weights @ used) for apart, used in pairs], axis=-1)

    values, strata = gain(np.ones((1, len(rows))))[0], tables.strata(rows)
    by_topic = tables.mean(gain(resampled_topics(strata))) if len(set(strata)) >= 10 else None
    drawn = tables.mean(gain(resamples(len(rows))))
    check(verdict["gain"], tables.mean(values), drawn, by_topic, tables, values)
    assert verdict["gain"]["detectable"] == pytest.approx(2.8016 * drawn.std(ddof=1), abs=1e-5)


def test_what_unread_answers_could_change_follows_from_the_page(case):
    """Each counted as the wrong answer, and the majority answer taken over all that the target said."""
    tables, verdict = case
    test = tables.split == "test"
    gains, kappas, unread = [], [], 0
    for target in tables.judged:
        given = tables.x[test, target]
        at_places = [tables.answer[test, place(tables, target)] for place in (best_place, rate_matched_place)]
        answered = ~np.isnan(given)
        at_places[0] = np.where(
            np.isnan(tables.answer[test, tables.zero]), np.nan, at_places[0]
        )  # left out of the gain
        unread += sum(np.isnan(each[answered]).sum() for each in at_places)
        best, matched = (np.where(np.isnan(each), 1 - given, each)[answered] for each in at_places)
        majority = float(given[answered].mean() >= 0.5)
        gains.append((best == given[answered]).mean() - (given[answered] == majority).mean())
        kappas.append(kappa(matched, given[answered], np.ones((1, answered.sum())))[0])
    result = verdict["unread_as_wrong"]
    assert bool(result) == bool(unread)
    if result:
        assert result["gain"]["value"] == pytest.approx(tables.mean(gains), abs=1e-9)
        assert result["signal"] == pytest.approx(tables.mean(kappas), abs=1e-9)


def test_the_order_and_its_intervals_follow_from_the_page(case):
    tables, verdict = case
    rows = np.flatnonzero(tables.split != "extraction")
    dial, margin = ease(tables)[rows], tables.margin[rows, tables.zero]
    known = ~np.isnan(dial) & ~np.isnan(margin)
    result = verdict["order"]
    assert (result["rho"]["n"], result["rho"]["n_missing"]) == (known.sum(), (~known).sum())

    def gains(weights):
        each = []
        for target in tables.judged:
            given = np.where(known, tables.x[rows, target], np.nan)
            each.append(area(dial, given, weights) - area(margin, given, weights))
        return np.stack(each, axis=-1)

    values, strata = gains(np.ones((1, len(rows))))[0], tables.strata(rows)
    by_topic = tables.mean(gains(resampled_topics(strata))) if len(set(strata)) >= 10 else None
    check(result, tables.mean(values), tables.mean(gains(resamples(len(rows)))), by_topic, tables, values)

    rho = np.corrcoef(rankdata(dial[known]), rankdata(margin[known]))[0, 1]
    reach = 1.959964 * np.sqrt((1 + rho**2 / 2) / (known.sum() - 3))
    assert result["rho"]["value"] == pytest.approx(rho, abs=1e-9)
    for name, sign in (("low", -1), ("high", 1)):
        assert result["rho"][name] == pytest.approx(np.tanh(np.arctanh(rho) + sign * reach), abs=1e-6)


def logistic(z, given, mean, variance):
    """Mode of threshold and slope under a normal prior, and the inverse of its curvature."""
    x = np.stack([np.ones(len(z)), z], axis=1)

    def loss(theta):
        line = x @ theta
        return (np.logaddexp(0, line) - given * line).sum() + ((theta - mean) ** 2 / variance).sum() / 2

    def slope(theta):
        return x.T @ (expit(x @ theta) - given) + (theta - mean) / variance

    theta = minimize(loss, np.asarray(mean, float), jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    p = expit(x @ theta)
    return theta, np.linalg.inv((x.T * (p * (1 - p))) @ x + np.diag(1 / np.asarray(variance)))


def prior_of(z, tables, model):
    """Means and variances of threshold and slope over the judged targets of other base models."""
    sides, weights = [], []
    others = [target for target in tables.judged if tables.models[target] != model]
    for target in others:
        known = (tables.split == "fitting") & ~np.isnan(tables.x[:, target])
        theta, covariance = logistic(z[known], tables.x[known, target], [0, 0], [6.25, 6.25])
        precision = np.linalg.inv(covariance)
        sides.append((precision - np.eye(2) / 6.25, precision @ theta))
        weights.append(1 / sum(tables.models[other] == tables.models[target] for other in others))
    mean, variance = np.zeros(2), np.ones(2)
    for _ in range(100):
        inverses = [np.linalg.inv(information + np.diag(1 / variance)) for information, _ in sides]
        centres = [c @ (side + mean / variance) for c, (_, side) in zip(inverses, sides, strict=True)]
        mean = np.average(centres, axis=0, weights=weights)
        spread = [(each - mean) ** 2 + np.diag(c) for each, c in zip(centres, inverses, strict=True)]
        variance = np.maximum(np.average(spread, axis=0, weights=weights), 0.05)
    return np.array([mean[0], max(mean[1], 0)]), variance


def losses(scores, tables):
    """Bits of each test answer of the judged targets; question x target."""
    used, z = tables.split != "extraction", np.zeros(len(scores))
    known = used & ~np.isnan(scores)
    if known.any():
        ranks = rankdata(np.round(scores[known] / (np.abs(scores[known]).max() or 1), 12))
        z[known] = norm.ppf((ranks - 0.5) / known.sum())
    priors = {model: prior_of(z, tables, model) for model in set(tables.models[tables.judged])}
    columns = []
    for target in tables.judged:
        given, predicted = tables.x[:, target], z
        fitted = (tables.split == "fitting") & ~np.isnan(given)
        theta, covariance = logistic(predicted[fitted], given[fitted], *priors[tables.models[target]])
        if theta[1] < 0:
            predicted = np.zeros(len(z))
            theta, covariance = logistic(predicted[fitted], given[fitted], *priors[tables.models[target]])
        x = np.stack([np.ones(len(predicted)), predicted], axis=1)[tables.split == "test"]
        p = expit(x @ theta / np.sqrt(1 + np.pi * ((x @ covariance) * x).sum(axis=1) / 8))
        loss = given[tables.split == "test"]
        columns.append(np.where(np.isnan(loss), np.nan, -np.log2(np.where(loss == 1, p, 1 - p))))
    return np.stack(columns, axis=-1)


def test_the_bits_that_the_dial_predicts_follow_from_the_page(case):
    tables, verdict = case
    alone = losses(np.full(len(tables.ids), np.nan), tables)
    apart = alone - losses(ease(tables), tables)
    result, strata = verdict["prediction"], tables.strata(np.flatnonzero(tables.split == "test"))

    def bits(weights):
        return weights @ np.nan_to_num(apart) / (weights @ ~np.isnan(apart))

    assert result["yes_rate"] == pytest.approx(tables.mean(np.nanmean(alone, axis=0)), abs=1e-5)
    values = np.nanmean(apart, axis=0)
    assert result["bits"]["value"] == pytest.approx(tables.mean(values), abs=1e-5)
    by_topic = tables.mean(bits(resampled_topics(strata))) if len(set(strata)) >= 10 else None
    drawn = bits(resamples(len(strata)))
    assert result["bits"]["low"] == pytest.approx(np.quantile(tables.mean(drawn), 0.025), abs=1e-4)
    deciding = bits(resampled_topics(strata)) if by_topic is not None else drawn
    for number, model in enumerate(sorted(set(tables.models[tables.judged]))):
        of_model = result["models"][str(model)]
        assert of_model["bits"] == pytest.approx(tables.by_model(values)[number], abs=1e-5)
        members = tables.models[tables.judged] == model
        error = deciding[:, members].mean(axis=1).std(ddof=1)
        assert of_model["p"] == pytest.approx(norm.sf(of_model["bits"] / error), abs=1e-3)


def test_the_three_answers_follow_from_the_pages_tables(case):
    """The three answers follow from the numbers by the tables of the page."""
    tables, verdict = case
    signal, order = (verdict[name] for name in ("signal", "order"))
    fitting = tables.split == "fitting"
    rates = np.nanmean(tables.answer[fitting][:, tables.allowed], axis=0)
    rate = np.nanmean(tables.x[fitting], axis=0)
    varies = [set(column[~np.isnan(column)]) == {0.0, 1.0} for column in tables.x.T]
    reach = np.mean((rate >= rates.min()) & (rate <= rates.max()), where=varies)
    assert verdict["reach"] == pytest.approx(reach)
    if len(tables.judged) < 5 or reach < 0.5:
        reproduced = "cannot be judged"
    elif signal["p"] > 0.05:
        reproduced = "not reproduced"
    else:
        low, enough = "low_topics" if verdict["prediction"]["by"] == "topics" else "low", True
        for part in filter(None, (verdict["prediction"], verdict["prediction"]["kin"])):
            enough &= 2 * part["n_predicted"] > part["n_models"] and (part["share"]["low"] or 0) >= 0.1
            enough &= part["bits"]["value"] >= 0.05 * part["yes_rate"] and part["beyond"][low] > 0
        reproduced = "reproduced" if enough else "a shared signal, not enough to reproduce"
    assert verdict["reproduced"] == reproduced
    same = order["low_90"] > -0.02 and order["high_90"] < 0.02
    if order["rho"]["value"] >= 0.99 or (signal["p"] <= 0.05 and same):
        dial = "a threshold shift"
    elif order["low"] > 0:
        dial = "it reorders questions towards the targets"
    else:
        dial = "it reorders questions away from the targets" if order["high"] < 0 else "open"
    assert verdict["dial"] == dial
    assert verdict["push"] == "untested"
