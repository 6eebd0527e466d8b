"""The sections of a run's report, from top to bottom. A new one is a function here, and a line in `SECTIONS`.

Every section has one signature:

    section(contents) -> Section, or None where the run holds nothing to say

It reads tables (`onedial.report.contents.Contents`) and says what they hold, in the blocks of `onedial.show.page`.
"""

from collections.abc import Callable

from markupsafe import Markup

from onedial.report import report_tables
from onedial.report.contents import Contents
from onedial.report.explorer import explorer_of
from onedial.report.figures.path_figure import path_rows
from onedial.report.meaning import findings
from onedial.report.reasons import why_left_out
from onedial.report.remedies import what_to_try
from onedial.show import Section, number, page, run_tables
from onedial.verdict import CANNOT_BE_JUDGED, DECISIVE

SCALE_FIGURES = ("loadings", "scree")


def numbers(contents: Contents) -> Section:
    """The verdict's numbers."""
    return Section("", [page.findings("The verdict's numbers", findings(contents.verdict))])


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
    words = Markup(
        "Agreement and kappa on the test questions, at the magnitude that fits best on the fitting questions; 95% "
        "intervals in brackets. The majority answer is the target's more frequent one on these very questions: no "
        "constant answer does better. S averages the kappas at matched yes rates instead (<code>kappa_rate</code> in "
        "matches.csv). Grey: not in the line of <i>best</i> magnitudes on threshold (the figure draws places by "
        "maximum likelihood); of these <i>edge</i> (best at an end of the range) and <i>not monotone</i> are judged, "
        "<i>few</i> (under 50 test answers, or 10 of a kind), <i>constant</i> and <i>flat</i> (the dial moves the yes "
        "rate by under .10) are not. "
        '<span class="narrow">The table scrolls sideways.</span>'
    )
    lines = report_tables.target_rows(contents.matches, contents.panel)
    shown = page.table("Table of targets", "target", report_tables.TARGET_COLUMNS, lines)
    blocks = [page.text(words), shown]
    if len(odd := contents.matches[contents.matches["status"] != "ok"].sort_values("yes_rate", kind="stable")):
        blocks.append(page.text("Why these are left out, or taken with care:"))
        blocks.append(page.items([f"{target}: {why_left_out(row)}" for target, row in odd.iterrows()]))
    return Section("Targets", blocks)


def vector(contents: Contents) -> Section:
    """What was turned."""
    model = contents.model
    rows = report_tables.vector_rows(
        contents.own,
        contents.vectors,
        contents.manifest.facts.get("vector"),
        model.get("n_layers", model.get("layers")),
    )
    return Section("The vector", [page.rows(rows)])


def explorer(contents: Contents) -> Section:
    """A dial to turn and questions to browse."""
    return Section("", [page.explorer(explorer_of(contents))])


def rivals(contents: Contents) -> Section | None:
    """What does as well without steering."""
    if contents.rivals is None:
        return None
    words = (
        "Each rival puts the questions in an order without any steering, is cut at the target's yes rate on the "
        "fitting questions, and is scored as S is. A dial that shares a scale with the targets should stand against "
        "the other accounts with one order for all targets. Surface, topic means and text are trained on the target's "
        "own answers outside the test split, and may know more of it than any single dial can."
    )
    shown = page.table(
        "Table of rivals", "without steering", report_tables.RIVAL_COLUMNS, report_tables.rival_rows(contents.rivals)
    )
    blocks = [page.text(words), shown]
    if ceiling := contents.verdict["ceiling"]:
        blocks.append(
            page.text(
                f"The best account with one order, {ceiling['account']}, reaches {number(ceiling['signal'])}; the "
                f"dial's S is {number(ceiling['share'], 2)} times that."
            )
        )
    return Section("What does as well without steering?", blocks)


def prediction(contents: Contents) -> Section | None:
    """How many bits of the held-out answers each source predicts."""
    table, found = contents.prediction, contents.verdict["prediction"]
    if table is None or table.empty:
        return None
    words = (
        "Each target is placed on an order of the questions from some of its fitting answers, and its test answers are "
        f"predicted as probabilities. Its yes rate alone leaves {number(found['yes_rate'])} bits a question; given are "
        "the bits by which each source leaves fewer. Share: of what the other base models' answers to the very "
        f"questions predict ({found['mark']}). A question without a score lies in the middle. Topic means, surface and "
        "text are trained on all fitting answers of the target; its own base model, asked otherwise, is no rival, but "
        "near to what asking again would predict."
    )
    shown = page.table(
        "Bits predicted", "source", report_tables.PREDICTION_COLUMNS, report_tables.prediction_rows(table)
    )
    by_model = page.table(
        "Base models predicted",
        "base model",
        report_tables.PREDICTED_COLUMNS,
        report_tables.predicted_rows(found["models"]),
    )
    said = f"What the dial predicts of each base model, 95% over {found['by']}:"
    return Section("How much is predicted?", [page.text(words), shown, page.text(said), by_model])


