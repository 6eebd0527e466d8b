"""The study's questions to a panel, on one page in a minute: is it one scale, and does anybody know itself?

    onedial study                                # 33 frontier models' confidence on 1,500 questions
    onedial study PANEL --out study              # a CSV: question_id and a column per model, or long
    onedial study embedded
    onedial study PANEL --deep                   # everything on its scale
    onedial study PANEL --deep --questions FILE  # with topic and level: is the scale the same?
    onedial study PANEL --deep --out factor
    onedial study PANEL --deep --replicates 0    # no nulls and no intervals: seconds
    onedial study PANEL --confidence             # what its confidence is worth, where it has grades

A panel takes at least four respondents that say both yes and no (--deep: three). Writes report.html, its sentence
(summary.json), figures/ and as tables readings (the factor of each way to cut numbers into yes and no), eigenvalues,
respondents (yes rate, accuracy and what came true, each with its interval and counts of what is missing; loading and
threshold), questions, and where the panel says what was answered correctly base_models, confidence_accuracy (the line
between them), f_beta, attitudes, screening (whose confidence says anything of its own answers), calibration,
reliability and metacognition (of numeric confidence: stated, or by margins), predictors (what tells right from wrong),
shared_or_own (is what a model knows everybody's, its family's, its own?) and topics. Framings of one base model are no
further models: where models are compared, they are averaged first. Needs no model and no GPU.

--confidence writes what rests on no scale, and so takes any panel.

--deep writes factor.json (onedial.scale.FactorModel), and as tables respondents, questions, eigenvalues, correlations,
missingness, respondents_fit, scale, residuals; with base models clusters; with known groups of questions
topic_by_respondent and the like; with several factors factors (their unrotated loadings).
"""

import sys

from onedial.core.command_line import run_command
from onedial.core.run.notes import Notes, program
from onedial.studies.options.panel import StudyOptions


def study(options: StudyOptions, notes: Notes) -> None:
    from onedial.studies.panel import study_panel

    study_panel(options, notes)


main = program(StudyOptions, study, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
