"""Which question serves what: making the vector, fitting a choice, or judging it.

    extraction 25%   the steering vector is averaged over these
    fitting    25%   magnitudes and the threshold shift are chosen on these
    test       50%   only these enter agreement, kappa and the verdict

Within a topic, questions stand in the order of the hash of (seed, id); topic after topic they are dealt out in rounds
of four: one extraction, one fitting, two test. So each topic, and the whole, keeps its shares to within one question;
topics of one or two questions share a round with their neighbours. Which place in the round is which changes from
round to round, by the hash again, so that no split gets the first of every topic.

Where nobody's answers stand beside fewer than 40 questions, no verdict can come of them, and the rounds are of three:
one each. So thirty questions make a vector, which takes ten.

With topics held out, extraction and fitting take turns in one half of the topics, and all questions of the other half
are test questions: whatever the vector knows of a topic is then of no use. Topics go to the halves in the order of
their hash, each to the half that has fewer questions.

Wordings of one question (`wordings_of`) all go where the first of them in the order of the hashes goes, so that nothing
is tested on what it was made of.

A split depends on the seed and on the set of (id, topic, text, wording_of), not on the order of rows.
"""

import hashlib

import pandas as pd

from onedial.asking.questions import normalised_text
from onedial.core.errors import InputError

EXTRACTION, FITTING, TEST = "extraction", "fitting", "test"
SPLITS = (EXTRACTION, FITTING, TEST)

_FUNCTION_WORDS = (
    " a an and are as at be by did do does for from had has have in is it its name of on or that the this to was were "
    "what which with "
)
"""Two questions that differ in these words alone ask the same; "who" and "when" do not."""
_ROUND, _ROUND_ALONE = (EXTRACTION, FITTING, TEST, TEST), (EXTRACTION, FITTING, TEST)
_ENOUGH_ALONE = 40
"""Questions of which a quarter makes a vector."""
FEWEST_HELD_OUT = 4
"""Topics, of which half can be held out."""


class TooFewToSplitError(InputError):
    """There is not a question for each split."""


def assign_splits(questions: pd.DataFrame, seed: int, hold_out_topics: bool = False, alone: bool = False) -> pd.Series:
    """Deal the questions out to extraction, fitting and test, 25 : 25 : 50 within every topic.

    Args:
        questions: one row per question, with a column `id` and, if splits are to be stratified, `topic`
            (missing topics count as one topic), and `question` and `wording_of`, if wordings are to stay together.
        seed: another seed deals anew.
        hold_out_topics: test on one half of the topics, and do all else on the other.
        alone: nobody's answers stand beside them, so fewer than 40 are dealt out in thirds.

    Returns:
        Series named `split`, indexed by question id in the order of `questions`.

    Raises:
        InputError: an id is missing or stands there twice, or there are fewer than four questions; fewer than four
            topics to hold half of them out.

    >>> questions = pd.DataFrame({"id": [f"q{place}" for place in range(8)], "topic": "rivers"})
    >>> assign_splits(questions, seed=0).value_counts().sort_index().to_dict()
    {'extraction': 2, 'fitting': 2, 'test': 4}
    """
    ids = _checked_ids(questions)
    topics = questions["topic"] if "topic" in questions.columns else pd.Series([None] * len(ids))
    names = ["" if pd.isna(topic) else str(topic) for topic in topics]
    order = sorted(range(len(ids)), key=lambda row: (_hash(seed, "topic", names[row]), _hash(seed, "id", ids[row])))
    first_of = _first_of_each(questions, ids, order)
    if hold_out_topics:
        return _series(ids, _held_out([ids[row] for row in order], [names[row] for row in order]), first_of)
    in_round = _ROUND_ALONE if alone and len(ids) < _ENOUGH_ALONE else _ROUND
    split_of = {}
    for start in range(0, len(order), len(in_round)):
        dealt = [ids[row] for row in order[start : start + len(in_round)]]
        places = sorted(range(len(in_round)), key=lambda place: _hash(seed, "place", f"{dealt[0]} {place}"))
        split_of.update({question: in_round[place] for question, place in zip(dealt, places, strict=False)})
    return _series(ids, split_of, first_of)


