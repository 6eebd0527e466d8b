"""What is shown of a run: figures, report, the terminal's summary, W&B. Reads; computes no result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
