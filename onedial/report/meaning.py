"""The verdict's numbers in plain words: what each came out as, and what that means. The words are words.yaml's.

"No better than the majority answer" is said as plainly as "reproduced": every outcome has its sentence, and none is
softened or left out.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.show.columns import headline, number, p_value, percent
from onedial.show.page import Card
from onedial.show.results import words_in
from onedial.stats.agreement import MIN_OF_A_KIND
from onedial.stats.answers import names
from onedial.stats.estimate import without_zero
from onedial.stats.level import LEVEL
from onedial.verdict.criteria.status import MIN_FITTING, MIN_TEST
from onedial.verdict.numbers import PanelEstimate
from onedial.verdict.prediction.prediction import Prediction, words_of_mark
from onedial.verdict.prediction.retest import RETEST
from onedial.verdict.verdict import CANNOT_BE_JUDGED, THIS_DIRECTION, UNREAD_DECIDE, UNTESTED, Signal, Verdict

WORDS = words_in(__file__)
BY = {"signal": "signal", "order_gain": "order", "push": "push", "kl": "KL"}
"""What controls may be ranked by besides, as it is written."""


def judged_targets(verdict: Verdict) -> str:
    """Say how many targets the verdict is of: `15 of 18 targets judged`."""
    could = "" if verdict.is_judged else "could be "
    return f"{verdict.n_eligible} of {verdict.n_targets} targets {could}judged"


def headline_of(verdict: Verdict) -> str:
    """Say in two short sentences whether it is reproduced, and what is predicted with and without steering.

    >>> from onedial.verdict import SweepRun
    >>> headline_of(SweepRun.open("tests/reference/golden/default").verdict())[:39]
    'A shared signal, not enough to reproduc'
    """
    prediction = verdict.prediction
    if not verdict.is_judged:
        return headline(f"{CANNOT_BE_JUDGED}: {verdict.because}")
    answer, bits, possible = headline(verdict.reproduced), prediction.bits.value, prediction.possible.value
    if bits != bits:
        return answer
    sentence = f"{answer} Steering predicts {_two(bits)} of {_two(prediction.yes_rate)} bits"
    who = "the targets' repeated answers" if prediction.mark == RETEST else "other models' answers"
    return f"{sentence}; {who} predict {_two(possible)}." if possible == possible else f"{sentence}."


def _two(value: float) -> str:
    """Write two digits; 0 where these are."""
    return "0" if round(value, 2) == 0 else without_zero(value, ".2f")


def findings(verdict: Verdict) -> list[Card]:
    """Make the cards of a verdict: what is predicted, signal, gain, order and push, in this order."""
    return [_bits(verdict.prediction), _signal(verdict.signal), _gain(verdict), _order(verdict), _push(verdict)]


def _bits(prediction: Prediction) -> Card:
    words, bits, possible, share = WORDS["card_bits"], prediction.bits, prediction.possible, prediction.share
    if bits.value != bits.value:
        return Card("B", words["name"], "not given", words["none"])
    over_topics = prediction.by == "topics"
    shown = {
        "possible": f"{possible.over('topics'):.3f} over topics" if over_topics else f"{possible:.3f}",
        "bits": without_zero(bits.value, ".3f"),
        "rate": without_zero(prediction.yes_rate, ".3f"),
        "who": words_of_mark(prediction.mark),
    }
    meaning = words["told"].format(**shown, **{name: getattr(prediction, name) for name in COUNTS})
    if prediction.surface:
        meaning += f", {prediction.surface} {without_zero(bits.value - prediction.beyond.value, '.3f')}"
    details = scopes(bits, "+.3f")
    if prediction.has_share:
        high = percent(share.high) if share.high == share.high else "no bound"
        ends = f"({percent(share.low)} to {high})"
        details.append(f"{percent(share.value)} {ends} of what {words_of_mark(prediction.mark)} predict")
    return Card("B", words["name"], f"{bits:+.3f}", meaning + ".", details)


COUNTS = ("n_predicted", "n_models", "mark", "better")


def _signal(signal: Signal) -> Card:
    words, detectable = WORDS["card_signal"], without_zero(signal.detectable, ".3f")
    if signal.value != signal.value or signal.p != signal.p:
        return Card("S", words["name"], f"{signal:.3f}", words["none"])
    known = signal.detectable == signal.detectable
    key = "shown" if signal.p <= LEVEL else "not_shown" if known else "not_shown_ever"
    null = {name: without_zero(getattr(signal, name), ".3f") for name in ("null_mean", "null_95")}
    details = [f"p = {p_value(signal.p)}", words["null"].format(**null, n=signal.n_permutations)]
    details += [*scopes(signal, ".3f"), *[words["power"].format(n=detectable)] * known]
    return Card("S", words["name"], f"{signal:.3f}", words[key].format(n=detectable), details)


def _gain(verdict: Verdict) -> Card:
    words, gain, other = WORDS["card_gain"], verdict.gain, verdict.unread_as_wrong
    known = gain.value == gain.value and gain.low == gain.low
    key = "none" if not known else "better" if gain.low > 0 else "worse" if gain.high < 0 else "alike"
    meaning = words[key].format(more=f"{abs(100 * gain.value) if known else 0:.1f}")
    if other is not None and UNREAD_DECIDE in verdict.flags:
        shown = {"S": without_zero(other.signal, ".3f"), "p": p_value(other.p), "G": f"{other.gain:+.3f}"}
        meaning += " " + words["unread"].format(**shown, reproduced=other.reproduced)
    details = scopes(gain, "+.3f")
    if gain.detectable == gain.detectable:
        details.append(words["power"].format(n=without_zero(gain.detectable, ".3f")))
    return Card("G", words["name"], f"{gain:+.3f}", meaning, details)


def _order(verdict: Verdict) -> Card:
    words, order = WORDS["card_order"], verdict.order
    details = [
        *scopes(order, "+.3f"),
        f"90% {without_zero(order.low_90, '+.3f')} to {without_zero(order.high_90, '+.3f')}",
        f"rank correlation of the two orders {order.rho:.3f} over {order.rho.n} questions",
    ]
    meaning = words.get(verdict.dial, words["open"])
    return Card("C", words["name"], f"{order:+.3f}", meaning, [] if order.value != order.value else details)


def _push(verdict: Verdict) -> Card:
    words, direction = WORDS["card_push"], verdict.direction
    push, kl = (direction.vector.get(name, float("nan")) for name in ("push", "kl"))
    n_controls = direction.n_controls
    details = []
    if push == push:
        cost = f" and a KL of {number(kl)} on neutral text" if kl == kl else ""
        details = [f"from yes rate .1 to .9 it takes {without_zero(push, '.2f')} residual norms{cost}"]
    if not n_controls:
        return Card("D", words["name"], "not run", words["none"], details)
    others = ", ".join(f"by {by} {direction.ranks[key]}" for key, by in BY.items() if key in direction.ranks)
    rank, by = f"rank {direction.rank}", words[f"by_{direction.by}"]
    details.append(f"{rank} of {n_controls + 1} by {by}, p = {p_value(direction.p)} ({others})")
    untested = verdict.push == UNTESTED
    meaning = words["untested" if untested else "this" if verdict.push == THIS_DIRECTION else "any"]
    meaning = meaning.format(n=n_controls)
    if alike := direction.as_good:
        meaning += " " + words["as_good"].format(names=names(alike, 6))
    return Card("D", words["name"], "untested" if untested else rank, meaning, details)


def scopes(estimate: PanelEstimate, form: str) -> list[str]:
    """Write the 95% intervals of a number beyond this panel, each with its scope; what was not given is left out."""
    low, high = (without_zero(end, form) for end in (estimate.low_topics, estimate.high_topics))
    scoped = [] if estimate.low_topics != estimate.low_topics else [f"over topics {low} to {high}"]
    low, high = (without_zero(end, form) for end in (estimate.low_models, estimate.high_models))
    given = estimate.low_models == estimate.low_models
    return [*scoped, f"for models like these{f' {low} to {high}' if given else ': not given under five base models'}"]


def why_left_out(row: "Mapping[str, Any] | pd.Series[Any]") -> str:
    """Say what a target's status means for it, with its numbers.

    Args:
        row: of the table of matches.
    """
    status, n = str(row["status"]), {name: int(row[name]) for name in ("n_test", "n_fitting")}
    least = {"least_test": MIN_TEST, "least_fitting": MIN_FITTING, "least_kind": MIN_OF_A_KIND}
    if status == "few":
        few = [f"few_{name}" for name in ("test", "fitting") if n[f"n_{name}"] < least[f"least_{name}"]]
        status = (few or ["few_of_a_kind"])[0]
    often, rate = row["yes_rate"] > 0.5, number(row["yes_rate"], 2)
    numbers = {
        "one": "yes" if often else "no",
        "other": "no" if often else "yes",
        "magnitude": number(row["magnitude"]),
    }
    return WORDS["statuses"].get(status, f"Left out: {status}.").format(**n, **numbers, **least, rate=rate)
