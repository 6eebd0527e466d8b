from .application import Viewer
from .runs import STATES, RunFolder
from .server import serve

__all__ = ["STATES", "RunFolder", "Viewer", "serve"]
