"""Whose right answers does P(True) tell from wrong ones: one's own, or another respondent's (arXiv 2310.04815)?"""

import pandas as pd

from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.frame import BatteryTest, Draws, Make, Material, area, signal_of


def _ask(make: Make, material: Material) -> pd.DataFrame:
    """Ask P(True) of every author's first drawn answers, which the test of correction has left.

    Returns:
        author, question_id, margin, first (whether the answer is right), goes_by.
    """
    texts = {each.id: each.rendered for each in material.questions}
    critic, tables = make(0), []
    for author, answers in material.authors.items():
        first_answers = answers[(answers["sample"] == 0) & (answers["first_text"].fillna("").str.strip() != "")]
        shown = first_answers[["question_id", "first_text"]].to_numpy()
        items = [Item(key, {"question": texts[key], "answer": text}) for key, text in shown]
        if items:
            verdicts = ask_self_report(critic, SELF_REPORTS["P(True)"], items)
            tables.append(
                first_answers[["question_id", "first"]].assign(
                    author=author, margin=verdicts["score"].to_numpy(), goes_by=verdicts["goes_by"].to_numpy()
                )
            )
    return pd.concat(tables, ignore_index=True)[["author", "question_id", "margin", "first", "goes_by"]]


def _score(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Measure how well it tells each author's right answers from its wrong ones; the diagonal is self."""
    rows = {
        author: signal_of(each["margin"], each["first"], each["question_id"], draws)
        for author, each in answers.groupby("author", sort=False)
    }
    return pd.DataFrame(rows).T.rename_axis("author")


CRITICS = BatteryTest(
    ask=_ask,
    scores={"critics": _score},
    headline=area("critics", "P(True), by author"),
    measures="whose right answers it tells from wrong ones",
    source="2310.04815",
    formula="critic x author AUROC, the diagonal is self",
    caveat="difficulty differs by author",
    after="correction",
)
