"""The sections of a run's report, from top to bottom. A new one is a function here, and a line in `SECTIONS`.

Every section has one signature:

    section(contents) -> Section, or None where the run holds nothing to say

It reads tables (`onedial.report.contents.Contents`) and says what they hold, in the blocks of `onedial.show.page`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from onedial.report import report_tables
from onedial.report.contents import Contents
from onedial.report.explorer import explorer_of
from onedial.report.figures.path_figure import path_rows
from onedial.report.meaning import findings
from onedial.report.reasons import why_left_out
from onedial.report.remedies import what_to_try
from onedial.show import Section, number, page, run_tables
from onedial.verdict import CANNOT_BE_JUDGED, OPEN_FLOOR, words_of_mark

OVERVIEW = "magnitude_threshold"
"""The figure that is seen first."""
BESIDE = {
    "vector": ("layer_map",),
    "prediction": ("prediction",),
    "rivals": ("rivals",),
    "targets": ("agreement", "kappa"),
    "path": ("dial_path",),
    "side effects": ("side_effects",),
    "reasoned": ("reasoned",),
    "controls": ("controls",),
    "scale": ("loadings", "scree"),
}
"""Which figures stand in which section; the others have one of their own."""


WORDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("sections.yaml").read_text(encoding="utf-8"))


def words_of(section: str, **numbers: Any) -> str:
    """What a section says before its table."""
    return WORDS[section].format(**numbers)


def drawn(contents: Contents, section: str) -> list[Markup]:
    """The figures of a section, where there are any."""
    return page.drawn(contents.run.path / "figures", contents.captions, *BESIDE[section])


def _beside_its_figure(contents: Contents, section: str, blocks: list[Markup]) -> list[Markup]:
    return [page.beside(figure, blocks) for figure in drawn(contents, section)] or blocks


def numbers(contents: Contents) -> Section:
    """The verdict's numbers."""
    said = page.small("In brackets: the 95% interval in this panel, over its questions.")
    return Section("The verdict's numbers", [page.findings("The verdict's numbers", findings(contents.verdict)), said])


def screening(contents: Contents) -> Section | None:
    """What is wrong with the panel."""
    found = contents.verdict["screening"]
    return Section("Before judging", [page.items([each["sentence"] for each in found])]) if found else None


def remedies(contents: Contents) -> Section | None:
    """What to try where nothing could be judged."""
    if contents.verdict["reproduced"] != CANNOT_BE_JUDGED:
        return None
    told = what_to_try(contents.verdict, contents.grid, contents.matches)
    return Section("What keeps it from being judged, and what to try", [page.items(told)])


def targets(contents: Contents) -> Section:
    """One row per target."""
    lines = report_tables.target_lines(contents.matches, contents.panel)
    shown = page.table("Table of targets", "target", report_tables.TARGETS, lines, lambda row: row["status"] != "ok")
    blocks = [*drawn(contents, "targets"), page.text(Markup(words_of("targets"))), shown]
    if len(odd := contents.matches[contents.matches["status"] != "ok"].sort_values("yes_rate", kind="stable")):
        blocks.append(page.text("Why these are left out, or taken with care:"))
        blocks.append(page.items([f"{target}: {why_left_out(row)}" for target, row in odd.iterrows()]))
    return Section("Targets", blocks, folded=True)


def vector(contents: Contents) -> Section:
    """What was turned."""
    model = contents.model
    rows = report_tables.vector_rows(
        contents.own,
        contents.vectors,
        contents.manifest.facts.get("vector"),
        model.get("n_layers", model.get("layers")),
    )
    return Section("The vector", [page.rows(rows), *drawn(contents, "vector")], folded=True)


def explorer(contents: Contents) -> Section:
    """A dial to turn and questions to browse."""
    return Section("Turn the dial, browse the questions", [page.explorer(explorer_of(contents))])


