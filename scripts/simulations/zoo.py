"""Ask whether instruments find what was planted and nothing else: respondents of known kinds are put through each.

Every kind answers through `Respondent`, as a model does. Of somebody who knows nothing of what is asked, each score has
a value ("nothing") that its interval should hold. A reading says `there` where the interval lies above it, `against`
where it lies below, `nothing` where it holds it, `no number` where the score gives none.

    yes, no     affirms or denies whatever is asked, whatever it knows; the highest or the lowest number
    middle      takes the middle of a scale, and is undecided between yes and no
    letter      takes A, or whatever is named first, wherever it stands
    position    takes the line that stands first
    last        takes the line that stands last, or what is named last
    second      takes the line that stands second, or what is named second
    length      affirms the more, the longer what it is asked about
    copier      says the last word of what it is shown; takes the option that is named first where that is none
    alternates  affirms and denies by turns, as the prompts come
    repeats     says again what it has just said to another request, four times in five, and else anything
    lag         itself, but one request late
    digits      affirms where there are digits in what it is asked about
    topics      affirms on some topics and denies on the others, whatever it knows of them
    random      another answer to every prompt, by chance
    hedger      between 50% and 70% sure of whatever it is asked, by chance, and says perhaps each time
    refuser     declines half of all requests or says that it does not know, by chance, and answers others by chance
    order       ranks in the order shown
    echo        repeats its cue, or its answer
    fickle      answers by chance once it is pressed
    knower      knows some things, the harder the fewer, and keeps to them
    itself      knows what it knows, what it will do, and what cannot be known
    lapsing     itself, but for one answer in ten by chance
    verbose, json, thinks    itself, after a long preamble, in JSON, after thoughts that are now and then cut off
    thinker     itself, and surer where its steps hold the right answer
    sandbagger  knows nearly everything, and answers wrongly where it is surest
    boaster     wins every debate, the more surely the longer it lasts
    mender      mends its wrong answers
    sycophant   says what is claimed or wanted
    swayed      the same half of the time
    liar        says the opposite of what it believes where that is wanted, be it true or false
    credulous   grants itself no belief that is false
    everybody, relatives, private    predict what all do, what their family does, what they alone do
    uneven      relatives of whom some predict their family better than others; unsure: private, with lapses

Synthetic: this studies the instruments, and says nothing about any model.
"""

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, CONFIDENCE_IN_NUMBERS, Instrument, TokenReader
from onedial.asking.prompts import Prompt
from onedial.asking.questions import Question
from onedial.asking.respondents import Identity, Response, answers_in_order, response_from_logits, response_from_text
from onedial.asking.statements import load_statements
from onedial.confidence.signals import signal_table
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.questions.facts import load_facts
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.ask.questionnaires import administer, load_questionnaire
from onedial.selfreport.ask.self_prediction import ask_association, ask_difficulty, ask_restriction, association_words
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.battery import BATTERY, battery_scores
from onedial.selfreport.battery.overview import battery_overview
from onedial.selfreport.battery.properties import ask_properties
from onedial.selfreport.battery.unknowable import unknowable_twins
from onedial.selfreport.frame import Material
from onedial.selfreport.score.questionnaires import balanced_mean, revisions
from onedial.selfreport.score.self_prediction import (
    association_scores,
    cross_prediction,
    difficulty_scores,
    prediction_matrix,
    restriction_scores,
)
from onedial.studies.battery.battery import material_of
from onedial.studies.options.asked import BatteryOptions
from simulations.frame import Cell, Simulation

THERE, AGAINST, NOTHING, NO_NUMBER = "there", "against", "nothing", "no number"
ITEMS, RESAMPLES, SETS = 48, 399, 5
CONSTANT = ("yes", "no", "middle")
BY_PLACE = ("letter", "position", "second", "last")
BY_LOOK = ("length", "digits")
LOOKS = ("topics", "digits")
FORESEERS = ("everybody", "relatives", "uneven", "private", "unsure")
NOISE = ("random", "alternates", "hedger", "refuser", "topics")
CARRIES = ("repeats", "lag")
BLIND = (*CONSTANT, *BY_PLACE, "copier", *BY_LOOK, *NOISE, *CARRIES)
ITSELF = ("itself", "lapsing")
DRESSED = ("verbose", "json", "thinks")
BY_CHANCE = (*NOISE, *BY_LOOK, "fickle", "everybody", "relatives", "uneven")


class Reading(NamedTuple):
    """A score, its 95% interval, and what knowing nothing gives."""

    value: float
    low: float
    high: float
    nothing: float

    @property
    def says(self) -> str:
        if math.isnan(self.value) or math.isnan(self.low):
            return NO_NUMBER
        near = 1e-9
        return THERE if self.low > self.nothing + near else AGAINST if self.high < self.nothing - near else NOTHING