def criteria(contents: Contents) -> Section | None:
    """By what each target's magnitude can be chosen, where there is more than what the verdict rests on."""
    if contents.criteria is None or len(contents.criteria) <= len(DECISIVE):
        return None
    words = (
        "Each criterion chooses a magnitude for each target on the fitting questions. Given are the mean kappa on the "
        "test questions there, over base models with its interval over questions, and R² of these magnitudes on the "
        "targets' thresholds, beside R² with the panel's rows permuted. The verdict rests on agreement and rate alone."
    )
    shown = page.table(
        "Criteria", "criterion", report_tables.CRITERIA_COLUMNS, report_tables.criteria_rows(contents.criteria)
    )
    return Section("By which magnitude?", [page.text(words), shown])


def path(contents: Contents) -> Section | None:
    """Where the dial leads on the panel's own scale."""
    if contents.path is None:
        return None
    words = (
        "At every magnitude the steered subject is one more respondent on the scale that the panel's answers make: a "
        "threshold, and a loading that says how closely it follows the shared difficulty. A dial that only moves the "
        "threshold keeps its loading. Each target is compared by the answers of the other base models. path.csv and "
        "path_targets.csv hold every place."
    )
    rows = path_rows(contents.path, str(contents.run.config.get("unit") or "residual_norm"))
    return Section("The dial's path through the factor", [page.text(words), page.rows(rows)])


def models(contents: Contents) -> Section | None:
    """Each base model by itself, and the numbers without it."""
    if not contents.verdict["models"]:
        return None
    words = (
        "Signal, gain and order for the targets of each base model, and for all others when it is left out: where one "
        "model carries the result, it shows here."
    )
    lines = report_tables.model_rows(contents.verdict["models"])
    return Section(
        "Model by model",
        [page.text(words), page.table("Base models", "base model", report_tables.MODEL_COLUMNS, lines)],
    )


def facts(contents: Contents) -> Section | None:
    """Whether the dial moves every yes."""
    found = contents.verdict["facts"]
    if found is None:
        return None
    words = (
        "Yes/no questions about the world, half of them true, asked at the same magnitudes: a dial that is about "
        "knowing leaves them alone, one that is about the word yes moves them as well."
    )
    if contents.verdict.get("bias") is None:
        words += " The question was not reversed in this run, so that mostly a yes-bias rests on these rates."
    return Section(
        "Is it about knowing? Unrelated facts", [page.text(words), page.rows(report_tables.facts_rows(found))]
    )


def bias(contents: Contents) -> Section | None:
    """Whether the dial moves the word yes or what it says."""
    found = contents.verdict.get("bias")
    if found is None:
        return None
    own = found["own"]
    words = (
        f"{own['n']} fitting questions, asked as they are and reversed (a yes says: not able; {own['n_lost']} more "
        f"could not be read in both), at {own['n_settings']} settings between the yes rates .1 and .9. A bias towards "
        "the word yes moves both up; confidence moves them apart. "
    )
    shown = page.table(
        "Yes-bias or confidence?",
        report_tables.BIAS_COLUMNS[0],
        report_tables.BIAS_COLUMNS[1:],
        report_tables.bias_rows(found),
    )
    return Section("Yes-bias or confidence?", [page.text(words + report_tables.bias_words(found)), shown])


def side_effects(contents: Contents) -> Section | None:
    """What the dial does to facts and texts that have nothing to do with it."""
    if (found := contents.run.side_effects()) is None:
        return None
    effects, said = found
    words = (
        "Unrelated facts and neutral text at the same magnitudes. A magnitude is usable where accuracy on the facts "
        f"has fallen by at most {100 * said['limit']:g} points (--limit). Outside of the usable range a match is "
        "bought with harm elsewhere. side_effects.csv has every magnitude."
    )
    shown = page.table(
        "Side effects", "magnitude", report_tables.SIDE_EFFECTS, report_tables.side_effect_rows(effects, said)
    )
    return Section("What the dial does besides", [page.text(words), page.text(said["sentence"]), shown])


def reasoned(contents: Contents) -> Section | None:
    """What the subject says after it has written its reasons, and some of its texts."""
    if (found := contents.run.reasoned()) is None:
        return None
    words = (
        "At a few settings of the same dial the subject also wrote its reasons, and its yes or no was read from the "
        "last sentence that says one. A text without one, or that was cut off, is unread, never a no. Every text is in "
        "reasoned/."
    )
    verdict = (
        found["verdict"]["sentence"]
        if found["verdict"]
        else "Too few of the texts can be read for a verdict by them; the one above is by the first token."
    )
    settings, texts = contents.run.reasoned_settings(), contents.run.reasoned_parts.read()
    blocks = [
        page.text(words),
        page.text(found["sentence"]),
        page.rows([("by the first token", contents.verdict["sentence"]), ("after reasoning", verdict)]),
        page.table("Reasoned answers", "magnitude", report_tables.REASONED, report_tables.reasoned_rows(settings)),
    ]
    for label, text in report_tables.reasoned_texts(texts, contents.questions):
        blocks += [page.small(label), page.code(text)]
    return Section("After reasoning", blocks)


