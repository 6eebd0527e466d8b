"""From which layer on does the last token decide? patching.csv"""

import numpy as np
import pandas as pd

from onedial.core.progress import progress_bar
from onedial.studies.probes.probes_study import Study
from steering.causes import patched_margins, patching_table


def patching_stage(study: Study) -> None:
    """The last token's stream of the easiest questions into the hardest, and the other way round."""
    options = study.options
    if study.options.read_at != "last" or not options.n_patched:
        return
    pairs, tables = easy_and_hard(study.labels.difficulty, options.n_patched, options.seed), []
    with progress_bar(sum(len(donors) for donors, _ in pairs.values()), "patches") as advance:
        for kind, (donors, receivers) in pairs.items():
            margins = patched_margins(
                study.model,
                study.prompts,
                study.places(donors).tolist(),
                study.places(receivers).tolist(),
                study.store.layers,
                progress=advance,
            )
            table = patching_table(margins.double().numpy(), study.store.layers, options.replicates, options.seed)
            tables.append(table.assign(kind=kind))
    study.run.write_table("patching.csv", pd.concat(tables))


def easy_and_hard(difficulty: pd.Series, n: int, seed: int = 0) -> dict[str, tuple[list[str], list[str]]]:
    """Kind -> donors and receivers for patching: the n easiest and the n hardest questions, paired at random.

    Args:
        difficulty: index question_id, higher = harder; nan takes no part.
    """
    order = difficulty.dropna().sort_values(kind="stable").index.tolist()
    n = min(n, len(order) // 2)
    drawn = np.random.default_rng(seed).permutation(n)
    easy, hard = order[:n], [order[len(order) - n + place] for place in drawn]
    return {"easy into hard": (easy, hard), "hard into easy": (hard, easy)}
