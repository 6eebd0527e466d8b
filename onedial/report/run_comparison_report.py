"""The page on which several runs stand side by side, from the tables of a comparison."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from onedial.core import Run
from onedial.report.figures.run_comparison_figures import comparison_agreement, comparison_dose, comparison_numbers
from onedial.show import (
    NOTHING,
    Column,
    Drawing,
    Section,
    captions_of,
    count,
    digits,
    headline,
    number,
    p_value,
    page,
    save_results,
)
from onedial.verdict import Comparison

MOST_QUESTIONS = 200
"""Questions that a page lists of one pair; all of them stand in questions.csv."""


def write_comparison(run: Run, comparison: Comparison) -> Path:
    """Save the tables, draw the figures, write report.html and return its path."""
    sentence = comparison_sentence(comparison)
    tables = {"summary": {"sentence": sentence}} | {
        name: getattr(comparison, name) for name in ("differences", "answers")
    }
    tables |= {
        name: getattr(comparison, name).rename_axis("row")
        for name in ("agreement", "dose", "pairs", "targets", "questions")
    }
    save_results(run, tables, comparison_figures(comparison))
    captions = captions_of(run)
    names, n_pairs = list(comparison.answers.index), len(comparison.pairs)
    html = page.page(
        question=f"What is different between {len(names)} runs?",
        headline=headline(sentence),
        lead=f"{', '.join(map(str, names))}: compared pair by pair ({n_pairs}) on the questions that both asked.",
        sections=comparison_sections(comparison, run.path / "figures", captions),
        title=f"Comparison of {len(names)} runs",
        foot=run.path.resolve().name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


def comparison_figures(comparison: Comparison) -> dict[str, Drawing]:
    """The page's figures by name."""
    figures = {
        "comparison_numbers": comparison_numbers(comparison.answers),
        "comparison_dose": comparison_dose(comparison.dose),
    }
    if len(comparison.agreement):
        figures["comparison_agreement"] = comparison_agreement(comparison.agreement)
    return figures


def comparison_sections(
    comparison: Comparison, folder: Path, captions: Mapping[str, Mapping[str, str]]
) -> list[Section]:
    """The page's sections; `folder` holds the figures that `captions` names."""
    return [
        verdicts(comparison),
        asked(comparison),
        *pairs(comparison),
        Section("Figures", [page.figures(folder, captions)]),
        targets(comparison),
        *questions(comparison),
        limits(),
    ]


def comparison_sentence(comparison: Comparison) -> str:
    """Whether the runs answer alike, and whether one does better."""
    found = comparison.answers["reproduced"]
    alike = "all runs answer alike" if found.nunique() == 1 else "the runs answer differently"
    answers = ", ".join(dict.fromkeys(map(str, found)))
    better = [
        f"{row['first'] if row['agreement_difference'] > 0 else row['second']} agrees more than "
        f"{row['second'] if row['agreement_difference'] > 0 else row['first']}"
        for _, row in comparison.pairs.iterrows()
        if row["low"] > 0 or row["high"] < 0
    ]
    told = "; ".join(better) if better else "no run agrees with the targets clearly more than another"
    return f"{alike} ({answers}); {told}"


VERDICTS = (
    Column("reproduced", "reproduced?"),
    Column("judged"),
    Column("signal", "S", digits(3), ends=("signal_low", "signal_high")),
    Column("p", form=p_value),
    Column("gain", "G", digits(3, signed=True), ends=("gain_low", "gain_high")),
    Column("order", "C", digits(3, signed=True), ends=("order_low", "order_high")),
    Column("rho", "rho of the dial", digits(3), ends=("rho_low", "rho_high")),
)
PAIRS = (
    Column("n_shared", "shared questions", count),
    Column("turning", "turn: both / first / second / neither"),
    Column("turn_p", "p", p_value),
    Column("order", form=digits(2), n="order_n"),
    Column("cosine", form=digits(2, signed=True)),
    Column("cosine_layers", "of layer"),
    Column("agreement_difference", "agreement, first minus second", digits(3, signed=True), ends=("low", "high")),
    Column("p", form=p_value),
    Column("n_targets", "targets", count),
    Column("n_test", "on questions", count),
)
TARGETS = (
    Column("pair"),
    Column("n", "questions", count),
    Column("first_agrees", form=digits(3)),
    Column("second_agrees", form=digits(3)),
    Column("only_first", form=count),
    Column("only_second", form=count),
    Column("p", form=p_value),
)


def _says(answer: Any) -> str:
    return {1.0: "yes", 0.0: "no"}.get(answer, "not read")