def rivals(contents: Contents) -> Section | None:
    """What does as well without steering."""
    if contents.rivals is None:
        return None
    lines = report_tables.rival_lines(contents.rivals)
    shown = page.table(
        "Table of rivals", "without steering", report_tables.RIVALS, lines, lambda row: not row["n_targets"] > 0
    )
    blocks = [page.text(words_of("rivals"))]
    if ceiling := contents.verdict["ceiling"]:
        blocks.append(
            page.text(
                f"The best account with one order, {ceiling['account']}, reaches {number(ceiling['signal'])}; the "
                f"dial's S is {number(ceiling['share'], 2)} times that."
            )
        )
    blocks = [*_beside_its_figure(contents, "rivals", blocks), page.folded("Every rival, with its numbers", [shown])]
    return Section("What does as well without steering?", blocks)


def prediction(contents: Contents) -> Section | None:
    """How many bits of the held-out answers each source predicts."""
    table, found = contents.prediction, contents.verdict["prediction"]
    if table is None or table.empty:
        return None
    words = words_of(
        "prediction",
        yes_rate=number(found["yes_rate"]),
        mark=found["mark"],
        floor=OPEN_FLOOR,
        who=words_of_mark(found["mark"]),
    )
    lines = report_tables.prediction_lines(table, found)
    shown = page.table("Bits predicted", "source", report_tables.PREDICTION, lines, lambda row: bool(row["low"] <= 0))
    by_model = page.table(
        "Base models predicted",
        "base model",
        report_tables.PREDICTED,
        report_tables.predicted_lines(found),
        lambda row: not row["predicted"],
    )
    said = f"What the dial predicts of each base model, 95% over {found['by']}:"
    blocks = _beside_its_figure(contents, "prediction", [page.text(words), page.text(said), by_model])
    folded = page.folded("Every source, by 10, 20, 50 and all fitting answers", [shown])
    return Section("How much is predicted?", [*blocks, folded])


def path(contents: Contents) -> Section | None:
    """Where the dial leads on the panel's own scale."""
    if contents.path is None:
        return None
    rows = path_rows(contents.path, str(contents.run.config.get("unit") or "residual_norm"))
    blocks = [page.text(words_of("path")), *drawn(contents, "path"), page.rows(rows)]
    return Section("The dial's path through the factor", blocks, folded=True)


def models(contents: Contents) -> Section | None:
    """Each base model by itself, and the numbers without it."""
    if not contents.verdict["models"]:
        return None
    shown = page.table("Base models", "base model", report_tables.MODELS, contents.verdict["models"].items())
    return Section("Model by model", [page.text(words_of("models")), shown], folded=True)


def facts(contents: Contents) -> Section | None:
    """Whether the dial moves every yes."""
    found = contents.verdict["facts"]
    if found is None:
        return None
    words = words_of("facts")
    if contents.verdict.get("bias") is None:
        words += " The question was not reversed in this run, so that mostly a yes-bias rests on these rates."
    return Section(
        "Is it about knowing? Unrelated facts",
        [page.text(words), page.rows(report_tables.facts_rows(found))],
        folded=True,
    )


def bias(contents: Contents) -> Section | None:
    """Whether the dial moves the word yes or what it says."""
    found = contents.verdict.get("bias")
    if found is None:
        return None
    own = found["own"]
    words = words_of("bias", n=own["n"], n_lost=own["n_lost"], n_settings=own["n_settings"])
    shown = page.table(
        "Yes-bias or confidence?", "logits per residual norm", report_tables.BIAS, report_tables.bias_lines(found)
    )
    said = page.text(f"{words} {report_tables.bias_words(found)}")
    return Section("Yes-bias or confidence?", [said, shown], folded=True)


def interchange(contents: Contents) -> Section | None:
    """Whether answers hang on what lies along the vector."""
    if contents.interchange is None:
        return None
    lines = report_tables.cause_lines(contents.interchange, "pairs", ["share"])
    shown = page.table("Interchange", "what is swapped", report_tables.INTERCHANGE, lines)
    return Section(
        "Does the answer hang on what lies along the vector?", [page.text(words_of("interchange")), shown], folded=True
    )


