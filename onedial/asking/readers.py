"""What a written reply says: an option, a probability, a list, an order, guesses, steps, ratings, or that it declines.

All read what is left without thoughts, Markdown, LaTeX and wrappings (`unmarked`), and say nothing where the reply is
of another kind. tests/reference/phrasings.yaml is the table of wordings that they know; yes and no are read by
`onedial.asking.yes_no`.
"""

import re
from collections.abc import Iterable
from itertools import chain, permutations

from onedial.asking.instruments import Scale, TokenReader
from onedial.asking.replies import begun, unmarked, without_disclaimer
from onedial.asking.yes_no import parse_direct_yes_no

LIST_LENGTH = 5
FEWEST_WORDS = 3
"""A list of fewer different words beside the cue is no list of five."""
N_RANKED = 4
N_GUESSES = 4
N_STEPS = 3

# ---- options and probabilities ---------------------------------------------------------------------------------------

_NUMBER = r"(?<![\d.,/])(?:\d{1,3}(?:\.\d+|,(?!\d{3}(?!\d))\d+)?|[.,]\d+)"
_TO = r"\s*%?\s*(?:-|\u2013|\u2014|\bto\b|\band\b|\bbis\b|\u00e0)\s*"
_PERCENT = re.compile(
    rf"(?:(?P<low>{_NUMBER}){_TO})?(?P<high>{_NUMBER})\s*"
    r"(?:%|per ?cent\b|prozent\b|pour cent\b|/\s*100\b|out of 100\b)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\D*?(?:(?P<low>{_NUMBER}){_TO})?(?P<high>{_NUMBER})(?:\s*(?:/|out of|in)\s*(?P<of>1?\d)(?![\d.,]))?\D*"
)
_NOT = re.compile(r"(?:\bnot|\bnever|\bcannot|n't)\s+(?:\w+\s+){0,2}[\"']?$", re.IGNORECASE)


def stated_probability(text: str) -> float | None:
    """The probability that the first line with a number states, 0 to 1; of a range its middle.

    None where the line has several, or where it is not known of what the number is a part ("5").

    >>> stated_probability("I'd say around 70-80%."), stated_probability("Probability: 0.7"), stated_probability("½")
    (0.75, 0.7, 0.5)
    >>> stated_probability("5"), stated_probability("80%, surely more than 50%")
    (None, None)
    """
    lines = (line for line in unmarked(text).replace("\u2044", "/").splitlines() if re.search(r"\d", line))
    line = next(lines, "")
    marked = list(_PERCENT.finditer(line))
    found = marked[0] if len(marked) == 1 else None if marked else _BARE.fullmatch(line.strip())
    if found is None or _NOT.search(line[: found.start("low") if found["low"] else found.start("high")]):
        return None
    ends = [end for end in (found["low"], found["high"]) if end]
    numbers = [float(end.replace(",", ".")) for end in ends]
    if marked:
        p = sum(numbers) / len(numbers) / 100
    elif found["of"]:
        p = numbers[-1] / float(found["of"]) if float(found["of"]) and len(numbers) == 1 else -1.0
    elif all(number <= 1 and not end.isdigit() for number, end in zip(numbers, ends, strict=True)) or ends == ["0"]:
        p = sum(numbers) / len(numbers)
    else:
        p = sum(numbers) / len(numbers) / 100 if all(re.match(r"\d\d", end) for end in ends) else -1.0
    return p if 0 <= p <= 1 else None


_NAMED = r"(?:answer|rating|choice|option|question|letter|confidence|score|level|antwort|r\u00e9ponse|respuesta)"
_LEAD = rf"\W*(?:(?:the |my |final |correct |best |short )*{_NAMED}(?: is)?\b\W*)?"
_CUE = (
    rf"\b(?:{_NAMED}|rate|choose|pick|select|say|go (?:with|for)|surer? (?:of|about)|confident (?:of|about)"
    r"|give (?:it|this|that|myself)|prefer)\b(?:\W+(?:is|it|this|a|an|the|be|would|option|question|letter|level|of|as"
    r"|at|to|that|myself|my|me|number)\b){0,4}\W+"
)
_ENDS = r"(?![\w']|[.,/]\d|-\w)(?!(?<=[aA])\s+[a-z])"
_DENIED = re.compile(r"(?:\bnot|n't|\bnever)\b[^,;:.]*[,;:.]?\s*$", re.IGNORECASE)
"""In the same clause."""
_DENIED_AFTER = re.compile(
    r"[\"')]*\s+(?:is|was|would be|seems|looks)(?:n't|\s+(?:not|wrong|false|incorrect|out))\b", re.IGNORECASE
)
_JOINED = r"\s*(?:/|\u2013|-|,|\bor\b|\bto\b|\band\b|\bout of\b)\s*"


