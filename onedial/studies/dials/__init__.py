"""The stages of `experiments/compare_dials.py`: directions and layer, dials, their settings, answers, side effects.

What a stage has written is read back when the run goes on. beforehand: what it would cost; directions: what is made,
and where; turning: what is asked at which settings; ending: the comparison.
"""

from onedial.studies.dials.beforehand import predict
from onedial.studies.dials.directions import chosen_layer, directions, make_dials
from onedial.studies.dials.ending import finish
from onedial.studies.dials.study import DialStudy
from onedial.studies.dials.turning import ask, place, side_effects

__all__ = ["DialStudy", "ask", "chosen_layer", "directions", "finish", "make_dials", "place", "predict", "side_effects"]
