"""The stages of `experiments/ask_battery.py`: what is asked about, who answers, every test, and its scores.

What is on disk is not asked again. material: questions and options; respondents: models, or a subject at each setting
of its dial; asking: the tests; ending: tables and figures.
"""

from studies.battery.asking import TESTS, ask, ask_critic, critic_of
from studies.battery.ending import finish
from studies.battery.material import Material, material_of
from studies.battery.respondents import Make, respondents_of

__all__ = ["TESTS", "Make", "Material", "ask", "ask_critic", "critic_of", "finish", "material_of", "respondents_of"]