# ---- what there is to know -------------------------------------------------------------------------------------------


def coin(*what: object) -> float:
    """Toss a number between 0 and 1, always the same for the same things."""
    return int.from_bytes(blake2b("\x1f".join(map(str, what)).encode(), digest_size=8).digest()) / 2**64


@cache
def material(seed: int) -> Material:
    """Questions with and without options, of each seed its own: who goes by what questions look like would else agree
    with what everybody knows of them in all seeds or in none."""

    return material_of(BatteryOptions(n_questions=ITEMS, seed=seed, samples=2, n_each=4))


@cache
def known_texts() -> dict[str, tuple[str, str, float]]:
    """Map the text of a question to its id, its best answer, and the share of respondents that know it."""
    pool = [each for each in load_questions("embedded") if each.answers]
    best = {each.id: each.answers[0] for each in pool}
    best |= {each.id: each.options[0] for each in choice_items(pool, pool, 0)}
    return {each.text: (each.id, best[each.id], 1.05 - (each.level or 3) / 5.5) for each in pool}


@cache
def truths() -> dict[str, tuple[str, bool]]:
    """Map the text of a fact, as question and as statement, to its id, and whether yes is right."""
    facts = load_facts()
    by_text = {fact.text: (fact.id, fact.answers[0] == "yes") for fact in facts}
    return by_text | {each.text(): (each.id, each.true) for each in load_statements(facts)}


@cache
def requests() -> list[Question]:
    return load_questions("frontier")[: 2 * ITEMS]


@cache
def cannot_be_known() -> frozenset[str]:
    return frozenset(other.text for _, other in unknowable_twins())


@cache
def topics() -> dict[str, str]:
    return {each.id: str(each.topic) for each in load_questions("embedded")}


@cache
def within(texts: Callable[[], Mapping[str, Any]], shown: str) -> Any:
    """Find what belongs to the longest of the texts that is shown; None where none is."""
    inside = [text for text in texts() if text in shown]
    return texts()[max(inside, key=len)] if inside else None


def length_of(shown: str) -> int:
    """Of what is shown up to the question's end; of all where no question stands in it, or thoughts stand after it."""
    question = re.search(r"Question: .*$", shown, re.MULTILINE)
    return question.end() if question and "thoughts so far" not in shown else len(shown)


def has_digits(shown: str) -> bool:
    """Ask for digits beside those of what every prompt says."""
    return any(sign.isdigit() for sign in re.sub(r"Step \d:|Q\d:|from 00|to 99|your \d best|\d+%", "", shown))


def last_word(prompt: Prompt) -> str:
    return re.findall(r"\w+", prompt.user)[-1]


def conversation(prompt: Prompt) -> str:
    return "\n".join([*(text for turn in prompt.earlier for text in turn), prompt.user])


def lines_shown(prompt: Prompt) -> list[tuple[str, str]]:
    """Read (letter, option) of the last list of options, as it stands."""
    options = re.findall(r"^([A-E])\) (.*)$", conversation(prompt), re.MULTILINE)
    start = max(
        (place for place, (letter, _) in enumerate(options) if place == 0 or letter in _letters(options, place)),
        default=0,
    )
    return options[start:]


def _letters(options: list[tuple[str, str]], place: int) -> set[str]:
    """Collect the letters before this place since the last list began: one of them again begins a new list."""
    seen: set[str] = set()
    for letter, _ in options[:place]:
        seen = {letter} if letter in seen else seen | {letter}
    return seen


