"""The report of a probing run: one HTML file that needs nothing beside it, from the files of the run alone."""

from pathlib import Path

import pandas as pd

from onedial.core import Run
from onedial.show import Drawing, captions_of, page, save_results
from probes.show import probe_figures as draw
from probes.show import probe_more_figures as more
from probes.show.probe_contents import ProbeContents
from probes.show.probe_sections import PROBE_SECTIONS, headline_of


def write_probe_figures(run: Run) -> None:
    """Draw everything that the run's tables allow, as PNG and SVG, with captions beside them.

    Raises:
        InputError: a table is broken.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(f"{folder.name}/run", "train_probes.py", {"method": ["logistic"]})
    >>> write_probe_figures(run)  # of the tables that are there, which are none
    >>> captions_of(run)
    {}
    """
    # Here and not above: probes bring torch along, which nobody needs who looks at a sweep.
    from probes.fitting.labels import FACT_LABELS, MAIN_LABELS

    drawings: dict[str, Drawing] = {}
    if run.has("probes.csv"):
        table, method = run.read_table("probes.csv"), run.config["methods"][0]
        drawings["layer_curves"] = draw.layer_curves(table, MAIN_LABELS, method)
        if run.has("facts.csv"):
            table = pd.concat([table, run.read_table("facts.csv")], ignore_index=True)
        drawings["layer_label"] = draw.layer_label(table, [*MAIN_LABELS, *FACT_LABELS], method)
    if run.has("statements.csv"):
        drawings["without_labels"] = more.without_labels(run.read_table("statements.csv"))
    if run.has("cross.csv"):
        transfer = run.read_table("transfer.csv") if run.has("transfer.csv") else None
        cross = run.read_table("cross.csv")
        main = [label for label in dict.fromkeys(cross["probe"]) if label not in FACT_LABELS]
        drawings["cross_map"] = draw.cross_map(cross, transfer, main, FACT_LABELS)
    if run.has("effects.csv"):
        drawings["reading_and_use"] = draw.reading_and_use(run.read_table("effects.csv"))
    if run.has("own.csv"):
        drawings["own_and_shared"] = draw.own_and_shared(run.read_table("own.csv"))
    if run.has("where.csv"):
        drawings["where"] = more.where(run.read_table("where.csv"))
    if run.has("patching.csv"):
        drawings["patching"] = more.patching(run.read_table("patching.csv"))
    if run.has("writing.csv"):
        course, tokens = run.read_table("writing.csv"), run.read_table("tokens_written.parquet")
        if len(tokens):
            drawings["writing_one"] = more.writing_one(tokens)
            drawings["writing"] = more.writing(course)
    if run.has("lens.csv"):
        drawings["lens_curves"] = draw.lens_curves(run.read_table("lens.csv"), MAIN_LABELS)
    save_results(run, {}, drawings)


def write_probe_report(run: Run) -> Path:
    """Write report.html from the run's tables and figures, its headline into summary.json, and return its path.

    Raises:
        InputError: a table or the captions of the figures are missing or broken.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(f"{folder.name}/run", "train_probes.py", {"method": ["logistic"]})
    >>> write_probe_report(run).name
    'report.html'
    """
    contents = ProbeContents(run, captions_of(run))
    model, name = str(contents.manifest.facts.get("model", {}).get("name", "")), run.path.resolve().name
    sentence = headline_of(contents)
    run.write_json("summary.json", {"sentence": sentence})
    html = page.page(
        question=f"What does the residual stream of {model} know about knowing?",
        headline=sentence,
        lead=(
            "Linear probes on topics that they have not seen, beside the question's words alone, beside labels that "
            "mean nothing, and beside what happens when the same directions are pushed."
        ),
        sections=[section for make in PROBE_SECTIONS.values() if (section := make(contents)) is not None],
        title=f"Probes of {model} {name}",
        foot=name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"
