"""Which question serves what: making the vector, fitting a choice, or judging it.

    extraction 25%   the steering vector is averaged over these
    fitting    25%   magnitudes, the majority answer and the moved cut are chosen on these
    test       50%   only these enter agreement, kappa and the verdict

Within a topic, questions stand in the order of the hash of (seed, id); topic after topic they are dealt out in rounds
of four: one extraction, one fitting, two test. So each topic, and the whole, keeps its shares to within one question;
topics of one or two questions share a round with their neighbours. Which place in the round is which changes from
round to round, by the hash again, so that no split gets the first of every topic.

A split depends on the seed and on the set of (id, topic), not on the order of rows.
"""

import hashlib

import pandas as pd

from common import InputError

EXTRACTION, FITTING, TEST = "extraction", "fitting", "test"
SPLITS = (EXTRACTION, FITTING, TEST)

_ROUND = (EXTRACTION, FITTING, TEST, TEST)


def assign_splits(questions: pd.DataFrame, seed: int) -> pd.Series:
    """Deal the questions out to extraction, fitting and test, 25 : 25 : 50 within every topic.

    Args:
        questions: one row per question, with a column `id` and, if splits are to be stratified, `topic`
            (missing topics count as one topic).
        seed: another seed deals anew.

    Returns:
        Series named `split`, indexed by question id in the order of `questions`.

    Raises:
        InputError: an id is missing or stands there twice, or there are fewer than four questions.
    """
    ids = _checked_ids(questions)
    topics = questions["topic"] if "topic" in questions.columns else pd.Series([None] * len(ids))
    names = ["" if pd.isna(topic) else str(topic) for topic in topics]
    order = sorted(range(len(ids)), key=lambda row: (_hash(seed, "topic", names[row]), _hash(seed, "id", ids[row])))
    split_of = {}
    for start in range(0, len(order), len(_ROUND)):
        dealt = [ids[row] for row in order[start : start + len(_ROUND)]]
        places = sorted(range(len(_ROUND)), key=lambda place: _hash(seed, "place", f"{dealt[0]} {place}"))
        split_of.update({question: _ROUND[place] for question, place in zip(dealt, places, strict=False)})
    return pd.Series([split_of[question] for question in ids], index=pd.Index(ids, name="question_id"), name="split")


def _checked_ids(questions: pd.DataFrame) -> list[str]:
    if "id" not in questions.columns:
        raise InputError(f"the questions have no column 'id' (columns: {', '.join(map(str, questions.columns))})")
    if questions["id"].isna().any():
        raise InputError(f"{int(questions['id'].isna().sum())} questions have no id; give each one of its own")
    ids = [str(name) for name in questions["id"]]
    repeated = questions["id"].astype(str).duplicated()
    if repeated.any():
        name = ids[int(repeated.to_numpy().argmax())]
        raise InputError(f"the question id {name!r} stands there more than once; ids must differ")
    if len(ids) < len(_ROUND):
        raise InputError(f"{len(ids)} questions cannot be split into extraction, fitting and test; give at least 4")
    return ids


def _hash(seed: int, kind: str, name: str) -> str:
    return hashlib.sha256(f"{seed}\0{kind}\0{name}".encode()).hexdigest()
