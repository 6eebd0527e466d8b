"""List the checks of the scale, in the order of the page: a new one is a file with `ask(fit) -> Finding` and a line."""

from collections.abc import Callable
from dataclasses import dataclass

from onedial.scale.study import between, closeness, dimensions, the_panel
from onedial.scale.study.dependence import dependence
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.sameness import sameness
from onedial.scale.study.shared import shared
from onedial.scale.study.spread import parabola, spread


@dataclass(frozen=True)
class Check:
    """Something that is asked of a panel.

    Attributes:
        title: the question, under which its sentences stand. ask: answers it.
    """

    title: str
    ask: Callable[[PanelFit], Finding]


UNKNOWN = "What these answers cannot tell"
_ENOUGH, _SPREAD = "Is one factor enough?", "How are the questions spread?"
_WHO = "Who follows it how closely, and how well is it known?"

CHECKS: dict[str, Check] = {
    "limits": Check(UNKNOWN, the_panel.limits),
    "panel": Check("The panel", the_panel.the_panel),
    "shared": Check("Is anything shared?", shared),
    "clusters": Check("Between models, or within each?", between.clusters),
    "dimensions": Check(_ENOUGH, dimensions.dimensions),
    "local dependence": Check(_ENOUGH, dependence),
    "scale": Check(_SPREAD, spread),
    "parabola": Check(_SPREAD, parabola),
    "sameness": Check("Is it the same for everyone, everywhere?", sameness),
    "closeness": Check(_WHO, closeness.closeness),
    "surprises": Check(_WHO, closeness.surprises),
}
