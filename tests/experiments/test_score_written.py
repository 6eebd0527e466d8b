"""experiments/ask.py written: every score of every answer is on disk, judged, and asked again only where it is
missing."""

import pandas as pd
import pytest
from tiny_experiment import ROOT, run_here
from tiny_models import save_outspoken

from onedial.confidence.tokens import SURER

PROGRAM = ROOT / "experiments" / "ask.py", "written"


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    save_outspoken(folder / "model")
    options = ("--model", str(folder / "model"), "--n-questions", "6", "--samples", "1", "--instruments", "P(True)")
    options += ("--replicates", "19")
    assert run_here(*PROGRAM, *options, "--out", folder / "run", drawn=True) == 0
    return folder, options


def test_every_signal_is_judged_with_its_counts(scored):
    folder, _ = scored
    signals = pd.read_csv(folder / "run" / "signals.csv").set_index("signal")
    assert set(SURER) | {"P(True)", "sample agreement"} <= set(signals.index)
    assert (signals["n"] + signals["n_unread"]).nunique() == 1
    assert (folder / "run" / "figures" / "signals.png").stat().st_size > 5000
    assert len(pd.read_html(folder / "run" / "report.html")) == 3  # signals, votes, answers
