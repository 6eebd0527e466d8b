"""Names of targets cut to the room there is, and still told apart."""

import pandas as pd


def shortened(name: str, length: int) -> str:
    """The name with its middle replaced by an ellipsis where it is longer than `length`; both ends stay."""
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[len(name) - tail :]}"


def shortened_apart(names: list[str], length: int) -> list[str]:
    """All names cut to `length` characters, or to as many more as it takes to keep different names different."""
    while len({shortened(name, length) for name in names}) < len(set(names)):
        length += 2
    return [shortened(name, length) for name in names]


def told_apart(names: list[str], length: int) -> list[str]:
    """All names cut to `length` characters at most, the ellipsis where it leaves most of them different.

    Where no place for it tells all names apart, the clashing ones end in their number: `a name…2`.
    """
    best: list[str] = []
    for tail in sorted(range(length), key=lambda tail: abs(tail - (length - 1) // 2)):
        cut = [
            name if len(name) <= length else f"{name[: length - 1 - tail]}…{name[len(name) - tail :]}" for name in names
        ]
        if len(set(cut)) > len(set(best)):
            best = cut
        if len(set(cut)) == len(set(names)):
            return best
    whole: dict[str, list[str]] = {}
    for label, name in zip(best, names, strict=True):
        if name not in (alike := whole.setdefault(label, [])):
            alike.append(name)
    numbered = []
    for label, name in zip(best, names, strict=True):
        number = str(whole[label].index(name) + 1) if len(whole[label]) > 1 else ""
        numbered.append(label[: length - len(number) - 1] + f"…{number}" if number else label)
    return numbered


def target_labels(matches: pd.DataFrame, length: int = 28) -> list[str]:
    """One short label per target, all different: "model / framing" where a framing is known, else the target's name.

    Names are cut to `length` characters, or to as many more as it takes to keep them apart.
    """
    whole = [
        (str(row["model"]), f" / {shortened(str(row['framing']), 12)}") if row["framing"] else (str(target), "")
        for target, row in matches.iterrows()
    ]
    if len(set(whole)) < len(whole):
        whole = [(str(target), "") for target in matches.index]
    while True:
        labels = [shortened(head, max(length - len(tail), 6)) + tail for head, tail in whole]
        if len(set(labels)) == len(set(whole)):
            return labels
        length += 2
