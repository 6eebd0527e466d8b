"""What a check found wrong with questions or with a prompt, and how it is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

_MOST_IDS = 6


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        kind: what sort of thing; findings are counted and shown by it.
        ids: the questions (or the prompt) concerned.
        message: what was found, in a few words.
        is_note: worth knowing, but no fault.
    """

    kind: str
    ids: tuple[str, ...]
    message: str
    is_note: bool = False


def findings_table(findings: Sequence[Finding]) -> str:
    """The findings as text, kind by kind, each with the ids that it concerns."""
    lines = []
    by_kind = sorted(findings, key=_kind)
    for (kind, is_note), same in groupby(by_kind, key=_kind):
        group = list(same)
        lines.append(f"{kind} (note)" if is_note else f"{kind}: {len(group)}")
        ids = [_shown_ids(finding.ids) for finding in group]
        width = min(max(map(len, ids)), 40)
        lines += [f"  {shown:<{width}}  {finding.message}" for shown, finding in zip(ids, group, strict=True)]
    return "\n".join(lines)


def _kind(finding: Finding) -> tuple[str, bool]:
    return finding.kind, finding.is_note


def _shown_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return ", ".join(ids[:_MOST_IDS]) + more
