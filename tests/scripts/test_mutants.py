"""The generator of mutants turns one decision at a time, and leaves the rest of the program as it is."""

import ast

from mutants import turned

SOURCE = '''def chosen(values, floor=2):
    """Those a > b."""
    if floor > 5 and not values:
        raise ValueError("a < b")
    return values[0] - floor
'''


def test_each_decision_is_turned_once():
    n, where, same = turned(SOURCE)
    assert (n, where) == (4, "")
    assert ast.dump(ast.parse(same)) == ast.dump(ast.parse(SOURCE))
    mutants = {turned(SOURCE, number)[2] for number in range(n)}
    assert len(mutants | {same}) == n + 1
    for words in ("floor >= 5", "floor > 5 or not values", "not (floor > 5 and (not values))", "values[0] + floor"):
        assert sum(words in mutant for mutant in mutants) == 1, words
