"""What the confidence of a panel is worth: for whom is whose yes the best, and does anybody know what it knows?

    python experiments/score_confidence.py embedded
    python experiments/score_confidence.py panels/mine/panel.csv --out scores --replicates 0    # no intervals: seconds
    python experiments/score_confidence.py frontier-confidence      # 33 frontier models, in numbers
    python experiments/score_confidence.py frontier          # yes rates alone: it is about refusal, and has no grades

Prints and writes, into DIR: respondents.csv (yes rate, accuracy, what came true, each with its interval and counts of
what is missing), and where the panel says what was answered correctly (a long panel's answered_correctly) f_beta.csv
and attitudes.csv (the best respondent for each attitude to error), confidence_accuracy.csv (the line between base
models), screening.csv (whose confidence says anything of its own answers), calibration.csv and metacognition.csv (where
there is numeric confidence: stated, or by margins), shared_or_own.csv (is what confidence knows everybody's, a
family's, or one's own?), predictors.csv (what tells a model's right from its wrong answers: its own confidence or
others'?), summary.json, figures/ and report.html. Framings of one base model are no further models: where models are
compared, they are averaged first. Needs no model and no GPU.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core import Notes, RunOptions, option, program, run_command
from onedial.studies import Start
from onedial.studies.options import PanelOptions

if TYPE_CHECKING:
    import pandas as pd

    from onedial.panels import ResponseMatrix
    from onedial.show import Drawing

PROGRAM = "score_confidence"


@dataclass(frozen=True, kw_only=True)
class ConfidenceOptions(PanelOptions, RunOptions, group="confidence"):
    """What is asked of a panel's confidence."""

    replicates: int = option(999, "of intervals and tests; 0: none", at_least=0)


def score_confidence(options: ConfidenceOptions, notes: Notes) -> None:
    from onedial.confidence import write_confidence_report
    from onedial.panels import correctness_of, load_panel
    from onedial.show import save_results
    from onedial.studies.panel import rate_tables

    panel = load_panel(options.panel, options.respondents)
    with Start(PROGRAM, options, f"confidence-{Path(options.panel).stem}").begin(notes) as run:
        correctness = correctness_of(panel)
        tables, figures = rate_tables(panel, correctness)
        if correctness is None:
            print("\nthe panel does not say which answers were correct: no F-beta, no line, no calibration")
        else:
            with run.withdrawn_if_refused():
                more_tables, more_figures = worth_tables(panel, correctness, options, tables["respondents"])
            tables |= more_tables
            figures |= more_figures
        save_results(run, tables, figures)
        report = write_confidence_report(run)
    print(f"\nreport: {report}")


def worth_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", options: ConfidenceOptions, rates: "pd.DataFrame"
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """F-beta, the line between base models, calibration, and whose knowledge it is."""
    from onedial.studies.panel import (
        attitude_tables,
        calibration_tables,
        knowledge_tables,
        line_between_models,
        screening_tables,
    )

    tables: dict[str, Any] = {}
    figures: dict[str, Drawing] = {}
    summary: dict[str, Any] = {"replicates": options.replicates, "seed": options.seed}
    for more_tables, more_figures, facts in (
        attitude_tables(panel, correctness),
        line_between_models(panel, correctness, rates),
        screening_tables(panel, correctness),
        calibration_tables(panel, correctness, options.replicates, options.seed),
        knowledge_tables(panel, correctness, options.replicates, options.seed),
    ):
        tables |= more_tables
        figures |= more_figures
        summary |= facts
    return tables | {"summary": summary}, figures


main = program(ConfidenceOptions, score_confidence, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
