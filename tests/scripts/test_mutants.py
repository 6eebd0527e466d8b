"""The generator of mutants: what it turns, and that a weak test is told from one that bites."""

import ast

import mutants
import pytest
from mutants import drawn_of, is_noticed, mutants_of

SOURCE = '''"""Of a > b."""


def chosen(values, floor=2, *, seed=0):
    """Those above -1."""
    drawn = shuffled(values, seed=seed)
    if floor > 5 and not drawn:
        raise ValueError("a < b")
    return max(drawn) - (floor)
'''


def test_each_decision_is_turned_once_and_no_docstring_or_message_is():
    changed = {(each.before, each.after) for each in mutants_of("m.py", SOURCE)}
    assert changed == {
        ("2", "3"),
        ("0", "1"),
        ("seed", "0"),
        (">", ">="),
        ("5", "6"),
        ("and", "or"),
        ("not ", ""),
        ("floor > 5 and not drawn", "not (floor > 5 and not drawn)"),
        ("max", "min"),
        ("-", "+"),
    }


def test_every_mutant_is_another_program():
    for each in mutants_of("m.py", SOURCE):
        turned = SOURCE.encode()[: each.start] + each.after.encode() + SOURCE.encode()[each.end :]
        assert ast.dump(ast.parse(turned)) != ast.dump(ast.parse(SOURCE))


def test_a_mutant_keeps_its_key_when_lines_above_it_change():
    assert {each.key for each in mutants_of("m.py", SOURCE)} == {
        each.key for each in mutants_of("m.py", "import os\n\n\n" + SOURCE)
    }


def test_equal_changes_in_one_function_have_keys_of_their_own():
    keys = [each.key for each in mutants_of("m.py", "def f(a):\n    return a + 1 + 1\n")]
    assert len(set(keys)) == len(keys) == 4


def test_a_draw_keeps_its_mutants_when_other_code_is_added():
    before = mutants_of("m.py", SOURCE)
    more = before + mutants_of("other.py", SOURCE)
    kept = {each.key for each in drawn_of(more, 8, seed=0)} & {each.key for each in before}
    assert kept <= {each.key for each in drawn_of(before, 8, seed=0)}
    assert drawn_of(before, 3, seed=0) != drawn_of(before, 3, seed=1)


@pytest.mark.parametrize(("asserted", "noticed"), [("larger(2, 2) is False", True), ("larger(3, 2) is True", False)])
def test_only_a_test_at_the_boundary_notices_a_turned_comparison(tmp_path, asserted, noticed):
    source = "def larger(a, b):\n    return a > b\n"
    (tmp_path / "boundary.py").write_text(source)
    (tmp_path / "test_boundary.py").write_text(
        f"from boundary import larger\n\n\ndef test_it():\n    assert {asserted}\n"
    )
    (mutant,) = mutants_of("boundary.py", source)
    assert is_noticed(mutant, tmp_path, ["test_boundary.py"]) == noticed
    assert (tmp_path / "boundary.py").read_text() == source


def test_a_mutant_whose_tests_run_out_of_time_is_undecided(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "SECONDS_PER_MUTANT", 1)
    source = "def goes_on(a):\n    return a > 2\n"
    (tmp_path / "boundary.py").write_text(source)
    (tmp_path / "test_boundary.py").write_text(
        "from boundary import goes_on\n\n\ndef test_it():\n    while goes_on(2):\n        pass\n"
    )
    (mutant, *_) = mutants_of("boundary.py", source)
    assert is_noticed(mutant, tmp_path, ["test_boundary.py"]) is None


def test_tests_that_are_left_out_notice_nothing(tmp_path):
    source = "def larger(a, b):\n    return a > b\n"
    (tmp_path / "boundary.py").write_text(source)
    (tmp_path / "test_boundary.py").write_text("def test_it():\n    pass\n")
    (mutant,) = mutants_of("boundary.py", source)
    assert not is_noticed(mutant, tmp_path, ["test_boundary.py"], "-k", "another")
