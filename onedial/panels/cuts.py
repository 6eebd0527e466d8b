"""Numbers cut into yes and no: at least so much confidence is a yes.

A cut is a way of reading what a respondent stated once. It makes further rows of targets, never further base models:
every one of them keeps the model whose numbers it is made of, and says its cut as its framing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.elicited import MEDIAN, Cut
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.panels import ResponseMatrix, panel_from_long


def panel_at_cuts(panel: ResponseMatrix, cuts: Sequence[Cut], top: float) -> ResponseMatrix:
    """The panel whose yes is a stated confidence of at least the cut; blank where none was stated.

    Args:
        panel: with `responses` that have `confidence`, 0 to 1, one row or several samples for each answer.
        cuts: on the scale on which they were stated, or `MEDIAN`: each respondent's own. One cut keeps the
            respondents' names; with several each name is followed by its cut. Empty: that of the panel's elicitation.
        top: what stands for certain on that scale.

    Raises:
        InputError: the panel holds no numbers, no cut is given, or one lies outside the scale.
    """
    stated, elicitation = panel.responses, panel.elicitation
    if stated is None or "confidence" not in stated or stated["confidence"].isna().all():
        raise InputError("the panel holds no numbers to cut (confidence), only yes and no; leave the cut out")
    if not cuts and elicitation is not None and elicitation.cut is not None:
        cuts = (elicitation.cut,)
    if not cuts:
        raise InputError("where numbers become a yes is not said; name a cut behind the panel, such as panel.csv:95")
    known, made, about = panel.respondents, [], []
    for cut in cuts:
        if cut != MEDIAN and not 0 < float(cut) <= top:
            raise InputError(f"a cut at {cut:g} lies outside the panel's numbers, 0 to {top:g}; name one within")
        name = cut_in_words(cut)
        own = {each: each if len(cuts) == 1 else f"{each}: {name}" for each in known.index}
        medians = stated.groupby("respondent")["confidence"].transform("median")
        least = medians if cut == MEDIAN else float(cut) / top
        yes = (stated["confidence"] >= least).astype(float).where(stated["confidence"].notna())
        made.append(stated.assign(said_yes=yes, respondent=stated["respondent"].map(own)))
        about.append(known.assign(framing=[_joined(each, name) for each in known["framing"]]).rename(index=own))
    respondents, responses = pd.concat(about), pd.concat(made, ignore_index=True)
    answers = panel_from_long(responses[["question_id", "respondent", "said_yes"]]).answers
    said = answers.reindex(index=panel.answers.index, columns=respondents.index)
    _tell(said, [cut_in_words(cut) for cut in cuts], top, respondents["model"].nunique())
    return replace(panel, answers=said, respondents=respondents, responses=responses)


def cut_in_words(cut: Cut) -> str:
    """What stands as the framing of a respondent that was cut here."""
    return "at least its median" if cut == MEDIAN else f"at least {float(cut):g}"


def _joined(framing: str, cut: str) -> str:
    return f"{framing}, {cut}" if framing else cut


def _tell(answers: pd.DataFrame, cuts: Sequence[str], top: float, n_models: int) -> None:
    constant = int((answers.nunique() < 2).sum())
    alike = f"; {constant} of the {answers.shape[1]} say the same throughout" if constant else ""
    blank = int(np.isnan(answers.to_numpy()).sum())
    notice(
        f"yes and no are derived from stated numbers: {', '.join(cuts)} of {top:g} is a yes; {n_models} base models, "
        f"however many cuts{alike}; {blank} of {answers.size} answers are blank"
    )
