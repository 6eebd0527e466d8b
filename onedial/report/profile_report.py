"""The page of a dial's profile, from the run's files alone."""

from pathlib import Path

from onedial.core import Run
from onedial.report.sweep_results import SIDES, at_magnitudes
from onedial.show import Column, Section, captions_of, count, digits, page


def write_profile_report(run: Run) -> Path:
    """Write report.html of a run of `ask.py profile`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    summary = run.read_json("summary.json")
    reports = run.read_table("reports.csv").set_index("report")
    orders, accuracy, written = (run.read_table(f"{name}.csv") for name in ("orders", "accuracy", "written"))
    sentences = [str(line) for line in summary["sentences"]]
    name = run.path.resolve().name
    html = page.page(
        question=f"What does the dial of {summary['model']} move besides the yes?",
        headline=sentences[0],
        lead=str(summary["asked"]),
        sections=[
            Section("In words", [page.items(sentences[1:])]),
            Section("Instruments and settings", [page.figures(run.path / "figures", captions_of(run))]),
            Section(
                "Table",
                [
                    page.table(
                        "Instruments",
                        "instrument",
                        _INSTRUMENTS,
                        reports,
                        lambda row: row["together"] != row["together"],
                    )
                ],
            ),
            Section(
                "The answers themselves",
                [
                    page.table("Accuracy", "setting", _RIGHT, at_magnitudes(accuracy)),
                    page.table("How sure it writes", "setting", _WRITTEN, at_magnitudes(written)),
                ],
            ),
            Section(
                "Order and letters", [page.table("Order effects", "instrument", _ORDER, orders.set_index("report"))]
            ),
        ],
        title=f"Profile of {summary['model']}",
        foot=name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


_INSTRUMENTS = (
    Column("n", "asked", count),
    Column("n_unread", "unread", count),
    Column("mean", form=digits(2)),
    Column("sd", form=digits(2)),
    Column("together", "moves by", digits(2), ends=SIDES),
    Column("p", "p (random)", digits(3)),
    Column("verdict"),
)
_RIGHT = (
    Column("right", form=digits(2), ends=SIDES),
    Column("n", "of", count),
    Column("n_no_answer", "no answer", count),
)
_WRITTEN = (
    Column("mean log-probability", form=digits(2)),
    Column("change", form=digits(2), ends=SIDES),
    Column("entropy", form=digits(2)),
    Column("first margin", form=digits(2)),
    Column("same_text", form=digits(2)),
    Column("n", "of", count),
    Column("n_empty", "empty", count),
)
_ORDER = (Column("effect", "difference by"), Column("difference", "standard deviations", digits(2), ends=SIDES))
