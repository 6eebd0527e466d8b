"""The verdict's numbers in plain words: what each came out as, and what that means.

"No better than the majority answer" is said as plainly as "reproduced": every outcome has its sentence, and none is
softened or left out.
"""

from collections.abc import Mapping
from typing import Any

from onedial.show import NOTHING, Card, between, headline, interval, number, p_value, percent
from onedial.stats import LEVEL
from onedial.verdict import CANNOT_BE_JUDGED, UNREAD_DECIDE, share_is_told, words_of_mark


def judged_targets(verdict: Mapping[str, Any]) -> str:
    """How many targets the verdict is of: `15 of 18 targets judged`."""
    could = "could be " if verdict["reproduced"] == CANNOT_BE_JUDGED else ""
    return f"{verdict['n_eligible']} of {verdict['n_targets']} targets {could}judged"


def headline_of(verdict: Mapping[str, Any]) -> str:
    """The verdict in two short sentences: whether it is reproduced, and what is predicted with and without steering.

    >>> headline_of({"reproduced": "not reproduced", "prediction": {"bits": {"value": 0.001}, "yes_rate": 0.76,
    ...              "possible": {"value": 0.36}, "mark": "shared difficulty"}})
    "Not reproduced. Steering predicts 0 of .76 bits; other models' answers predict .36."
    """
    found = verdict["prediction"]
    if verdict["reproduced"] == CANNOT_BE_JUDGED:
        return headline(f"{CANNOT_BE_JUDGED}: {verdict['because']}")
    said = headline(verdict["reproduced"])
    if found["bits"]["value"] is None:
        return said
    told = f"{said} Steering predicts {_short(found['bits']['value'])} of {_short(found['yes_rate'])} bits"
    if found["possible"]["value"] is None:
        return f"{told}."
    who = (
        "the targets' repeated answers" if words_of_mark(found["mark"]).startswith("the t") else "other models' answers"
    )
    return f"{told}; {who} predict {_short(found['possible']['value'])}."


def _short(value: float) -> str:
    """A number with two digits and no zero before the point."""
    text = number(value, 2)
    return "0" if text.strip("0.\N{MINUS SIGN}") == "" else text.replace("0.", ".", 1)


def findings(verdict: Mapping[str, Any]) -> list[Card]:
    """What is predicted, signal, gain, order and push of a verdict.json, in this order."""
    return [_bits(verdict["prediction"]), _signal(verdict["signal"]), _gain(verdict), _order(verdict), _push(verdict)]


def _bits(found: Mapping[str, Any]) -> Card:
    name = "Bits of held-out answers that the dial predicts"
    own, possible, share = found["bits"], found["possible"], found["share"]
    if own["value"] is None:
        return Card("B", name, None, "not given", "It takes targets of two base models that can be judged.")
    meaning = (
        f"{found['n_predicted']} of {found['n_models']} base models are predicted better than by their yes rates, "
        f"which leave {number(found['yes_rate'])} bits a question. Of these the dial tells {number(own['value'])}, "
        f"{words_of_mark(found['mark'])} ({found['mark']}) tell {number(possible['value'])} "
        f"{_deciding(possible, found['by'])}"
    )
    if found["surface"]:
        meaning += f", {found['surface']} {number(found['bits']['value'] - found['beyond']['value'])}"
    details = scopes(own, signed=True)
    if share["value"] is not None and share_is_told(possible["value"], found["yes_rate"]):
        high = "no bound" if share["high"] is None else percent(share["high"])
        ends = f"[{percent(share['low'])}, {high}]"
        details.append(f"{percent(share['value'])} {ends} of what {words_of_mark(found['mark'])} predict")
    return _card("B", name, own, meaning + ".", details, signed=True)


def _deciding(found: Mapping[str, Any], by: str) -> str:
    """The 95% interval of bits that decides what the sentence says of them: over topics where there are ten."""
    if by == "topics":
        return f"{interval(found['low_topics'], found['high_topics'])} over topics"
    return interval(found["low"], found["high"])


def _signal(signal: Mapping[str, Any]) -> Card:
    estimate, p, detectable = signal["value"], signal["p"], signal.get("detectable")
    if estimate is None or p is None:
        meaning = "No target could be judged, so whether there is any signal is unknown."
    elif p <= LEVEL:
        meaning = (
            "At matched yes rates the steered subject and the targets say yes to the same questions "
            "more often than shuffled questions would bring about."
        )
    else:
        meaning = (
            "At matched yes rates the steered subject and the targets say yes to the same questions "
            "no more often than shuffled questions would bring about, as far as these questions can tell"
            + (f": a true S under {number(detectable)} is often missed by so many." if detectable else ".")
        )
    details = [] if p is None else _signal_details(signal)
    return _card("S", "Signal (mean kappa)", signal, meaning, details)


def _signal_details(signal: Mapping[str, Any]) -> list[str]:
    details = [
        f"p = {p_value(signal['p'])}",
        f"null: mean {number(signal['null_mean'])}, 95% below {number(signal['null_95'])} "
        f"({signal['n_permutations']} permutations within topics)",
        *scopes(signal),
    ]
    if signal.get("detectable"):
        details.append(
            f"a true S of {number(signal['detectable'])} would be found 4 times in 5 with this many questions"
        )
    return details


