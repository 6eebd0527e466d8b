"""From answers and side effects to the table, the figures and the sentence."""

from collections.abc import Sequence

import pandas as pd

from onedial.core.pulse import say
from onedial.report.dials import write_dials
from onedial.show.terminal import print_results
from onedial.studies.dials.study import DialStudy
from onedial.verdict.comparing.dial_comparison import compare_dials, unsteered_case
from steering.dials.dials import Dial


def finish(
    study: DialStudy, dials: Sequence[Dial], placed: pd.DataFrame, answers: pd.DataFrame, effects: pd.DataFrame
) -> None:
    """Compare, and write tables, figures and the sentence."""
    about = study.inputs.frame().set_index("id")
    kinds = pd.Series({dial.name: dial.kind for dial in dials})
    case = unsteered_case(answers, about, study.inputs.panel, study.options.seed)
    found = compare_dials(answers, placed, kinds, case)
    rates = found.rates.merge(effects, on=["dial", "setting"], how="left", suffixes=("", "_facts"))
    sentence = found.sentence()
    told = {"sentence": sentence, "chosen": found.chosen}
    stored, page = write_dials(
        study.run, {"dials": found.table, "targets": found.targets, "rates": rates, "comparison": told}
    )
    print_results(stored, sentence)
    say(f"written to {study.run.path}; page: {page}")
