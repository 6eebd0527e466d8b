"""The stages of `experiments/multiverse.py`: own layer, vectors and ranges by wording, turns, verdicts.

What a stage has written is read back when the run goes on. universes: what is made and where its answers turn; ending:
what each universe says.
"""

from onedial.studies.multiverse.ending import finish
from onedial.studies.multiverse.study import MultiverseStudy, predict
from onedial.studies.multiverse.universes import find_turns, own_layer, plan_wording

__all__ = ["MultiverseStudy", "find_turns", "finish", "own_layer", "plan_wording", "predict"]
