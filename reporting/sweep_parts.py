"""The sweep on disk: numbered parts, each whole or absent, that together are one table.

One row per question, vector and magnitude: `margin` (yes minus no, in logits) and `mass` (probability of all yes and
no tokens together). A question counts as done once its rows stand in a part.
"""

import re
from pathlib import Path

import pandas as pd

from common import InputError, atomic_path
from reporting.run_files import read_table

SWEEP_COLUMNS = ["question_id", "split", "vector_id", "layer", "positions", "magnitude", "margin", "mass"]
SWEEP_KEY = ["vector_id", "layer", "positions", "question_id", "magnitude"]


def write_part(folder: Path, part: pd.DataFrame, process: int = 0) -> Path:
    """Write rows (columns `SWEEP_COLUMNS`) as the next part and return its path.

    Args:
        process: rank of the process that writes, where several share one run. Each numbers its own parts
            (part-00000, but part-p1-00000 in process 1), so that none can overwrite another's.

    Raises:
        ValueError: a column is missing.
    """
    if missing := [column for column in SWEEP_COLUMNS if column not in part.columns]:
        raise ValueError(f"a sweep part lacks {', '.join(missing)}")
    prefix = f"part-p{process}-" if process else "part-"
    numbers = [
        int(found.group(1)) for file in part_files(folder) if (found := re.fullmatch(rf"{prefix}(\d+)", file.stem))
    ]
    final = folder / f"{prefix}{max(numbers, default=-1) + 1:05d}.parquet"
    with atomic_path(final) as temporary:
        part[SWEEP_COLUMNS].to_parquet(temporary, index=False)
    return final


def read_parts(folder: Path) -> pd.DataFrame:
    """All parts as one table, in an order that does not depend on how often the run was broken off.

    Raises:
        InputError: a part cannot be read, or rows stand there more than once (two programs wrote at once).
    """
    parts = [read_table(file) for file in part_files(folder)]
    if not parts:
        return pd.DataFrame(columns=SWEEP_COLUMNS)
    sweep = pd.concat(parts, ignore_index=True).sort_values(SWEEP_KEY, kind="stable", ignore_index=True)
    if repeated := int(sweep.duplicated(SWEEP_KEY).sum()):
        raise InputError(
            f"{folder} holds {repeated} rows more than once, so two programs wrote there; "
            "make the run again with another --out"
        )
    return sweep


def done_question_ids(folder: Path) -> set[str]:
    """Ids of the questions that stand in a part."""
    return {name for file in part_files(folder) for name in read_table(file, ["question_id"])["question_id"].unique()}


def part_files(folder: Path) -> list[Path]:
    """The parts in the order of writing; temporary files are none."""
    return sorted(folder.glob("part-*.parquet"))
