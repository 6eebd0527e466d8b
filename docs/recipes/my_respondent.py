r"""A respondent: anything with `identity` and `answer`, made from a seed.

An unread answer is a response without a value; `as_read` puts a value on the instrument's scale. Where
`instrument.reader` is a `TextReader`, a text is wanted: `response_from_text(instrument.scale, instrument.reader, text,
place=place)`. `--model` chooses it, or `model` in a file of respondents.

    echo "models: [by length]" > who.yaml
    python experiments/panel.py collect --plugin my_respondent.py --respondents who.yaml --no-closed-book \
           --n-questions 60 --out runs/by-length
"""

from onedial.asking import RESPONDENTS, Identity, Response, as_read, prompt_key


class ByLength:
    """Says yes to whatever is short: a null respondent, which knows nothing and may still agree with a model."""

    identity = Identity("by length")

    def answer(self, prompts, instrument):
        """Yes or no alone; nothing on any other scale."""
        for place, prompt in enumerate(prompts):
            value = float(len(prompt.user) < 122) if instrument.scale.kind == "yes/no" else None
            yield Response(place, prompt_hash=prompt_key(prompt, instrument), **as_read(instrument.scale, value))


RESPONDENTS["by length"] = lambda seed: ByLength()
