"""The report of a run: one HTML file that needs nothing beside it, computed from the files of the run alone."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from common import write_text
from reporting import figure_style, report_tables
from reporting.meaning import findings, headline, number
from reporting.run_directory import RunDirectory
from reporting.run_figures import dose_response, write_figures

TEMPLATES = Path(__file__).parent / "templates"
PAGE_COLOURS = {
    figure_style.INK: "var(--ink)",
    figure_style.FAINT: "var(--faint)",
    figure_style.GRID: "var(--rule)",
    figure_style.PAPER: "var(--paper)",
    figure_style.COLOURS[0]: "var(--blue)",  # too dark on a dark page
}


def write_report(run: RunDirectory) -> Path:
    """Draw the figures, write report.html and return its path.

    Raises:
        InputError: the run is not finished, or one of its files is missing or broken.
    """
    verdict, manifest, captions = run.verdict(), run.manifest, write_figures(run)
    matches, panel, questions, factor = run.matches(), run.panel(), run.questions(), run.factor()
    rendered, digest = run.prompt()
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("report.html.j2").render(
        name=run.path.resolve().name,
        headline=headline(verdict["sentence"]),
        verdict=verdict,
        findings=findings(verdict),
        number=number,
        subject=manifest.get("model", {}).get("name") or run.config.get("model"),
        n_test=int((questions["split"] == "test").sum()),
        columns=report_tables.TARGET_COLUMNS,
        targets=report_tables.target_rows(matches, panel),
        figures=[
            {"name": name, **words, "svg": inline_svg((run.path / "figures" / f"{name}.svg").read_text("utf-8"), name)}
            for name, words in captions.items()
        ],
        missing=report_tables.missing_rows(dose_response(run), panel, questions),
        factor=report_tables.factor_rows(factor) if factor is not None else None,
        configuration=report_tables.flat_rows(run.config),
        model=report_tables.flat_rows(manifest.get("model", {})),
        surroundings=report_tables.flat_rows(
            {
                key: manifest[key]
                for key in ("started", "resumed", "commit", "dirty", "device", "dtype", "seeds", "machine", "versions")
                if key in manifest
            }
        ),
        stages=report_tables.stage_rows(manifest["stages"]),
        prompt=rendered,
        prompt_digest=digest,
        command=manifest["command"],
        commit=manifest.get("commit"),
        dirty=manifest.get("dirty"),
        limits=report_tables.limits(verdict, questions),
    )
    path = run.path / "report.html"
    write_text(path, html)
    return path


def inline_svg(svg: str, name: str) -> Markup:
    """The SVG as an element of a page: scales with the column, follows light and dark, its ids are its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    opening, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]+"', opening)
    if box is None:
        raise ValueError(f"figure {name} has no viewBox")
    for colour, variable in PAGE_COLOURS.items():
        rest = rest.replace(colour, variable)
    return Markup(f'<svg {box.group()} role="img" aria-labelledby="{name}-title">{rest}')
