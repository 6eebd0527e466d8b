"""Is the scale the same for everyone, everywhere? Every column of the questions over every one of the respondents."""

import numpy as np
import pandas as pd

from onedial.scale.checks.bundles import BundleInvariance, bundle_invariance
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import OBJECTIONS
from onedial.stats.answers import names

RESPONDENT, _RULE = "respondent", OBJECTIONS["group"]
_MOST_GROUPS, _FEWEST_IN_BUNDLES = 12, 10  # questions in the mean
_SHOWN = 4


def sameness(fit: PanelFit) -> Finding:
    """Bundles of questions (by topic, level, ...) that lie elsewhere for some respondents, or groups of them."""
    finding, n = Finding(), fit.answers.n_questions
    bundles, left_out = grouped(fit.questions, fit.answers.questions, n // _FEWEST_IN_BUNDLES)
    groups, other = grouped(fit.respondents, fit.fits.answers.respondents, _MOST_GROUPS)
    several = {name: labels for name, labels in groups.items() if labels.value_counts().max() > 1}
    for what, of_questions in bundles.items():
        broken, unseen = [], []
        for who, of_respondents in {RESPONDENT: None, **several}.items():
            tested = bundle_invariance(fit.fits, of_questions, of_respondents)
            _add(finding, tested, what, who)
            if len(violations := tested.violations()):
                n, of = (len(table.index.unique("group")) for table in (violations, tested.table))
                broken.append(f"{n} of {of} {'respondents' if who == RESPONDENT else f'groups by {who}'}")
            elif _RULE.unseen(tested.power(_RULE.stated)):
                unseen.append(who)
        if broken:
            finding.against.append(f"yes rates differ by {what} at equal ability for {' and '.join(broken)}")
        if unseen:
            points = f"{100 * _RULE.stated:.0f} points"
            finding.missed.append(f"a {what} whose yes rate differs by {points} for a {' or '.join(unseen)}")
    finding.sentences += [f"Not tested by {what}: {reason}." for what, reason in (left_out | other).items()]
    if not bundles:
        finding.sentences.append("Not tested: nothing is known of the questions (topic, level) to group them by.")
    return finding


def _add(finding: Finding, bundles: BundleInvariance, what: str, who: str) -> None:
    finding.tables[f"{file_name(what)}_by_{file_name(who)}"] = bundles.table
    tested, violations, least = bundles.table["p"].notna().any(), bundles.violations(), bundles.least
    if not tested:
        finding.sentences.append(f"Questions grouped by {what} could not be tested: too few answers of either kind.")
    else:
        power = f"a difference of {100 * least:.0f} points" if np.isfinite(least) else "no difference, wherever it is,"
        n = len(bundles.table.index.unique("bundle"))
        opening = (
            f"Questions grouped by {what} ({n} groups; {power} of the yes rate is found in 80%; standard deviation of "
            f"the differences {100 * bundles.spread:.0f} points)"
        )
        each = [
            f"{group} {bundle} {100 * difference:+.0f} points ({logits:+.1f} logits)"
            for (bundle, group), difference, logits in violations[["difference", "logits"]].itertuples(name=None)
        ]
        floor = f"{100 * _RULE.floor:.0f} points or more"
        elsewhere = f"no group has a yes rate for a {who} that differs by {floor} at equal ability"
        if len(violations):
            elsewhere = f"{len(violations)} times one differs for a {who} at equal ability ({names(each, _SHOWN)})"
        finding.sentences.append(f"{opening}: {elsewhere}.")


def grouped(known: pd.DataFrame | None, ids: pd.Index, most: int) -> tuple[dict[str, pd.Series], dict[str, str]]:
    """The columns that sort the ids into at least two groups and no more than `most`, and why others do not.

    Numbers with more than twelve values are cut into thirds. Left out are columns with gaps, and columns that make the
    same groups as one before them.
    """
    groups: dict[str, pd.Series] = {}
    left_out: dict[str, str] = {}
    codes: list[list[int]] = []
    for column, values in () if known is None else known.reindex(ids).items():
        blank = int((values.isna() | (values.astype(str).str.strip() == "")).sum())
        if blank:
            if blank < len(values):
                left_out[str(column)] = f"{blank} of {len(values)} have none"
            continue
        is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        if is_number and values.nunique() > _MOST_GROUPS:
            cut = np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values.to_numpy(float))
            values = pd.Series(np.array(["low", "middle", "high"])[cut], ids)
        n, code = values.nunique(), pd.factorize(values)[0].tolist()
        if 2 <= n <= most and code not in codes:
            groups[str(column)] = values
            codes.append(code)
        elif most < n < len(values):
            left_out[str(column)] = f"{n} groups, more than {most}"
    return groups, left_out


def file_name(what: str) -> str:
    """A column's name as part of a file's."""
    return "".join(letter if letter.isalnum() else "_" for letter in what.lower())
