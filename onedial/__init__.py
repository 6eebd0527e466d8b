"""Does one steering vector in one open-weight model reproduce any model's yes and no about itself?

The names that a first notebook needs; each comes from the room that knows it (`onedial.models`, `onedial.panels`, ...),
and is loaded when it is first used. Vectors and sweeps are in `steering`, probes in `probes`.

>>> import onedial
>>> onedial.load_panel("embedded").respondents["model"].nunique()
4
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