def knowing(contents: Contents) -> Section | None:
    """Whether what turns early is what somebody gets right."""
    if contents.knowing is None:
        return None
    words = (
        "The chance that a question that was answered correctly turns to yes before one that was not (closed book); "
        "and how well the order puts a target's yes above its no among the questions that it gets right, and among "
        "those that it gets wrong (AUROC; n: questions that it rests on). .5 knows nothing."
    )
    lines = report_tables.knowing_rows(contents.knowing)
    shown = page.table("What the order knows", "whose answers", report_tables.KNOWING_COLUMNS, lines)
    return Section("Is it about knowing? Correct answers", [page.text(words), shown])


def controls(contents: Contents) -> Section | None:
    """The vector among directions that were not made from yes and no."""
    if contents.controls is None:
        return None
    words = (
        "Each control is as long as the vector, is done in the same way, and has a range of its own. push: residual "
        "norms between yes rates of .1 and .9. KL: what it does to the next token of neutral text at these two rates, "
        "in nats, their mean. turning: share of the questions whose answer turns more than once. Of "
        "the drawn kinds the median and the best are shown, of the others the one there is."
    )
    lines = report_tables.control_rows(contents.controls, contents.verdict["direction"]["own"])
    shown = page.table("Table of controls", "direction", report_tables.CONTROL_COLUMNS, lines)
    return Section("Would any push do?", [page.text(words), shown])


def assumptions(contents: Contents) -> Section:
    """What is taken as given, and what was written down before."""
    plan = contents.manifest.facts.get("plan") or {}
    said = report_tables.assumptions(contents.verdict, contents.run.config)
    if plan:
        said.append(
            f"Options, questions, splits and rule {plan['rule']} of the verdict were settled before the test split was "
            f"read; SHA-256 {plan['sha256'][:16]}…"
        )
    return Section("What is taken as given", [page.items(said)])


def figures(contents: Contents) -> Section:
    """Every figure of the run but those of the panel's scale, which stand beside its numbers."""
    drawn = {name: words for name, words in contents.captions.items() if name not in SCALE_FIGURES}
    return Section("Figures", [page.figures(contents.run.path / "figures", drawn)])


def missing(contents: Contents) -> Section:
    """What was not answered, or could not be read."""
    counts = report_tables.missing_rows(contents.dose_response, contents.panel, contents.questions)
    words = "An answer that is missing or could not be read is left out, never counted as a no."
    return Section("Missing and unread answers", [page.text(words), page.rows(counts)])


def notes(contents: Contents) -> Section | None:
    """What the run came upon."""
    return (
        Section("Warnings and notes of the run", [page.items(contents.manifest.notes)])
        if contents.manifest.notes
        else None
    )


def factor(contents: Contents) -> Section | None:
    """How much one shared difficulty explains."""
    if contents.factor is None:
        return None
    words = "The factor model of the panel: how much of what the targets answer a single scale of difficulty explains."
    blocks = [page.text(words), page.text(report_tables.scale_sentence(contents.factor, contents.parabola))]
    drawn = {name: contents.captions[name] for name in SCALE_FIGURES if name in contents.captions}
    if drawn:
        blocks.append(page.figures(contents.run.path / "figures", drawn))
    return Section(
        "One shared difficulty?", [*blocks, page.rows(report_tables.factor_rows(contents.factor, contents.parabola))]
    )


def limits(contents: Contents) -> Section:
    """What the verdict leaves open."""
    said = report_tables.limits(contents.verdict, contents.matches, contents.grid)
    return Section("What the verdict does not say", [page.items(said)])


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
    return Section("Do it again", blocks)


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
    return Section(title, [page.rows(rows), *told])


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
    return Section("Time per stage", [page.rows(spent)], folded=True, unfolded=True)


SECTIONS: dict[str, Callable[[Contents], Section | None]] = {
    "numbers": numbers,
    "screening": screening,
    "remedies": remedies,
    "asked": asked,
    "notes": notes,
    "vector": vector,
    "explorer": explorer,
    "prediction": prediction,
    "rivals": rivals,
    "criteria": criteria,
    "figures": figures,
    "targets": targets,
    "dial path": path,
    "models": models,
    "bias": bias,
    "facts": facts,
    "side effects": side_effects,
    "reasoned": reasoned,
    "knowing": knowing,
    "controls": controls,
    "missing": missing,
    "factor": factor,
    "limits": limits,
    "assumptions": assumptions,
    "again": again,
    "prompt": prompt,
    "configuration": configuration,
    "subject": subject,
    "surroundings": surroundings,
    "stages": stages,
}
