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
