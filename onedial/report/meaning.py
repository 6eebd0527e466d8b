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
    found = verdict["prediction"]
    if verdict["reproduced"] == CANNOT_BE_JUDGED:
        return headline(f"{CANNOT_BE_JUDGED}: {verdict['because']}")
    said = headline(verdict["reproduced"])
    if found["bits"]["value"] is None:
        return said
    told = f"{said} Steering predicts {_short(found['bits']['value'])} of {_short(found['yes_rate'])} bits"
    if found["possible"]["value"] is None:
        return f"{told}."
    who = "the targets' repeated answers" if found["mark"] == REPEATED else "other models' answers"
    return f"{told}; {who} predict {_short(found['possible']['value'])}."


def _short(value: float) -> str:
    """A number with two digits and no zero before the point."""
    text = number(value, 2)
    return "0" if text.strip("0.\N{MINUS SIGN}") == "" else text.replace("0.", ".", 1)


def findings(verdict: Mapping[str, Any]) -> list[Card]:
    """What is predicted, signal, gain, order and push of a verdict.json, in this order."""
    return [_bits(verdict["prediction"]), _signal(verdict["signal"]), _gain(verdict), _order(verdict), _push(verdict)]


def _bits(found: Mapping[str, Any]) -> Card:
    said, bits, possible, share = WORDS["card_bits"], found["bits"], found["possible"], found["share"]
    if bits["value"] is None:
        return Card("B", said["name"], None, "not given", said["none"])
    ends = interval(possible["low"], possible["high"])
    if found["by"] == "topics":
        ends = f"{interval(possible['low_topics'], possible['high_topics'])} over topics"
    shown = {"bits": number(bits["value"]), "possible": number(possible["value"]), "ends": ends}
    shown |= {"rate": number(found["yes_rate"]), "who": words_of_mark(found["mark"])}
    meaning = said["told"].format(**shown, **{name: found[name] for name in ("n_predicted", "n_models", "mark")})
    if found["surface"]:
        meaning += f", {found['surface']} {number(found['bits']['value'] - found['beyond']['value'])}"
    details = scopes(bits, signed=True)
    if share["value"] is not None and share_is_told(possible["value"], found["yes_rate"]):
        high = "no bound" if share["high"] is None else percent(share["high"])
        ends = f"[{percent(share['low'])}, {high}]"
        details.append(f"{percent(share['value'])} {ends} of what {words_of_mark(found['mark'])} predict")
    return _card("B", "bits", bits, meaning + ".", details, signed=True)


def _signal(signal: Mapping[str, Any]) -> Card:
    said, p, detectable = WORDS["card_signal"], signal["p"], number(signal.get("detectable"))
    if signal["value"] is None or p is None:
        return _card("S", "signal", signal, said["none"], [])
    key = "shown" if p <= LEVEL else "not_shown" if signal.get("detectable") else "not_shown_ever"
    null = {name: number(signal[name]) for name in ("null_mean", "null_95")}
    details = [f"p = {p_value(p)}", said["null"].format(**null, n=signal["n_permutations"]), *scopes(signal)]
    details += [said["power"].format(n=detectable)] if signal.get("detectable") else []
    return _card("S", "signal", signal, said[key].format(n=detectable), details)


def _gain(verdict: Mapping[str, Any]) -> Card:
    said, gain = WORDS["card_gain"], verdict["gain"]
    estimate, low, high = gain["value"], gain["low"], gain["high"]
    known = estimate is not None and low is not None
    key = "none" if not known else "better" if low > 0 else "worse" if high is not None and high < 0 else "alike"
    meaning = said[key].format(more=f"{abs(100 * (estimate or 0.0)):.1f}")
    if UNREAD_DECIDE in verdict["flags"]:
        other = verdict["unread_as_wrong"]
        ends = interval(other["gain_low"], other["gain_high"], signed=True)
        shown = {"S": number(other["signal"]), "p": p_value(other["p"]), "G": number(other["gain"], signed=True)}
        meaning += " " + said["unread"].format(**shown, ends=ends, reproduced=other["reproduced"])
    details = scopes(gain, signed=True)
    details += [said["power"].format(n=number(gain["detectable"]))] if gain["detectable"] else []
    return _card("G", "gain", gain, meaning, details, signed=True)


def _order(verdict: Mapping[str, Any]) -> Card:
    said, order = WORDS["card_order"], verdict["order"]
    details = [
        *scopes(order, signed=True),
        f"90% {interval(order['low_90'], order['high_90'], signed=True)}",
        f"rank correlation of the two orders {between(order['rho'])} over {order['rho']['n']} questions",
    ]
    meaning = said.get(verdict["dial"], said["open"])
    return _card("C", "order", order, meaning, [] if order["value"] is None else details, signed=True)


def _push(verdict: Mapping[str, Any]) -> Card:
    said, direction = WORDS["card_push"], verdict["direction"]
    vector, n_controls, details = direction["vector"], direction["n_controls"], []
    if vector.get("push") is not None:
        kl = "" if vector.get("kl") is None else f" and a KL of {number(vector['kl'])} on neutral text"
        details = [f"from yes rate .1 to .9 it takes {number(vector['push'], 2)} residual norms{kl}"]
    if not n_controls:
        return Card("D", said["name"], None, "not run", said["none"], details)
    keys = dict(zip(("signal", "order_gain", "push", "kl"), BY, strict=True))
    others = ", ".join(f"by {by} {direction['ranks'][key]}" for key, by in keys.items() if key in direction["ranks"])
    rank, by = f"rank {direction['rank']}", said[f"by_{direction['by']}"]
    details.append(f"{rank} of {n_controls + 1} by {by}, p = {p_value(direction['p'])} ({others})")
    untested = verdict["push"] == UNTESTED
    meaning = said["untested" if untested else "this" if verdict["push"] == THIS_DIRECTION else "any"]
    meaning = meaning.format(n=n_controls)
    if alike := direction["as_good"]:
        more = f" and {len(alike) - 6} more" if len(alike) > 6 else ""
        meaning += " " + said["as_good"].format(names=", ".join(alike[:6]) + more)
    return Card("D", said["name"], float(direction["rank"]), "untested" if untested else rank, meaning, details)


def _card(
    letter: str, name: str, found: Mapping[str, Any], meaning: str, details: list[str], signed: bool = False
) -> Card:
    """The card of a number; its interval in this panel stands beside it, where it has one."""
    ends, value = interval(found["low"], found["high"], signed=signed), number(found["value"], signed=signed)
    return Card(letter, WORDS[f"card_{name}"]["name"], found["value"], value, meaning, details, ends.strip(NOTHING))


def scopes(found: Mapping[str, Any], signed: bool = False) -> list[str]:
    """The 95% intervals of a number beyond this panel, each with its scope; what was not given is left out."""
    ends = {scope: (found[f"low_{scope}"], found[f"high_{scope}"]) for scope in ("topics", "models")}
    shown = {scope: interval(*both, signed=signed) for scope, both in ends.items()}
    said = [] if shown["topics"] == NOTHING else [f"over topics {shown['topics']}"]
    models = ": not given under five base models" if shown["models"] == NOTHING else f" {shown['models']}"
    return [*said, f"for models like these{models}"]


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
