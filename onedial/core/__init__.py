"""What every room may lean on: a run on disk, files that are never half written, notices, the command line."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