def mediation(contents: Contents) -> Section | None:
    """Through what the push goes."""
    if contents.mediation is None:
        return None
    lines = report_tables.cause_lines(contents.mediation, "layer", ["carried", "removed"])
    shown = page.table("Mediation", "what is held", report_tables.MEDIATION, lines)
    return Section("Through what does the push go?", [page.text(words_of("mediation")), shown], folded=True)


def side_effects(contents: Contents) -> Section | None:
    """What the dial does to facts and texts that have nothing to do with it."""
    if (found := contents.run.side_effects()) is None:
        return None
    effects, said = found
    words = words_of("side effects", limit=100 * said["limit"])
    lines = report_tables.side_effect_lines(effects, said)
    shown = page.table("Side effects", "magnitude", report_tables.SIDE_EFFECTS, lines, lambda row: not row["usable"])
    blocks = [page.text(words), page.text(said["sentence"]), *drawn(contents, "side effects"), shown]
    return Section("What the dial does besides", blocks, folded=True)


def reasoned(contents: Contents) -> Section | None:
    """What the subject says after it has written its reasons, and some of its texts."""
    if (found := contents.run.reasoned()) is None:
        return None
    verdict = (
        found["verdict"]["sentence"]
        if found["verdict"]
        else "Too few of the texts can be read for a verdict by them; the one above is by the first token."
    )
    settings, texts = contents.run.reasoned_settings(), contents.run.reasoned_parts.read()
    blocks = [
        page.text(words_of("reasoned")),
        page.text(found["sentence"]),
        page.rows([("by the first token", contents.verdict["sentence"]), ("after reasoning", verdict)]),
        *drawn(contents, "reasoned"),
        page.table("Reasoned answers", "magnitude", report_tables.REASONED, report_tables.at_magnitudes(settings)),
    ]
    for label, text in report_tables.reasoned_texts(texts, contents.questions):
        blocks += [page.small(label), page.code(text)]
    return Section("After reasoning", blocks, folded=True)


def knowing(contents: Contents) -> Section | None:
    """Whether what turns early is what somebody gets right."""
    if contents.knowing is None:
        return None
    shown = page.table("What the order knows", "whose answers", report_tables.KNOWING, contents.knowing)
    return Section("Is it about knowing? Correct answers", [page.text(words_of("knowing")), shown], folded=True)


def controls(contents: Contents) -> Section | None:
    """The vector among directions that were not made from yes and no."""
    if contents.controls is None:
        return None
    lines = report_tables.control_lines(contents.controls, contents.verdict["direction"]["own"])
    shown = page.table("Table of controls", "direction", report_tables.CONTROLS, lines)
    return Section(
        "Would any push do?", [page.text(words_of("controls")), *drawn(contents, "controls"), shown], folded=True
    )


def assumptions(contents: Contents) -> Section:
    """What is taken as given, and what was written down before."""
    plan = contents.manifest.facts.get("plan") or {}
    said = report_tables.assumptions(contents.verdict, contents.run.config)
    if plan:
        said.append(
            f"Options, questions, splits and rule {plan['rule']} of the verdict were settled before the test split was "
            f"read; SHA-256 {plan['sha256'][:16]}…"
        )
    return Section("What is taken as given", [page.items(said)], folded=True)


def figures(contents: Contents) -> Section:
    """Every figure that stands in no other section."""
    taken = {OVERVIEW, *(name for names in BESIDE.values() for name in names)}
    there = {name: words for name, words in contents.captions.items() if name not in taken}
    return Section(
        "Figures of the dial and of every question", [page.figures(contents.run.path / "figures", there)], folded=True
    )


def missing(contents: Contents) -> Section:
    """What was not answered, or could not be read."""
    counts = report_tables.missing_rows(contents.dose_response, contents.panel, contents.questions)
    return Section("Missing and unread answers", [page.text(words_of("missing")), page.rows(counts)], folded=True)


