"""Ask the study's questions of a panel, and of no model: the stages of `experiments/study_panel.py`.

panel_study  the study's questions on one page    deep      everything that can be asked of its scale
case         what is computed, each thing once    readings  the factor of every way to read the panel
results      tables, figures and sections         sentences, words.yaml  what they say
"""

from onedial.studies.panel.panel_study import study_panel

__all__ = ["study_panel"]
