"""A whole study of what one model's stream holds: stages that read a `Study` and write their tables into its run.

Every stage has one signature, `stage(study) -> None`. It reads the activations and what earlier stages wrote, and
writes the tables that are named in its text; one that cannot be done with these inputs writes nothing. What needs
steering or a panel's match on top of the probes (`use`) stands in `experiments/train_probes.py`.
"""

from collections.abc import Callable

from onedial.studies.probes.correctness import own_stage
from onedial.studies.probes.elsewhere import elsewhere_stage
from onedial.studies.probes.layers import facts_stage, probes_stage
from onedial.studies.probes.lens import lens_stage
from onedial.studies.probes.sameness import directions_stage
from onedial.studies.probes.statements import statements_stage
from onedial.studies.probes.study import Facts, Study
from onedial.studies.probes.where import where_stage
from onedial.studies.probes.writing import writing_stage

STUDY_STAGES: dict[str, Callable[[Study], None]] = {
    "probes": probes_stage,
    "facts": facts_stage,
    "statements": statements_stage,
    "directions": directions_stage,
    "own": own_stage,
    "where": where_stage,
    "writing": writing_stage,
    "elsewhere": elsewhere_stage,
    "lens": lens_stage,
}
"""Name to what is done. All but the first rest on `probes`, which comes first."""

__all__ = ["STUDY_STAGES", "Facts", "Study"]
