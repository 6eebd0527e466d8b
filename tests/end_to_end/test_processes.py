"""Two processes share a run and write one result, equal to that of one process."""

import numpy as np
import pytest
from forks import run_together
from shared_runs import seven_batches
from tiny_experiment import STEER_SWEEP, alone, as_arguments, run_here

from onedial.verdict.sweep_run import SweepRun


@pytest.mark.launched
def test_two_processes_give_the_result_of_one(unreported, tmp_path):
    """As torchrun starts them; test_nodes.py has torchrun itself."""
    options, alone_run = seven_batches()
    with open(tmp_path / "log.txt", "w") as log:
        codes = run_together(STEER_SWEEP, *as_arguments(options | {"out": tmp_path / "run"}), log=log, env=alone())
    log_text = (tmp_path / "log.txt").read_text()
    assert codes == [0, 0], log_text
    run = SweepRun.open(tmp_path / "run")
    assert run.run.manifest.facts["processes"] == 2
    parts = sorted(file.name for file in (run.path / "sweep").iterdir())
    shares = [sum(name.startswith(prefix) for name in parts) for prefix in ("part-0", "part-p1-0")]
    assert max(shares) - min(shares) <= 1 < min(shares)
    mine, others = run.interventions(), alone_run.interventions()
    assert mine.drop(columns="magnitudes").equals(others.drop(columns="magnitudes"))
    for grid, other in zip(mine["magnitudes"], others["magnitudes"], strict=True):
        np.testing.assert_allclose(grid, other, rtol=0, atol=1e-5)
    one, two = alone_run.sweep(), run.sweep()
    assert one.drop(columns=["magnitude", "margin", "mass"]).equals(two.drop(columns=["magnitude", "margin", "mass"]))
    for column in ("magnitude", "margin", "mass"):
        np.testing.assert_allclose(two[column], one[column], rtol=0, atol=1e-5)
    assert run.matches()["status"].tolist() == alone_run.matches()["status"].tolist()
    assert run.verdict().sentence == alone_run.verdict().sentence
    assert log_text.count("run: ") == 1

    # Parts of both processes are lost; a single process asks for them again.
    for late in ("sweep/part-p1-00002.parquet", "sweep/part-00001.parquet", "verdict.json", "matches.csv"):
        (run.path / late).unlink()
    assert run_here(STEER_SWEEP, *as_arguments(options | {"out": run.path, "resume": True})) == 0
    np.testing.assert_allclose(run.sweep()["margin"], alone_run.sweep()["margin"], rtol=0, atol=1e-5)