def option_said(scale: Scale, reader: TokenReader, text: str, finished: bool = True) -> int | None:
    """The place of the option that a text says, where an instrument would read logits and a respondent shows none.

    The first line that says one option decides: at its head ("B, because ..."), behind a word that announces it ("I
    would choose B"), or, of a probability, in percent, as a share, or as the middle of a range. None where it says
    none, denies one, or names several ("3/4", "A or B").

    Args:
        finished: False where it was cut off; then what it says for sure is read (`onedial.asking.replies.begun`).

    >>> from onedial.asking import CONFIDENCE_IN_NUMBERS as NUMBERS, CONFIDENCE_IN_WORDS as WORDS
    >>> option_said(NUMBERS.scale, NUMBERS.reader, "**About 85%.**"), option_said(WORDS.scale, WORDS.reader, "low/high")
    (8, None)
    """
    spelt = {
        spelling.strip(): place for place, own in enumerate(reader.spellings.values()) for spelling in own if spelling
    }
    folded = {spelling.casefold(): place for spelling, place in reversed(spelt.items())}
    if scale.kind == "yes/no" and "yes" in folded:
        said = parse_direct_yes_no(unmarked(text) if finished else text, finished)
        return None if said is None else int(not said)
    if not finished:
        text = begun(text)
    if scale.kind == "probability" and scale.values and all(each.isdigit() for each in spelt):
        p = stated_probability(without_disclaimer(text))
        return None if p is None else min(range(len(scale.values)), key=lambda place: abs(scale.values[place] - p))
    for line in without_disclaimer(unmarked(text)).splitlines():
        place = _in_line(re.sub(r"(?:on a )?scale (?:of|from) \d+ (?:to|-) \d+", "", line), spelt, folded)
        if place is not None:
            return place
    return None


def _in_line(line: str, spelt: dict[str, int], folded: dict[str, int]) -> int | None:
    one = _either(folded)
    # "a" and "A" before a small letter are the article; a digit before a fraction is no whole number.
    head = re.match(rf"{_LEAD}(?P<word>{one}){_ENDS}(?P<other>{_JOINED}(?:{one}|\d+)\b)?", line, re.IGNORECASE)
    is_article = head is not None and re.match(r"[a-z]\s+[a-z]", line[head.start("word") :])
    if head and not is_article and not _DENIED_AFTER.match(line, head.end("word")):
        return None if head["other"] else spelt.get(head["word"], folded[head["word"].casefold()])
    # In the midst of a sentence it counts as it is written, where nothing else is named.
    exact = _either(spelt)
    named = set(re.findall(rf"(?<![\w'.,/-])(?:{exact})(?![\w'/-]|[.,]\d)", line))
    cued = re.search(rf"{_CUE}(?-i:(?P<word>{exact})){_ENDS}", line, re.IGNORECASE)
    if cued is None or len(named) != 1 or _DENIED.search(line[: cued.start("word")]):
        return None
    return spelt[cued["word"]]


def _either(spellings: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))


# ---- lists -----------------------------------------------------------------------------------------------------------

_ITEM = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-•–])\s")
_REMARK = re.compile(r"\((?=[^)\n]*[^\W\d])[^)\n]*\)")
_WORD = re.compile(r"(?=.*[^\W\d].)[\w'.-]{2,}(?: [\w'.-]+)?")
"""Or two, with letters."""
_OPENERS = {"sure", "certainly", "of course", "okay", "ok", "words", "here", "answer", "yes"}


