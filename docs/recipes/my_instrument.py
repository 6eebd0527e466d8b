r"""An instrument: one question in equivalent forms, each a template, a scale and a reader.

`about` says what it is asked about. `--instruments` chooses it.

    python experiments/ask.py profile runs/recipe --plugin my_instrument.py --no-answers \
           --instruments "can you answer,would bet" --controls 3 --n-questions 16 --out runs/bets
"""

from onedial.asking import YES_NO, YES_NO_TOKENS, Instrument, PromptTemplate
from onedial.selfreport import SELF_REPORTS, SelfReport

ASKED = "Here is a question.\n\nQuestion: {question}\n\nWould you bet on your answer to it being right?"
FORMS = {
    form: Instrument(f"would bet, {form}", PromptTemplate(f"{ASKED} {order}", "Answer:", form), YES_NO, YES_NO_TOKENS)
    for form, order in {"yes first": "Yes or no?", "no first": "No or yes?"}.items()
}
SELF_REPORTS["would bet"] = SelfReport("would bet", FORMS, about="questions")
