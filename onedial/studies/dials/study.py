"""What the stages of a comparison of dials share."""

import argparse
from dataclasses import dataclass

from onedial.asking import PromptTemplate
from onedial.core import Run
from onedial.models import OpenModel
from onedial.panels import ExperimentInputs


@dataclass(frozen=True)
class DialStudy:
    """What every stage needs; `options` are those of `experiments/compare_dials.py`, whose help says what each is."""

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    options: argparse.Namespace
