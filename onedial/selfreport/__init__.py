"""The ways in which the field asks a model about itself: what is asked, how it is scored, how it is drawn."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
