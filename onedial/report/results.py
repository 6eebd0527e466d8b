"""Every result of a sweep, in the order of its page; the files of `onedial.report.sections` hold them. A new one is an
entry here, and its words in words.yaml.

    SWEEP_RESULTS["longest questions"] = Result("The longest questions", rows=lambda _, stored: ...)
"""

from onedial.report.sections.asked_and_read import ASKED_AND_READ
from onedial.report.sections.moved_besides import MOVED_BESIDES
from onedial.report.sections.predicted import PREDICTED
from onedial.report.sections.pushed import PUSHED
from onedial.report.sections.targets_and_scale import SCALE, TARGETS
from onedial.report.sections.written_texts import WRITTEN_TEXTS
from onedial.show.results import SURROUNDINGS, Result

SWEEP_RESULTS: dict[str, Result] = {
    **PREDICTED,
    **TARGETS,
    **PUSHED,
    **WRITTEN_TEXTS,
    **SCALE,
    **MOVED_BESIDES,
    **ASKED_AND_READ,
    **SURROUNDINGS,
}
"""By its name in the contents and in the page's address."""
