"""What each layer would answer, and which tokens the directions point at.

lens.csv     layer by layer             tokens.csv   at the study's one layer
direct.csv   what a push does to the unembedding
"""

from collections.abc import Mapping

import pandas as pd
from jaxtyping import Float
from torch import Tensor

from onedial.core.pulse import say
from onedial.models.inside.lens import lens_of, tokens_along
from onedial.models.model import OpenModel
from onedial.studies.probes.study import Study
from probes.directions.lens import lens_table
from probes.directions.where import direct_effects


def lens_stage(study: Study) -> None:
    """Left out where the last position or the last layer was not read."""
    if study.options.read_at != "last" or study.model.n_layers - 1 not in study.store.layers:
        say("lens: left out, since it needs the last position and the last layer")
        return
    lens = lens_of(study.model, study.store, study.prompts.tokens)
    study.run.write_table("lens.csv", lens_table(lens, study.task, study.main_labels))
    layer, method = study.one_layer, study.options.methods[0]
    probes = study.probes_at(layer)[method]
    directions = {label: probes[label].direction for label in study.main_labels}
    if study.measured_facts is not None:
        of_facts = study.probes_at(layer, facts=True)[method]
        directions |= {label: probe.direction for label, probe in of_facts.items()}
    study.run.write_table("tokens.csv", tokens_table(study.model, directions, layer))
    norm = float(study.store.read(layer).norm(dim=-1).median())
    direct = direct_effects(study.model, study.store, study.prompts, directions, norm)
    study.run.write_table(
        "direct.csv", pd.DataFrame({"label": list(direct), "direct": list(direct.values()), "layer": layer})
    )


def tokens_table(model: OpenModel, directions: Mapping[str, Float[Tensor, " d_model"]], layer: int) -> pd.DataFrame:
    """The tokens that each direction of a layer raises and lowers most: columns `label, layer, raised, lowered`."""
    pointed = tokens_along(model, list(directions.values()))
    lines = [
        {"label": label, "layer": layer, "raised": " ".join(map(repr, up)), "lowered": " ".join(map(repr, down))}
        for label, (up, down) in zip(directions, pointed, strict=True)
    ]
    return pd.DataFrame(lines)
