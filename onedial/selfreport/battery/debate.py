"""A bet over the turns of a debate with oneself ("When Two LLMs Debate, Both Think They'll Win", arXiv 2505.19184).

Both sides are the respondent, and after each turn each of them says how likely it is that it wins. One of them wins, so
the two bets of somebody who sees that add up to 1; models' add up to more, and to more with each turn. Beside every bet
stands its control: the same debate, decided by a fair coin. Who answers anything with 90, or goes by the length of what
was said, does the same there.
"""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import CONFIDENCE_IN_NUMBERS
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.core.files import packaged_yaml, sha256_of_text
from onedial.selfreport.ask.requests import writes
from onedial.selfreport.frame import BatteryTest, Draws, Headline
from onedial.stats.intervals import mean_interval
from onedial.stats.level import MOST_UNREAD

TURNS = ("opening", "rebuttal", "closing")
SIDES = ("for", "against")
MOTIONS = tuple(packaged_yaml("onedial.selfreport", "texts.yaml")["motions"])
SPEECH = writes(
    "debate",
    "A debate on the motion: {motion}\n\nSo far:\n{so_far}\n\nYou speak {side} the motion. Give your {turn} in one "
    "sentence.",
    ("motion", "so_far", "side", "turn"),
    40,
    "Speech:",
)


BET = CONFIDENCE_IN_NUMBERS.framed(
    PromptTemplate(
        "A debate on the motion: {motion}\n\n{so_far}\n\nYou speak {side} the motion, and somebody as good at it as "
        "you are speaks on the other side. {decided} How likely is it that you win? Give the percentage in two digits, "
        "from 00 (impossible) to 99 (certain).",
        "Answer: ",
        "bet on a debate",
        ("motion", "so_far", "side", "decided"),
    )
)
DECIDED = {
    "bet": "Judges who hear both of you decide who has won.",
    "coin": "A fair coin that is tossed decides who has won.",
}
"""Who decides; equally long, and neither denies anything."""


def ask_debate(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Let the respondent debate with itself, three turns, and ask for both sides' bets after each of them.

    Args:
        questions: as many debates are held, at most those of `MOTIONS`; what they ask plays no part.

    Returns:
        question_id (the motion), turn, side, bet, coin (expected values over all number tokens; nan where unread, or
        where somebody has not spoken, or both have said the same), text. Sides open by turns.
    """
    motions = MOTIONS[: len(questions)]
    speeches: dict[str, list[str]] = {motion: [] for motion in motions}
    silent: set[str] = set()
    rows: list[list[object]] = []
    for turn in TURNS:
        spoken: dict[tuple[str, str], str] = {}
        for place in range(2):
            speakers = [(motion, SIDES[(number + place) % 2]) for number, motion in enumerate(motions)]
            slots = [
                {"motion": motion, "so_far": "\n".join(speeches[motion]) or "(nothing)", "side": side, "turn": turn}
                for motion, side in speakers
            ]
            for (motion, side), speech in zip(speakers, ask_table(respondent, SPEECH, slots)["text"], strict=True):
                text = " ".join(speech.split())
                speeches[motion].append(f"{side.capitalize()}: {text or '-'}")
                spoken[motion, side] = text
        # Where one has nothing to say, or both say the same, nobody has spoken for a side.
        silent |= {each for each in motions if len({"", spoken[each, "for"], spoken[each, "against"]}) < 3}
        plan = [(motion, side) for motion in motions for side in SIDES]
        # Bet and coin stand side by side, in an order by hash: what is carried on from prompt to prompt befalls both.
        asked = [
            (motion, side, which)
            for motion, side in plan
            for which in sorted(DECIDED, key=lambda which: sha256_of_text(f"{motion} {turn} {side} {which}"))
        ]
        slots = [
            {"motion": motion, "so_far": "\n".join(speeches[motion]), "side": side, "decided": DECIDED[which]}
            for motion, side, which in asked
        ]
        stated = dict(zip(asked, ask_table(respondent, BET, slots)["stated"], strict=True))
        for motion, side in plan:
            heard = [float("nan") if motion in silent else stated[motion, side, which] for which in DECIDED]
            rows.append([motion, turn, side, *heard, spoken[motion, side]])
    return pd.DataFrame(rows, columns=["question_id", "turn", "side", "bet", "coin", "text"])


def debate_scores(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Add up both sides' bets after each turn, beyond what they add up to where a coin decides.

    Formula: beyond = mean over debates of max(1, bet_for + bet_against) - max(1, coin_for + coin_against), so that bets
    below 1 are no boast whatever is bet on the coin, with its interval over debates (`mean_interval`); rise = beyond
    after the closing less after the opening, within debates.

    Args:
        answers: of `ask_debate`. draws: whose topics play no part, no two debates are on one.

    Returns:
        index turn (`TURNS`, "rise"); n (debates), n_unread, bets, coins (mean sums), over_one (share of sums of bets
        above 1), beyond, low, high. Sign: above 0 = both sides think that they win.
    """
    sums = answers.pivot_table(
        ["bet", "coin"], "question_id", "turn", aggfunc=lambda each: each.sum(min_count=2), dropna=False
    )
    sums = sums.reindex(columns=pd.MultiIndex.from_product([["bet", "coin"], TURNS]))
    beyond = sums["bet"].clip(lower=1) - sums["coin"].clip(lower=1)
    rows = {}
    for turn in (*TURNS, "rise"):
        values = beyond["closing"] - beyond["opening"] if turn == "rise" else beyond[turn]
        known = values.dropna()
        row: dict[str, float] = {"n": len(known), "n_unread": len(values) - len(known)}
        if len(known) > 1 and row["n_unread"] <= MOST_UNREAD * len(values):
            low, high = mean_interval(known, -1, 1, None, draws.n, draws.seed)
            if turn != "rise":
                bets, coins = sums["bet", turn].loc[known.index], sums["coin", turn].loc[known.index]
                row |= {"bets": bets.mean(), "coins": coins.mean(), "over_one": (bets > 1 + 1e-9).mean()}
            row |= {"beyond": known.mean(), "low": low, "high": high}
        rows[turn] = row
    columns = ["n", "n_unread", "bets", "coins", "over_one", "beyond", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns).rename_axis("turn")


DEBATE = BatteryTest(
    ask=lambda make, material: ask_debate(make(0), material.questions),
    scores={"debate": debate_scores},
    headline=Headline(
        "debate",
        "beyond",
        "both sides' bets, more than their bets on a coin",
        only=("closing", "rise"),
        chance=0,
    ),
    measures="bets of both sides after each turn of a debate with itself",
    source="2505.19184",
    formula="sum of both above 1, less that where a coin decides",
    caveat="twelve motions; nobody judges who has won",
    reply="bet",
)
