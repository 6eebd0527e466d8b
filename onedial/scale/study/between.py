"""Do models share the scale, or does each agree with itself?"""

from typing import Any

from onedial.scale.checks.clusters import cluster_structure
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text


def clusters(fit: PanelFit) -> Finding:
    """Correlations within and between base models, where some have several respondents."""
    if fit.models is None or fit.respondents is None or not 2 <= len(fit.models) < fit.n_varied:
        return Finding()
    structure = cluster_structure(fit.nulls, fit.respondents["model"])
    shares, between = structure.shares, structure.between
    within_only = f"{shares['within_only']:.0%} within one of them only"
    verdict = "more than chance" if between.p <= LEVEL else "no more than chance would give"
    sentences = [
        f"{fit.n_varied} respondents are {len(fit.models)} models: correlations average {1 - shares['own']:.2f} within "
        f"and {shares['between']:.2f} between models (labels assigned at random: difference "
        f"{structure.difference.mean:.2f}, {p_text(structure.difference.p)}).",
        f"{shares['between']:.0%} of a respondent's variance is shared between models ({verdict}: "
        f"{p_text(between.p)}), {within_only}.",
    ]
    evidence: dict[str, Any] = {"between": shares["between"], "within_only": shares["within_only"]}
    if between.p > LEVEL and structure.difference.p <= LEVEL:
        evidence["within"] = f" (between models {p_text(between.p)})"
    if structure.difference.p <= LEVEL:
        sentences.append("Respondents of one model are no independent witnesses; read every count of them so.")
    return Finding(
        sentences=sentences,
        tables={"clusters": structure.matrix.rename_axis("cluster")},
        numbers={
            "clusters": shares | {"between_null": between.to_dict(), "difference": structure.difference.to_dict()}
        },
        figures={"clusters": lambda: draw.within_and_between(structure)},
        evidence=evidence,
    )