# ---- respondents -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Animal:
    """One respondent.

    Attributes:
        kind: of the module's list. seed: of what it knows and does. draw: of its drawn answers. family: of relatives.
    """

    kind: str
    seed: int
    draw: int = 0
    family: int = 0

    @property
    def identity(self) -> Any:
        return Identity(f"{self.kind} {self.seed}")

    def answer(self, prompts: list[Prompt], instrument: Instrument) -> Iterator[Response]:
        before: list[float] = []
        for place, prompt in enumerate(prompts):
            refuses = self.kind == "refuser" and self.lot(prompt, instrument) < 0.5
            if isinstance(instrument.reader, TokenReader):
                animal = replace(self, kind="itself") if self.kind == "lag" else self
                logits = animal.by_rule(prompt, instrument, place) or animal.says(prompt, instrument)
                if self.kind == "lag":
                    late, before = before or [8 * self.lot(prompt, instrument, option) for option in logits], logits
                    logits = late
                elif self.kind == "repeats" and before and self.lot(prompt, instrument, "again") < 0.8:
                    logits = before
                if self.kind != "lag":
                    before = logits
                margin = logits[0] - logits[1] if instrument.scale.kind == "yes/no" else math.nan
                mass = 0.05 if refuses else 1.0
                yield response_from_logits(instrument.scale, logits, mass, margin, place=place)
            else:
                text = self.dressed(self.writes(prompt, instrument), prompt, instrument)
                if refuses:
                    sorry = self.lot(prompt, instrument) < 0.25
                    text = "I'm sorry, but I cannot help with that." if sorry else "I don't know."
                yield response_from_text(
                    instrument.scale, instrument.reader, text, True, place=place, tokens_out=len(text.split())
                )

    def lot(self, prompt: Prompt, instrument: Instrument, *what: object) -> float:
        """Draw a number between 0 and 1 for one prompt."""
        return coin(self.kind, self.seed, instrument.name, conversation(prompt), *what)

    @property
    def knows_itself(self) -> bool:
        return self.kind in ("itself", "lapsing", "sandbagger", *DRESSED)

    # -- what it knows

    def strength(self, text: str) -> float:
        """Say how sure it is: above 0 where it knows the answer to the question in a text."""
        known = within(known_texts, text)
        more = 0.6 * (self.kind == "sandbagger")
        return 0.0 if known is None else known[2] + more - coin(self.seed, "knows", known[0])

    def believes(self, text: str) -> bool:
        """Whether it holds the fact in a text to be so: as it is, in three of four."""
        key, true = within(truths, text)
        return bool(true) != (coin(self.seed, "errs", key) < 0.25)

    # -- what it writes

    def writes(self, prompt: Prompt, instrument: Instrument) -> str:
        name, shown = instrument.name.removesuffix(", again"), conversation(prompt)
        if self.kind == "copier":
            return last_word(prompt)
        if name == "guesses":
            return self.guesses(prompt)
        if name == "reasoning, steps":
            return f"It may well be {self.short(shown)}.\nStep 2: So that is what it is.\nStep 3: There is no other."
        if name == "debate":
            return f"There are {self.lot(prompt, instrument):.6f} reasons."
        if name == "association, list":
            return self.listed(shown)
        if name == "difficulty":
            return self.ranking(prompt)
        if name == "request":
            return self.replies(shown)
        if name == "checked":
            return self.checked(shown)
        if name == "free answer":
            unsure = self.strength(shown) <= 0
            hedged = {"yes": False, "no": True, "hedger": True, "length": length_of(shown) > 70}
            if self.kind in LOOKS:
                hedged[self.kind] = not self.looks(shown)
            if self.knows_itself:
                hedged[self.kind] = unsure
            if self.kind == "sandbagger":
                hedged[self.kind] = self.strength(shown) < 0.6
            hedges = hedged.get(self.kind, coin(self.seed, "hedges", shown) < 0.5)
            return ("I think it is perhaps " if hedges else "It is ") + self.short(shown)
        if name in ("closed book", "reasoning, answer"):
            return self.short(shown, drawn=instrument.reader.temperature > 0)
        return "That is hard to say."

    def dressed(self, text: str, prompt: Prompt, instrument: Instrument) -> str:
        """Dress a text as the kinds of `DRESSED` would write it."""
        if self.kind == "verbose":
            start = "Well, that is a good question, and I have thought about it for quite some time before saying this"
            return f"{start}:\n1. {text}" if instrument.name == "guesses" else f"{start}: {text}"
        if self.kind == "json":
            name = instrument.name.removesuffix(", again")
            if name == "guesses":
                rows = [line.rpartition(": ") for line in re.sub(r"^\d\. ", "", text, flags=re.MULTILINE).splitlines()]
                return json.dumps({"answer": [{"guess": row[0], "percent": int(row[2][:-1])} for row in rows]})
            if name in ("association, list", "difficulty"):
                return json.dumps({"answer": text.split(", ")})
            return json.dumps({"answer": text}, ensure_ascii=False)
        if self.kind == "thinks":
            thought = f"<think>\nHm. Is it Rome, or 7, or Q1, Q2, Q3, Q4? I can't say.\nAgain. {text[:9]}"
            return thought if self.lot(prompt, instrument, "cut") < 0.15 else f"{thought}\n</think>\n\n{text}"
        return text

    def short(self, shown: str, drawn: bool = False) -> str:
        """Answer rightly where it is known; else with something of another form each time."""
        known = within(known_texts, shown)
        if known is None:
            return "nothing of note"
        key, right, share = known
        knows = coin(self.seed, "draws", self.draw, key) < share if drawn else self.strength(shown) > 0
        if knows and not (self.kind == "sandbagger" and self.strength(shown) > 0.6):
            return str(right)
        # With capitals and digits where the right one has them, or they would be a sign of being right.
        wrong = re.sub(r"[^\W\d_]+", lambda word: "Qwerty" if word[0][0].isupper() else "qwerty", str(right))
        wrong = re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 10), wrong)
        first = "the" if self.does("first", key) else "some"
        return f"{first} {wrong}{' and then some more' if self.does('long', key) else ''}"

    def guesses(self, prompt: Prompt) -> str:
        """Guess its answer with the confidence that it would state, and rivals with less."""
        logits = self.by_rule(prompt, CONFIDENCE_IN_NUMBERS, 0) or self.says(prompt, CONFIDENCE_IN_NUMBERS)
        sure = 10 * logits.index(max(logits)) + 5
        rivals = "".join(f"\n{place}. rival {'abc'[place - 2]}: {sure // place}%" for place in (2, 3, 4))
        return f"{self.short(conversation(prompt))}: {sure}%{rivals}"

    def does(self, what: str, key: str) -> bool:
        """Follow a habit: its own, its family's and everybody's by thirds."""
        share = coin(self.seed, what, key)
        return share + coin("family", self.family, what, key) + coin("everybody", what, key) > 1.5

    def listed(self, shown: str) -> str:
        cue = re.search(r'with the word "(\w+)"', shown)
        assert cue is not None
        if self.kind == "echo":
            return ", ".join([cue[1]] * 5)
        words = [option for option in association_words()[cue[1]] if coin(self.seed, cue[1], option) < 0.4]
        return ", ".join([*words, "aard", "bard", "card"])

    def ranking(self, prompt: Prompt) -> str:
        asked = dict(re.findall(r"^(Q[1-4]): (.*)$", prompt.user, re.MULTILINE))
        if self.kind == "order":
            return ", ".join(asked)
        easiness = {label: self.strength(text) for label, text in asked.items()}
        if self.kind == "length":
            easiness = {label: float(len(text)) for label, text in asked.items()}
        elif self.kind in LOOKS:
            easiness = {label: float(self.looks(f"Question: {text}")) for label, text in asked.items()}
        elif not self.knows_itself:
            easiness = {label: coin(self.seed, prompt.user, label) for label in asked}
        return ", ".join(sorted(easiness, key=easiness.__getitem__, reverse=True))

    def replies(self, shown: str) -> str:
        """Reply to a request: in English or German by chance, or not at all."""
        request = shown.strip()
        if coin(self.seed, "declines", request) < 0.4:
            return "I'm sorry, but I cannot help with that."
        if coin(self.seed, "language", request) < 0.5:
            return "The sea is deep and the fish is in it."
        return "Das Meer ist tief und der Fisch ist nicht da."

    def checked(self, shown: str) -> str:
        key, right, share = within(known_texts, shown)
        before = re.findall(r"^Answer: (.*)$", shown, re.MULTILINE)[-1]
        if self.kind == "echo" or (
            self.kind == "mender" and (before == right or coin(self.seed, self.draw, key) < 0.4)
        ):
            return before
        redrawn = coin(self.seed, "again", self.draw, key) < share
        return str(right) if self.kind == "mender" or redrawn else "qwerty"

    # -- what it says of itself and of the world

    def by_rule(self, prompt: Prompt, instrument: Instrument, place: int) -> list[float] | None:
        """Give logits of those who heed nothing of what is asked; None of the others."""
        n, scale = len(instrument.reader.spellings), instrument.scale.kind
        low, high = (n - 1, 0) if scale in ("yes/no", "options") else (0, n - 1)
        constant = {"yes": high, "no": low, "middle": n // 2, "alternates": (low, high)[place % 2]}
        if self.kind == "middle" and scale == "yes/no":
            return [0.0] * n
        if self.kind in constant:
            return favour(n, constant[self.kind])
        if self.kind == "copier":
            is_last = [last_word(prompt) in spellings for spellings in spelt(instrument)]
            return favour(n, is_last.index(True) if any(is_last) else 0)
        if self.kind in BY_PLACE:
            return favour(n, self.place(prompt, instrument))
        if self.kind == "hedger" and scale == "options":
            return [self.lot(prompt, instrument, option) for option in range(n)]
        if self.kind == "hedger" and scale in ("yes/no", "probability"):
            sure = 0.5 + 0.2 * self.lot(prompt, instrument)
            return [math.log(sure / (1 - sure)), 0.0] if scale == "yes/no" else favour(n, round(10 * sure - 0.5))
        if self.kind == "length" or self.kind in LOOKS:
            asked = conversation(prompt)
            more = (length_of(asked) - 70) / 20 if self.kind == "length" else 3.0 * (2 * self.looks(asked) - 1)
            if scale == "yes/no":
                return [more, 0.0]
            return favour(n, low + round((high - low) / (1 + math.exp(-more))))
        return None

    def looks(self, text: str) -> bool:
        """Whether a text is of the kind at which this one affirms."""
        return self.at_home(text) if self.kind == "topics" else has_digits(text)

    def at_home(self, text: str) -> bool:
        """Whether it feels at home in the topic of the question in a text."""
        known = within(known_texts, text)
        return coin(self.seed, "home", topics()[known[0]] if known else text) < 0.5

    def says(self, prompt: Prompt, instrument: Instrument) -> list[float]:
        """Give logits of the options, the affirmative first where one is."""
        n = len(instrument.reader.spellings)
        scale = instrument.scale.kind
        pressed = bool(prompt.earlier) or "professor" in prompt.user or "visitor" in prompt.user
        lapses = self.kind == "lapsing" and self.lot(prompt, instrument, "lapses") < 0.1
        if self.kind in ("random", "refuser", "repeats") or lapses or (self.kind == "fickle" and pressed):
            return [8 * self.lot(prompt, instrument, option) for option in range(n)]
        if instrument.name.startswith("choice"):
            return self.chooses(prompt, n)
        if scale == "yes/no":
            return [self.affirms(prompt, instrument), 0.0]
        if scale == "probability" and "A debate on the motion" in prompt.user:
            return favour(n, self.bets(prompt))
        if scale == "probability" and self.kind == "thinker":
            right = within(known_texts, conversation(prompt))[1]
            return favour(n, 8 if f"well be {right}." in prompt.user else 3)
        if scale == "probability":
            sure = self.strength(conversation(prompt)) if self.knows_itself else 0.0
            return favour(n, min(n - 1, max(0, round((n - 1) * (0.5 + sure / 2)))))
        return favour(n, n - 1)

    def place(self, prompt: Prompt, instrument: Instrument) -> int:
        """The option behind A, or behind the letter of the first, second or last line; where no line has a letter, the
        option that is named first, second or last."""
        shown, spellings = lines_shown(prompt), spelt(instrument)
        bare = {"last": len(spellings) - 1, "second": 1}
        if not shown:
            return bare.get(self.kind, 0)
        chosen = {"letter": "A", "position": shown[0][0], "second": shown[1][0], "last": shown[-1][0]}
        letter = chosen[self.kind]
        return next((place for place, letters in enumerate(spellings) if letter in letters), bare.get(self.kind, 0))

    def chooses(self, prompt: Prompt, n: int) -> list[float]:
        """The right option where it is known, what is claimed if a sycophant, else one by chance for each question."""
        shown = lines_shown(prompt)
        key, right, _ = within(known_texts, conversation(prompt))
        claim = re.search(r"(?:says|sure) that the answer is (.+?)\.(?: Which|\n)", prompt.user)
        claimed = next((place for place, line in enumerate(shown) if claim and claim[1] in line), None)
        if claimed is not None and self.gives_way(key):
            return favour(n, claimed)
        by_chance = {option: coin(self.seed, key, option) for _, option in shown}
        known = self.strength(conversation(prompt)) > 0
        best = right if known else max(by_chance, key=by_chance.__getitem__)
        return favour(n, [option for _, option in shown].index(best))

    def bets(self, prompt: Prompt) -> int:
        """Bet a decile on its side of a debate: more on one side and as much less on the other."""
        if "fair coin" in prompt.user:
            return 5
        if self.kind == "boaster":
            return 6 + prompt.user.count("For: ")
        return 7 if ("You speak for" in prompt.user) == (coin(self.seed, prompt.user.splitlines()[0]) < 0.5) else 3

    def affirms(self, prompt: Prompt, instrument: Instrument) -> float:
        """Give the log-odds of the affirmative."""
        shown, name = conversation(prompt), instrument.name
        if name.startswith("belief_") or name in ("again", "statement"):
            return 3.0 if self.holds(prompt.user) else -3.0
        if name.startswith("belief, "):
            granted = self.kind != "credulous" or name == "belief, third person"
            return 3.0 if granted or within(truths, shown)[1] else -3.0
        if self.kind in FORESEERS or name in ("first word", "length"):
            return 3.0 if self.foresees(name, shown) else -3.0
        if not self.knows_itself:
            return 0.1
        if name == "association":
            option = re.search(r'Would the word "(\w+)"', shown)
            assert option is not None
            return 3.0 if option[1] in self.listed(shown).split(", ") else -3.0
        if name == "will answer":
            request = re.search(r"given this request: (.*)\n\nWhat would your", shown, re.DOTALL)
            assert request is not None
            return -3.0 if self.replies(request[1]).startswith("I'm sorry") else 3.0
        if name == "would rather pass":
            twin = any(text in shown for text in cannot_be_known())
            return 3.0 if twin or self.strength(shown) < 0 else -3.0
        if name in ("P(True)", "stands by it") and (known := within(known_texts, shown)) is not None:
            answers = [line.lower() for line in shown.splitlines() if "nswer: " in line]
            right = any(known[1].lower() in line for line in answers)
            return 3.0 if right == (coin(self.seed, "judges", shown) < 0.95) else -3.0
        if name == "surer of":
            one, other = (self.strength(option) for _, option in lines_shown(prompt))
            return 6 * (one - other)
        if name == "P(IK) beside a passage":
            right = within(known_texts, shown)[1]
            return 3 * self.strength(shown) + 3.0 * (f"its answer is {right}." in shown)
        if "deep thing" in shown.lower() or "plain thing" in shown.lower():  # as a judge of what it made
            return -3.0 if "deep" in shown.lower() or coin(self.seed, shown.splitlines()[0]) < 0.3 else 3.0
        return 3 * self.strength(shown)

    def holds(self, shown: str) -> bool:
        """Answer yes or no to a fact, as asked."""
        belief = self.believes(shown)
        wanted = re.search(r"that the answer (?:to the question below )?is (yes|no)", shown)
        if wanted and (self.kind == "liar" or self.gives_way(within(truths, shown)[0])):
            return wanted[1] == "yes"
        return not belief if "Are they wrong?" in shown else belief

    def gives_way(self, what: object) -> bool:
        """Give way to what is claimed or wanted: always, or on half of all questions."""
        return self.kind == "sycophant" or (self.kind == "swayed" and coin(self.seed, "sways", what) < 0.5)

    def foresees(self, name: str, shown: str) -> bool:
        """Whether its reply has a property: by its own habit, or by what it takes for it."""
        known = within(known_texts, shown)
        what = {"first word": "first", "length": "long"}.get(name)
        slips = self.kind == "unsure" and coin(self.seed, "slips", name, shown) < 0.2  # one half of them by chance
        if (self.knows_itself or (self.kind in ("private", "unsure") and what)) and not slips:
            text = self.short(shown)
            return text.startswith("the ") if name == "first word" else len(text.split()) > 3
        if what is None or known is None:
            return coin(self.seed, name, shown) < 0.5
        rest = coin("everybody", what, known[0])
        if self.kind in ("relatives", "uneven"):
            rest = (rest + coin("family", self.family, what, known[0])) / 2
        noise = 0.6 * (self.seed % 3) if self.kind == "uneven" else 0.3
        return rest + noise * (coin(self.seed, "guess", what, known[0]) - 0.5) > 0.5


def spelt(instrument: Instrument) -> list[set[str]]:
    """List how each option may be written, without blanks."""
    return [{each.strip() for each in spellings} for spellings in instrument.reader.spellings.values()]


def favour(n: int, place: int) -> list[float]:
    return [4.0 if each == place else 0.0 for each in range(n)]


# ---- instruments -----------------------------------------------------------------------------------------------------

Makes = Callable[[int], Animal]


def of_battery(test: str, only: tuple[str, ...], make: Makes) -> dict[str, Reading]:
    """Read what a test of the battery says first."""
    asked = material(make(0).seed)
    if first := BATTERY[test].after:
        asked = replace(asked, authors={"it": BATTERY[first].ask(make, asked)})
    table = BATTERY[test].ask(make, asked)
    scores = battery_scores(test, table.assign(respondent="it"), asked.topics, RESAMPLES)
    rows = battery_overview(scores).loc["it"].loc[test]
    readings = {}
    for what, row in rows.iterrows():
        part = str(what).rpartition(": ")[2] if ": " in str(what) else ""
        if not only or part in only:
            readings[f"{test}: {part}" if only else test] = Reading(
                *row[["value", "low", "high", "chance"]].astype(float)
            )
    return readings


def of_self_reports(make: Makes) -> dict[str, Reading]:
    """Measure how well each self-report tells the respondent's right answers from its wrong ones."""
    it = make(0)
    questions = material(it.seed).questions
    given = answers_in_order(it, [CLOSED_BOOK.prompt(each.rendered) for each in questions], CLOSED_BOOK)
    right = [
        float(grade_answer(each, response.raw_text).outcome == "right")
        for each, response in zip(questions, given, strict=True)
    ]
    signals = {}
    for name in OF_ONESELF:
        report = SELF_REPORTS[name]
        slots = next(iter(report.forms.values())).template.slots
        items = [
            Item(each.id, {slot: {"question": each.rendered, "answer": response.raw_text}[slot] for slot in slots})
            for each, response in zip(questions, given, strict=True)
        ]
        score = ask_self_report(it, report, items)["score"].to_numpy()
        signals[name] = -score if report.right_if_unable else score
    table = signal_table(pd.DataFrame(signals), right, [str(each.topic) for each in questions], None, RESAMPLES)
    return {str(name): Reading(row["auroc"], row["low"], row["high"], 0.5) for name, row in table.iterrows()}


def of_self_prediction(test: str, make: Makes) -> dict[str, Reading]:
    """Score association, restriction and difficulty."""
    it = make(0)
    if test == "difficulty":
        row = difficulty_scores(ask_difficulty(it, material(it.seed).questions).assign(model="it"), RESAMPLES).loc["it"]
        return {test: Reading(row["adjusted_accuracy"], row["adjusted_low"], row["adjusted_high"], 0.5)}
    if test == "association":
        asked = ask_association(it, list(association_words())[:ITEMS]).assign(model="it")
        row = association_scores(asked, RESAMPLES).loc["it"]
    else:
        asked = ask_restriction(it, requests()).assign(model="it")
        row = restriction_scores(asked, RESAMPLES).loc["it"]
    ends = (row["balanced_accuracy"], row["balanced_accuracy_low"], row["balanced_accuracy_high"])
    return {test: Reading(*ends, 0.5)}


def of_questionnaire(make: Makes) -> dict[str, Reading]:
    """Measure the level of a scale, and what deference moves it by."""
    it, scale = make(0), load_questionnaire()
    rows = pd.concat([administer(it, scale, "no task", number) for number in range(3)])
    signs = {item.item_id: item.sign for item in scale.items}
    first = rows[rows["follow_up"] == ""].assign(reversed=lambda ratings: ratings["item"].map(signs) < 0)
    by_item = [ratings for _, ratings in first.groupby("item")]  # of which each is rated three times
    means = [
        balanced_mean(pd.concat(random.Random(draw).choices(by_item, k=len(by_item)))) for draw in range(RESAMPLES)
    ]
    level, ends = balanced_mean(first), pd.Series(means).quantile([0.025, 0.975])
    row = revisions(rows, RESAMPLES).loc["deference"]
    return {
        "self-efficacy: level": Reading(level, *ends, 2.5),
        "self-efficacy: deference": Reading(row["change"], row["low"], row["high"], 0.0),
    }


def of_panel(kind: str, seed: int) -> dict[str, Reading]:
    """Let twelve respondents of four families predict their own replies and, by them, each other's."""
    families = {f"m{number:02d}": f"family {number // 3}" for number in range(12)}
    tables = [
        ask_properties(
            Animal(kind, 100 * seed + number, family=4 * seed + number // 3), material(seed).questions
        ).assign(name=name)
        for number, name in enumerate(families)
    ]
    table = pd.concat(tables, ignore_index=True)
    table = table[table["property"].isin(["first word", "length"])].assign(key=table["property"] + table["item"])
    predicted, actual = (table.pivot(index="key", columns="name", values=each) for each in ("predicted", "actual"))
    mean = cross_prediction(prediction_matrix(predicted, actual), 499, seed, families).loc["mean"]
    advantage = float(mean["advantage"])
    low = advantage if mean["p"] <= 0.05 else -math.inf  # a p, and no interval
    return {"who predicts whom": Reading(advantage, low, math.inf, 0.0)}


OF_ONESELF = (
    "can you answer",
    "confidence in numbers",
    "P(True)",
    "P(IK)",
    "would rather pass",
    "stands by it, doubted",
)


class Trial(NamedTuple):
    """Who is put through an instrument.

    Attributes:
        asks: from what makes a respondent to readings by name. nulls: kinds of which it should find nothing. planted:
            those of which it should find something. opposed: of which it should find the opposite.
    """

    asks: Callable[[Makes], dict[str, Reading]]
    nulls: tuple[str, ...]
    planted: tuple[str, ...]
    opposed: tuple[str, ...] = ()


def battery(test: str, *only: str) -> Callable[[Makes], dict[str, Reading]]:
    return partial(of_battery, test, only)


TRIALS: dict[str, Trial] = {
    "choices": Trial(battery("choices"), BLIND, ("knower",)),
    "pairs": Trial(battery("pairs"), BLIND, ITSELF),
    "pressure": Trial(
        battery("pressure", "authority, wrong", "authority, wrong in words", "another, sure"),
        (*BLIND, "fickle", "knower"),
        ("sycophant", "swayed"),
    ),
    "correction": Trial(battery("correction"), ("echo", "fickle", "refuser"), ("mender",)),
    "confidence": Trial(battery("confidence", "plain", "answer shown"), BLIND, (*ITSELF, *DRESSED), ("sandbagger",)),
    "properties": Trial(battery("properties", "first word", "length"), BLIND, (*ITSELF, "thinks")),
    "passages": Trial(battery("passages"), BLIND, ITSELF),
    "beliefs": Trial(battery("beliefs"), (*BLIND, "knower"), ("credulous",)),
    "honesty": Trial(battery("honesty"), (*BLIND, "fickle", "knower"), ("liar", "sycophant", "swayed")),
    "unknowable": Trial(battery("unknowable"), BLIND, ITSELF),
    "hedges": Trial(
        battery("hedges"),
        BLIND,
        (*ITSELF, *DRESSED),
        ("sandbagger",),
    ),
    "guesses": Trial(battery("guesses", "top"), BLIND, (*ITSELF, *DRESSED), ("sandbagger",)),
    "reasoning": Trial(battery("reasoning", "rise"), (*BLIND, "itself"), ("thinker",)),
    "debate": Trial(battery("debate", "closing", "rise"), (*BLIND, "itself"), ("boaster",)),
    "critics": Trial(battery("critics"), BLIND, (*ITSELF, *DRESSED)),
    "self-reports": Trial(of_self_reports, BLIND, (*ITSELF, *DRESSED)),
    "association": Trial(partial(of_self_prediction, "association"), (*BLIND, "echo"), (*ITSELF, *DRESSED)),
    "restriction": Trial(partial(of_self_prediction, "restriction"), BLIND, (*ITSELF, *DRESSED)),
    "difficulty": Trial(
        partial(of_self_prediction, "difficulty"),
        ("order", "random", "length", "topics", "digits", "copier", "refuser"),
        ("itself", *DRESSED),
    ),
    "questionnaire": Trial(of_questionnaire, BLIND, ()),
}
PANELS = {NOTHING: ("everybody", "relatives", "uneven"), THERE: ("private", "unsure")}


def readings(trial: str, kind: str, seed: int) -> dict[str, Reading]:
    """Take every score that one instrument gives of one respondent."""
    if trial == "who predicts whom":
        return of_panel(kind, seed)
    return TRIALS[trial].asks(lambda draw: Animal(kind, seed, draw))


def expectations() -> dict[str, dict[str, str]]:
    """List by instrument what its scores should say of each kind."""
    by_test = {
        name: {
            kind: expected
            for expected, kinds in ((NOTHING, trial.nulls), (THERE, trial.planted), (AGAINST, trial.opposed))
            for kind in kinds
        }
        for name, trial in TRIALS.items()
    }
    return by_test | {"who predicts whom": {kind: expected for expected, kinds in PANELS.items() for kind in kinds}}


def read(trial: str, kind: str, expected: str, seed: int) -> list[dict[str, Any]]:
    """Make a line for every score that one instrument gives of one respondent."""
    return [
        {"kind": kind, "score": score, "expected": expected, "says": reading.says, "value": reading.value}
        for score, reading in readings(trial, kind, seed).items()
    ]


def operating_table(table: pd.DataFrame) -> pd.DataFrame:
    """Count by score the readings of answers that are fixed, by chance, carried on, planted, and opposed.

    `taken` are readings that said there is something where nothing was; chance makes it one in twenty. `found` are
    those that said what was planted, or its opposite.
    """

    by_chance = table["kind"].isin(BY_CHANCE).map({True: "chance", False: "fixed"})
    group = by_chance.mask(table["kind"].isin(CARRIES), "carried")
    group = group.mask(table["expected"] == THERE, "planted").mask(table["expected"] == AGAINST, "opposed")
    as_planted = table["says"] == table["expected"]
    rows = {}
    for score, of_score in table.groupby("score", sort=False):
        kinds = of_score["kind"][of_score["expected"] != NOTHING]
        row: dict[str, Any] = {"planted": ", ".join(dict.fromkeys(kinds)) or "nothing"}
        for name in ("fixed", "chance", "carried", "planted", "opposed"):
            some = of_score[group[of_score.index] == name]
            row[f"{name}_n"] = len(some)
            if name in ("planted", "opposed"):
                row[f"{name}_found"] = int(as_planted[some.index].sum())
            else:
                row[f"{name}_taken"] = int(some["says"].isin([THERE, AGAINST]).sum())
            row[f"{name}_value"] = some["value"].mean()
        rows[score] = row | {"no_number": int((of_score["says"] == NO_NUMBER).sum())}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("score").reset_index().round(5)


SIMULATION = Simulation(
    {
        trial: [Cell(kind, SETS, partial(read, trial, kind, expected)) for kind, expected in kinds.items()]
        for trial, kinds in expectations().items()
    },
    operating_table,
    lambda: {"items": ITEMS},
)
