"""Declare the options of `experiments/train_probes.py`."""

from dataclasses import dataclass, replace
from typing import Self

from onedial.core.errors import InputError
from onedial.core.options import DryRunOptions, KeysOf, RunOptions, option
from onedial.studies.options.shared import LAYERS, QuestionOptions, ReplicateOptions, even_up_to_200, layer_fault

STAGES = ("probes", "directions", "use", "own", "elsewhere")
"""Names, in the order in which they are done."""
METHODS = KeysOf("onedial.stats.solvers:METHODS")


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(QuestionOptions, ReplicateOptions, DryRunOptions, RunOptions, group="probes"):
    """All that a study of probes understands."""

    layer: str = option("all", LAYERS, check=layer_fault)
    read_at: str = option("last", "end of prompt or question", choices=("last", "question"), also=("position",))
    methods: tuple[str, ...] = option((), "of fitting; the first is reported (all)", choices=METHODS, also=("method",))
    folds: int = option(5, "topics are held out in so many parts", at_least=3)
    shuffles: int = option(5, "meaningless labels of each kind", at_least=0)
    replicates: int = option(999, "draws of the topics", at_least=1)
    facts: int = option(
        200,
        "unrelated yes/no facts; 0: none",
        at_least=0,
        check=lambda n: "give 40 or more, or 0 for none" if 0 < n < 40 else even_up_to_200(n),
    )
    statement_layers: int = option(4, "at so many: CCS and others", at_least=1)
    compare_at: int | None = option(
        None, "layer at which directions are compared (the median of the main labels')", at_least=0
    )
    nulls: int = option(99, "shuffled copies of a direction", at_least=0)
    n_pushed: int = option(120, "questions that are pushed", at_least=1)
    controls: int = option(20, "random pushes of either kind", at_least=0)
    step: float = option(0.05, "of a push, in residual norms", above=0)
    n_patched: int = option(20, "pairs of an easy and a hard question whose streams are swapped", at_least=0)
    n_reasoned: int = option(32, "questions answered with reasons", at_least=0)
    other_model: str | None = option(
        None, "a checkpoint of the same width on which the probes are read", may_change=True
    )
    stages: tuple[str, ...] = option(STAGES, "what is done", choices=STAGES, may_change=True)
    store: str | None = option(None, "folder of the activations (in the user's cache)", may_change=True)

    def check(self) -> None:
        """Everything after the probes rests on them."""
        super().check()
        if "probes" not in self.stages and not self.resume:
            raise InputError(f"--stages {','.join(self.stages)} rests on the probes; add probes, or pass --resume")

    def settled(self) -> Self:
        """With all methods where none is named, and the stages in their order."""
        return replace(super().settled(), methods=self.methods or tuple(METHODS))
