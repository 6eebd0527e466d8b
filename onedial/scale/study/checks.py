"""Every check of the scale, in the order of the page: a new one is a file with `ask(fit) -> Finding`, and a line."""

from collections.abc import Callable
from dataclasses import dataclass

from onedial.scale.study import between, closeness, dimensions, the_panel
from onedial.scale.study.dependence import dependence
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.sameness import sameness
from onedial.scale.study.sensitivity import sensitivity
from onedial.scale.study.shared import shared
from onedial.scale.study.spread import parabola, spread


@dataclass(frozen=True)
class Check:
    """Something that is asked of a panel.

    Attributes:
        title: the question, under which its sentences stand. ask: answers it. needs: what the panel must have
            (`PanelFit.has`): `yes and no`, `categories`, `replicates`.
    """

    title: str
    ask: Callable[[PanelFit], Finding]
    needs: tuple[str, ...] = ()


UNKNOWN = "What these answers cannot tell"
_ENOUGH, _BETWEEN = "Is one factor enough?", "Between models, or within each?"
_SPREAD, _WHO = "How are the questions spread?", "Who follows it how closely, and how well is it known?"

CHECKS: dict[str, Check] = {
    "limits": Check(UNKNOWN, the_panel.limits),
    "panel": Check("The panel", the_panel.the_panel),
    "shared": Check("Is anything shared?", shared),
    "clusters": Check(_BETWEEN, between.clusters, ("yes and no", "replicates")),
    "families": Check(_BETWEEN, between.families),
    "dimensions": Check(_ENOUGH, dimensions.dimensions, ("yes and no",)),
    "second category factor": Check(_ENOUGH, dimensions.of_categories, ("categories",)),
    "local dependence": Check(_ENOUGH, dependence),
    "scale": Check(_SPREAD, spread, ("yes and no",)),
    "parabola": Check(_SPREAD, parabola, ("yes and no",)),
    "sameness": Check("Is it the same for everyone, everywhere?", sameness, ("yes and no",)),
    "closeness": Check(_WHO, closeness.closeness, ("yes and no",)),
    "surprises": Check(_WHO, closeness.surprises, ("yes and no",)),
    "categories": Check(_WHO, closeness.of_categories, ("categories",)),
    "readings": Check("What hangs on choices", sensitivity, ("yes and no", "replicates")),
}
