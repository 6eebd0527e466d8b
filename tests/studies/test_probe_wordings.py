"""Which questions a probing study never parts."""

import pytest

from onedial.asking.questions import Question
from onedial.core.notices import Notice
from onedial.panels.questions.question_files import load_questions
from onedial.studies.probes.probes_study import wordings_of


def asked(*given):
    return [Question(f"q{place}", "?", (answer,), topic) for place, (topic, answer) in enumerate(given)]


def test_one_answer_in_one_topic_makes_wordings():
    """Questions of one topic with one answer are wordings of one and that is said."""
    questions = asked(("sea", "Nile"), ("sea", "the Rhine"), ("sea", "nile!"), ("sky", "Nile"), (None, "Nile"))
    with pytest.warns(Notice, match="2 of 5 questions count as wordings of 1"):
        result = wordings_of(questions)
    assert result[0] == result[2] is not None
    assert result[1] is result[3] is result[4] is None


def test_yes_and_no_make_no_wordings():
    """Yes and no make no wordings and neither do the questions in the box."""
    assert wordings_of(asked(*[("sea", "yes"), ("sea", "No")] * 3)) is None
    assert wordings_of(load_questions("embedded")) is None
