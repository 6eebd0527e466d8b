"""What an import says of itself: which runs were read as what, what is blank and why, what could not be read."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from onedial.panels.formats.asked import AskedRun
from onedial.panels.formats.records import UNREAD

_N_EXAMPLES = 10


def report_of(
    known: Sequence[AskedRun], panel: pd.DataFrame, left_out: Counter[str], n_without_text: int
) -> dict[str, Any]:
    counts = {}
    for name, own in panel.groupby("respondent", sort=False):
        reasons = own["missing"].value_counts()
        read = len(own) - int(own["missing"].isin([UNREAD]).sum()) - int(_failed(own).sum())
        counts[str(name)] = {
            "rows": len(own),
            "questions": int(own["question_id"].nunique()),
            "yes": int((own["said_yes"] == 1).sum()),
            "no": int((own["said_yes"] == 0).sum()),
            "missing": {str(reason): int(n) for reason, n in reasons.items()},
            "unread_of_answered": _share(int(reasons.get(UNREAD, 0)), read + int(reasons.get(UNREAD, 0))),
            "correct": int((own["answered_correctly"] == 1).sum()),
            "wrong": int((own["answered_correctly"] == 0).sum()),
            "correctness_unknown": int(own["answered_correctly"].isna().sum()),
            "with_confidence": int(own["confidence"].notna().sum()),
        }
    unread = panel[panel["missing"] == UNREAD]
    share_unread = (unread["respondent"].value_counts() / panel["respondent"].value_counts()).to_dict()
    worst = unread.assign(share=unread["respondent"].map(share_unread)).sort_values(
        "share", ascending=False, kind="stable"
    )
    return {
        "format_version": 1,
        "runs": [
            {
                "source": one.run.source,
                "format": one.run.format,
                "model": one.run.model,
                "task": one.run.task,
                "settings": dict(one.run.settings),
                "asked": one.kind,
                "because": one.why,
                "answers": len(one.run.records),
                "failed": dict(Counter(record.failed for record in one.run.records if record.failed)),
                "left_out": dict(one.run.left_out),
                "scores": list(one.scores),
                "prompt_before": one.template.before,
                "prompt_after": one.template.after,
                "about": dict(one.run.about),
            }
            for one in known
        ],
        "left_out": dict(left_out),
        "n_questions": int(panel["question_id"].nunique()),
        "n_questions_without_text": n_without_text,
        "n_answers": len(panel),
        "respondents": counts,
        "unread_examples": [
            {"respondent": row.respondent, "question_id": row.question_id, "text": str(row.raw_text or "")[:300]}
            for row in worst.head(_N_EXAMPLES).itertuples()
        ],
    }


def _failed(own: pd.DataFrame) -> pd.Series:
    return own["missing"].notna() & (own["missing"] != UNREAD)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
