"""Does one steered model reproduce the yes/no of others? Works on saved tables, needs no model.

sweep (question x magnitude) + panel (question x target) -> Case -> judge -> Verdict
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
