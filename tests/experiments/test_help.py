"""Every program gives its help at once: no heavy library is imported for it."""

import resource
import subprocess
import sys

import pytest
from programs import helps_without_libraries
from tiny_experiment import ROOT, main_of

from onedial.core.options import declared, flag, parse_options

PROGRAMS = sorted((ROOT / "experiments").glob("*.py"))


def test_every_program_gives_its_help_without_a_heavy_library():
    for name, help_text in helps_without_libraries(*PROGRAMS).items():
        main = main_of(ROOT / "experiments" / name)
        assert help_text.startswith(main.documentation.strip()), name
        assert name in help_text
        assert all(word in help_text for word in getattr(main, "parts", ()))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_help_names_every_option_and_what_can_be_chosen(program, capsys):
    main = main_of(program)
    for part in getattr(main, "parts", {"": main}).values():
        with pytest.raises(SystemExit):
            parse_options(part.options, part.documentation, ["--help"])
        help_text = "".join(capsys.readouterr().out.split())
        for name, (field, known) in declared(part.options).items():
            assert (flag(name) if field.kw_only else name.upper()) in help_text, name
            assert ",".join(known.choices or ()).replace(" ", "") in help_text, name


def test_the_help_of_a_program_comes_within_a_second():
    for name in ("steer_sweep", "ask"):
        program = ROOT / "experiments" / f"{name}.py"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, program, "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert worked < 1.5, name  # of the processor, whatever else it has to do; some room for slow ones
