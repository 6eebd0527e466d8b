"""Marks that many figures share: whiskers end where the interval does, rows keep their order and their gaps."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from onedial.show.figure_marks import mark_rows, reach


def test_whiskers_end_at_the_ends_of_the_interval():
    row = pd.Series({"gain": 0.5, "low": 0.25, "high": 1.0})
    middle, ends = reach(row, "gain", "low", "high")
    assert middle == 0.5
    np.testing.assert_array_equal(ends, [[0.25], [0.5]])
    middle, ends = reach(pd.DataFrame([row, row + 1]), "gain", "low", "high")
    np.testing.assert_array_equal(middle - ends[0], [0.25, 1.25])
    np.testing.assert_array_equal(middle + ends[1], [1.0, 2.0])


def test_rows_stand_in_the_order_of_their_names_and_what_a_group_lacks_stays_empty():
    index = pd.MultiIndex.from_tuples([("m", "first"), ("m", "second"), ("n", "second")])
    table = pd.DataFrame({"auroc": [0.6, 0.7, 0.5], "low": 0.4, "high": 0.8}, index=index)
    axes = Figure().subplots()
    (above, of_m), (below, of_n) = mark_rows(axes, table, "auroc", apart=0.5)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert above.tolist() == [1.25, 0.25]
    assert below.tolist() == [0.75, -0.25]
    assert of_m["auroc"].tolist() == [0.6, 0.7]
    assert np.isnan(of_n["auroc"]["first"])
