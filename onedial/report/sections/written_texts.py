"""What the subject writes along the dial, and what it answers after reasoning."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.meaning import WORDS
from onedial.show import page
from onedial.show.columns import like, number
from onedial.show.results import Result
from onedial.show.run_tables import Rows
from onedial.verdict.judgement import Judgement


def _written(table: pd.DataFrame, stored: Contents) -> list[Any]:
    """Show question by question what the subject wrote at each setting."""
    tables = [rows for _, rows in table.sort_values("yes_rate", kind="stable").groupby("question_id", sort=False)]
    return [block for rows in tables for block in _said_to(stored, *_heads(rows))]


def _heads(rows: pd.DataFrame) -> tuple[str, list[str], pd.Series]:
    """Give a question's id, what stands above each text that was written to it, and the texts."""
    rates = rows["yes_rate"].map(lambda rate: number(rate, 2))
    about = zip(rates, _signed(rows["magnitude"]), strict=True)
    return str(rows["question_id"].iloc[0]), [f"yes rate {rate} (magnitude {at})" for rate, at in about], rows["text"]


def written_to_one(stored: Contents) -> list[Any]:
    """Box what was written to one question for the first screen: the one with the most different texts, of several the
    first; nothing where nothing was written."""
    if "written" not in stored:
        return []
    table = stored["written"].sort_values("yes_rate", kind="stable")
    different = table.groupby("question_id", sort=False)["text"].nunique()
    asked, shown_texts = _said_to(stored, *_heads(table[table["question_id"] == different.idxmax()]))
    return [page.box(WORDS["written"]["title"], [asked, shown_texts])]


def _said_to(stored: Contents, question: str, heads: Sequence[str], texts: pd.Series) -> list[Any]:
    """Show a question, and under each head what was written to it."""
    asked = stored.questions.set_index("id")["question"].get(question, question)
    shown_texts = [str(text).strip() for text in texts.fillna("")]
    return [
        page.text(asked),
        page.rows([(head, text or "(nothing)") for head, text in zip(heads, shown_texts, strict=True)]),
    ]


def at_magnitudes(table: pd.DataFrame) -> pd.DataFrame:
    """Name each row of a table by its magnitude."""
    return table.set_axis(_signed(table["magnitude"]))


def _signed(magnitudes: pd.Series) -> list[str]:
    return [number(value, 3, signed=True) for value in magnitudes]


def _reasoned(numbers: Mapping[str, Any], stored: Contents) -> Rows:
    verdict = numbers["verdict"]["sentence"] if numbers["verdict"] else WORDS["reasoned"]["unjudged"]
    return [("by the first token", stored.verdict.sentence), ("after reasoning", verdict)]


def _reasoned_dials(judged: Judgement) -> pd.DataFrame | None:
    """Judge either dial by its own answers; None where nothing is judged of the written ones."""
    if judged.reasoned is None or judged.reasoned.judgement is None:
        return None
    verdicts = {"first token": judged.verdict, "after reasoning": judged.reasoned.judgement.verdict}
    return pd.DataFrame({name: verdict.row() for name, verdict in verdicts.items()}).T.drop(columns="dial")


def _texts(_: Any, stored: Contents) -> list[Any]:
    """Show what was written, reasons first, to one question at three settings, and how it was read.

    The question is the one that was read at most settings, of several the first.
    """
    if (texts := stored.sweep.parts["reasoned"].read()).empty:
        return []
    read = texts["said_yes"].notna().groupby(texts["question_id"]).sum()
    chosen = str(read.index[int(read.to_numpy().argmax())])
    rows = texts[texts["question_id"] == chosen].sort_values("magnitude")
    rows = rows.iloc[sorted({0, len(rows) // 2, len(rows) - 1})]
    words = rows["said_yes"].map({1: "yes", 0: "no"}).fillna("not read")
    heads = [f"magnitude {at}, read as {word}" for at, word in zip(_signed(rows["magnitude"]), words, strict=True)]
    return _said_to(stored, chosen, heads, rows["text"])


WRITTEN_TEXTS: dict[str, Result] = {
    "written": Result("What it writes", written=True, blocks=_written),
    "reasoned": Result(
        "After reasoning",
        lambda judged: judged.reasoned and judged.reasoned.numbers(),
        columns=(
            *("reasoned", "direct", "kappa", "n_both", "n_unread"),
            like("n", heading="questions"),
        ),
        lines=lambda _, stored: at_magnitudes(stored["reasoned_settings"]),
        first="magnitude",
        items=lambda numbers, _: [numbers["sentence"]],
        rows=_reasoned,
        figure=draw.reasoned_rates,
        blocks=_texts,
        terminal=True,
    ),
    "reasoned_dials": Result(
        "After reasoning: what either dial is worth",
        _reasoned_dials,
        index="dial",
        columns=(
            "reproduced",
            *(like(name, ends=(f"{name}_low", f"{name}_high")) for name in ("bits", "signal", "gain", "order_gain")),
            *("share", "rho_dial"),
        ),
        terminal=True,
    ),
    "reasoned_settings": Result(compute=lambda judged: judged.reasoned and judged.reasoned.comparison.settings),
}
