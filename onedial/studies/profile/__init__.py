"""The stages of `experiments/dial_profile.py`: what is turned, what is asked at each setting, what moves together.

What is on disk is not asked again. turning: vector, settings, questions; asking: answers and every instrument; ending:
tables, figure and page.
"""

from onedial.studies.profile.asking import ask_everything, closed_book
from onedial.studies.profile.ending import finish
from onedial.studies.profile.turning import Dial, dial_of_run, dial_of_vector

__all__ = ["Dial", "ask_everything", "closed_book", "dial_of_run", "dial_of_vector", "finish"]
