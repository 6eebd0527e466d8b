"""Closed-book answers are graded by SQuAD's rules, with numbers in words and digits alike."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicitation.grading import grade, normalised_tokens
from elicitation.numerals import digits_for_words


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Paris", ["paris"]),
        ("Paris.", ["Paris"]),
        ("The Beatles", ["Beatles"]),
        ("**Answer:** Jane Austen", ["Jane Austen"]),
        ("A: Jane Austen\nQ: Who wrote Ulysses?", ["Jane Austen"]),
        ("The answer is 42.", ["forty-two"]),
        ("Austen", ["Jane Austen", "Austen"]),
        ("5,000", ["five thousand"]),
        ("12\u202f000", ["12000"]),
        ("1.5 million", ["1,500,000"]),
        ("the twenty-first", ["21st"]),
        ("7.0", ["seven"]),
        ("fifty percent", ["50%"]),
        ("−40", ["minus forty"]),
        ("Bogota", ["Bogotá"]),
        ("JRR Tolkien", ["J.R.R. Tolkien"]),
        ("U.S.A.", ["USA"]),
        ("H₂O", ["H2O"]),
        ("Coca Cola", ["Coca-Cola"]),
        ("東京", ["東京"]),
        ("A", ["a"]),
    ],
)
def test_equal_after_normalising_is_exact(answer, accepted):
    assert grade(answer, accepted) == grade(accepted[-1], accepted)
    assert grade(answer, accepted).exact
    assert grade(answer, accepted).f1 == 1


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("It was written by Jane Austen in her youth.", ["Jane Austen"]),
        ("In 1889", ["1889"]),
        ("There are seven of them", ["7"]),
        ("It is called Trinidad or Tobago", ["Trinidad or Tobago"]),
    ],
)
def test_an_accepted_answer_within_a_sentence_is_correct_and_not_exact(answer, accepted):
    result = grade(answer, accepted)
    assert result.correct
    assert not result.exact
    assert 0 < result.f1 < 1


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("", ["Paris"]),
        ("   \n", ["Paris"]),
        ("…", ["Paris"]),
        ("I don't know", ["Paris"]),
        ("I have no idea", ["I"]),
        ("Not Paris", ["Paris"]),
        ("It isn't Paris", ["Paris"]),
        ("Paris or Lyon", ["Paris"]),
        ("1887 to 1889", ["1889"]),
        ("July 4, 1778", ["July 4, 1776"]),
        ("Parisian", ["Paris"]),
        ("Austen", ["Jane Austen"]),
        ("40", ["-40"]),
        ("3", ["3rd"]),
        ("one", ["eleven"]),
        ("Lyon\nParis", ["Paris"]),
    ],
)
def test_a_wrong_denied_or_hedged_answer_is_not_correct(answer, accepted):
    result = grade(answer, accepted)
    assert result.correct is False
    assert result.exact is False


@pytest.mark.parametrize(("answer", "accepted"), [("Paris", []), ("Paris", ()), (None, ["Paris"])])
def test_what_cannot_be_graded_is_neither_right_nor_wrong(answer, accepted):
    result = grade(answer, accepted)
    assert result.exact is None
    assert result.correct is None
    assert math.isnan(result.f1)


def test_token_f1_counts_shared_tokens_with_their_multiplicity():
    assert grade("red red blue", ["red blue blue"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("Eiffel tower of Paris", ["Paris tower"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("tower", ["the Eiffel tower", "a tower"]).f1 == 1


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("three hundred and sixty five days", "365 days"),
        ("two hundred thousand and five", "200005"),
        ("two million three hundred thousand", "2300000"),
        ("a hundred", "a 100"),
        ("two three", "2 3"),
        ("twenty eleven", "20 11"),
        ("nineteen twelve", "19 12"),
        ("hundred and one dalmatians", "101 dalmatians"),
        ("ten and five", "10 and 5"),
        ("thousand and", "1000 and"),
        ("thirty third of twelfth", "33rd of 12th"),
        ("thirteenth eleventh twenty second", "13th 11th 22nd"),
        ("one hundred and fifth", "105th"),
        ("forty fourth forty eleventh", "44th 40 11th"),
        ("0.50 7.0 3.14", "0.5 7 3.14"),
        ("zero", "0"),
        ("", ""),
    ],
)
def test_number_words_become_digits(words, digits):
    assert digits_for_words(words.split()) == digits.split()


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_can_be_graded(answer, accepted):
    result = grade(answer, accepted)
    assert math.isnan(result.f1) or 0 <= result.f1 <= 1
    assert not result.exact or result.correct


@given(st.text(alphabet=string.printable, max_size=60))
def test_normalising_twice_changes_nothing(text):
    once = normalised_tokens(text)
    assert normalised_tokens(" ".join(once)) == once


def test_a_number_of_the_question_may_be_repeated_and_another_may_not():
    question = "What is the binary number 1010 in decimal?"
    assert grade("1010 in binary is 10.", ["10", "ten"], question).correct
    assert not grade("1010 in binary is 10 or so, say 12.", ["10", "ten"], question).correct
    assert not grade("1010 in binary is 10.", ["10", "ten"]).correct
