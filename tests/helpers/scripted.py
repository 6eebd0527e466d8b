"""A respondent that answers by a rule, so that what it knows is known."""

from onedial.asking.instruments import TokenReader
from onedial.asking.respondents import Identity, response_from_logits, response_from_text


class Scripted:
    """Args: rule: (prompt, instrument) -> logits of the options, or a text where the answer is written."""

    def __init__(self, rule, name="scripted"):
        self._rule, self.identity = rule, Identity(name)

    def answer(self, prompts, instrument):
        for place, prompt in enumerate(prompts):
            scripted = self._rule(prompt, instrument)
            if isinstance(instrument.reader, TokenReader):
                margin = scripted[0] - scripted[1] if instrument.scale.kind == "yes/no" else float("nan")
                yield response_from_logits(instrument.scale, scripted, 1.0, margin, place=place)
            else:
                yield response_from_text(instrument.scale, instrument.reader, scripted, True, place=place)


def lettered_options(prompt):
    """Letter -> option, of the last list of options in the conversation."""
    shown = "\n".join([*(text for turn in prompt.earlier for text in turn), prompt.user])
    result = [line.split(") ", 1) for line in shown.splitlines() if line[1:3] == ") " and line[0] in "ABCDE"]
    return dict(result[-5:])