def warnings(contents: Contents) -> Section | None:
    """What changes how the run is read."""
    return page.warnings_of(contents.manifest.notes)


def notes(contents: Contents) -> Section | None:
    """What the run counted, left out or took."""
    return page.notes_of(contents.manifest.notes)


def factor(contents: Contents) -> Section | None:
    """How much one shared difficulty explains."""
    if contents.factor is None:
        return None
    said = report_tables.scale_sentence(contents.factor, contents.parabola)
    rows = page.rows(report_tables.factor_rows(contents.factor, contents.parabola))
    blocks = [page.text(words_of("scale")), page.text(said), *drawn(contents, "scale"), rows]
    return Section("One shared difficulty?", blocks, folded=True)


def limits(contents: Contents) -> Section:
    """What the verdict leaves open."""
    said = report_tables.limits(contents.verdict, contents.matches, contents.grid)
    return Section("What the verdict does not say", [page.items(said)], folded=True)


def again(contents: Contents) -> Section:
    """The commands that make this run anew."""
    manifest = contents.manifest
    checkout = f"git checkout {manifest.commit}\n" if manifest.commit else ""
    blocks = [page.code(f"{checkout}{manifest.command}")]
    if manifest.dirty:
        blocks.append(
            page.text(
                "The checkout held changes that were not committed, so the commit alone does not give this run back."
            )
        )
    return Section("Do it again", blocks, folded=True)


def asked(contents: Contents) -> Section | None:
    """How the panel was asked, and in what the subject otherwise."""
    found = contents.run.asked()
    if not found.get("panel_in_words"):
        return None
    otherwise = found["otherwise"]
    about = {name: found["panel"][name] for name in ("source", "licence") if found["panel"].get(name)}
    rows = [("the panel was", found["panel_in_words"]), *about.items()]
    told = [page.items(otherwise)] if otherwise else [page.text("The subject is asked the same question.")]
    title = "The subject is asked otherwise than the panel was" if otherwise else "How the panel was asked"
    return Section(title, [page.rows(rows), *told], folded=not otherwise)


def prompt(contents: Contents) -> Section:
    """One prompt as the subject read it."""
    rendered, digest = contents.run.prompt()
    blocks = [page.code(rendered), page.small(f"SHA-256 {digest}")]
    return Section("Prompt, as the subject read it", blocks, folded=True)


def configuration(contents: Contents) -> Section:
    """Every option."""
    return Section("Configuration", [page.rows(run_tables.flat_rows(contents.run.config))], folded=True)


def subject(contents: Contents) -> Section:
    """The model that was steered."""
    return Section("Subject", [page.rows(run_tables.flat_rows(contents.model))], folded=True)


def surroundings(contents: Contents) -> Section:
    """When, where and with what."""
    found = run_tables.surroundings(contents.manifest)
    return Section("Versions, machine, seeds", [page.rows(found)], folded=True)


def stages(contents: Contents) -> Section:
    """Where the time went."""
    spent = run_tables.stage_rows(contents.manifest.stages)
    return Section("Time per stage", [page.rows(spent)], folded=True)


SECTIONS: dict[str, Callable[[Contents], Section | None]] = {
    "numbers": numbers,
    "screening": screening,
    "remedies": remedies,
    "warnings": warnings,
    "dial": explorer,
    "prediction": prediction,
    "rivals": rivals,
    "targets": targets,
    "models": models,
    "controls": controls,
    "vector": vector,
    "figures": figures,
    "scale": factor,
    "path": path,
    "bias": bias,
    "facts": facts,
    "interchange": interchange,
    "mediation": mediation,
    "side effects": side_effects,
    "reasoned": reasoned,
    "knowing": knowing,
    "asked": asked,
    "missing": missing,
    "limits": limits,
    "assumptions": assumptions,
    "notes": notes,
    "again": again,
    "prompt": prompt,
    "configuration": configuration,
    "subject": subject,
    "surroundings": surroundings,
    "stages": stages,
}
"""By its name in the contents and in the page's address."""
