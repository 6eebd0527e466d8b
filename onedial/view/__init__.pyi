from .application import Viewer
from .desk import Desk, Wanted, Write
from .export import export_to
from .expression import matching
from .runs import STATES, RunFolder
from .server import serve

__all__ = ["STATES", "Desk", "RunFolder", "Viewer", "Wanted", "Write", "export_to", "matching", "serve"]
