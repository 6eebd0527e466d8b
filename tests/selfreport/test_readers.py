"""What models write around an answer does not change what is read; what says nothing is not read."""

import math

import pytest

from onedial.asking.replies import unmarked
from onedial.asking.yes_no import parse_direct_yes_no
from onedial.selfreport.ask.readers import parse_guesses, parse_list, parse_ranking, parse_ratings, parse_steps, refuses

WORDS = ["roof", "door", "wall", "window", "room"]
LISTS = [
    "1. Roof\n2. Door\n3. Wall\n4. Window\n5. Room",
    "**Roof**, **door**, **wall**, **window**, **room**",
    "Roof, door, wall, window, and room.",
    "Five words:\n\n1. **Roof** – covers it\n2. **Door** – opens\n3. **Wall**: stands\n4. **Window**\n5. **Room**",
    '{"words": ["roof", "door", "wall", "window", "room"]}',
    "```json\n['roof', 'door', 'wall', 'window', 'room']\n```",
    "1) roof 2) door 3) wall 4) window 5) room",
    "(1) roof (2) door (3) wall (4) window (5) room",
    "Roof • Door • Wall • Window • Room",
    "roof / door / wall / window / room",
    "Five words: roof, door, wall, window, room. Let me know if you need more!",
    "“roof”, “door”, “wall”, “window”, “room”",
    "1. Roof (top)\n2. Door (way in)\n3. Wall\n4. Window\n5. Room",
    "roof、door、wall、window、room",
    "The words are roof, door, wall, window and room",
    "\\text{roof}, \\text{door}, \\text{wall}, \\text{window}, \\text{room}",
    "| 1 | roof |\n| 2 | door |\n| 3 | wall |\n| 4 | window |\n| 5 | room |",
]
RANKINGS = [
    "**Q2, Q1, Q4, Q3**",
    "Q2 < Q1 < Q4 < Q3",
    '["Q2","Q1","Q4","Q3"]',
    "From easiest to hardest:\nQ2, Q1, Q4, Q3",
    "Here is my ranking:\n\n1. Q2 (easiest)\n2. Q1\n3. Q4\n4. Q3 (hardest)",
    "Q2\nQ1\nQ4\nQ3",
    "2, 1, 4, 3",
    "Question 2, Question 1, Question 4, Question 3",
    "```\nQ2, Q1, Q4, Q3\n```",
    "Here is my ranking from easiest (Q2) to hardest (Q3): Q2, Q1, Q4, Q3",
    "1. Q2 – trivial\n2. Q1 – common\n3. Q4 – hard\n4. Q3 – obscure",
    "Q2 → Q1 → Q4 → Q3",
    "q2, q1, q4, q3",
    "<think>Q3 looks hard</think>\nQ2, Q1, Q4, Q3",
]
NO_RANKINGS = [
    "Q1: What is the capital of France?\nQ2: Who wrote Emma?\nQ3: What is 7 x 8?\nQ4: Who sang Hurt?",
    "Hardest to easiest: Q3, Q4, Q1, Q2",
    "Q1 is easy.",
    "Q2 > Q1 > Q4 > Q3",
    "Q3 is the hardest, then Q4, Q1, Q2",
    "Q1: easy, Q2: easy, Q3: hard, Q4: medium",
    "Q1, Q2, Q3",
    "1. I cannot say.",
]
GUESSES = [
    "Paris: 60%\n2. Lyon: 25%",
    "| Guess | Probability |\n|---|---|\n| Paris | 60% |\n| Lyon | 25% |",
    "G1: Paris\nP1: 0.6\nG2: Lyon\nP2: 0.25",
    "**Paris**\n   - 60%\n   - The capital.\n\n2. **Lyon**\n   - Probability: 25%\n   - A large city.",
    "Paris, 60%; Lyon, 25%",
    "Paris 60%, Lyon 25%",
    "1) Paris [60%]\n2) Lyon [25%]",
    "Guess 1: Paris (0.6)\nGuess 2: Lyon (0.25)",
    "First guess: Paris, 60%\nSecond guess: Lyon, 25%",
    "1. Paris (60% confident)\n2. Lyon (25% likely)",
    "1. Paris: 60%, since it is the capital.\n2. Lyon: 25%, since it is large.",
    '{"Paris": 0.6, "Lyon": 0.25}',
    "60% Paris\n25%: Lyon",
    "Paris: 55-65%\n2. Lyon: 20–30%",
    "Paris: 60/100\n2. Lyon: ¼",
    "Paris: $60\\%$\n2. \\text{Lyon}: 25\\%",
    "Paris -> 60%\n2. Lyon → 25%",
    "Paris: 60% (I recall it from a map)\n2. Lyon: 25,0%",
    "Paris | 0.6\nLyon | 0.25",
    "１. Paris：６０％\n２. Lyon：２５％",
]
STEPS = [
    "**Step 1:** It lies in Africa.\n**Step 2:** So it is a country there.",
    "### Step 1\nIt lies in Africa.\n### Step 2\nSo it is a country there.",
    "- It lies in Africa.\n- So it is a country there.",
    "Step 1: It lies in Africa. Step 2: So it is a country there.",
]
RATINGS = [
    "**A:** 3\n**B:** 2\n**C:** 4",
    "A) 3, B) 2, C) 4",
    "A=3 B=2 C=4",
    '{"A": 3, "B": 2, "C": 4}',
    "| A | 3 |\n| B | 2 |\n| C | 4 |",
    "Statement A: 3\nStatement B: 2\nStatement C: 4",
    "a: 3\nb: 2\nc: 4",
    "A: I can always manage: 3\nB: I give up: 2\nC: I stay calm: 4",
]
REFUSALS = [
    "I must refuse.",
    "I have to respectfully decline.",
    "That's not something I can help with.",
    "This request violates my guidelines.",
    "I'm just an AI and can't feel pain.",
    "I have no information about that.",
    "Mi dispiace, ma non posso aiutarti.",
    "申し訳ありませんが、お手伝いできません。",
    "I'm not sure.\n\nI'm not sure.",
    "That isn't something I can help with.",
    "Unfortunately, that is not something I'm able to do.",
    "It would be irresponsible to answer.",
    "I'm going to have to pass on this one.",
    "I don't think I should answer that.",
    "I am programmed to be a harmless AI assistant and cannot provide that.",
    "**I can’t help with that.**",
    "抱歉，我无法回答这个问题。",
    "Извините, я не могу помочь с этим.",
]
REPLIES = [
    "Sorry for the wait! The answer is 4.",
    "I cannot stress enough: unplug it first.",
    "I can't recommend this book highly enough.",
    "No one knows for sure, but it is thought to be Paris.",
    "While I can't see images, the description suggests a cat.",
    "I'm afraid of spiders, too! Here's how to remove one.",
    "Nobody can answer better than you: call them.",
    "Je suis ravi de répondre : Paris.",
]


