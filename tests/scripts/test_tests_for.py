"""Which tests `make check` runs."""

import pytest
from tests_for import tests_for as chosen_for

STRUCTURE = "tests/test_structure.py"


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ("onedial/stats/roc.py", {"tests/stats/test_roc.py", "tests/confidence/test_calibration.py"}),
        ("steering/effects/written.py", {"tests/steering/test_written.py", "tests/steering/test_operators.py"}),
        ("onedial/studies/battery/__init__.py", {"tests/experiments/test_ask_battery.py"}),
        ("experiments/study_panel.py", {"tests/experiments/test_study_panel.py"}),
        ("tests/helpers/tiny_models.py", {"tests/models/test_batches.py"}),
        ("docs/method.md", {"tests/test_documentation.py"}),
        ("tests/end_to_end/test_golden.py", {"tests/end_to_end/test_golden.py"}),
        ("Makefile", set()),
    ],
)
def test_a_file_asks_for_those_that_import_or_name_it_and_for_the_structure(changed, wanted):
    chosen = set(chosen_for([changed]))
    assert chosen >= wanted | {STRUCTURE}


def test_a_statistic_does_not_ask_for_programs_and_nothing_changed_for_nothing():
    assert "tests/steering/test_sweep.py" not in chosen_for(["onedial/stats/roc.py"])
    assert chosen_for([]) == []
