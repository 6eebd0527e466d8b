"""Can the level of a question, or that nobody knows its answer, be told from its text alone?

    python scripts/question_balance.py embedded
    python scripts/question_balance.py questions.jsonl --out told       # told_apart.csv and make_up.csv besides

Whatever is found to follow the level may then follow the wording instead. Four readers see nothing but the text:

    letters        its length; the longer, the harder
    shape          letters, words, the longest word, short words, digits, capitals, commas, semicolons, apostrophes
    words          words and pairs of words, TF-IDF
    letter groups  two to five letters within words, TF-IDF

The last three are logistic regressions. Each topic's questions are scored by a model that has learned from the other
topics. Questions are compared with those of their own topic: with c(i, j) = 1 where a question i of the one kind has
a higher score than a question j of the other (1/2 for a tie), and topics t drawn w_t times,

    AUROC(w) = sum_t w_t sum_ij c(i, j) / sum_t w_t n_t

over the n_t pairs within each topic. .5 is a text that tells nothing. All w_t are 1 for the estimate; its 95% interval
is of 999 draws of the topics, the trained readers as they are.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import Question
from onedial.core import InputError, atomic_path, program_parser, run_command
from onedial.panels import load_questions
from onedial.stats import QUANTILES_95

N_DRAWS = 999
_INVERSE_PENALTY = 3.0

Reader = Callable[[Sequence[str], np.ndarray, np.ndarray], np.ndarray]
"""(text,) texts, whether each is positive, the number of its topic; to scores, high where a text looks positive."""


@dataclass(frozen=True)
class Contrast:
    """Two kinds of question that a text should not tell apart.

    Attributes:
        name: what is shown.
        kind_of: 1 for a question of the one kind, 0 for the other, None for neither.
    """

    name: str
    kind_of: Callable[[Question], int | None]


def _hard(question: Question) -> int | None:
    if question.unknowable or question.level is None or question.level == 3:
        return None
    return int(question.level > 3)


def _unknowable(question: Question) -> int | None:
    return int(question.unknowable) if question.level == 5 else None


CONTRASTS = (
    Contrast("levels 4-5 against 1-2", _hard),
    Contrast("unknowable against others of level 5", _unknowable),
)


def _letters(texts: Sequence[str], is_positive: np.ndarray, topic: np.ndarray) -> np.ndarray:
    return np.array([len(text) for text in texts], dtype=float)


def _shape(texts: Sequence[str], is_positive: np.ndarray, topic: np.ndarray) -> np.ndarray:
    from sklearn.preprocessing import StandardScaler

    rows = []
    for text in texts:
        lengths = [len(word) for word in text.split()]
        marks = [sum(map(kind, text)) for kind in (str.isdigit, str.isupper, ",".__eq__, ";".__eq__, "'".__eq__)]
        rows.append([len(text), len(lengths), max(lengths), sum(length < 4 for length in lengths), *marks])
    return _learned(np.array(rows, dtype=float), is_positive, topic, StandardScaler())


def _words(texts: Sequence[str], is_positive: np.ndarray, topic: np.ndarray) -> np.ndarray:
    return _learned(
        np.array(texts, dtype=object),
        is_positive,
        topic,
        _tf_idf(analyzer="word", ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b"),
    )


def _letter_groups(texts: Sequence[str], is_positive: np.ndarray, topic: np.ndarray) -> np.ndarray:
    return _learned(np.array(texts, dtype=object), is_positive, topic, _tf_idf(analyzer="char_wb", ngram_range=(2, 5)))


READERS: dict[str, Reader] = {"letters": _letters, "shape": _shape, "words": _words, "letter groups": _letter_groups}


def _tf_idf(**units: Any) -> Any:
    # Imported where it is used: scikit-learn takes most of a second, which --help need not wait for.
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **units)


def _learned(given: np.ndarray, is_positive: np.ndarray, topic: np.ndarray, features: Any) -> np.ndarray:
    """Score each topic by a logistic regression on the others; 0 where the others hold one kind alone.

    Args:
        given: (text, ...) what `features`, a scikit-learn transformer, takes.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    scores = np.zeros(len(given))
    for held_out in np.unique(topic):
        train = topic != held_out
        if len(set(is_positive[train])) == 2:
            learner = LogisticRegression(C=_INVERSE_PENALTY, class_weight="balanced", max_iter=1000)
            model = make_pipeline(features, learner).fit(given[train], is_positive[train])
            scores[~train] = model.decision_function(given[~train])
    return scores


