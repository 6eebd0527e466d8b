"""The stages of `experiments/panel.py collect`: whom it asks here, whom elsewhere, and the panel that comes of it.

Every answer lies in the run's answers.jsonl before anything is made of it. here: models on this machine; elsewhere:
providers and servers, and what they cost; panel: grading and the files.
"""

from onedial.studies.collecting.elsewhere import (
    ask_elsewhere,
    check_what_is_asked_elsewhere,
    keep_judge,
    show_costs,
    store_of,
)
from onedial.studies.collecting.here import ask
from onedial.studies.collecting.panel import save

__all__ = ["ask", "ask_elsewhere", "check_what_is_asked_elsewhere", "keep_judge", "save", "show_costs", "store_of"]
