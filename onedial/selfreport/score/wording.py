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

from onedial.core.files import packaged_yaml
from onedial.selfreport.ask.phrases import HEDGES, count_english, listed

WORDING = listed(packaged_yaml("onedial.selfreport", "texts.yaml")["wording"])
WORDING["cautious"] = (*HEDGES["first person"], *HEDGES["impersonal"], *WORDING["cautious"])


def code_wording(text: str) -> dict[str, int]:
    """Count how often a text speaks in each way, and its words; none of a text in another language than English.

    >>> code_wording("As an AI, I do not feel, but I can certainly help.")
    {'assertive': 2, 'cautious': 0, 'anthropomorphic': 0, 'disclaiming': 2, 'words': 12}
    """
    return count_english(text, WORDING)


def wording_scores(explanations: pd.DataFrame) -> pd.DataFrame:
    """Count each way of speaking in phrases per 100 words, by model and condition.

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
    for key, texts in coded.groupby(["model", "condition"], sort=False):
        words = texts["words"]
        share = 100 * texts[list(WORDING)].sum() / (words.sum() or float("nan"))
        rows[key] = {"n": len(texts), "n_empty": int((words == 0).sum()), "words": words.mean(), **share}
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.set_axis(pd.MultiIndex.from_tuples(list(rows), names=["model", "condition"]))
