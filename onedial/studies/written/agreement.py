"""How far samples agree in words, and what voting would correct and spoil."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from onedial.asking.questions import Question
from onedial.confidence.samples import habits, sample_agreement, samples_until_sure
from onedial.panels.grading.grading import answer_label
from onedial.selfreport.score.revision import answer_changes


def agreement_of_samples(own: pd.DataFrame, questions: Sequence[Question]) -> tuple[pd.DataFrame, dict[str, float]]:
    """Agreement of the samples (of the likeliest answer with them, too), and what voting corrects and spoils."""
    texts = {question.id: question.text for question in questions}
    labels: pd.DataFrame = own.assign(
        label=[answer_label(text, texts[key]) or "" for text, key in own[["text", "question_id"]].to_numpy()]
    )
    drawn = labels[labels["sample"] > 0].sort_values(["question_id", "sample"])
    columns = ["sample agreement", "beyond chance", "agrees with the likeliest"]
    if drawn.empty:
        return pd.DataFrame(np.nan, index=list(texts), columns=columns), {"samples": 0}
    by = {key: part for key, part in drawn.groupby("question_id", sort=False)}
    samples = [[str(each) if each else None for each in by[key]["label"]] for key in texts]
    first = labels[labels["sample"] == 0].set_index("question_id")
    likeliest, right = first["label"].to_dict(), first["correct"].astype(float).to_dict()
    rows, before, after, until = {}, [], [], []
    for key, said, habit in zip(texts, samples, habits(samples), strict=True):
        found = sample_agreement(said, habit=habit)
        same = sum(each == likeliest[key] for each in said) / len(said) if likeliest[key] else float("nan")
        rows[key] = [found.agreement, found.beyond_chance, same]
        voted = by[key].loc[by[key]["label"] == found.answer, "correct"]
        before.append(right[key])
        after.append(float(voted.iloc[0]) if len(voted) else float("nan"))
        until.append(samples_until_sure(said))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    votes = {"samples": len(samples[0]), "drawn_until_sure": float(np.mean(until))}
    known = np.isfinite(before) & np.isfinite(after)
    return table, votes | (asdict(answer_changes(before, after)) if known.any() else {})
