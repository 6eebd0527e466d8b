from .application import Viewer
from .export import export_to
from .expression import matching
from .runs import STATES, RunFolder
from .server import serve

__all__ = ["STATES", "RunFolder", "Viewer", "export_to", "matching", "serve"]
