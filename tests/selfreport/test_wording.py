"""How explanations are coded: firm or cautious, as a person or as a program; what is denied is not claimed."""

import pandas as pd
import pytest

from onedial.selfreport.ask.questionnaires import NO_TASK, explain, load_questionnaire
from onedial.selfreport.score.wording import WORDING, code_wording, wording_scores

SAID = {
    "assertive": "I am confident that I can solve it. I always find a way.",
    "cautious": "Perhaps I might find a way, but it depends on the task.",
    "anthropomorphic": "I enjoy hard work, and in my life I have learned to trust myself.",
    "disclaiming": "As a language model, I do not have feelings, and my training sets the limits.",
}


@pytest.mark.parametrize("kind", SAID)
def test_each_way_of_speaking_is_found_where_it_was_written_and_no_other(kind):
    counts = code_wording(SAID[kind])
    assert counts[kind] >= 2
    assert sum(counts[other] for other in WORDING if other != kind) == 0


def test_what_is_denied_is_not_counted():
    """What is denied or stands within another word or in another language is not counted."""
    assert code_wording("I can't. I cannot. Unlikely! The uncertainly known one.")["assertive"] == 0
    assert code_wording("I do not feel that this is mine.")["anthropomorphic"] == 0
    assert code_wording("Ich bin der Beste, und es ist perhaps nicht auf der Liste.") == dict.fromkeys(
        [*WORDING, "words"], 0
    )


def test_shares_are_of_all_words_and_a_text_without_words_has_none():
    rows = [("a", NO_TASK, "I can."), ("a", NO_TASK, "It is what it is, said the sea."), ("b", NO_TASK, "")]
    result = wording_scores(pd.DataFrame(rows, columns=["model", "condition", "text"]))
    assert result.loc[("a", NO_TASK), "assertive"] == pytest.approx(100 / 10)
    assert result.loc[("b", NO_TASK), ["n", "n_empty"]].tolist() == [1, 1]
    assert result.loc[("b", NO_TASK), list(WORDING)].isna().all()


def test_explained_is_the_reply_to_the_same_statements():
    """What is explained is the reply that was written to the same statements."""
    seen = []

    class Explains:
        def answer(self, prompts, instrument):
            from onedial.asking.respondents import Response

            seen.extend(prompts)
            yield Response(place=0, raw_text="I can.")

    assert explain(Explains(), load_questionnaire(), "computation", 1, "A: 3\nB: 1") == "I can."
    ((asked, replied),) = seen[0].earlier
    assert "A: 3\nB: 1" in replied
    assert all(item.slots["statement"] in asked for item in load_questionnaire().items)
