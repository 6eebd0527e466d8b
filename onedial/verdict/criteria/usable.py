"""How far a dial may be turned: the stretch of magnitudes around 0 in which it does no harm elsewhere.

A magnitude is usable where accuracy on unrelated facts has fallen by at most a limit (`fact_effects`). The
usable range goes from 0 outwards as long as every magnitude on the way is usable: what lies beyond one that is not
counts as outside, whatever stands there. A target whose best magnitude is outside can be met only at that price.
"""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class UsableRange:
    """The ends of the range, both usable, and the targets beyond them.

    Attributes:
        low, high: magnitudes; both 0 where no other is usable.
        limit: by how much the accuracy may fall, as a share of the facts.
        outside: targets whose best magnitude lies outside, in the order of the table.
    """

    low: float
    high: float
    limit: float
    outside: tuple[str, ...]

    def sentence(self, n_targets: int) -> str:
        """The range in one sentence."""
        where = f"{self.low:.3g} to {self.high:.3g}"
        kept = f"accuracy on unrelated facts falls by at most {100 * self.limit:g} points from {where}"
        if not self.outside:
            return f"{kept}; every target's magnitude lies inside."
        names = ", ".join(self.outside)
        return f"{kept}; the magnitudes of {len(self.outside)} of {n_targets} targets lie outside: {names}."


def usable_range(effects: pd.DataFrame, matches: pd.DataFrame, limit: float) -> UsableRange:
    """The range, and who lies outside.

    Args:
        effects: columns setting (magnitudes, 0 among them) and usable.
        matches: index target, column magnitude (nan where none was chosen).

    >>> effects = pd.DataFrame({"setting": [-0.1, 0.0, 0.1, 0.2], "usable": [False, True, True, False]})
    >>> found = usable_range(effects, pd.DataFrame({"magnitude": [0.1, 0.2]}, index=["a", "b"]), limit=0.02)
    >>> found.low, found.high
    (0.0, 0.1)
    """
    usable = effects.set_index("setting")["usable"].astype(bool).sort_index()
    low = high = 0.0
    for magnitude in usable.index[usable.index > 0]:
        if not usable[magnitude]:
            break
        high = float(magnitude)
    for magnitude in usable.index[usable.index < 0][::-1]:
        if not usable[magnitude]:
            break
        low = float(magnitude)
    placed = matches["magnitude"].dropna()
    beyond = placed[(placed < low - 1e-12) | (placed > high + 1e-12)]
    return UsableRange(low, high, float(limit), tuple(map(str, beyond.index)))