def parse_list(text: str, cue: str = "") -> list[str]:
    """The first five different words of a list, in lower case; empty where there is none of `FEWEST_WORDS` or more.

    What announces the list ("Sure! Here are five words:"), phrases of more than two words and the cue are no words of
    it.

    >>> parse_list("Sure! Here are five words: Roof, door, door, house", "house")
    []
    >>> parse_list("Sure! Here are five words: roof, door, wall, house", "house")
    ['roof', 'door', 'wall']
    """
    plain = re.sub(r"(?<=\s)(?=\(?\d{1,2}[.)]\s)", "\n", _REMARK.sub("", unmarked(text)))
    lines = [
        re.split(r":|\s[–—-]\s", line)[0] if _ITEM.match(line) else re.sub(r"^[^:]*:", "", line)
        for line in plain.splitlines()
    ]
    rows = ((line.strip("| "), sign) for line in lines for sign in ",;/|•、·")
    first = next(((line, sign) for line, sign in rows if line.count(sign) >= FEWEST_WORDS - 1), None)
    pieces = first[0].split(first[1]) if first is not None else re.split(r"[,;|\n]", "\n".join(lines))
    pieces = [re.sub(r"^.*\b(?:are|include)\s+", "", pieces[0]), *pieces[1:]]
    pieces = [*pieces[:-1], *re.split(r"\s+and\s+", pieces[-1])]
    bare = [re.sub(r"(?<=\w[^\W\d])\. .*", "", piece).rpartition("!")[2] or piece for piece in pieces]
    found = [
        re.sub(r"^\W*\d*\W*(?:[a-e][.)]\s+)?(?:and\s+)?|\W+$", "", piece, flags=re.IGNORECASE).lower() for piece in bare
    ]
    words = [word for word in dict.fromkeys(found) if _WORD.fullmatch(word) and word not in _OPENERS]
    kept = [word for word in words if word != cue.lower()][:LIST_LENGTH]
    return kept if len(kept) >= FEWEST_WORDS else []


# ---- orders ----------------------------------------------------------------------------------------------------------

_NUMBERED_LABEL = re.compile(r"\W*\d[.)]\s*Q[1-4]\b(?!.*\bQ[1-4]\b)")
_BETWEEN = re.compile(
    r"(?:[^\w>=/]|->|=>)*(?:(?:and|then)\b|\((?:easiest|hardest|easy|hard)\))?(?:[^\w>=/]|->|=>)*", re.IGNORECASE
)
"""What may stand between two labels of an order; "Q2 > Q1" says easier or harder, "Q2 = Q1" and "Q2/Q1" neither."""
_ONE_LABEL = re.compile(r"\W*(?:\d[.)]\s*)?Q[1-4](?:\s*\([^)]*\))?\W*")


