"""Every program gives its help at once: no heavy library is imported for it."""

from programs import helps_without_libraries
from tiny_experiment import ROOT


def test_every_program_gives_its_help_without_a_heavy_library():
    programs = sorted((ROOT / "experiments").glob("*.py"))
    for name, said in helps_without_libraries(*programs).items():
        assert said.startswith(f"usage: {name} [-h] [--version]"), (name, said)