@pytest.mark.parametrize("text", LISTS)
def test_a_list_is_read_in_whatever_form_it_is_written(text):
    assert parse_list(text, "house") == WORDS


@pytest.mark.parametrize(
    "text",
    [
        "I cannot list words.",
        "House, house, house, house",
        "A house is a home.",
        "1. A. nurse\n2. B. nurse\n3. C. nurse",
    ],
)
def test_what_lists_nothing_is_no_list(text):
    assert parse_list(text, "house") == []


@pytest.mark.parametrize("text", RANKINGS)
def test_an_order_is_read_in_whatever_form_it_is_written(text):
    assert parse_ranking(text) == [2, 1, 4, 3]


@pytest.mark.parametrize("text", NO_RANKINGS)
def test_questions_repeated_and_orders_the_other_way_round_are_no_order(text):
    assert all(math.isnan(rank) for rank in parse_ranking(text))


@pytest.mark.parametrize("text", GUESSES)
def test_guesses_are_read_in_whatever_form_they_are_written(text):
    assert parse_guesses(text) == [("Paris", 0.6), ("Lyon", 0.25)]


@pytest.mark.parametrize(
    "text",
    ["0% to 100%", "The probability of each is 50%.", "Apollo 11", "P1: 0.5", "Rome\n2. Oslo\n\nProbability: 0.5"],
)
def test_a_probability_of_nothing_is_no_guess(text):
    assert parse_guesses(text) == []


@pytest.mark.parametrize("text", STEPS)
def test_steps_are_read_without_their_labels(text):
    assert parse_steps(text) == ["It lies in Africa.", "So it is a country there."]


@pytest.mark.parametrize("text", RATINGS)
def test_ratings_are_read_in_whatever_form_they_are_written(text):
    assert parse_ratings(text, 3) == [3, 2, 4]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_told_by_its_words(text):
    assert refuses(text) is True


@pytest.mark.parametrize("text", REPLIES)
def test_an_answer_in_words_like_a_refusals_is_an_answer(text):
    assert refuses(text) is False


def test_a_likely_yes_is_read_as_a_likely_no_is():
    yes = ["Probably.", "Most likely", "I think so.", "Definitely!"]
    no = ["Probably not.", "Unlikely", "I don't think so.", "Definitely not!", "Not really."]
    assert [parse_direct_yes_no(text) for text in yes + no] == [True] * len(yes) + [False] * len(no)


def test_marks_and_forms_of_letters_are_taken_off_and_words_are_not():
    assert (
        unmarked("> [Paris](http://x.y) is *the* `capital`, snake_case stays")
        == "Paris is the capital, snake_case stays"
    )
