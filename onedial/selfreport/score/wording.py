"""How a respondent speaks of itself when it explains its ratings: firmly or not, as a person or as a program.

    assertive        "I am confident", "I always", "certainly"
    cautious         hedges of either kind (`HEDGES`), "sometimes", "I may", "I struggle"
    anthropomorphic  feelings, a body, a life and a will of its own: "I feel", "I enjoy", "in my life"
    disclaiming      "as an AI", "I was trained", "I do not have feelings"

The self-efficacy study (arXiv 2511.19872) read explanations for these qualities, without a list; the phrases are our
own, English, not validated against human readers, and know no irony and no context. A phrase that is denied ("I do not
feel") is another phrase.
"""

import pandas as pd

from onedial.selfreport.ask.phrases import HEDGES, count_english, listed

WORDING = {
    "assertive": listed(
        "i am confident, i'm confident, i am certain, i am sure, i'm sure, i am able to, i can, i always, i never, "
        "i will, i know, i excel, i succeed, certainly, definitely, without a doubt"
    ),
    "cautious": (
        *HEDGES["first person"],
        *HEDGES["impersonal"],
        *listed("i may, i might, sometimes, not always, it depends, i try to, i struggle, i am limited"),
    ),
    "anthropomorphic": listed(
        "i feel, i enjoy, i love, i like, i hope, i want, i wish, i fear, i trust, i care, i'm proud, i am proud, "
        "i am happy, i'm happy, i remember, my life, my experience, my feelings, my mind, my heart, my friends, "
        "my family, my job, when i was, as a person, as a human, i have learned"
    ),
    "disclaiming": listed(
        "an ai, language model, as a machine, as a program, computer program, i was trained, i am trained, "
        "my training, i am programmed, i was programmed, algorithm, algorithms, i do not have feelings, "
        "i don't have feelings, i do not feel, i don't feel, i do not have emotions, i don't have emotions, "
        "i do not have personal, i don't have personal, i cannot feel, i can't feel"
    ),
}


def code_wording(text: str) -> dict[str, int]:
    """How often a text speaks in each way, and its number of words; none of a text in another language than English.

    >>> code_wording("As an AI, I do not feel, but I can certainly help.")
    {'assertive': 2, 'cautious': 0, 'anthropomorphic': 0, 'disclaiming': 2, 'words': 12}
    """
    return count_english(text, WORDING)


def wording_scores(explanations: pd.DataFrame) -> pd.DataFrame:
    """Each way of speaking in phrases per 100 words, by model and condition.

    Formula: 100 * phrases / words, over all explanations together; nan where there is no word.

    Args:
        explanations: columns model, condition, text.

    Returns:
        index model, condition; n (explanations), n_empty (without a word of English), words (mean), and the kinds of
        `WORDING`.

    Sign: higher = more of it.
    """
    counts = pd.DataFrame([code_wording(text) for text in explanations["text"]], columns=[*WORDING, "words"])
    coded = counts.assign(**{name: explanations[name].to_numpy() for name in ("model", "condition")})
    rows = {}
    for key, own in coded.groupby(["model", "condition"], sort=False):
        words = own["words"]
        share = 100 * own[list(WORDING)].sum() / (words.sum() or float("nan"))
        rows[key] = {"n": len(own), "n_empty": int((words == 0).sum()), "words": words.mean(), **share}
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.set_axis(pd.MultiIndex.from_tuples(list(rows), names=["model", "condition"]))
