"""From a matrix of yes/no answers with gaps to thresholds, loadings and the shared difficulty of every question.

Signs: threshold = Phi^-1(yes rate), higher = more often yes; difficulty = -EAP score, higher = harder; the loadings of
a factor have a positive sum. Functions take arrays, DataFrames and anything with `to_frame()`, question by respondent,
with 1 = yes, 0 = no, nan = missing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
