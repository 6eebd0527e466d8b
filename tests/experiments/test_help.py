"""Every program gives its help at once: no heavy library is imported for it."""

import resource
import subprocess
import sys

from programs import helps_without_libraries
from tiny_experiment import ROOT, main_of

from onedial.core import declared

PROGRAMS = sorted((ROOT / "experiments").glob("*.py"))


def test_every_program_gives_its_help_without_a_heavy_library():
    for name, said in helps_without_libraries(*PROGRAMS).items():
        main = main_of(ROOT / "experiments" / name)
        assert said.startswith(main.documentation.strip()), name
        assert name in said
        for option, (field, _) in declared(main.options).items():
            assert (f"--{option.replace('_', '-')}" if field.kw_only else option.upper()) in said, (name, option)


def test_the_help_of_a_program_comes_within_a_second():
    for program in PROGRAMS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, program, "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert worked < 1.5, program.name  # of the processor, whatever else it has to do; some room for slow ones


def test_what_can_be_chosen_stands_in_the_help_and_frontier_confidence_is_cut_where_its_file_says():
    helps = helps_without_libraries(*(ROOT / "experiments" / f"{name}.py" for name in ("place", "study_panel")))
    for said in helps.values():
        assert "frontier-confidence (cut at 95" in " ".join(said.split())
