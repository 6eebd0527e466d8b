"""What the stages of a comparison of dials share."""

import argparse
from dataclasses import dataclass

from elicitation import PromptTemplate
from matching import ExperimentInputs
from open_models import OpenModel
from run_store import Run


@dataclass(frozen=True)
class DialStudy:
    """What every stage needs; `options` are those of `experiments/compare_dials.py`, whose help says what each is."""

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    template: PromptTemplate
    options: argparse.Namespace