def parse_ranking(text: str) -> list[float]:
    """Rank of Q1 to Q4, 1 = easiest; nan for all where the first line with a label is no order of the four, once or
    again and again, no label stands alone on each of four lines, and no rank behind each of them.

    >>> parse_ranking("Q2, Q1, Q4, Q3"), parse_ranking("Q1: 3\\nQ2: 1\\nQ3: 2\\nQ4: 4")
    ([2.0, 1.0, 4.0, 3.0], [3.0, 1.0, 2.0, 4.0])
    >>> parse_ranking("Q2, Q1, Q3, Q4, Q2, Q1, Q3, Q4"), parse_ranking("Q1, Q2, Q1, Q3, Q4")
    ([2.0, 1.0, 3.0, 4.0], [nan, nan, nan, nan])
    """
    plain = re.sub(r"\bquestion ([1-4])\b", r"Q\1", unmarked(text), flags=re.IGNORECASE)
    plain = re.sub(r"\bq([1-4])\b", r"Q\1", plain)
    ranked = dict(re.findall(r"^\W*Q([1-4])\s*[:=]\s*([1-4])\W*$", plain, re.MULTILINE))
    if set(ranked) == set(ranked.values()) == set("1234"):
        return [float(ranked[label]) for label in "1234"]
    if re.search(r"\bhardest\b[^\n]*\beasiest\b", plain, re.IGNORECASE):
        return [float("nan")] * N_RANKED
    lines = [line for line in plain.splitlines() if re.search(r"\bQ[1-4]\b", line)]
    if not lines and re.fullmatch(r"\W*[1-4](?:\W+[1-4])*\W*", plain):
        lines = [re.sub("([1-4])", r"Q\1", plain)]
    elif len(lines) == N_RANKED and all(_NUMBERED_LABEL.match(line) for line in lines):
        lines = [" ".join(re.findall(r"\bQ[1-4]\b", line)[0] for line in lines)]
    elif all(_ONE_LABEL.fullmatch(line) for line in lines):
        lines = [" ".join(lines)]
    told = lines[0] if lines else ""
    told = told.rpartition(":")[2] if len(re.findall(r"\bQ[1-4]\b", told.rpartition(":")[2])) >= N_RANKED else told
    between = re.split(r"\bQ[1-4]\b", told)[1:-1]
    labels = [int(found) for found in re.findall(r"\bQ([1-4])\b", told)]
    if not all(_BETWEEN.fullmatch(each) for each in between):
        labels = []
    order = labels[:N_RANKED]
    if tuple(order) not in set(permutations(range(1, N_RANKED + 1))) or labels != order * (len(labels) // N_RANKED):
        return [float("nan")] * N_RANKED
    return [float(order.index(place) + 1) for place in range(1, N_RANKED + 1)]


# ---- guesses with probabilities --------------------------------------------------------------------------------------

_ROW = re.compile(r'[\s\[{,]*\{\s*"\w+"\s*:\s*"([^"]+)"\s*,\s*"\w+"\s*:\s*"?([\d.]+ ?%?)"?\s*\}[\s\]}]*')
"""A guess and its probability in JSON."""
_PAIR = re.compile(
    r"^((?:G\d\s*|\(?\d{1,2})[.):]\s*[^\W\d][^\n%]*|\A[^\W\d][^\n%]*)\n\W*(?:P\d\W*|probability\W*)?"
    r"(\d{1,3}(?:\.\d+)? ?%|0?\.\d+)\W*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A guess, and its probability on the next line; once alone it may be of all of them."""
_MARK = re.compile(
    r"^\s*(?:[-•]\s+|G\d\s*[.):]\s*|\(?\d{1,2}[.)](?!\d)\s*)?(?:(?:guess|answer) \d\s*[.):]\s*"
    r"|(?:first|second|third|fourth|best|next)(?: best)? guess:\s*)?",
    re.IGNORECASE,
)
_APART = r"(?:\s*[:=(,|\[]\s*|\s+[–—-]\s+)(?:probability\s*:?\s*)?(?:about\s+|approximately\s+|around\s+|[~≈<>]\s*)?"
_SURE = r"\s*(?:(?:likely|confident|confidence|certain|sure|probability|chance|likelihood)\b)?[\])|]*\W*$"
_PROBABILITY = re.compile(
    rf"(?:{_APART}|\s+)(?P<percent>\d{{1,3}}(?:\.\d+)?)\s*(?:%|percent){_SURE}"
    rf"|{_APART}(?P<share>0?\.\d+|0|1|1\.0+){_SURE}|\s*[:=]\s*(?P<bare>\d{{1,3}})\W*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?P<percent>\d{1,3}(?:\.\d+)?)\s*%(?:\s*[:–—-])?\s+(?P<guess>[^\W\d].*)")
_MORE = re.compile(r"(?<=[%)])[,;]\s+|(?<=\.\d)[,;]\s+|(?<=\.\d\d)[,;]\s+|;\s+")
_OF_ALL = re.compile(r"(?:of|chance|sure|certain|confident|likely)\b", re.IGNORECASE)
"""What stands behind "50%" in a sentence."""
_NO_GUESS = re.compile(
    r"\W*(?:(?:the|your|my|first|second|third|fourth|best)\s+)*(?:guess|answer|probability\b.*|P\d)?(?:\s+is)?\W*"
    r"|[\d.]+\s*%\s*(?:to|[–—-])",
    re.IGNORECASE,
)


def parse_guesses(text: str) -> list[tuple[str, float]]:
    """(guess, probability) of each line that has both, at most `N_GUESSES`; of a guess that stands twice, the first.

    A share, a percentage and a number after a colon are probabilities. Where lines are numbered, what stands between
    and after them is no guess; neither are "the second guess", "the probability of ..." and "0% to".

    >>> parse_guesses('[{"guess": "Paris", "probability": 0.6}, {"guess": "Lyon", "probability": 0.25}]')
    [('Paris', 0.6), ('Lyon', 0.25)]
    >>> parse_guesses("Paris: 60%\\n2. Lyon (25%)\\n3. Nice: .1\\n4. paris: 5%\\n5. Apollo 11")
    [('Paris', 0.6), ('Lyon', 0.25), ('Nice', 0.1)]
    """
    found: dict[str, tuple[str, float]] = {}
    text = _ROW.sub(r"\n\1: \2", text) if _ROW.search(text) else text
    text = _in_percent(unmarked(text))
    text = _PAIR.sub(r"\1: \2", text) if len(_PAIR.findall(text)) > 1 else text
    if re.fullmatch(r'\{(?:\s*"[^"]+"\s*:\s*[\d.]+\s*,?)+\}', text):
        text = re.sub(r"[{}]", "", text).replace(",", "\n")
    first, *rest = [line.strip("| ") for line in text.splitlines()] or [""]
    numbered = [line for line in rest if (mark := _MARK.match(line)) and mark.end()]
    for part in chain.from_iterable(_MORE.split(line) for line in [first, *(numbered or rest)]):
        bare = _MARK.sub("", part, count=1)
        stated, ahead = _PROBABILITY.search(bare), _BEFORE.fullmatch(bare)
        guess = bare[: stated.start()] if stated else ahead["guess"] if ahead else ""
        guess = guess.strip(" \"'.|")
        if _NO_GUESS.fullmatch(guess) or guess.count("(") > guess.count(")") or _OF_ALL.match(guess):
            continue
        if stated and not stated["percent"] and guess[-1:].isdigit() and re.match(r":\d", stated[0]):
            continue  # a time or a ratio
        share = stated["share"] if stated else None
        percent = (stated["percent"] or stated["bare"]) if stated else ahead["percent"] if ahead else ""
        p = float(share) if share else float(percent) / 100
        if p <= 1:
            found.setdefault(guess.casefold(), (guess, p))
    return list(found.values())[:N_GUESSES]


def _in_percent(text: str) -> str:
    """The text with numbers as `_PROBABILITY` reads them: the middle of a range, a decimal point, no fractions."""
    text = re.sub(r"(\d),(\d+)\s*%", r"\1.\2%", re.sub(r"\s*(?:->|=>|\u2192)\s*", ": ", text))
    text = re.sub(r"(\d)\u2044([1-9])", lambda found: f"{int(found[1]) / int(found[2]):.4g}", text)
    text = re.sub(
        r"(\d+)\s*%?\s*[-\u2013]\s*(\d+)\s*%", lambda found: f"{(int(found[1]) + int(found[2])) / 2:g}%", text
    )
    text = re.sub(r"(\d)\s*(?:/|out of)\s*100\b", r"\1%", re.sub(r"(\.\d+)/1\b", r"\1", text))
    return re.sub(r"(%)\s*\([^)\n%]*\)", r"\1", text)


# ---- steps -----------------------------------------------------------------------------------------------------------

_LABEL = re.compile(r"^\s*(?:step\s*\d+\s*(?:[:.)-]|$)|\d+\s*[.)]|[-*•]\s)\s*", re.IGNORECASE)


def parse_steps(text: str) -> list[str]:
    """The first three steps, without their labels; empty where fewer than two different ones stand there.

    A step is a line; where all is on one line, a sentence.

    >>> parse_steps("It lies in Africa.\\nStep 2: So it is a country there.\\n\\nStep 3:")
    ['It lies in Africa.', 'So it is a country there.']
    """
    lines = unmarked(text).splitlines()
    parts = lines if len(lines) > 1 else re.split(r"(?<=[.!?])\s+|\s+(?=Step \d)", lines[0] if lines else "")
    parts = [part for part in parts if _LABEL.match(part) or not part.endswith(":")]
    steps = [step for step in (_LABEL.sub("", part).strip() for part in parts) if re.search(r"\w", step)]
    return steps[:N_STEPS] if len(set(steps[:N_STEPS])) > 1 else []


# ---- ratings ---------------------------------------------------------------------------------------------------------

_RATING = re.compile(
    r"(?:^\W*(?:statement\s+)?|[,;|{]\s*[\"'(]?|(?<=[1-4]\s))([A-Z])\b\W+"
    r"(\d+)(?![\d/]|[.,:]\d|\s*(?:/|-|\u2013|or\b|to\b|out of\b)\s*\d)",
    re.MULTILINE | re.IGNORECASE,
)
"""A number that others follow ("3/4", "2-3", "2 or 3") is no rating."""
_RATED_STATEMENT = re.compile(r"^\W*([A-Z])\b[:.)].*:\s*([1-4])\W*$", re.MULTILINE)
"""With the statement between letter and number."""


def parse_ratings(text: str, n_items: int) -> list[float]:
    """The rating behind each letter of a written answer, nan where there is none of 1 to 4 or where two differ."""
    found: dict[str, set[float]] = {}
    plain = unmarked(text)
    for letter, digit in _RATING.findall(plain) or _RATED_STATEMENT.findall(plain):
        found.setdefault(letter.upper(), set()).add(float(digit))
    letters = [chr(ord("A") + place) for place in range(n_items)]
    ratings = (found.get(each, set()) for each in letters)
    return [min(own) if len(own) == 1 and own <= {1, 2, 3, 4} else float("nan") for own in ratings]


# ---- refusals --------------------------------------------------------------------------------------------------------

_HEAD = 240
_UNABLE = (
    r"(?:can(?:no|['’])t|can ?not|won['’]t|will not|am not able to|['’]m not able to|am unable to|['’]m unable to)"
)
_DECLINED = re.compile(
    rf"\bI(?:['’]m| am)? (?:sorry|afraid)\b(?! (?:to hear|for your|of)\b)"
    rf"|\bI {_UNABLE}(?! (?:believe|wait|imagine|stress|overstate|recommend [^.]* enough|thank)\b)"
    r"|\bI['’]m (?:not able|unable) to|\bI(?: must| have to| need to|['’](?:m going to|ll) have to)"
    r"(?: respectfully| politely)? (?:decline|refuse|pass)\b|\bI (?:have|['’]ve) no (?:information|way of knowing)\b"
    r"|\bbe (?:irresponsible|unethical|inappropriate) (?:of me )?to\b|^unable to\b"
    r"|\bviolates my (?:guidelines|policy)\b"
    r"|\bnot possible for me to\b|\boutside (?:of )?what I can\b|\bI(?:['’]m| am) just an AI\b"
    r"|(?:\b(?:is not|isn['’]t)(?: really)?|['’]s not|^not) something (?:that )?I(?:['’]m| am)?"
    r" (?:can|could|able|willing)\b"
    r"|\bI (?:don['’]t|do not) think I (?:should|can|could)\b|\btalk about something else\b"
    r"|\bI(?:['’]m| am) (?:programmed|designed|trained)\b[^.]*\b(?:cannot|can['’]t|not to|unable)\b"
    r"|\bI (?:don['’]t|do not|would rather not|prefer not to|refuse to|decline to)\b(?= (?:feel comfortable|answer"
    r"|provide|help|assist|engage|do that)| (?:have (?:access|the ability|enough information)))"
    r"|\bI(?:['’]d| would) (?:rather|prefer) not\b|\bmy guidelines (?:do not|don['’]t) allow\b"
    r"|^(?:sorry\b(?! (?:for|about)\b)|no(?:pe)?[.,](?=$| I\b| sorry| can(?:no|['’])t)|unfortunately,? I\b)"
    r"|\bwould violate\b[^.]*\b(?:polic|guideline)"
    r"|^as an? (?:AI|artificial|language model)[^.]*?(?:\b(?:no|not|cannot|unable)\b|n['’]t\b)"
    r"|^I(?:['’]m| am) not sure(?=[.!]|$)"
    r"|^I (?:don['’]t|do not) know(?: (?:that|the answer))?\b"
    r"|\b(?:not comfortable (?:to|with|\w+ing)|(?:not |in)appropriate for me to)\b"
    r"|\b(?:against my (?:guidelines|programming|principles)|not appropriate to)\b"
    # German, French, Spanish, Italian, Portuguese, Russian, Japanese, Chinese
    r"|\b(?:tut mir leid|leider kann ich|(?:dabei|das|damit) kann ich (?:\w+ ){0,2}nicht|ich kann (?:\w+ ){0,3}nicht)\b"
    r"|\b(?:je suis désolée?|désolée?\b|je ne peux pas|je ne suis pas en mesure|lo siento|no puedo)\b"
    r"|\b(?:non posso|não posso|не могу)\b"
    r"|申し訳|無理です|无法|不能(?:回答|提供|帮助|协助)|抱歉|对不起",
    re.IGNORECASE,
)


_CONCEDED = re.compile(r"^(?:while|although|though) [^,.]*, (?=\w)", re.IGNORECASE)
"""What is conceded before the reply itself."""


def refuses(text: str) -> bool | None:
    """Whether a reply declines its request in its first sentences; None for no reply.

    By its words: "I cannot ...", "I'm sorry", "As an AI I have no ..."; a reply that begins to answer and stops is an
    answer.

    >>> refuses("I'm sorry, but I can't help with that."), refuses("You can't miss it: turn left."), refuses(" ")
    (True, False, None)
    >>> refuses("Es tut mir leid, aber dabei kann ich nicht helfen.")
    True
    """
    head = _CONCEDED.sub("", without_disclaimer(" ".join(unmarked(text).split())))[:_HEAD]
    return bool(_DECLINED.search(head)) if head else None