def wordings_of(questions: pd.DataFrame) -> list[list[str]]:
    """The ids of each question that stands there in several wordings, by columns id, question and wording_of.

    One question are those with one `wording_of`, and those of the same words, but for case, punctuation, order and such
    words as "the" or "is"; where there are digits among the words their order counts as well.

    >>> asked = {"id": ["a", "b", "c"], "question": ["Who wrote Emma?", "Emma: who wrote it?", "Who wrote Dune?"]}
    >>> wordings_of(pd.DataFrame(asked))
    [['a', 'b']]
    """
    ids = questions["id"].astype(str).tolist()
    groups: dict[str, list[str]] = {name: [name] for name in ids}
    for column, key in (("question", _words), ("wording_of", str)):
        if column not in questions.columns:
            continue
        first: dict[str, str] = {}
        for name, cell in zip(ids, questions[column], strict=True):
            if pd.isna(cell):
                continue
            other = groups[first.setdefault(key(cell), name)]
            if (members := groups[name]) is not other:
                other += members
                groups |= dict.fromkeys(members, other)
    return [group for name, group in groups.items() if len(group) > 1 and group[0] == name]


def _words(text: str) -> str:
    words = normalised_text(text).split()
    telling = [word for word in words if f" {word} " not in _FUNCTION_WORDS] or words
    return " ".join(telling if any(map(str.isdigit, "".join(words))) else sorted(telling))


def _first_of_each(questions: pd.DataFrame, ids: list[str], order: list[int]) -> dict[str, str]:
    """Question id -> the first id of the same question, where that is another one."""
    place = {ids[row]: rank for rank, row in enumerate(order)}
    groups = [sorted(group, key=lambda name: place[name]) for group in wordings_of(questions)]
    return {name: group[0] for group in groups for name in group[1:]}


def _series(ids: list[str], split_of: dict[str, str], first_of: dict[str, str]) -> pd.Series:
    splits = [split_of[first_of.get(question, question)] for question in ids]
    return pd.Series(splits, index=pd.Index(ids, name="question_id"), name="split")


def _held_out(ids: list[str], topics: list[str]) -> dict[str, str]:
    """Question id -> split; both lists stand topic by topic in the order of the hashes."""
    sizes = {topic: topics.count(topic) for topic in dict.fromkeys(topics)}
    if len(sizes) < FEWEST_HELD_OUT:
        raise InputError(
            f"the questions have {len(sizes)} topic(s), and holding out half of them takes {FEWEST_HELD_OUT}; give the "
            "questions a column topic, or leave --hold-out topics away"
        )
    held: set[str] = set()
    counts = {True: 0, False: 0}
    for topic, size in sizes.items():
        out = counts[True] < counts[False]
        counts[out] += size
        if out:
            held.add(topic)
    learnt = [question for question, topic in zip(ids, topics, strict=True) if topic not in held]
    split_of = dict.fromkeys(ids, TEST)
    return split_of | {question: _ROUND[place % 2] for place, question in enumerate(learnt)}


def _checked_ids(questions: pd.DataFrame) -> list[str]:
    if "id" not in questions.columns:
        raise InputError(f"the questions have no column 'id' (columns: {', '.join(map(str, questions.columns))})")
    ids = [str(name) for name in questions["id"]]
    if (is_bad := questions["id"].isna() | questions["id"].astype(str).duplicated()).any():
        raise InputError(f"{int(is_bad.sum())} questions have no id of their own, first {ids[int(is_bad.argmax())]!r}")
    if len(ids) < len(_ROUND):
        raise TooFewToSplitError(
            f"{len(ids)} questions cannot be split into extraction, fitting and test; give at least 4"
        )
    return ids


def _hash(seed: int, kind: str, name: str) -> str:
    return hashlib.sha256(f"{seed}\0{kind}\0{name}".encode()).hexdigest()
