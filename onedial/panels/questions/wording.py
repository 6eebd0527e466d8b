"""Wordings that make a question hard to grade: its answer changes with the years, or depends on who asks.

Each pattern is a suspicion, to be read by a person: titles of songs and films trip some of them.
"""

import re

FUNCTION_WORDS = set(
    re.findall(
        r"\w+",
        "a an and are as at be by did do does for from had has have in is it its name of on or that the this to was "
        "were what which with",
    )
)
"""Two questions that differ in these words alone ask the same; "who" and "when" do not."""
_PRESENT = (
    r"currently|nowadays|today|presently|recently|upcoming|at present|at the moment|as of|so far|to date|these days"
    r"|most recent|right now|up to now|until now|still|latest|newest"
)
_SPAN = r"year|month|week|decade|century|season|summer|winter|election|olympics|world cup|time"
_OFFICE = (
    r"president|prime minister|chancellor|king|queen|pope|ceo|mayor|governor|champion|owner|leader|head|coach|captain"
)

DATED = {
    "names a present that passes": re.compile(
        rf"\b(?:{_PRESENT})\b"
        r"|\bnow\b(?! (?:known|called))"
        # a current that flows is no present
        r"|(?<!electric )(?<!alternating )(?<!direct )(?<!ocean )(?<!an )\bcurrent (?!in\b|of\b|is\b|flow|through\b)\w+"
        rf"|\b(?:last|this|next|past|previous|coming) (?:{_SPAN})\b"
        r"|(?<!hundred )(?<!thousand )(?<!million )(?<!billion )\b(?:years?|months?|decades?) ago\b"
        r"|\b(?:is|are) going to\b",
        re.IGNORECASE,
    ),
    "asks who holds an office": re.compile(
        rf"\bwho(?:'s| is| are) (?:the )?(?!first|last|only)(?:\w+ ){{0,2}}(?:{_OFFICE})\b", re.IGNORECASE
    ),
    "asks an age": re.compile(r"\bhow old (?:is|are)\b", re.IGNORECASE),
    "asks for a standing record": re.compile(
        r"\bholds? the .{0,30}\brecord\b|\bhas the most\b|\bhave won\b", re.IGNORECASE
    ),
}

AMBIGUOUS = {
    "refers to something unnamed": re.compile(
        r"^(?:(?:who|what|which|when|where|why|how)(?:'s| is| are| was| were| did| does| do| has| had)? )?"
        r"(?:he|she|they|it|his|her|their|its|these|those)\b"
        r"(?! (?:takes?|took|true|rain|snow|possible|called|be|that|mean|said|known|the|a|an)\b)"
        r"|\b(?:the|this) (?:passage|paragraph|article|text|picture|image)\b"
        r"|\bof the following\b|\b(?:listed|mentioned) (?:above|below)\b|\b(?:above|below)-mentioned\b",
        re.IGNORECASE,
    ),
    "depends on who asks": re.compile(
        r"\b(?:my|your|our) (?:own )?(?:country|city|town|state|name|area|school|president|government|language|age)\b"
        r"|\b(?:near me|this country|where (?:i|you|we) live)\b",
        re.IGNORECASE,
    ),
    "asks for an opinion": re.compile(
        r"^(?:who|what|which)\b.{0,30}\b(?:is|was|are|were) (?:the )?"
        r"(?:best|greatest|most (?:beautiful|famous|important|interesting|popular|iconic)|nicest|coolest)\b"
        r"(?! (?:known|selling|common)\b|-)|\byour favou?rite\b",
        re.IGNORECASE,
    ),
    "asks two things": re.compile(
        r"\?.*\w.*\?|\band/or\b|\band (?:who|when|where|why|how|what) (?:\w+ )?(?:is|are|was|were|did|does|do)\b",
        re.IGNORECASE,
    ),
}
