"""Respondents of one base model: planted shares are found, and nulls keep clusters together."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from onedial.core.errors import InputError
from onedial.panels.panel_files import load_panel
from onedial.scale.checks.clusters import cluster_structure


def clustered(
    seed: int, shared: float, within: float, n: int = 500, sizes: tuple[int, ...] = (5, 5, 5, 5)
) -> pd.DataFrame:
    """Answers of clusters; `shared` and `within` = shares of variance of all and of the cluster."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(len(sizes)), sizes)
    latent = (
        np.sqrt(shared) * rng.standard_normal((n, 1)) + np.sqrt(within) * rng.standard_normal((n, len(sizes)))[:, code]
    )
    latent = latent + np.sqrt(1 - shared - within) * rng.standard_normal((n, len(code)))
    cuts = ndtri(rng.permutation(np.linspace(0.25, 0.75, len(code))))
    names = [f"{chr(97 + cluster)}{i}" for i, cluster in enumerate(code)]
    return pd.DataFrame((latent > cuts).astype(float), columns=names)


def label(panel: pd.DataFrame) -> pd.Series:
    return pd.Series({name: name[0] for name in panel})


def test_shares_within_and_between_are_the_planted_ones():
    panel = clustered(0, 0.3, 0.4, n=8000)
    result = cluster_structure(panel, label(panel), n_replicates=19)
    assert result.shares["between"] == pytest.approx(0.3, abs=0.03)
    assert result.shares["within_only"] == pytest.approx(0.4, abs=0.03)
    assert result.shares["own"] == pytest.approx(0.3, abs=0.03)
    np.testing.assert_allclose(np.diag(result.matrix), 0.7, atol=0.04)
    assert result.difference.p == 0.05


def test_a_model_of_its_own_may_stand_beside_clusters():
    panel = clustered(0, 0.3, 0.4, sizes=(4, 3, 1))
    matrix = cluster_structure(panel, label(panel), n_replicates=19).matrix
    assert np.isnan(np.diag(matrix)).tolist() == [False, False, True]
    assert matrix.to_numpy()[np.triu_indices(3, 1)].min() > 0.1
    with pytest.raises(InputError, match="one of them with two respondents"):
        cluster_structure(panel, list(panel), n_replicates=19)


def test_the_embedded_panel_is_four_models_that_agree_with_themselves():
    panel = load_panel("embedded")
    result = cluster_structure(panel, panel.respondents["model"], n_replicates=39)
    assert 1 - result.shares["own"] > 0.5
    assert result.shares["between"] < 0.25
    assert result.difference.p <= 0.05


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 20, "1 clusters of 20 respondents"),
        (list(range(20)), "20 clusters of 20"),
        (["a", "b"], "2 clusters for 20 names"),
        (pd.Series({"a0": "a"}), "say nothing of a1"),
    ],
)
def test_labels_that_make_no_clusters_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        cluster_structure(clustered(0, 0.3, 0.3, n=100), labels, n_replicates=9)
