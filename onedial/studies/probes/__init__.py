"""A whole study of what one model's stream holds: five stages that read a `Study` and write their tables into its run.

Every part of a stage has one signature, `part(study) -> None`. It reads the activations and what earlier stages wrote,
and writes the tables that are named in its text; one that cannot be done with these inputs writes nothing.
"""

from collections.abc import Callable

from onedial.studies.probes.correctness import own_stage
from onedial.studies.probes.elsewhere import elsewhere_stage
from onedial.studies.probes.layers import facts_stage, probes_stage
from onedial.studies.probes.patching import patching_stage
from onedial.studies.probes.sameness import directions_stage
from onedial.studies.probes.statements import statements_stage
from onedial.studies.probes.study import Facts, Study
from onedial.studies.probes.use import use_stage
from onedial.studies.probes.writing import writing_stage

STUDY_STAGES: dict[str, tuple[Callable[[Study], None], ...]] = {
    "probes": (probes_stage, facts_stage),
    "directions": (directions_stage, statements_stage),
    "use": (use_stage, patching_stage),
    "own": (own_stage,),
    "elsewhere": (elsewhere_stage, writing_stage),
}
"""Name to what is done, in order. All but the first rest on `probes`."""

__all__ = ["STUDY_STAGES", "Facts", "Study"]
