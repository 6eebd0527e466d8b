"""What the stages of a comparison of dials share."""

from dataclasses import dataclass

from onedial.asking.prompts import PromptTemplate
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.panels.inputs import ExperimentInputs
from onedial.studies.options.dials import DialOptions


@dataclass(frozen=True)
class DialStudy:
    """What every stage needs."""

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    options: DialOptions
