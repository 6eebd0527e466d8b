"""The stages of `experiments/steer_sweep.py`, from the plan to the report.

Every stage has one signature, `stage(study) -> None`. It asks what is not on disk yet and writes each batch as it
comes, so that a run which was killed goes on; of several processes each takes its share.

beforehand    what can be said without the subject's weights      planning      what will be swept
turning       the vector and its controls                         rivals        instructions, reasoning
side_effects  facts, the question reversed, neutral text          causes        interchange, mediation
ending        matches, verdict, report
"""

from onedial.studies.sweep.beforehand import first_prompt, predict
from onedial.studies.sweep.causes import find_causes
from onedial.studies.sweep.ending import finish
from onedial.studies.sweep.planning import settle_plan
from onedial.studies.sweep.rivals import ask_instructed, write_reasons
from onedial.studies.sweep.side_effects import ask_facts, ask_reversed, run_on_text
from onedial.studies.sweep.study import SweepStudy, begin_sweep, watch_sweep
from onedial.studies.sweep.turning import cross_controls, measure_texts, sweep_questions

__all__ = [
    "SweepStudy",
    "ask_facts",
    "ask_instructed",
    "ask_reversed",
    "begin_sweep",
    "cross_controls",
    "finish",
    "first_prompt",
    "measure_texts",
    "predict",
    "run_on_text",
    "settle_plan",
    "sweep_questions",
    "find_causes",
    "watch_sweep",
    "write_reasons",
]
