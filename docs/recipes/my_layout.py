r"""A layout of a data set: the columns by which it is recognised, and a function from a row to a question.

Without options it is `Question(question_id(text), text, answers, topic)` of `onedial.asking`.

    echo '{"gap": "... is a metal.", "fills": "iron", "misfits": ["neon"]}' > cloze.jsonl
    python experiments/panel.py collect --plugin my_layout.py,my_respondent.py --questions cloze.jsonl \
           --respondents who.yaml --no-closed-book --out runs/cloze
"""

from onedial.panels import LAYOUTS, Layout, choice_question


def cloze(row, where):
    """A sentence with a gap, what fills it, and what does not."""
    options = sorted([row["fills"], *row["misfits"]])
    return choice_question(f"What fills the gap? {row['gap']}", options, options.index(row["fills"]), where=where)


LAYOUTS["cloze"] = Layout(("gap", "fills", "misfits"), cloze)
