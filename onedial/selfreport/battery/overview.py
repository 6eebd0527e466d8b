"""One line for each thing that the battery measures: its number, its interval, and what there is to hold it against.

The tables of `battery_scores` have everything; this has what is read first. Shares get Wilson's
interval, the others keep that of their table. Each has a value that somebody who knows nothing gets: a test in which
there is none is no test (scripts/simulate.py zoo puts all of them to respondents of known kinds).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from onedial.selfreport.battery import BATTERY
from onedial.selfreport.battery.reply_screening import NOT_READ
from onedial.selfreport.frame import Headline
from onedial.stats.shares import wilson_interval

OVERVIEW_COLUMNS = ["n", "n_unread", "value", "low", "high", "chance", "status"]
CANNOT_BE_ASKED, TOO_FEW = "cannot be asked of it", "too few to tell"
_LEFT_OUT = {TOO_FEW: "have too few answers, or answers all alike", CANNOT_BE_ASKED: "could not be read"}


def battery_overview(tables: Mapping[str, pd.DataFrame], screening: pd.DataFrame | None = None) -> pd.DataFrame:
    """Collect what the battery's tables say first.

    Formula: none of its own; values and intervals are those of the tables, 95% as there.

    Args:
        tables: of `battery_scores`, of any tests. screening: of `screen_replies`; what it finds at fault is said beside
            every score of that respondent and test.

    Returns:
        index respondent, test, what; `OVERVIEW_COLUMNS`: n (answers, or what the number is a share of), n_unread (also
        what was empty or invalid), value, low, high (nan where there is no interval), chance (what knowing nothing
        would give, nan where nothing can be said), status (why there is no value or no interval, else ""). Sign: as in
        the tables.
    """
    rows = {}
    for test, line in ((name, each.headline) for name, each in BATTERY.items()):
        if line.table not in tables:
            continue
        for key, row in tables[line.table].iterrows():
            respondent, *rest = key if isinstance(key, tuple) else (key,)
            part = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in rest)
            if line.only and part not in line.only:
                continue
            cells = _cells(row, line)
            if screening is not None and not cells[-1] and (respondent, test) in screening.index:
                why = str(screening.at[(respondent, test), "why"])
                cells[-1] = NOT_READ + why if why else ""
            rows[respondent, test, f"{line.says}: {part}" if part else line.says] = cells
    index = pd.MultiIndex.from_tuples(list(rows), names=["respondent", "test", "what"])
    return pd.DataFrame(list(rows.values()), index=index, columns=OVERVIEW_COLUMNS)


def overview_sentences(overview: pd.DataFrame) -> list[str]:
    """Say in how many numbers respondents differ from somebody who knows nothing, and in which.

    Args:
        overview: of `battery_overview`.

    Returns:
        One sentence on all, and then one for each number that differs.
    """
    held = overview[overview["chance"].notna() & overview["low"].notna() & (overview["status"] == "")]
    away = held[(held["low"] > held["chance"]) | (held["high"] < held["chance"])]
    names = list(dict.fromkeys(overview.index.get_level_values("respondent")))
    whose = names[0] if len(names) == 1 else f"{len(names)} respondents"
    words = [
        f"{len(away)} of {len(held)} scores of {whose} differ from chance",
        "one in twenty does by chance",
    ]
    if held.empty:
        words = [f"no score of {whose} can be compared with chance"]
    counts = overview["status"].value_counts()
    left_out = [f"{counts[status]} {how}" for status, how in _LEFT_OUT.items() if status in counts]
    habits = overview[overview["status"].str.startswith(NOT_READ)]
    if len(habits):
        left_out.append(f"{len(habits)} are not to be read, since the replies heed nothing of what is asked")
    sentences = [
        f"{row['respondent']}: {row['test']}, {row['what']}: {row['value']:.2f} "
        f"({row['low']:.2f} to {row['high']:.2f}; chance is {row['chance']:g})"
        for row in away.reset_index().to_dict("records")
    ]
    unheard = habits.reset_index()[["respondent", "test", "status"]].drop_duplicates()
    sentences += [f"{name}: {test}, {status}" for name, test, status in unheard.to_numpy()]
    return ["; ".join([*words, *left_out]), *sentences]


def _cells(row: pd.Series, line: Headline) -> list[object]:
    n, unread = (float(row.get(each, np.nan)) for each in (line.n, line.unread))
    value = float(row.get(line.value, np.nan))
    low, high = (float(row.get(each, np.nan)) for each in (line.low, line.high))
    if line.share and np.isfinite(value):
        ends = wilson_interval(pd.Series([value * n]), pd.Series([n]))
        low, high = (float(end.iloc[0]) for end in ends)
    # Made questions and empty texts are counted in n; what could not be read is not.
    of = n if line.unread in ("n_invalid", "n_empty") else n + unread
    is_known = np.isfinite(value) and (np.isfinite(low) or not line.low)
    status = CANNOT_BE_ASKED if unread > of / 2 else "" if is_known else TOO_FEW
    if status == CANNOT_BE_ASKED:  # whatever is left is of few answers, and not of these drawn at random
        value = low = high = np.nan
    return [n, unread, value, low, high, line.chance, status]
