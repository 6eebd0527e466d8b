"""How anything is shown: page, figure style, numbers for a reader, progress, W&B. Knows no result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
