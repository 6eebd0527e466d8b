"""Programs of experiments/ in a process of their own, in which some libraries cannot be imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

MODEL_LIBRARIES = ("torch", "transformers", "transformer_lens")
HEAVY_LIBRARIES = (*MODEL_LIBRARIES, "safetensors", "scipy", "sklearn", "matplotlib", "wandb", "datasets")

_WITHOUT = """
import importlib.abc, runpy, sys

class Refused(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in {libraries!r}:
            raise ImportError(name)

sys.meta_path.insert(0, Refused())
if "matplotlib" not in {libraries!r}:
    import blank

    blank.draw_nothing()
sys.argv = {arguments!r}
runpy.run_path({program!r}, run_name="__main__")
"""


def run_without(libraries: tuple[str, ...], program: Path, *arguments: object) -> str:
    """What the program prints where none of the libraries can be imported; it must end well. Figures are blank."""
    given = [program.name, *map(str, arguments)]
    code = _WITHOUT.format(libraries=libraries, arguments=given, program=str(program))
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def helps_without_libraries(*programs: Path) -> dict[str, str]:
    """The help of each program by its name, all from one process in which no heavy library can be imported."""
    texts = json.loads(run_without(HEAVY_LIBRARIES, Path(__file__).with_name("helps.py"), *programs))
    return {program.name: texts[str(program)] for program in programs}