def _gain(verdict: Mapping[str, Any]) -> Card:
    gain = verdict["gain"]
    estimate, low, high = gain["value"], gain["low"], gain["high"]
    if estimate is None or low is None:
        meaning = "No target could be judged, so nothing can be said against the majority answer."
    elif low > 0:
        meaning = (
            "Steering agrees with a target on more questions than always giving the target's more frequent answer: "
            f"about {100 * estimate:.1f} more in every 100."
        )
    elif high is not None and high < 0:
        meaning = (
            "Worse than the majority answer: always giving the target's more frequent answer agrees with it on about "
            f"{-100 * estimate:.1f} more questions in every 100."
        )
    else:
        meaning = (
            "No better than the majority answer: always giving the target's more frequent answer does as well, "
            "as far as these questions can tell."
        )
    if UNREAD_DECIDE in verdict["flags"]:
        other = verdict["unread_as_wrong"]
        meaning += (
            f" With every unread answer counted as wrong S is {number(other['signal'])} (p = {p_value(other['p'])}), G "
            f"{number(other['gain'], signed=True)} {interval(other['gain_low'], other['gain_high'], signed=True)}, and "
            f"the first answer is another one: {other['reproduced']}."
        )
    details = scopes(gain, signed=True)
    if gain["detectable"]:
        details.append(
            f"a true gain of {number(gain['detectable'])} would be found 4 times in 5 with this many questions"
        )
    return _card("G", "Gain over the majority answer", gain, meaning, details, signed=True)


def _order(verdict: Mapping[str, Any]) -> Card:
    order, dial = verdict["order"], verdict["dial"]
    meaning = {
        "a moved cut": (
            "The dial is a moved cut: turning it asks the subject's own unsteered margin for more or less, and changes "
            "the order of the questions by nothing that matters here. That is what one shared scale with a threshold "
            "for each model predicts; it also means that no steering is needed for it."
        ),
        "it reorders questions towards the targets": (
            "More than a moved cut: the order in which questions turn to yes fits the targets better than the order "
            "of the subject's unsteered margin."
        ),
        "it reorders questions away from the targets": (
            "Less than a moved cut: the order in which questions turn to yes fits the targets worse than the order of "
            "the subject's unsteered margin."
        ),
    }.get(
        dial,
        "Open: these questions are too few to say whether the dial orders questions otherwise than the subject's "
        "unsteered margin does, as far as the targets can tell.",
    )
    details = [
        *scopes(order, signed=True),
        f"90% {interval(order['low_90'], order['high_90'], signed=True)}",
        f"rank correlation of the two orders {between(order['rho'])} over {order['rho']['n']} questions",
    ]
    if order["value"] is None:
        details = []
    return _card("C", "Order: the dial's over the unsteered margin's", order, meaning, details, signed=True)


def _push(verdict: Mapping[str, Any]) -> Card:
    direction, name = verdict["direction"], "Push against control directions"
    own, n_controls = direction["own"], direction["n_controls"]
    needed = []
    if own.get("push") is not None:
        kl = "" if own.get("kl") is None else f" and a KL of {number(own['kl'])} on neutral text"
        needed = [f"from yes rate .1 to .9 it takes {number(own['push'], 2)} residual norms{kl}"]
    if not n_controls:
        meaning = "Whether another push of the same kind does as well was not tried (--controls 99 tries it)."
        return Card("D", name, None, "not run", meaning, needed)
    by = {"push": "the push that is needed", "order_gain": "how well its order fits the targets"}[direction["by"]]
    others = ", ".join(
        f"{words} {direction['ranks'][key]}"
        for key, words in (("signal", "by signal"), ("order_gain", "by order"), ("push", "by push"), ("kl", "by KL"))
        if key in direction["ranks"]
    )
    rank = f"rank {direction['rank']}"
    ranked = f"{rank} of {n_controls + 1} by {by}, p = {p_value(direction['p'])} ({others})"
    untested = verdict["push"] == "untested"
    if untested:
        meaning = f"{n_controls} drawn controls are too few to judge by (99 are needed), so this is untested."
    elif verdict["push"] == "this direction":
        meaning = "Directions drawn by chance do worse by this measure: it matters which way the subject is pushed."
    else:
        meaning = "Another direction does as well: which way the subject is pushed does not matter, or hardly."
    if direction["as_good"]:
        named = ", ".join(direction["as_good"][:6])
        more = f" and {len(direction['as_good']) - 6} more" if len(direction["as_good"]) > 6 else ""
        meaning += f" At right angles to the vector and within 90% of it: {named}{more}."
    return Card("D", name, float(direction["rank"]), "untested" if untested else rank, meaning, [*needed, ranked])


def _card(
    letter: str, name: str, found: Mapping[str, Any], meaning: str, details: list[str], signed: bool = False
) -> Card:
    """The card of a number; its interval in this panel stands beside it, where it has one."""
    ends = interval(found["low"], found["high"], signed=signed)
    beside = "" if ends == NOTHING else ends
    return Card(letter, name, found["value"], number(found["value"], signed=signed), meaning, details, beside)


def scopes(found: Mapping[str, Any], signed: bool = False) -> list[str]:
    """The 95% intervals of a number beyond this panel, each with its scope; what was not given is left out."""
    said = []
    if found["low_topics"] is not None:
        said.append(f"over topics {interval(found['low_topics'], found['high_topics'], signed=signed)}")
    if found["low_models"] is not None:
        said.append(f"for models like these {interval(found['low_models'], found['high_models'], signed=signed)}")
    else:
        said.append("for models like these: not given under five base models")
    return said
