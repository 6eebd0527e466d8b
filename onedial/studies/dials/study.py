"""What the stages of a comparison of dials share."""

from dataclasses import dataclass

from onedial.asking import PromptTemplate
from onedial.core import Run
from onedial.models import OpenModel
from onedial.panels import ExperimentInputs
from onedial.studies.options import DialOptions


@dataclass(frozen=True)
class DialStudy:
    """What every stage needs."""

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    options: DialOptions
