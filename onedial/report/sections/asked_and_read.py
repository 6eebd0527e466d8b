"""What was asked, what could not be read, and what the verdict does not say."""

from typing import Any

import numpy as np

from onedial.asking.yes_no import MASS_FLOOR
from onedial.core.files import sha256_of_text
from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.figures import unread_share
from onedial.report.meaning import WORDS
from onedial.show import page
from onedial.show.columns import number
from onedial.show.results import Result
from onedial.show.run_tables import Rows
from onedial.stats.shares import rates
from onedial.verdict.criteria.status import EDGE


def _asked(_: Any, stored: Contents) -> Rows:
    asked = stored.sweep.asked()
    about = {name: asked["panel"][name] for name in ("source", "licence") if asked["panel"].get(name)}
    return [("the panel was", asked["panel_in_words"]), *about.items()]


def _otherwise(_: Any, stored: Contents) -> list[str]:
    return stored.sweep.asked()["otherwise"] or ["The subject is asked the same question."]


def missing_rows(stored: Contents) -> Rows:
    """Count the answers that were not there, or could not be read, on either side."""
    dose, panel, overflowed = stored.dose_response, stored.panel, len(stored.sweep.overflowed())
    unread, total = int(dose["n_unread"].sum()), int(dose["n_read"].sum() + dose["n_unread"].sum())
    unsteered = dose[dose["magnitude"] == 0]
    share = unread_share(dose.groupby("magnitude")[["n_read", "n_unread"]].sum())
    gaps, counts = int(panel["said_yes"].isna().sum()), stored.questions["split"].value_counts()
    worst = f"{share.max():.1%} at magnitude {number(float(share.index[int(share.argmax())]))}"
    return [
        ("questions", ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))),
        ("panel: missing answers", f"{gaps} of {len(panel)} ({gaps / max(len(panel), 1):.1%})"),
        (
            f"subject: unread answers (mass under {MASS_FLOOR:g})",
            f"{unread} of {total} ({unread / max(total, 1):.1%}) over all magnitudes",
        ),
        *[("of these, overflowed (no finite logits)", str(overflowed))] * (overflowed > 0),
        (
            "subject, unsteered: unread answers",
            f"{unsteered['n_unread'].sum()} of {unsteered['n_read'].sum() + unsteered['n_unread'].sum()}",
        ),
        ("most unread", worst if share.max() > 0 else "none anywhere"),
    ]


def _unread(_: Any, stored: Contents) -> list[str]:
    share = unread_share(stored.dose_response.groupby("magnitude")[["n_read", "n_unread"]].sum())
    most = float(np.nanmax(share))
    overflowed, words = len(stored.sweep.overflowed()), WORDS["missing"]
    sentences = [words["overflowed"].format(n=overflowed)] * (overflowed > 0)
    return sentences + [words["most"].format(most=most)] * (most > draw.UNREADABLE)


def _limits(_: Any, stored: Contents) -> list[str]:
    """List what the verdict does not say."""
    words, grid, matches, excluded = WORDS["limits"], stored.grid, stored["matches"], stored.verdict.excluded
    sentences = [words["one"].format(n=int(grid.test.sum()))]
    if excluded:
        left = ", ".join(f"{target} ({status})" for target, status in excluded.items())
        sentences.append(words["excluded"].format(n=len(excluded), of=stored.verdict.n_targets, left=left))
    if edge := int((matches["status"] == EDGE).sum()):
        reached, _ = rates(grid.answers[grid.fitting])
        inside = (
            matches.loc[matches["status"] == EDGE, "yes_rate"].between(np.nanmin(reached), np.nanmax(reached)).sum()
        )
        sentences.append(words["edge"].format(n=edge, of=stored.verdict.n_eligible, inside=int(inside)))
    return sentences + [words[key] for key in ("questions", "claim", "line")]


def _prompt(_: Any, stored: Contents) -> list[Any]:
    rendered = stored.sweep.prompt()
    return [page.code(rendered), page.small(f"SHA-256 {sha256_of_text(rendered)}")]


ASKED_AND_READ: dict[str, Result] = {
    "asked": Result(
        lambda _, stored: WORDS["asked"]["otherwise" if stored.sweep.asked()["otherwise"] else "alike"],
        rows=_asked,
        items=_otherwise,
        when=lambda _, stored: stored.sweep.asked().get("panel_in_words"),
    ),
    "missing": Result(
        "Missing and unread answers",
        rows=lambda _, stored: missing_rows(stored),
        doubts=_unread,
    ),
    "limits": Result("What the verdict does not say", items=_limits),
    "prompt": Result("Prompt, as the subject read it", blocks=_prompt),
}
