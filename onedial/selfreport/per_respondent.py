"""A table with the scores of every respondent, from all their answers and the score of one."""

from collections.abc import Callable, Mapping

import pandas as pd


def per_respondent(
    answers: pd.DataFrame, score: Callable[[pd.DataFrame], Mapping[str, object] | pd.DataFrame], by: str = "respondent"
) -> pd.DataFrame:
    """Make each respondent's row, or rows, in the order in which they answered.

    Args:
        answers: with a column `by`. score: from the answers of one to a row, or to a table.

    Returns:
        index `by`, then that of the tables.

    >>> answers = pd.DataFrame({"respondent": ["b", "a", "b"], "said": [1.0, 0.0, 0.0]})
    >>> per_respondent(answers, lambda rows: {"mean": rows["said"].mean()})["mean"].to_dict()
    {'b': 0.5, 'a': 0.0}
    """
    parts = {who: score(rows) for who, rows in answers.groupby(by, sort=False)}
    tables = {who: part for who, part in parts.items() if isinstance(part, pd.DataFrame)}
    return pd.concat(tables, names=[by]) if tables else pd.DataFrame.from_dict(parts, orient="index").rename_axis(by)
