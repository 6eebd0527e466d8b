"""What can be wrong with a set of questions, found from the words alone.

Near-duplicates are pairs whose texts have a high cosine similarity of TF-IDF weighted groups of four letters: that
sees through word order and endings. Texts alone cannot tell a duplicate from a neighbour ("capital of Iran", "capital
of Iraq"), so that the accepted answers decide how high is high enough.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from onedial.asking import Finding, Question, normalised_text
from onedial.panels.grading.answer_text import normalised_tokens
from onedial.panels.questions.wording import AMBIGUOUS, DATED, FUNCTION_WORDS

MAX_TEMPLATE_SHARE = 0.15
"""Of questions that begin, or end, with the same three words."""
_TEMPLATE_WORDS = 3
_FEWEST_OF_A_TEMPLATE = 5

_SIMILAR_WITH_SHARED_ANSWER = 0.6
_SIMILAR_WITHOUT = 0.75
_BLOCK = 500

_QUESTION_WORDS = (3, 40)
_QUESTION_LETTERS = 300
_ANSWER_WORDS = 10


def check_questions(questions: Sequence[Question]) -> list[Finding]:
    """All findings of all checks, kind by kind.

    Args:
        questions: as they stand in a file (`read_questions`), repeats included.
    """
    return [finding for check in _CHECKS for finding in check(questions)]


def _repeated_ids(questions: Sequence[Question]) -> Iterator[Finding]:
    texts = defaultdict(set)
    for question in questions:
        texts[question.id].add(normalised_text(question.text))
    for identity, different in texts.items():
        if len(different) > 1:
            yield Finding("repeated id", (identity,), f"stands for {len(different)} different questions")


def _duplicates(questions: Sequence[Question]) -> Iterator[Finding]:
    ids = defaultdict(list)
    for question in questions:
        ids[normalised_text(question.text)].append(question.id)
    for text, same in ids.items():
        if len(same) > 1:
            yield Finding("duplicate", tuple(same), f"{len(same)} times: {text}")


def _near_duplicates(questions: Sequence[Question]) -> Iterator[Finding]:
    by_text = {normalised_text(question.text): question for question in questions}
    texts, kept = list(by_text), list(by_text.values())
    tokens = [set(normalised_tokens(text)) for text in texts]
    answers = [{" ".join(normalised_tokens(answer)) for answer in question.answers} for question in kept]
    for first, second, similarity in _similar_pairs(texts, _SIMILAR_WITH_SHARED_ANSWER):
        if _means_the_same(tokens[first], tokens[second], bool(answers[first] & answers[second]), similarity):
            ids = (kept[first].id, kept[second].id)
            yield Finding("near-duplicate", ids, f"{kept[first].text} | {kept[second].text}")


def _similar_pairs(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    # Imported here: scikit-learn takes most of a second, which --help need not wait for.
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < 2:
        return
    weights = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True).fit_transform(texts)
    for start in range(0, len(texts), _BLOCK):
        cosines = (weights[start : start + _BLOCK] @ weights.T).tocoo()
        is_pair = (cosines.data >= least) & (cosines.row + start < cosines.col)
        for row in np.flatnonzero(is_pair):
            yield int(cosines.row[row]) + start, int(cosines.col[row]), float(cosines.data[row])


def _means_the_same(first: set[str], second: set[str], share_answer: bool, similarity: float) -> bool:
    numbers, others = ({token for token in tokens if token[0].isdigit()} for tokens in (first, second))
    if numbers and others and numbers != others:
        return False
    if share_answer:
        return True
    content, other_content = first - FUNCTION_WORDS, second - FUNCTION_WORDS
    return similarity >= _SIMILAR_WITHOUT and (content <= other_content or other_content <= content)


def _answers_in_questions(questions: Sequence[Question]) -> Iterator[Finding]:
    for question in questions:
        asked = f" {' '.join(normalised_tokens(question.text))} "
        given = [answer for answer in question.answers if normalised_text(answer) not in ("yes", "no", "")]
        standing = [answer for answer in given if f" {' '.join(normalised_tokens(answer))} " in asked]
        if standing:
            yield Finding("answer in question", (question.id,), f"{standing[0]!r} in: {question.text}")


def _wording(questions: Sequence[Question]) -> Iterator[Finding]:
    for kind, patterns in (("dated", DATED), ("ambiguous", AMBIGUOUS)):
        for question in questions:
            for why, pattern in patterns.items():
                match = pattern.search(question.text)
                if match:
                    yield Finding(kind, (question.id,), f"{why} ({match[0].strip()!r}): {question.text}")


def _missing_answers(questions: Sequence[Question]) -> Iterator[Finding]:
    for question in questions:
        if not question.answers and not question.unknowable:
            yield Finding("no answer", (question.id,), f"no accepted answer, not marked unknowable: {question.text}")
        if question.answers and question.unknowable:
            yield Finding("no answer", (question.id,), f"marked unknowable, but has {question.answers[0]!r}")


def _lengths(questions: Sequence[Question]) -> Iterator[Finding]:
    fewest, most = _QUESTION_WORDS
    for question in questions:
        n_words = len(question.text.split())
        if not fewest <= n_words <= most or len(question.text) > _QUESTION_LETTERS:
            yield Finding("length", (question.id,), f"{n_words} words, {len(question.text)} letters")
        for answer in question.answers:
            if len(answer.split()) > _ANSWER_WORDS:
                yield Finding("length", (question.id,), f"an answer of {len(answer.split())} words: {answer}")


def _templates(questions: Sequence[Question]) -> Iterator[Finding]:
    words = [normalised_text(question.text).split() for question in questions]
    for where, part in (("begin", slice(None, _TEMPLATE_WORDS)), ("end", slice(-_TEMPLATE_WORDS, None))):
        frames = [" ".join(each[part]) for each in words]
        for frame, times in Counter(frames).most_common():
            if times >= _FEWEST_OF_A_TEMPLATE and times > MAX_TEMPLATE_SHARE * len(questions):
                ids = tuple(question.id for question, own in zip(questions, frames, strict=True) if own == frame)
                yield Finding("template", ids, f"{times / len(questions):.0%} {where} with {frame!r}")


_CHECKS = (
    _repeated_ids,
    _duplicates,
    _near_duplicates,
    _answers_in_questions,
    _wording,
    _missing_answers,
    _lengths,
    _templates,
)
