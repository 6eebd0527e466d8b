"""Which questions a probing study never parts."""

import pytest

from onedial.asking.questions import Question
from onedial.core.notices import Notice
from onedial.panels.questions.question_files import load_questions
from onedial.studies.probes.study import wordings_of


def asked(*given):
    return [Question(f"q{place}", "?", (answer,), topic) for place, (topic, answer) in enumerate(given)]


def test_questions_of_one_topic_with_one_answer_are_wordings_of_one_and_that_is_said():
    questions = asked(("sea", "Nile"), ("sea", "the Rhine"), ("sea", "nile!"), ("sky", "Nile"), (None, "Nile"))
    with pytest.warns(Notice, match="2 of 5 questions count as wordings of 1"):
        found = wordings_of(questions)
    assert found[0] == found[2] is not None
    assert found[1] is found[3] is found[4] is None


def test_yes_and_no_make_no_wordings_and_neither_do_the_questions_in_the_box():
    assert wordings_of(asked(*[("sea", "yes"), ("sea", "No")] * 3)) is None
    assert wordings_of(load_questions("embedded")) is None
