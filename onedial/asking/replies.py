"""What a reply says, out of what is put around it: thoughts, JSON, Markdown, a next turn."""

import json
import re
import unicodedata
from typing import Any, NamedTuple

_TAG = (
    r"(?:\w+[:_-])?(?:think(?:ing)?(?:_process)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis"
    r"|inner_monologue)"
)


class Thought(NamedTuple):
    """How somebody's thoughts open and close.

    Attributes:
        opens, closes: patterns. A closing mark alone counts, since a template may have opened the thought.
        marks: (opening, closing) as templates write them that leave a thought open.
    """

    opens: str
    closes: str
    marks: tuple[tuple[str, str], ...] = ()


def _exact(opens: str, closes: str) -> Thought:
    return Thought(re.escape(opens), re.escape(closes), ((opens, closes),))


_TAGS = ("think", "thinking", "thought", "reasoning", "seed:think", "longcat_think")
THOUGHTS: dict[str, Thought] = {
    "tags: DeepSeek R1, Qwen 3, GLM, SmolLM 3, EXAONE Deep, ...": Thought(
        rf"<{_TAG}(?:\s[^<>]*)?>", rf"</{_TAG}\s*>", tuple((f"<{tag}>", f"</{tag}>") for tag in _TAGS)
    ),
    "Magistral": _exact("[THINK]", "[/THINK]"),
    "Kimi VL": _exact("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    "Sky-T1, OpenThinker": _exact("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Command A": _exact("<|START_THINKING|>", "<|END_THINKING|>"),
    "Apertus": _exact("<|inner_prefix|>", "<|inner_suffix|>"),
    "bars": Thought(r"<\|think(?:ing)?\|>", r"<\|/think(?:ing)?\|>"),
    "DeepSeek's bars": Thought(
        r"<\uff5cbegin\u2581of\u2581thinking\uff5c>", r"<\uff5cend\u2581of\u2581thinking\uff5c>"
    ),
    "Gemma 4": Thought(r"<\|channel>\s*thought\b", r"<channel\|>", (("<|channel>thought", "<channel|>"),)),
    "Gemma 4, a turn": Thought(r"<\|turn>\s*thinking\b", r"<\|turn>\s*thinking\b(?s:.*?)<turn\|>"),
    "MedGemma": _exact("<unused94>", "<unused95>"),
    "gpt-oss": Thought(
        r"<\|channel\|>\s*(?:analysis|commentary)\b",
        r"<\|channel\|>\s*final\b[^<\n]*(?:<\|message\|>)?",
        (("<|channel|>analysis<|message|>", "<|end|>"),),
    ),
    "gpt-oss without its tokens": Thought(
        r"\A\s*(?-i:(?:assistant)?(?:analysis|commentary)(?=[A-Z\"']))", r"assistantfinal"
    ),
    "Granite": Thought(r"\A\s*Here(?: is|'s) my thought process:", r"^\s*Here(?: is|'s) my response:"),
    "headings": Thought(r"\A\s*#+\s*Thinking\b", r"^#+\s*Final Response\b:?"),
    "Ollama": Thought(r"\A\s*Thinking\.\.\.\s*$", r"^\s*\.\.\.\s*done thinking\.?"),
    "Open WebUI": Thought(r"<details\s+type=.?reasoning\b", r"<details\s+type=.?reasoning\b(?s:.*?)</details>"),
}
"""By who writes them so; read everywhere, live and in logs, and closed where a template leaves one open."""
THOUGHT_MARKS: dict[str, str] = {opens: closes for each in THOUGHTS.values() for opens, closes in each.marks}
"""What opens a thought at the end of a template, and what closes it."""
_QUOTE = "[`\"'\u2018\u2019\u201c\u201d]"
_OPENS, _CLOSES = (
    re.compile(
        "|".join(rf"(?!(?<={_QUOTE})(?:{each[side]}){_QUOTE})(?:{each[side]})" for each in THOUGHTS.values()),
        re.IGNORECASE | re.MULTILINE,
    )
    for side in (0, 1)
)
_ENDS_A_TURN = re.compile(
    r"<\|(?:end|return|call|im_end|eot_id|eom_id|endoftext|end_of_text|end_of_solution|END_RESPONSE|user|observation)\|>"
    r"|</s>|<end_of_turn>|<eos>|<turn\|>|\[/?INST\]|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
_AROUND_AN_ANSWER = re.compile(
    r"<\|\w+\|>|</?(?:answer|final_answer|response|output|solution|conclusion)>", re.IGNORECASE
)


def _opening(text: str) -> int:
    """Where an opened thought begins; the text's length where none does. In the midst of a sentence it is a word of it
    ("The tag <think> opens ...").
    """
    for mark in _OPENS.finditer(text):
        before = text[: mark.start()].rpartition("\n")[2].rstrip()
        if not before or not (before[-1].isalnum() or before[-1] in ",;"):
            return mark.start()
    return len(text)


_ENDS = {
    "cut off": {"length", "max", "limit", "exceeded", "truncated", "incomplete"},
    "error": {"error", "failed", "abort", "aborted", "cancelled", "canceled", "resource"},
    "content filter": {
        *("filter", "filtered", "safety", "sensitive", "refusal", "blocklist", "prohibited", "recitation"),
    },
}
"""Words in what servers call the end of an answer ("MAX_TOKENS", "insufficient_system_resource")."""


def how_ended(stop_reason: Any) -> str:
    """By what a server or a log calls the end of an answer: "cut off" for want of room, "error" where the server failed
    on the way, "content filter" where somebody else than the model has ended or replaced it; "" else.

    >>> how_ended("length"), how_ended("model_context_window_exceeded"), how_ended("stop"), how_ended(None)
    ('cut off', 'cut off', '', '')
    >>> how_ended("insufficient_system_resource"), how_ended("SAFETY"), how_ended("refusal")
    ('error', 'content filter', 'content filter')
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", stop_reason) if isinstance(stop_reason, str) else ""
    words = set(re.split(r"[\W_]+", parted.lower()))
    return next((kind for kind, known in _ENDS.items() if words & known), "")


def without_thoughts(text: str) -> str:
    """What is said after the last thought, in whatever marks (`THOUGHTS`); "" where a thought was cut off.

    >>> without_thoughts("<think>Rome? No.</think>\\n\\nParis"), without_thoughts("<think>It may be")
    ('Paris', '')
    >>> without_thoughts("[THINK]No?[/THINK]Yes"), without_thoughts("analysisIs it no?assistantfinalYes")
    ('Yes', 'Yes')
    """
    after = text[max([closing.end() for closing in _CLOSES.finditer(text)], default=0) :]
    reply = after[: _opening(after)].strip()
    return _AROUND_AN_ANSWER.sub("", _ENDS_A_TURN.split(reply, maxsplit=1)[0]).strip()


def ended_a_thought(text: str) -> bool:
    """Whether a thought closes in it, so that what follows is an answer."""
    return _CLOSES.search(text) is not None


def leaves_a_thought_open(prompt: str) -> bool:
    """Whether a prompt ends with an opened thought, so that its reply begins within one; a mark in the question opens
    none.

    >>> leaves_a_thought_open("Yes or no?\\nassistant: <think>\\n"), leaves_a_thought_open("What does <think> do?")
    (True, False)
    """
    return any(not prompt[mark.end() :].strip() for mark in _OPENS.finditer(prompt))


_DELIBERATES = re.compile(
    r"\W*(?:ok(?:ay)?|h+m+|alright|wait|let(?:'s|\u2019s| me)|(?:the |this )?(?:user|question)|(?:we|i) need|first)\b",
    re.IGNORECASE,
)
"""How a reasoning begins."""


def begun(text: str) -> str:
    """What a reply that was cut off says for sure: what follows a thought that closes in it, else its first line.

    "" where that begins to reason ("Okay", "Hm", "Let me"): what is said on the way to an answer is none.

    >>> begun("Yes, since the\\nriver"), begun("Okay. Is it no?\\nNo, that is not"), begun("Hm, no.</think>\\nYes, I")
    ('Yes, since the', '', 'Yes, I')
    """
    reply = without_thoughts(text)
    if ended_a_thought(text):
        return reply
    return "" if _DELIBERATES.match(reply) else next(iter(reply.splitlines()), "")


_WRAPPED = re.compile(r'(?:```(?:json)?\s*)?\{\s*"[^"]*"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}(?:\s*```)?')


def spoken(text: str) -> str:
    """What is reply: without thoughts, and out of a JSON object that holds one text alone.

    >>> spoken('{"answer": "Paris"}'), spoken("<think>Rome?</think> Paris")
    ('Paris', 'Paris')
    """
    reply = without_thoughts(text)
    wrapped = _WRAPPED.fullmatch(reply)
    return str(json.loads(wrapped[1], strict=False)).strip() if wrapped else reply


_NEXT = re.compile(r"(?<=\S)(?:\s+\W*|(?<=[.!?]))(?:Question|Exercise \d+|Q|User|Human)\s*:")


def first_turn(text: str) -> str:
    """What stands before the next "Question:", "User:" and their like, where a model does not stop after its answer.

    >>> first_turn("Yes. Question: Who is it? Answer: No"), first_turn("Question: Who?\\nAnswer: Yes")
    ('Yes.', 'Question: Who?\\nAnswer: Yes')
    """
    return _NEXT.split(text, maxsplit=1)[0]


_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00ab\u00bb", '\'\'""""')


def unmarked(text: str) -> str:
    """What is said (`spoken`) before a next turn (`first_turn`), line by line, without Markdown, dollar signs, code
    fences and typographic quotes or letters.

    >>> unmarked("Sure:\\n```\\n### **Paris**: \\uff16\\uff10 %\\n```")
    'Sure:\\nParis: 60 %'
    """
    plain = first_turn(unicodedata.normalize("NFKC", spoken(text)).translate(_QUOTES))
    plain = re.sub(r"\$([^$\n]*)\$", r"\1", plain).replace("\\%", "%")
    plain = re.sub(r"^\s*```\w*\s*$", "", plain, flags=re.MULTILINE)
    plain = re.sub(r"^\s*(?:#+|>)\s*", "", re.sub(r"^\s*[*+]\s+", "- ", plain, flags=re.MULTILINE), flags=re.MULTILINE)
    plain = re.sub(r"[*`~]+|(?<!\w)_+|_+(?!\w)|\\[()\[\]]", "", plain)
    return "\n".join(line.strip() for line in plain.splitlines() if line.strip())


_NOT = re.compile(r"\b(?:not|never|cannot|neither|nor)\b|n't\b", re.IGNORECASE)


def is_denied(before: str) -> bool:
    """Whether what stands before a word denies it: a "not" in the same clause.

    >>> is_denied("I would not say "), is_denied("I'm not sure, but ")
    (True, False)
    """
    return _NOT.search(re.split(r"[,;:.\n]", before)[-1]) is not None
