"""Does one steering vector in one open-weight model reproduce any model's yes and no about itself?

The names that a first notebook needs; each comes from the room that knows it (`onedial.models`, `onedial.panels`, ...),
and is loaded when it is first used. Vectors and sweeps are in `steering`, probes in `probes`.

>>> import onedial
>>> onedial.load_panel("embedded").respondents["model"].nunique()
4
"""

import os

import lazy_loader

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
"""Read when torch is loaded: threads sleep while they wait for each other. Those that spin burn several times the CPU
of the work itself, and beside other work hold it up."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
