"""What a reply says, out of what is put around it: thoughts, disclaimers, JSON, Markdown."""

import json
import re
import unicodedata


def without_thoughts(text: str) -> str:
    """What is said after the last thought; "" where a thought was cut off.

    >>> without_thoughts("<think>Rome? No.</think>\\n\\nParis"), without_thoughts("<think>It may be")
    ('Paris', '')
    """
    after = re.split(r"</think>", text, flags=re.IGNORECASE)[-1]
    return re.split(r"<think>", after, flags=re.IGNORECASE)[0].strip()


_DISCLAIMER = re.compile(
    r"^\W*as an? (?:AI|artificial intelligence|(?:large )?language model)\b[^.!?\n]*?,? (?:but|however),? "
    r"(?!(?:I|you|we|if|feel|please|let)\b)(?:here (?:it|you) (?:is|are|go)\W+)?(?=\S)",
    re.IGNORECASE,
)


def without_disclaimer(text: str) -> str:
    """What is said after "As an AI, I have no ..., but"; the whole where that is all, or goes on with what it offers.

    >>> without_disclaimer("As an AI, I can't travel, but the capital is Paris.")
    'the capital is Paris.'
    """
    return _DISCLAIMER.sub("", text, count=1)


_WRAPPED = re.compile(r'(?:```(?:json)?\s*)?\{\s*"[^"]*"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}(?:\s*```)?')


def spoken(text: str) -> str:
    """What is said: without thoughts, and out of a JSON object that holds one text alone.

    >>> spoken('{"answer": "Paris"}'), spoken("<think>Rome?</think> Paris")
    ('Paris', 'Paris')
    """
    said = without_thoughts(text)
    wrapped = _WRAPPED.fullmatch(said)
    return str(json.loads(wrapped[1], strict=False)).strip() if wrapped else said


_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_COMMAND = re.compile(r"\\(?:boxed|text(?:bf|it)?|math(?:rm|bf|it))\s*\{([^{}]*)\}")
"""Of LaTeX."""
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00ab\u00bb", '\'\'""""')


def unmarked(text: str) -> str:
    """What is said (`spoken`), line by line, without Markdown, LaTeX, code fences and typographic quotes or letters.

    >>> unmarked("Sure:\\n```\\n### **Paris**: \\uff16\\uff10 %\\n```")
    'Sure:\\nParis: 60 %'
    """
    plain = unicodedata.normalize("NFKC", spoken(text)).translate(_QUOTES)
    while (bare := _COMMAND.sub(r"\1", plain)) != plain:
        plain = bare
    plain = re.sub(r"\$([^$\n]*)\$", r"\1", plain).replace("\\%", "%")
    plain = re.sub(r"</?(?:b|i|u|em|strong|br|p|ul|ol|li|answer)\b[^>\n]*>", "", plain, flags=re.IGNORECASE)
    plain = re.sub(r"^\s*```\w*\s*$", "", plain, flags=re.MULTILINE)
    plain = re.sub(r"^\s*(?:#+|>)\s*", "", _LINK.sub(r"\1", plain), flags=re.MULTILINE)
    plain = re.sub(r"[*`~]+|(?<!\w)_+|_+(?!\w)|\\[()\[\]]", "", plain)
    return "\n".join(line.strip() for line in plain.splitlines() if line.strip())
