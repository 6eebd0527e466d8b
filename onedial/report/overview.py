"""What is seen first of a report: the signature figure, who is reproduced how well, and what to doubt."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from onedial.report.contents import Contents
from onedial.report.figures.figures import UNREADABLE, unread_share
from onedial.report.sections import OVERVIEW
from onedial.show import Rank, interval, number, page
from onedial.verdict import (
    ASKED_OTHERWISE,
    CANNOT_BE_JUDGED,
    FLAGS,
    SURFACE_AS_GOOD,
    THIS_DIRECTION,
    UNREAD_DECIDE,
    UNTESTED,
    YES_BIAS,
    words_of_mark,
)

ABOUT = {YES_BIAS: "bias", UNREAD_DECIDE: "missing", SURFACE_AS_GOOD: "prediction", ASKED_OTHERWISE: "asked"}
"""Which section says more of a flag."""
FEWEST_MODELS = 5
"""Under which nothing is said of models like these."""
NAMED = 2


def overview(contents: Contents, anchors: Mapping[str, str]) -> Markup:
    """The signature figure beside the ranking and the doubts.

    Args:
        anchors: of the sections that are on the page, by name.
    """
    blocks = [ranked(contents.verdict["prediction"])]
    if told := doubts(contents):
        blocks.append(page.doubts("What to doubt", [(words, anchors.get(about, "numbers")) for words, about in told]))
    if OVERVIEW in contents.captions:
        figure = page.lead_figure(contents.run.path / "figures", OVERVIEW, contents.captions[OVERVIEW])
        blocks.insert(0, figure)
    return page.beside(blocks[0], blocks[1:])


def ranked(found: Mapping[str, Any]) -> Markup:
    """The base models, the best predicted first.

    Args:
        found: `prediction` of verdict.json.
    """
    models = sorted(found["models"].items(), key=lambda each: -each[1]["bits"])
    ranks = [
        Rank(
            name,
            own["bits"],
            own["low"],
            own["high"],
            own["possible"],
            f"{number(own['bits'], signed=True)} {interval(own['low'], own['high'], signed=True)}",
            bool(own["predicted"]),
        )
        for name, own in models
    ]
    foot = (
        f"Bits per held-out answer beyond the yes rate, 95% over {found['by']}. Filled: predicted better than by its "
        f"yes rate. Dotted: what {words_of_mark(found['mark'])} predict of it."
    )
    if not ranks:
        foot = "No base model can be ranked: it takes targets of two that can be judged."
    return page.ranking("Base models by the bits that the dial predicts", "Who is reproduced how well?", ranks, foot)


def doubts(contents: Contents) -> list[tuple[str, str]]:
    """What changes how the verdict is read, most weighty first: in a few words, with the section that says more."""
    verdict, said = contents.verdict, []
    if verdict["reproduced"] == CANNOT_BE_JUDGED:
        said.append((f"Cannot be judged: {verdict['because']}", "remedies"))
    if contents.grid.dial.falls:
        said.append(("The dial runs the wrong way: turned up, it gives fewer yes", "numbers"))
    for found in verdict["screening"]:
        about = ", ".join(found["about"][:NAMED])
        more = f" and {len(found['about']) - NAMED} more" if len(found["about"]) > NAMED else ""
        said.append((f"{found['check'].capitalize()}{': ' * bool(about)}{about}{more}", "screening"))
    checks = {found["check"] for found in verdict["screening"]}
    for flag in (flag for flag in FLAGS if flag in verdict["flags"] and flag not in checks):
        said.append((flag.capitalize(), ABOUT.get(flag, "numbers")))
    if needed := [name for name, own in verdict["prediction"]["models"].items() if own.get("needed")]:
        said.append((f"Without one of these not reproduced: {', '.join(needed[:NAMED])}", "prediction"))
    gain = verdict["gain"]
    if gain["low"] is not None and gain["low"] <= 0:
        said.append(("No better than each target's majority answer is shown", "numbers"))
    if contents.rivals is not None:
        better = contents.rivals.index[contents.rivals["difference_high"] < 0]
        said += [(f"Without steering, {name} does better", "rivals") for name in better[:NAMED]]
    if verdict["push"] != THIS_DIRECTION:
        untested = verdict["push"] == UNTESTED
        words = "Whether another push does as well is untested" if untested else "Another push does as well"
        said.append((words, "controls"))
    if (n := len(verdict["models"])) < FEWEST_MODELS:
        said.append((f"{n} base models: nothing is known of models like these", "models"))
    if verdict["excluded"]:
        said.append((f"{len(verdict['excluded'])} of {verdict['n_targets']} targets are left out", "targets"))
    unread = unread_share(contents.dose_response.groupby("magnitude")[["n", "n_unread"]].sum())
    if (most := float(np.nanmax(unread))) > UNREADABLE:
        said.append((f"Up to {most:.0%} of the answers cannot be read at a magnitude", "missing"))
    return said
