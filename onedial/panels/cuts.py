"""Numbers as shares of what stands for certain, and cut into yes and no: at least so much confidence is a yes.

What stands for certain is declared, and never told by the numbers; they may contradict it, which is refused. A cut is a
way of reading what a respondent stated once. It makes further rows of targets, never further base models: every one of
them keeps the model whose numbers it is made of, and says its cut as its framing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.elicited import MEDIAN, Cut
from onedial.asking.tables import Table, name_of
from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix, panel_from_long
from onedial.panels.spellings import Spellings

PERCENT = 100.0
_TOPS = "a column top of respondents.csv"


def shares(
    table: Table, spellings: Spellings, cuts: Sequence[Cut], top: float | None, tops: Mapping[str, float]
) -> list[float]:
    """The column `confidence` as shares of what stands for certain; as it stands where nothing is declared, which is
    enough for medians.

    Args:
        cuts: that are made of it.
        top: what stands for certain. tops: of single respondents; goes before. A percent sign goes before both.

    Raises:
        InputError: no number, a number outside its scale, or a respondent whose numbers may be on another one; nothing
            says what stands for certain.
    """
    upto = "" if top is None else f" from 0 to {top:g}"
    numbers = table.parse("confidence", spellings.number, f"give a number{upto}, or leave it blank")
    respondents = table.parse("respondent", name_of, "name the respondent")
    named_cuts = [float(cut) for cut in cuts if cut != MEDIAN]
    is_needed = bool(named_cuts) or not (tops or cuts)
    if is_needed and top is None and any(number.value == number.value for number in numbers):
        remedy = declare_top(table, named_cuts[0] if named_cuts else None)
        raise InputError(f"the scale of the numbers in {table.path} is not declared; {remedy}")
    rows = pd.DataFrame({"respondent": respondents, "value": [number.value for number in numbers]})
    percent = np.array([number.in_percent for number in numbers], dtype=bool)
    scale = rows["respondent"].map(tops).astype(float).fillna(np.nan if top is None else top).where(~percent, PERCENT)
    if top is None and not tops:
        if percent.any() and not percent[rows["value"].notna()].all():
            raise InputError(f"{table.path} holds numbers with a percent sign and without; {declare_top(table)}")
        _refuse_other_scales(rows, scale, table)
        return [float(value) for value in rows["value"]]
    share = rows["value"] / scale
    for row in np.flatnonzero((share < 0) | (share > 1) | (rows["value"].notna() & scale.isna())):
        where, cell = table.where(int(row), "confidence"), table.frame["confidence"].iloc[row]
        raise InputError(
            f"{where} holds {cell!r}; give a number from 0 to {scale[row]:g}, or leave it blank"
            if scale[row] == scale[row]
            else f"{where} holds {cell!r}; {declare_top(table)}"
        )
    declared = rows["respondent"].isin(list(tops)) & ~percent
    _refuse_other_scales(rows[~declared], scale, table)
    return [float(value) for value in share]


def declare_top(table: Table, cut: float | None = None) -> str:
    """How a scale is declared, for the end of a refusal; numbers beside answers are never cut."""
    is_answered = "said_yes" in table.frame and table.frame["said_yes"].notna().any()
    behind = "" if is_answered else f"behind the cut ({table.path}:{'CUT' if cut is None else f'{cut:g}'}/TOP), "
    return f"name what stands for certain {behind}as top: in elicitation.yaml, or of each respondent in {_TOPS}"


def _refuse_other_scales(rows: pd.DataFrame, scale: pd.Series, table: Table) -> None:
    """Raise InputError where a respondent's numbers may be on another scale than one that ends above 1, or than one
    that nobody has named (nan): fractions below 1 beside nothing above but whole numbers; or nothing in the upper half
    of a scale (shares of 100, 1 to 10 of 100), on which no cut would be reached, though something above 0."""
    for respondent, group in rows.dropna().groupby("respondent", sort=False):
        values, top = group["value"], float(scale[group.index].max())
        above = values[values > 1]
        is_mixed = ((values > 0) & (values < 1)).any() and len(above) > 0 and (above % 1 == 0).all()
        if top <= 1 or not (is_mixed or 0 < values.max() <= top / 2):
            continue
        row = values.index[int(values.where(values > 0).argmin())]
        named = "a scale that nobody has named" if top != top else f"a scale to {top:g}"
        raise InputError(
            f"{table.path}: {respondent!r} states {table.frame['confidence'].iloc[row]!r} and nothing above "
            f"{values.max():g} on {named}; say what stands for certain for it in {_TOPS} (columns respondent and top: "
            f"{respondent},TOP), also where it is this one, and leave percent signs out"
        )


def panel_at_cuts(panel: ResponseMatrix, cuts: Sequence[Cut], top: float | None) -> ResponseMatrix:
    """The panel whose yes is a stated confidence of at least the cut; blank where none was stated.

    Args:
        panel: with `responses` that have `confidence`, 0 to 1, one row or several samples for each answer.
        cuts: on the scale on which they were stated, or `MEDIAN`: each respondent's own. One cut keeps the
            respondents' names; with several each name is followed by its cut.
        top: what stands for certain on that scale; None where every cut is a median.

    Raises:
        InputError: the panel holds no numbers, no cut is given, or one lies outside the scale.
    """
    stated = panel.responses
    if stated is None or "confidence" not in stated or stated["confidence"].isna().all():
        raise InputError("the panel holds no numbers to cut (confidence), only yes and no; leave the cut out")
    if not cuts:
        raise InputError("where numbers become a yes is not said; name a cut and the scale, panel.csv:CUT/TOP")
    known, made, about = panel.respondents, [], []
    for cut in cuts:
        if cut != MEDIAN and top is not None and not 0 < float(cut) <= top:
            raise InputError(f"a cut at {cut:g} lies outside the panel's numbers, 0 to {top:g}; name one within")
        name = cut_in_words(cut)
        names = {each: each if len(cuts) == 1 else f"{each}: {name}" for each in known.index}
        medians = stated.groupby("respondent")["confidence"].transform("median")
        least = medians if cut == MEDIAN or top is None else float(cut) / top
        yes = (stated["confidence"] >= least).astype(float).where(stated["confidence"].notna())
        if not (yes == 1).any():
            most = stated["confidence"].max() * (top or 1)
            raise InputError(f"no number of the panel is {name} (the highest is {most:g}); name another cut")
        made.append(stated.assign(said_yes=yes, respondent=stated["respondent"].map(names)))
        about.append(known.assign(framing=[_joined(each, name) for each in known["framing"]]).rename(index=names))
    respondents, responses = pd.concat(about), pd.concat(made, ignore_index=True)
    answers = panel_from_long(responses[["question_id", "respondent", "said_yes"]]).answers
    answers = answers.reindex(index=panel.answers.index, columns=respondents.index)
    if top is None:  # shares of what, nobody says
        responses = responses.drop(columns="confidence")
    return replace(panel, answers=answers, respondents=respondents, responses=responses)


def cut_in_words(cut: Cut) -> str:
    """What stands as the framing of a respondent that was cut here."""
    return "at least its median" if cut == MEDIAN else f"at least {float(cut):g}"


def _joined(framing: str, cut: str) -> str:
    return f"{framing}, {cut}" if framing else cut
