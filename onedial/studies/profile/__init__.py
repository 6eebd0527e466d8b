"""The stages of `experiments/ask.py profile`: what is turned, what is asked at each setting, what moves together.

What is on disk is not asked again. study: the whole; turning: vector, settings, questions; asking: answers and every
instrument; ending: tables, figure and page.
"""

from onedial.studies.profile.study import profile_dial

__all__ = ["profile_dial"]
