"""Names of targets cut to the room there is, and still told apart."""

import pandas as pd

LABEL = 28
"""Characters of a target's label."""


def shortened(name: str, length: int) -> str:
    """Replace the middle of a name by an ellipsis where it is longer than `length`; both ends stay."""
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[len(name) - tail :]}"


def shortened_apart(names: list[str], length: int) -> list[str]:
    """Cut all names to `length` characters, or to as many more as it takes to keep different names different."""
    while len({shortened(name, length) for name in names}) < len(set(names)):
        length += 2
    return [shortened(name, length) for name in names]


def told_apart(names: list[str], length: int) -> list[str]:
    """Cut all names to `length` characters at most; those that no cut tells apart end in their number: `a name…2`.

    >>> told_apart(["a long name, one", "a long name, one more", "a"], 9)
    ['a lo… one', 'a lo…more', 'a']
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(shortened(name, length), []).append(name)
    labels = {name: label for label, same in alike.items() for name in same if len(same) == 1}
    for label, same in alike.items():
        for place, name in enumerate(same, start=1) if len(same) > 1 else ():
            labels[name] = f"{label[: length - 1 - len(str(place))]}…{place}"
    return [labels[name] for name in names]


def target_labels(matches: pd.DataFrame) -> list[str]:
    """Write one short label per target, all different: "model / framing" where a framing is known, else its name.

    Names are cut to `LABEL` characters, or to as many more as it takes to keep them apart.
    """
    names = [
        f"{row['model']} / {shortened(str(row['framing']), 12)}" if row["framing"] else str(target)
        for target, row in matches.iterrows()
    ]
    return shortened_apart(names if len(set(names)) == len(names) else list(map(str, matches.index)), LABEL)
