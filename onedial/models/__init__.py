"""Open-weight models: load one, render and tokenise prompts for it, read and edit its residual stream."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
