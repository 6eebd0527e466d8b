"""A section of the report: a table computed from the judged run, and a plot of it.

The table is stored as NAME.csv. The plots are `forest`, `curves`, `scatter` and `heatmap`. A section
of plain sentences has `rows=` in place of a table.

    python experiments/judge_run.py runs/recipe --plugin my_section.py
"""

from onedial.report import SWEEP_RESULTS
from onedial.show import Result, forest


def unread_of_targets(judged):
    """The share of test answers that each target did not give, or that could not be read."""
    matches = judged.case.matches
    return (matches["n_unread_test"] / judged.case.test.sum()).rename("unread").to_frame()


SWEEP_RESULTS["unread_of_targets"] = Result(
    "Whose answers are missing?",
    unread_of_targets,
    index="target",
    columns=("unread",),
    figure=lambda table, stored: forest(table, "unread", "share of the test questions"),
)
