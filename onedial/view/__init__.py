"""A place to look: every run of a folder in a browser, finished or going on. Only reads, and loads no model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