def make_up_by_level(questions: Sequence[Question]) -> pd.DataFrame:
    """Index level (and "unknowable", which their level counts too); `questions`, mean `letters` and `words`, and the
    share `with_digits`."""
    frame = pd.DataFrame(
        {
            "level": [str(question.level) for question in questions],
            "letters": [len(question.text) for question in questions],
            "words": [len(question.text.split()) for question in questions],
            "with_digits": [any(sign.isdigit() for sign in question.text) for question in questions],
        }
    )
    unknowable = frame[[question.unknowable for question in questions]].assign(level="unknowable")
    by_level = pd.concat([frame, unknowable]).groupby("level")
    means = by_level[["letters", "words", "with_digits"]].mean()
    means.insert(0, "questions", by_level.size())
    return means


def told_apart(questions: Sequence[Question], seed: int = 0) -> pd.DataFrame:
    """How well each reader tells each contrast.

    Args:
        questions: with topics and levels. seed: of the draws of topics.

    Returns:
        `contrast, reader, auroc, low, high, n_positive, n_negative`; a row per contrast and reader. AUROC is above .5
        where the harder, or the unknowable, has the higher score. A contrast of which no topic holds both kinds is
        left out.

    Raises:
        InputError: a question has no topic, or no contrast is left.
    """
    rows = []
    for contrast in CONTRASTS:
        known = [(question, kind) for question in questions if (kind := contrast.kind_of(question)) is not None]
        if any(question.topic is None for question, _ in known):
            raise InputError("a question has no topic, by which the readers are held apart; give every question one")
        is_positive = np.array([kind for _, kind in known])
        topic = np.unique([str(question.topic) for question, _ in known], return_inverse=True)[1]
        texts = [question.text for question, _ in known]
        for name, reader in READERS.items():
            area = _within_topics(reader(texts, is_positive, topic), is_positive, topic, seed)
            if area is not None:
                n_positive = int(is_positive.sum())
                rows.append((contrast.name, name, *area, n_positive, len(known) - n_positive))
    if not rows:
        raise InputError("no topic holds questions of levels 1-2 and of 4-5; give every question its level")
    return pd.DataFrame(rows, columns=["contrast", "reader", "auroc", "low", "high", "n_positive", "n_negative"])


def _within_topics(
    score: np.ndarray, is_positive: np.ndarray, topic: np.ndarray, seed: int
) -> tuple[float, float, float] | None:
    """AUROC over pairs within topics, and its interval over topics; None without a pair."""
    from onedial.stats import roc_area  # takes a second to load, which --help need not wait for

    n_topics = topic.max(initial=0) + 1
    inside = [topic == each for each in range(n_topics)]
    pairs = np.array([is_positive[own].sum() * (1 - is_positive[own]).sum() for own in inside])
    agreeing = pairs * np.nan_to_num([roc_area(score[own], is_positive[own]) for own in inside])
    if not pairs.sum():
        return None
    draws = np.random.default_rng(seed).multinomial(n_topics, np.full(n_topics, 1 / n_topics), N_DRAWS)
    with np.errstate(invalid="ignore"):
        drawn = (draws @ agreeing) / (draws @ pairs)
    low, high = np.nanquantile(drawn, QUANTILES_95)
    return float(agreeing.sum() / pairs.sum()), float(low), float(high)


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("questions", help="embedded, development, or a file with topics and levels")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the tables as CSV (default: printed only)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what the texts alone tell of the level."""
    options = parse_options(arguments)
    questions = load_questions(options.questions)
    make_up, found = make_up_by_level(questions), told_apart(questions)
    print(make_up.round(2).to_string())
    print(f"\nAUROC of the text alone, 95% interval over topics:\n{found.round(2).to_string(index=False)}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, table in (("make_up", make_up), ("told_apart", found.set_index(["contrast", "reader"]))):
            with atomic_path(options.out / f"{name}.csv") as temporary:
                table.to_csv(temporary, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    sys.exit(run_command(main))
