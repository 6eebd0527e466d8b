"""The verdict's numbers in plain words: what each came out as, and what that means. The words are words.yaml's.

"No better than the majority answer" is said as plainly as "reproduced": every outcome has its sentence, and none is
softened or left out.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.show.columns import NOTHING, between, headline, interval, number, p_value, percent
from onedial.show.page import Card
from onedial.show.results import words_in
from onedial.stats.level import LEVEL
from onedial.verdict.criteria.status import MIN_FITTING, MIN_OF_A_KIND, MIN_TEST
from onedial.verdict.prediction.prediction import share_is_told, words_of_mark
from onedial.verdict.verdict import CANNOT_BE_JUDGED, THIS_DIRECTION, UNREAD_DECIDE, UNTESTED

WORDS = words_in(__file__)
REPEATED = "test-retest"
BY = ("signal", "order", "push", "KL")
"""What controls may be ranked by besides, as it is written."""


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
    prediction = verdict["prediction"]
    if verdict["reproduced"] == CANNOT_BE_JUDGED:
        return headline(f"{CANNOT_BE_JUDGED}: {verdict['because']}")
    answer = headline(verdict["reproduced"])
    if prediction["bits"]["value"] is None:
        return answer
    told = f"{answer} Steering predicts {_short(prediction['bits']['value'])} of {_short(prediction['yes_rate'])} bits"
    if prediction["possible"]["value"] is None:
        return f"{told}."
    who = "the targets' repeated answers" if prediction["mark"] == REPEATED else "other models' answers"
    return f"{told}; {who} predict {_short(prediction['possible']['value'])}."


def _short(value: float) -> str:
    """A number with two digits and no zero before the point."""
    text = number(value, 2)
    return "0" if text.strip("0.\N{MINUS SIGN}") == "" else text.replace("0.", ".", 1)


def findings(verdict: Mapping[str, Any]) -> list[Card]:
    """What is predicted, signal, gain, order and push of a verdict.json, in this order."""
    return [_bits(verdict["prediction"]), _signal(verdict["signal"]), _gain(verdict), _order(verdict), _push(verdict)]


def _bits(prediction: Mapping[str, Any]) -> Card:
    words, bits, possible, share = WORDS["card_bits"], prediction["bits"], prediction["possible"], prediction["share"]
    if bits["value"] is None:
        return Card("B", words["name"], None, "not given", words["none"])
    ends = interval(possible["low"], possible["high"])
    if prediction["by"] == "topics":
        ends = f"{interval(possible['low_topics'], possible['high_topics'])} over topics"
    shown = {"bits": number(bits["value"]), "possible": number(possible["value"]), "ends": ends}
    shown |= {"rate": number(prediction["yes_rate"]), "who": words_of_mark(prediction["mark"])}
    meaning = words["told"].format(**shown, **{name: prediction[name] for name in ("n_predicted", "n_models", "mark")})
    if prediction["surface"]:
        meaning += f", {prediction['surface']} {number(prediction['bits']['value'] - prediction['beyond']['value'])}"
    details = scopes(bits, signed=True)
    if share["value"] is not None and share_is_told(possible["value"], prediction["yes_rate"]):
        high = "no bound" if share["high"] is None else percent(share["high"])
        ends = f"[{percent(share['low'])}, {high}]"
        details.append(f"{percent(share['value'])} {ends} of what {words_of_mark(prediction['mark'])} predict")
    return _card("B", "bits", bits, meaning + ".", details, signed=True)


def _signal(signal: Mapping[str, Any]) -> Card:
    words, p, detectable = WORDS["card_signal"], signal["p"], number(signal.get("detectable"))
    if signal["value"] is None or p is None:
        return _card("S", "signal", signal, words["none"], [])
    key = "shown" if p <= LEVEL else "not_shown" if signal.get("detectable") else "not_shown_ever"
    null = {name: number(signal[name]) for name in ("null_mean", "null_95")}
    details = [f"p = {p_value(p)}", words["null"].format(**null, n=signal["n_permutations"]), *scopes(signal)]
    details += [words["power"].format(n=detectable)] if signal.get("detectable") else []
    return _card("S", "signal", signal, words[key].format(n=detectable), details)


def _gain(verdict: Mapping[str, Any]) -> Card:
    words, gain = WORDS["card_gain"], verdict["gain"]
    estimate, low, high = gain["value"], gain["low"], gain["high"]
    known = estimate is not None and low is not None
    key = "none" if not known else "better" if low > 0 else "worse" if high is not None and high < 0 else "alike"
    meaning = words[key].format(more=f"{abs(100 * (estimate or 0.0)):.1f}")
    if UNREAD_DECIDE in verdict["flags"]:
        other = verdict["unread_as_wrong"]
        ends = interval(other["gain_low"], other["gain_high"], signed=True)
        shown = {"S": number(other["signal"]), "p": p_value(other["p"]), "G": number(other["gain"], signed=True)}
        meaning += " " + words["unread"].format(**shown, ends=ends, reproduced=other["reproduced"])
    details = scopes(gain, signed=True)
    details += [words["power"].format(n=number(gain["detectable"]))] if gain["detectable"] else []
    return _card("G", "gain", gain, meaning, details, signed=True)


def _order(verdict: Mapping[str, Any]) -> Card:
    words, order = WORDS["card_order"], verdict["order"]
    details = [
        *scopes(order, signed=True),
        f"90% {interval(order['low_90'], order['high_90'], signed=True)}",
        f"rank correlation of the two orders {between(order['rho'])} over {order['rho']['n']} questions",
    ]
    meaning = words.get(verdict["dial"], words["open"])
    return _card("C", "order", order, meaning, [] if order["value"] is None else details, signed=True)


def _push(verdict: Mapping[str, Any]) -> Card:
    words, direction = WORDS["card_push"], verdict["direction"]
    vector, n_controls, details = direction["vector"], direction["n_controls"], []
    if vector.get("push") is not None:
        kl = "" if vector.get("kl") is None else f" and a KL of {number(vector['kl'])} on neutral text"
        details = [f"from yes rate .1 to .9 it takes {number(vector['push'], 2)} residual norms{kl}"]
    if not n_controls:
        return Card("D", words["name"], None, "not run", words["none"], details)
    keys = dict(zip(("signal", "order_gain", "push", "kl"), BY, strict=True))
    others = ", ".join(f"by {by} {direction['ranks'][key]}" for key, by in keys.items() if key in direction["ranks"])
    rank, by = f"rank {direction['rank']}", words[f"by_{direction['by']}"]
    details.append(f"{rank} of {n_controls + 1} by {by}, p = {p_value(direction['p'])} ({others})")
    untested = verdict["push"] == UNTESTED
    meaning = words["untested" if untested else "this" if verdict["push"] == THIS_DIRECTION else "any"]
    meaning = meaning.format(n=n_controls)
    if alike := direction["as_good"]:
        more = f" and {len(alike) - 6} more" if len(alike) > 6 else ""
        meaning += " " + words["as_good"].format(names=", ".join(alike[:6]) + more)
    return Card("D", words["name"], float(direction["rank"]), "untested" if untested else rank, meaning, details)


def _card(
    letter: str, name: str, estimate: Mapping[str, Any], meaning: str, details: list[str], signed: bool = False
) -> Card:
    """The card of a number; its interval in this panel stands beside it, where it has one."""
    ends, value = interval(estimate["low"], estimate["high"], signed=signed), number(estimate["value"], signed=signed)
    return Card(letter, WORDS[f"card_{name}"]["name"], estimate["value"], value, meaning, details, ends.strip(NOTHING))


def scopes(estimate: Mapping[str, Any], signed: bool = False) -> list[str]:
    """The 95% intervals of a number beyond this panel, each with its scope; what was not given is left out."""
    ends = {scope: (estimate[f"low_{scope}"], estimate[f"high_{scope}"]) for scope in ("topics", "models")}
    shown = {scope: interval(*both, signed=signed) for scope, both in ends.items()}
    scoped = [] if shown["topics"] == NOTHING else [f"over topics {shown['topics']}"]
    models = ": not given under five base models" if shown["models"] == NOTHING else f" {shown['models']}"
    return [*scoped, f"for models like these{models}"]


def why_left_out(row: "Mapping[str, Any] | pd.Series[Any]") -> str:
    """What a target's status means for it, in a sentence with its numbers.

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
