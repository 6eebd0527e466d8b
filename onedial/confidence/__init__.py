"""What stated confidence is worth: calibration, F-beta, meta-d', conformal sets, whose knowledge it is."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