def _turn(magnitude: float) -> str:
    return "never" if pd.isna(magnitude) else number(magnitude, signed=True)


QUESTIONS = (
    Column("id"),
    Column("first_turns", "first turns at", _turn),
    Column("second_turns", "second turns at", _turn),
    Column("first_says", "first at .5", _says),
    Column("second_says", "second at .5", _says),
)


def verdicts(comparison: Comparison) -> Section:
    """One row per run."""
    judged = [f"{row['n_eligible']} of {row['n_targets']}" for _, row in comparison.answers.iterrows()]
    shown = page.table("Verdicts", "run", VERDICTS, comparison.answers.assign(judged=judged))
    said = [(str(name), headline(row["sentence"])) for name, row in comparison.answers.iterrows()]
    return Section("The verdicts", [page.rows(said), shown])


def asked(comparison: Comparison) -> Section:
    """Only what was asked differently."""
    if comparison.differences.empty:
        return Section("What was done differently", [page.text("Nothing: the runs have the same configuration.")])
    columns = [Column(str(name), str(name), _shown) for name in comparison.differences.columns]
    shown = page.table("Differences", "option", columns, comparison.differences)
    return Section("What was done differently", [shown])


def pairs(comparison: Comparison) -> list[Section]:
    """What each pair shares."""
    words = (
        "Turning: questions whose answer changes somewhere along the dial, in both runs, in one alone, in neither; p "
        "of McNemar's exact test. Order: Spearman's correlation of the orders in which questions turn. Cosine: of the "
        "two vectors, where they are of the same model. Agreement: how much more often the first agrees with the "
        "targets that both runs judge, over base models, on the test questions of both, with a 95% interval over "
        "questions. p values are not corrected for the number of pairs."
    )
    turned = [f"turn_in_{which}" for which in ("both", "first", "second", "neither")]
    lines = _by_pair(comparison.pairs)
    lines["turning"] = [" / ".join(count(row[name]) for name in turned) for _, row in lines.iterrows()]
    return [Section("Pair by pair", [page.text(words), page.table("Pairs", "pair", PAIRS, lines)])]


def _by_pair(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_axis([f"{row['first']} and {row['second']}" for _, row in table.iterrows()])


def targets(comparison: Comparison) -> Section:
    """Each target of each pair."""
    words = (
        "How often each of the two agrees with the target, at the magnitude that it chose for it, on the questions "
        "that both runs test on and read; then those on which one of the two alone agrees; p of McNemar's exact test, "
        "not corrected for the number of targets."
    )
    if comparison.targets.empty:
        return Section("Target by target", [page.text("No target is judged in two of these runs.")])
    lines = _by_pair(comparison.targets).rename_axis("pair").reset_index().set_index("target")
    return Section("Target by target", [page.text(words), page.table("Targets", "target", TARGETS, lines)])


def questions(comparison: Comparison) -> list[Section]:
    """For each pair: which questions turn in one and not in the other, or are answered otherwise at yes rate .5."""
    sections = []
    for _, pair in comparison.pairs.iterrows():
        own = comparison.questions
        own = own[(own["first"] == pair["first"]) & (own["second"] == pair["second"])]
        one_alone = own["first_turns"].isna() != own["second_turns"].isna()
        differ = (own["first_says"] - own["second_says"]).abs() == 1
        found = own[one_alone | differ]
        words = (
            f"Questions that turn in one of the two alone ({int(one_alone.sum())}), or that the two answer differently "
            f"at their settings of yes rate .5, magnitudes {number(pair['half_first'])} and "
            f"{number(pair['half_second'])} "
            f"({int(differ.sum())})."
        )
        if len(found) > MOST_QUESTIONS:
            words += f" The first {MOST_QUESTIONS} of {len(found)} are listed; questions.csv holds all."
        title = f"Which questions: {pair['first']} and {pair['second']}"
        blocks: list[Markup] = [page.text(words)]
        if len(found):
            blocks.append(page.table(title, "question", QUESTIONS, found.head(MOST_QUESTIONS).set_index("question")))
        sections.append(Section(title, blocks, folded=True, unfolded=len(comparison.pairs) == 1))
    return sections


def limits() -> Section:
    """What a comparison leaves open."""
    said: Sequence[str] = [
        "Two runs that differ in more than one option do not say which of them made the difference.",
        "Runs over the same questions share their luck with them: the intervals are over questions, not over subjects, "
        "prompts or panels.",
        "With many pairs and targets some p falls under .05 by chance; the tables say how many were compared.",
        "A question that does not turn may lie beyond the range that a run swept; compare the ranges first.",
    ]
    return Section("What this does not say", [page.items(said)])


def _shown(value: Any) -> str:
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
